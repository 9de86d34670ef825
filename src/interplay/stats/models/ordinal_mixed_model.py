"""Cumulative-link (proportional odds) mixed models of answers on a scale, with crossed random effects.

An answer is at most c with the probability F(threshold_c - fixed - random effects), F the logistic or the normal
distribution. Random effects are integrated out by Laplace's approximation. By default the thresholds and fixed effects
are integrated out with them (flat priors), as restricted likelihood does in linear models: the plain likelihood finds
partners' variance too small when partners are few, and tests then find too much. Tests use t with the degrees of
freedom of the linear mixed model of the same columns (Kenward and Roger's), for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError
from interplay.stats._checks import one_of
from interplay.stats.models.design import FixedEffects, RandomTerm, fixed_effects, random_terms
from interplay.stats.models.inference import Estimate, JointTest
from interplay.stats.models.linear_mixed_model import LinearMixedFit, linear_mixed

STEPS = 60


@dataclass(frozen=True)
class OrdinalMixedFit:
    """A fitted model. Coefficients are on the scale of the link, positive where answers are higher."""

    fixed: FixedEffects  # its constant has no coefficient: the thresholds take its place
    thresholds: np.ndarray  # [category - 1]
    categories: tuple[float, ...]
    coefficients: np.ndarray  # [column], 0 for the constant
    covariance: np.ndarray  # [column, column]
    variances: Mapping[str, float]
    random: Mapping[str, Mapping[Any, float]]
    log_likelihood: float  # Laplace's; with fixed effects integrated out unless reml is False
    link: str
    reml: bool
    n: int
    linear: LinearMixedFit  # of the same columns, for the degrees of freedom

    @property
    def total_sd(self) -> float:
        """The standard deviation of the latent value behind one answer, the link's included."""
        own = math.pi**2 / 3 if self.link == "logit" else 1.0
        return math.sqrt(sum(self.variances.values()) + own)

    def coefficient(self, name: str, *, level: float = 0.95) -> Estimate:
        """Return a fixed effect by its name in `fixed.names`.

        Raises:
            InterplayError: There is no such effect; the constant is none, since the thresholds take its place.
        """
        if name == "constant":
            raise InterplayError("an ordinal model has thresholds in place of a constant")
        return self.contrast(self.fixed.weights(name), level=level)

    def contrast(self, weights: ArrayLike, *, level: float = 0.95) -> Estimate:
        """Return a linear combination of the fixed effects; what it gives the constant does not count."""
        c = np.asarray(weights, float)
        se = math.sqrt(float(c @ self.covariance @ c))
        bare = np.where(np.array(self.fixed.names) == "constant", 0.0, c)
        return Estimate(float(c @ self.coefficients), se, self.linear.contrast(bare).df, level)

    def joint(self, weights: ArrayLike) -> JointTest:
        """Test that several linear combinations [combination, column] are all 0."""
        c = np.atleast_2d(np.asarray(weights, float))
        value = c @ self.coefficients
        wald = float(value @ np.linalg.solve(c @ self.covariance @ c.T, value)) / len(c)
        return JointTest(wald, len(c), self.linear.joint(c).df2)

    def pairs(self, factor: str, *, level: float = 0.95) -> dict[tuple[Any, Any], Estimate]:
        """Return the differences between all pairs of levels of a factor, on the scale of the link."""
        names, weights = self.fixed.pair_weights(factor)
        return {pair: self.contrast(w, level=level) for pair, w in zip(names, weights, strict=True)}

    def factor(self, factor: str) -> JointTest:
        """Test whether the levels of a factor differ at all."""
        return self.joint(self.fixed.factor_weights(factor))

    def means(self, factor: str) -> dict[Any, float]:
        """Return the expected answer for every level of a factor, over people and partners like those met."""
        return {
            level: float(self.probabilities(w) @ np.array(self.categories))
            for level, w in zip(self.fixed.levels[factor], self.fixed.mean_weights(factor), strict=True)
        }

    def probabilities(self, weights: ArrayLike) -> np.ndarray:
        """Return how likely each category is at a combination of fixed effects, averaged over the random effects."""
        at, mass = np.polynomial.hermite_e.hermegauss(41)
        spread = math.sqrt(sum(self.variances.values()))
        eta = float(np.asarray(weights, float) @ self.coefficients) + spread * at
        below = _distribution(self.thresholds[:, None] - eta, self.link) @ (mass / mass.sum())
        return np.diff(np.concatenate([[0.0], below, [1.0]]))


def ordinal_mixed(
    y: ArrayLike,
    fixed: Mapping[str, Any],
    groups: Mapping[str, Any],
    *,
    link: str = "logit",
    reml: bool = True,
) -> OrdinalMixedFit:
    """Fit a cumulative-link model with fixed effects and random effects of crossed or nested groupings.

    Args:
        y: Answers; only their order counts. Points of the scale that nobody chose are no categories.
        fixed: Columns of numbers, or factors, by name.
        groups: Columns of levels that were drawn from a population.
        link: `logit` (proportional odds) or `probit`.
        reml: Whether fixed effects are integrated out when variances are estimated; False is maximum likelihood.

    Raises:
        InterplayError: Columns do not fit each other, there are fewer than two categories, the fixed effects separate
            the answers, or there are too few levels to tell a variance.
    """
    one_of(link, ("logit", "probit"), "link")
    linear = linear_mixed(y, fixed, groups)
    values = np.asarray(y, float)
    categories, codes = np.unique(values, return_inverse=True)
    if len(categories) > 20:
        raise InterplayError(f"{len(categories)} different answers: take a linear model for a scale as fine as this")
    design = fixed_effects(fixed, len(values))
    model = _Model(codes, len(categories), design.matrix[:, 1:], random_terms(groups, len(values)), link)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # on the way to estimates that do not exist
        sds, state, log_likelihood = _maximise(model, linear, reml)
    thresholds, beta = state.head[: model.cuts], state.head[model.cuts : model.cuts + model.p]
    own = slice(model.cuts, model.cuts + model.p)
    covariance = np.zeros((model.p + 1, model.p + 1))
    covariance[1:, 1:] = (state.inverse_of_head() + _from_variances(model, sds, state))[own, own]
    if not np.isfinite(covariance).all() or np.abs(beta * design.matrix[:, 1:].std(axis=0)).max(initial=0) > 30:
        raise InterplayError("the fixed effects separate the answers, so that an ordinal model has no finite estimates")
    random = {}
    for k, term in enumerate(model.terms):
        raw = state.own if k == model.apart else state.head[model.cuts + model.p :][model.at[k]]
        random[term.name] = dict(zip(term.levels, (sds[k] * raw).tolist(), strict=True))
    variances = {term.name: float(sds[k] ** 2) for k, term in enumerate(model.terms)}
    return OrdinalMixedFit(
        design, thresholds, tuple(categories.tolist()), np.concatenate([[0.0], beta]), covariance, variances, random,
        log_likelihood, link, reml, len(values), linear,
    )  # fmt: skip


class _Model:
    """The columns of a model, rows sorted by the random effect of the most levels, which is set apart."""

    def __init__(self, codes: np.ndarray, categories: int, x: np.ndarray, terms: list[RandomTerm], link: str):
        self.terms, self.link = terms, link
        self.apart = max(range(len(terms)), key=lambda k: len(terms[k].levels))
        rest = [k for k in range(len(terms)) if k != self.apart]
        order = np.argsort(terms[self.apart].codes, kind="stable")
        self.who = terms[self.apart].codes[order]
        self.levels = len(terms[self.apart].levels)
        self.starts = np.searchsorted(self.who, np.arange(self.levels))
        blocks = [terms[k].columns()[order] for k in rest]
        ends = np.cumsum([0, *(b.shape[1] for b in blocks)])
        self.at = {k: slice(int(a), int(b)) for k, a, b in zip(rest, ends[:-1], ends[1:], strict=True)}
        self.cuts, self.p, self.q = categories - 1, x.shape[1], int(ends[-1])
        chosen = codes[order]
        self.upper, self.lower = chosen < self.cuts, chosen > 0  # whether a threshold bounds the answer
        self.over = np.zeros((len(chosen), self.cuts))
        self.over[self.upper, chosen[self.upper]] = 1.0
        self.under = np.zeros((len(chosen), self.cuts))
        self.under[self.lower, chosen[self.lower] - 1] = 1.0
        self.x = x[order]
        self.z = np.column_stack(blocks) if blocks else np.zeros((len(chosen), 0))
        share = np.clip(np.bincount(codes, minlength=categories).cumsum()[:-1] / len(codes), 1e-4, 1 - 1e-4)
        self.start = np.log(share / (1 - share)) if link == "logit" else _normal_quantile(share)

    def scale(self, sds: np.ndarray) -> np.ndarray:
        """The standard deviation of every column of the random effects that are not set apart."""
        scale = np.empty(self.q)
        for k, at in self.at.items():
            scale[at] = sds[k]
        return scale

    def mode(self, sds: np.ndarray, start: _State | None, held: np.ndarray | None = None) -> _State:
        """The most likely thresholds, fixed effects and standardised random effects, by Newton's method.

        Args:
            sds: Standard deviations of the random effects.
            start: Where to begin.
            held: Thresholds and fixed effects that stay as they are; None to find them too.
        """
        free = self.cuts + self.p
        wide = np.column_stack([self.x, self.z * self.scale(sds)])
        head = np.concatenate([self.start, np.zeros(self.p + self.q)]) if start is None else start.head.copy()
        own = np.zeros(self.levels) if start is None else start.own.copy()
        if held is not None:
            head[:free] = held
        state = _State(self, sds, wide, head, own)
        first = free if held is not None else 0
        for _ in range(STEPS):
            step_head, step_own, gain = state.newton(first)
            size = 1.0
            while size > 1e-6:
                moved = _State(self, sds, wide, state.head + size * step_head, state.own + size * step_own)
                if moved.value > state.value - 1e-12:
                    break
                size /= 2
            else:
                break
            state = moved
            if gain < 1e-8:  # only after a step: the determinant, too, must follow every change of what is held
                break
        return state


class _State:
    """The joint log density at one point, with its derivatives; `head` holds all but the effect set apart."""

    def __init__(self, model: _Model, sds: np.ndarray, wide: np.ndarray, head: np.ndarray, own: np.ndarray):
        self.model, self.head, self.own, self.wide = model, head, own, wide
        self.sd = float(sds[model.apart])
        eta = wide @ head[model.cuts :] + self.sd * own[model.who]
        cuts = head[: model.cuts]
        self.a = np.where(model.upper, model.over @ cuts - eta, np.inf)
        self.b = np.where(model.lower, model.under @ cuts - eta, -np.inf)
        self.probability = _between(self.a, self.b, model.link)
        prior = head[model.cuts + model.p :]
        fine = bool(np.all(self.probability > 0))
        self.value = (
            float(np.log(self.probability).sum()) - 0.5 * float(prior @ prior) - 0.5 * float(own @ own)
            if fine
            else -np.inf
        )

    @cached_property
    def curvature(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gradient and negative Hessian: of the head, the effect set apart, and both."""
        model = self.model
        pa, slope_a = _density(self.a, model.link)
        pb, slope_b = _density(self.b, model.link)
        p = self.probability
        da, db = pa / p, -pb / p
        aa = da * da - slope_a / p  # negative second derivatives of log p by a and b
        bb = db * db + slope_b / p
        ab = da * db
        over, under, wide = model.over, model.under, self.wide
        eta = -(da + db)
        gradient = np.concatenate([over.T @ da + under.T @ db, wide.T @ eta])
        gradient[model.cuts + model.p :] -= self.head[model.cuts + model.p :]
        weight = aa + 2 * ab + bb
        m = model.cuts
        hessian = np.empty((len(gradient), len(gradient)))
        mixed = over.T @ (ab[:, None] * under)
        hessian[:m, :m] = np.diag(over.T @ aa + under.T @ bb) + mixed + mixed.T
        cross = over * (aa + ab)[:, None] + under * (ab + bb)[:, None]  # threshold with -eta
        hessian[:m, m:] = -cross.T @ wide
        hessian[m:, :m] = hessian[:m, m:].T
        hessian[m:, m:] = wide.T @ (weight[:, None] * wide)
        tail = np.arange(m + model.p, len(gradient))
        hessian[tail, tail] += 1.0
        columns = np.column_stack([-cross, wide * weight[:, None], weight, eta])
        sums = np.add.reduceat(columns, model.starts, axis=0)
        both = self.sd * sums[:, : len(gradient)]  # [level, head]
        alone = 1.0 + self.sd**2 * sums[:, -2]
        return gradient, hessian, both, alone, self.sd * sums[:, -1] - self.own

    def newton(self, first: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Newton's step, with the first values of the head held, and what it should gain."""
        gradient, hessian, both, alone, own = self.curvature
        both = both[:, first:]
        reduced = hessian[first:, first:] - both.T @ (both / alone[:, None])
        right = gradient[first:] - both.T @ (own / alone)
        step = np.zeros(len(self.head))
        try:
            step[first:] = np.linalg.solve(reduced, right)
        except np.linalg.LinAlgError:
            step[first:] = np.linalg.lstsq(reduced, right, rcond=1e-12)[0]
        step_own = (own - both @ step[first:]) / alone
        return step, step_own, float(gradient[first:] @ step[first:] + own @ step_own)

    def log_determinant(self, first: int) -> float:
        """Log determinant of the negative Hessian, without the first values of the head."""
        _, hessian, both, alone, _ = self.curvature
        both = both[:, first:]
        reduced = hessian[first:, first:] - both.T @ (both / alone[:, None])
        sign, value = np.linalg.slogdet(reduced) if len(reduced) else (1.0, 0.0)
        return float(np.log(alone).sum()) + (float(value) if sign > 0 else np.inf)

    def inverse_of_head(self) -> np.ndarray:
        """Covariance of thresholds, fixed effects and the random effects that are not set apart."""
        _, hessian, both, alone, _ = self.curvature
        return np.linalg.inv(hessian - both.T @ (both / alone[:, None]))


def _maximise(model: _Model, linear: LinearMixedFit, reml: bool) -> tuple[np.ndarray, _State, float]:
    """Estimate the standard deviations, and with maximum likelihood the fixed effects at the same time."""
    from scipy.optimize import minimize

    free = model.cuts + model.p
    spread = math.pi / math.sqrt(3) if model.link == "logit" else 1.0
    residual = linear.variances["residual"]
    guess = np.array(
        [spread * math.sqrt(max(linear.variances[t.name], 0.02 * residual) / residual) for t in model.terms]
    )
    kept: list[_State | None] = [None]

    def restricted(sds: np.ndarray) -> float:
        state = model.mode(sds, kept[0])
        kept[0] = state
        return -state.value + 0.5 * state.log_determinant(0) - 0.5 * free * math.log(2 * math.pi)

    def plain(head: np.ndarray, sds: np.ndarray) -> float:
        if np.any(np.diff(head[: model.cuts]) <= 0):
            return 1e10
        state = model.mode(sds, kept[0], held=head)
        kept[0] = state
        return -state.value + 0.5 * state.log_determinant(free)

    bounds = [(0.0, 50.0)] * len(guess)
    optimum = minimize(restricted, guess, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-10, "eps": 1e-4})
    sds = np.where(optimum.x < 1e-3, 0.0, optimum.x)
    value = -restricted(sds)
    # The joint mode draws fixed effects towards 0 where people give few answers; the likelihood's own maximum does not.
    head = _polish(lambda h: plain(h, sds), kept[0], free)
    if reml:
        return sds, model.mode(sds, kept[0], held=head), value
    # Thresholds and fixed effects in units in which they are all but independent and equally certain.
    units = np.linalg.cholesky(_symmetric(model.mode(sds, kept[0], held=head).inverse_of_head()[:free, :free]))
    begin = np.concatenate([np.zeros(free), sds])
    limits = [(None, None)] * free + bounds

    def at(values: np.ndarray) -> float:
        return plain(head + units @ values[:free], values[free:])

    options = {"ftol": 1e-14, "gtol": 1e-6, "maxfun": 10**5}
    optimum = minimize(at, begin, method="L-BFGS-B", jac="3-point", bounds=limits, options=options)
    head, sds = head + units @ optimum.x[:free], np.where(optimum.x[free:] < 1e-3, 0.0, optimum.x[free:])
    return sds, model.mode(sds, kept[0], held=head), -plain(head, sds)


def _from_variances(model: _Model, sds: np.ndarray, state: _State, eps: float = 0.02) -> np.ndarray:
    """What not knowing the standard deviations adds to the covariance of the head (Kass and Steffey 1989)."""
    active = [k for k in range(len(sds)) if sds[k] > 2 * eps]
    free = model.cuts + model.p
    total = np.zeros((len(state.head), len(state.head)))
    if not active:
        return total

    def moved(*changes: tuple[int, float]) -> tuple[float, np.ndarray]:
        at = sds.copy()
        for k, change in changes:
            at[k] += change
        there = model.mode(at, state)
        return -there.value + 0.5 * there.log_determinant(0), there.head

    here = moved()[0]
    ends = {(k, side): moved((k, side * eps)) for k in active for side in (-1, 1)}
    slopes = np.array([(ends[k, 1][1] - ends[k, -1][1]) / (2 * eps) for k in active])  # [sd, head]
    slopes[:, free:] = 0.0
    hessian = np.diag([(ends[k, 1][0] + ends[k, -1][0] - 2 * here) / eps**2 for k in active])
    for i, k in enumerate(active):
        for j in range(i):
            both = moved((k, eps), (active[j], eps))[0]
            hessian[i, j] = hessian[j, i] = (both - ends[k, 1][0] - ends[active[j], 1][0] + here) / eps**2
    values, vectors = np.linalg.eigh(hessian)
    inverse = (vectors * np.where(values > 1e-3, 1 / np.maximum(values, 1e-3), 0.0)) @ vectors.T
    return slopes.T @ inverse @ slopes


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2


def _polish(target: Callable[[np.ndarray], float], state: _State | None, free: int, eps: float = 1e-4) -> np.ndarray:
    """Minimise by steps with the curvature of the joint mode, which is all but that of the target."""
    assert state is not None
    head, step = state.head[:free].copy(), state.inverse_of_head()[:free, :free]
    here = target(head)
    for _ in range(6):
        gradient = np.array([(target(head + eps * unit) - here) / eps for unit in np.eye(free)])
        move = -step @ gradient
        size = 1.0
        while target(head + size * move) > here and size > 1e-2:
            size /= 2
        value = target(head + size * move)
        if value > here:
            break
        head, gain, here = head + size * move, here - value, value
        if gain < 1e-5:
            break
    return head


def _distribution(x: np.ndarray, link: str) -> np.ndarray:
    from scipy.special import expit, ndtr

    return expit(x) if link == "logit" else ndtr(x)


def _between(a: np.ndarray, b: np.ndarray, link: str) -> np.ndarray:
    """F(a) - F(b), taken in the tail in which it does not cancel."""
    flip = b > 0
    return _distribution(np.where(flip, -b, a), link) - _distribution(np.where(flip, -a, b), link)


def _density(x: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Density and its derivative; both 0 at infinity."""
    finite = np.isfinite(x)
    at = np.where(finite, x, 0.0)
    if link == "logit":
        from scipy.special import expit

        f = expit(at)
        density = f * (1 - f)
        slope = density * (1 - 2 * f)
    else:
        density = np.exp(-0.5 * at * at) / math.sqrt(2 * math.pi)
        slope = -at * density
    return np.where(finite, density, 0.0), np.where(finite, slope, 0.0)


def _normal_quantile(p: np.ndarray) -> np.ndarray:
    from scipy.special import ndtri

    return ndtri(p)
