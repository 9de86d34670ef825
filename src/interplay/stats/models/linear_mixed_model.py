"""Linear mixed models with crossed random effects, by restricted maximum likelihood.

The random effect with the most levels (people, as a rule) is eliminated in closed form, so that a fit costs about as
much as one of the other effects alone. Tests are those of Kenward and Roger (1997): the covariance of the fixed effects
is corrected for having estimated the variances, and the degrees of freedom come from their expected information. That
information stays regular where a variance is estimated as 0, so degrees of freedom do not jump up there: with eight
partners and an effect of partners, there are six, whatever the partners' variance happened to be estimated at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError
from interplay.stats.models.design import FixedEffects, RandomTerm, fixed_effects, random_terms
from interplay.stats.models.inference import Estimate, JointTest


@dataclass(frozen=True)
class LinearMixedFit:
    """A fitted model. Variances are by the name of the random effect, with `residual` last."""

    fixed: FixedEffects
    coefficients: np.ndarray  # [column]
    covariance: np.ndarray  # [column, column], as if the variances were known
    variances: Mapping[str, float]
    random: Mapping[str, Mapping[Any, float]]  # predicted effects by term and level
    deviance: float  # -2 log restricted likelihood
    n: int
    _pieces: _Pieces

    @property
    def total_sd(self) -> float:
        """The standard deviation of one value around its mean, all random effects and the residual together."""
        return math.sqrt(sum(self.variances.values()))

    def coefficient(self, name: str, *, level: float = 0.95) -> Estimate:
        """Return a fixed effect by its name in `fixed.names`."""
        return self.contrast(self.fixed.weights(name), level=level)

    def contrast(self, weights: ArrayLike, *, level: float = 0.95) -> Estimate:
        """Return a linear combination of the fixed effects, with Kenward and Roger's standard error and df."""
        c = np.asarray(weights, float)
        plain = c @ self.covariance @ c
        adjusted, information, slopes = self._kenward_roger
        change = np.array([-(c @ self.covariance @ p @ self.covariance @ c) for p in slopes])
        spread = float(change @ information @ change)
        df = 2 * plain**2 / spread if spread > 0 else math.inf
        return Estimate(float(c @ self.coefficients), math.sqrt(float(c @ adjusted @ c)), float(df), level)

    def joint(self, weights: ArrayLike) -> JointTest:
        """Test that several linear combinations [combination, column] are all 0 (Kenward and Roger's F)."""
        c = np.atleast_2d(np.asarray(weights, float))
        q = len(c)
        if q == 1:
            one = self.contrast(c[0])
            return JointTest(one.t**2, 1, one.df)
        adjusted, information, slopes = self._kenward_roger
        value = c @ self.coefficients
        wald = float(value @ np.linalg.solve(c @ adjusted @ c.T, value)) / q
        project = c.T @ np.linalg.solve(c @ self.covariance @ c.T, c)
        pulls = [project @ self.covariance @ p @ self.covariance for p in slopes]
        traces = np.array([np.trace(m) for m in pulls])
        a1 = float(traces @ information @ traces)
        a2 = float(
            sum(information[i, j] * np.sum(pulls[i] * pulls[j].T) for i in range(len(pulls)) for j in range(len(pulls)))
        )
        scale, df = _f_moments(q, a1, a2)
        return JointTest(scale * wald, q, df)

    def means(self, factor: str, *, level: float = 0.95) -> dict[Any, Estimate]:
        """Return the marginal mean of every level of a factor."""
        weights = self.fixed.mean_weights(factor)
        return {at: self.contrast(w, level=level) for at, w in zip(self.fixed.levels[factor], weights, strict=True)}

    def pairs(self, factor: str, *, level: float = 0.95) -> dict[tuple[Any, Any], Estimate]:
        """Return the differences between all pairs of levels of a factor."""
        names, weights = self.fixed.pair_weights(factor)
        return {pair: self.contrast(w, level=level) for pair, w in zip(names, weights, strict=True)}

    def factor(self, factor: str) -> JointTest:
        """Test whether the levels of a factor differ at all."""
        return self.joint(self.fixed.factor_weights(factor))

    @cached_property
    def _kenward_roger(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The adjusted covariance, the inverse of the expected information of the variances, and P of each."""
        return _kenward_roger(self._pieces, np.array(list(self.variances.values())), self.covariance)


def linear_mixed(
    y: ArrayLike,
    fixed: Mapping[str, Any],
    groups: Mapping[str, Any],
    *,
    slopes: Mapping[str, Any] | None = None,
) -> LinearMixedFit:
    """Fit a linear model with a constant, fixed effects, and random effects of crossed or nested groupings.

    Args:
        y: Values to explain.
        fixed: Columns of numbers, or factors, by name.
        groups: Columns of levels that were drawn from a population: person, partner, item, or cells of several.
        slopes: By the name of a grouping, a column of numbers whose slope varies over its levels.

    Raises:
        InterplayError: Columns do not fit each other, values are missing or all the same, or there are too few levels
            to tell a variance.
    """
    values = np.asarray(y, float)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InterplayError("the values to explain must be one column of numbers; leave rows with missing ones out")
    design = fixed_effects(fixed, len(values))
    terms = random_terms(groups, len(values), slopes)
    if len(values) <= design.matrix.shape[1] + len(terms):
        raise InterplayError(f"{len(values)} values are too few for {design.matrix.shape[1]} fixed effects")
    if np.ptp(values) <= 1e-13 * max(1.0, float(np.abs(values).max())):
        raise InterplayError(f"all {len(values)} values are {values[0]:g}; there is nothing to explain")
    pieces = _Pieces(values, design.matrix, terms)
    for term in terms:
        if pieces.explained(term):
            raise InterplayError(f"{len(term.levels)} levels of {term.name} are too few beside the fixed effects")
    theta = _score(pieces)
    return _fit(pieces, _optimise(pieces) if theta is None else theta, design)


class _Pieces:
    """Cross-products of a model's columns, with the random effect of the most levels set apart."""

    def __init__(self, y: np.ndarray, x: np.ndarray, terms: Sequence[RandomTerm]):
        self.terms = list(terms)
        self.apart = max(range(len(terms)), key=lambda k: len(terms[k].levels))
        self.rest = [k for k in range(len(terms)) if k != self.apart]
        blocks = [terms[k].columns() for k in self.rest]
        ends = np.cumsum([0, *(b.shape[1] for b in blocks)])
        self.at = {k: slice(int(a), int(b)) for k, a, b in zip(self.rest, ends[:-1], ends[1:], strict=True)}
        self.q, self.p, self.n = int(ends[-1]), x.shape[1], len(y)
        self.columns = np.column_stack([*blocks, x, y])
        big = terms[self.apart]
        self.gram = self.columns.T @ self.columns
        self.sums = big.sums(self.columns)  # [level, column]
        self.squares = np.bincount(big.codes, weights=big.by**2, minlength=len(big.levels))
        self.x = x

    def explained(self, term: RandomTerm) -> bool:
        """Whether the fixed effects say everything about the levels of a term, so that it has no variance left."""
        basis = np.linalg.qr(self.x)[0]
        squares = np.bincount(term.codes, weights=term.by**2)
        return bool(squares.sum() - np.sum(term.sums(basis) ** 2) <= 1e-9 * squares.sum())

    def scales(self, theta: np.ndarray) -> np.ndarray:
        """The relative standard deviation of every column of the random effects that are not set apart."""
        scale = np.empty(self.q)
        for k in self.rest:
            scale[self.at[k]] = theta[k]
        return scale

    def without_apart(self, ratio: float) -> np.ndarray:
        """Cross-products of all columns under the covariance of the effect set apart and the residual."""
        weight = ratio / (1 + ratio * self.squares)
        return self.gram - (self.sums * weight[:, None]).T @ self.sums

    def solve(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, float]:
        """The deviance, the Cholesky factor, the solution before back-substitution, the residual sum of squares."""
        ratio = float(theta[self.apart]) ** 2
        cross = self.without_apart(ratio)
        scale = np.concatenate([self.scales(theta), np.ones(self.p)])
        m = self.q + self.p
        left = cross[:m, :m] * scale[:, None] * scale
        left[np.arange(self.q), np.arange(self.q)] += 1.0
        lower = np.linalg.cholesky(left)
        from scipy.linalg import solve_triangular

        half = solve_triangular(lower, cross[:m, m] * scale, lower=True, check_finite=False)
        rss = float(cross[m, m] - half @ half)
        diagonal = np.log(np.diag(lower))
        deviance = float(np.log1p(ratio * self.squares).sum()) + 2 * float(diagonal.sum())
        df = self.n - self.p
        rss = max(rss, 1e-300)
        return deviance + df * (1 + math.log(2 * math.pi * rss / df)), lower, half, rss


def _score(pieces: _Pieces) -> np.ndarray | None:
    """Relative standard deviations by Fisher's scoring on the variances; None if it does not settle.

    In the variances, unlike in standard deviations, the derivative at 0 says whether an effect wants to be there.
    """
    count = len(pieces.terms)
    total = float(np.var(pieces.columns[:, -1]))
    now = np.array([0.3 * total / count] * count + [0.7 * total])
    deviance, score, information = _derivatives(pieces, now)
    for _ in range(60):
        free = np.append((now[:-1] > 0) | (score[:-1] > 0), True)
        step = np.zeros(count + 1)
        step[free] = np.linalg.lstsq(information[np.ix_(free, free)], score[free], rcond=1e-12)[0]
        size = 1.0
        while True:
            moved = np.maximum(now + size * step, 0.0)
            moved[-1] = max(moved[-1], 0.2 * now[-1])
            if moved[-1] < 1e-9 * total:
                raise InterplayError(
                    "the effects explain every value exactly, so there is nothing to test them against"
                )
            there = _derivatives(pieces, moved)
            if there[0] <= deviance + 1e-9 * abs(deviance) or size < 1e-4:
                break
            size /= 2
        if size < 1e-4:
            return None
        change = float(np.max(np.abs(moved - now)))
        now, (deviance, score, information) = moved, there
        if change <= 1e-7 * float(now.sum()):
            return np.sqrt(now[:-1] / now[-1])
    return None


def _derivatives(pieces: _Pieces, variances: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The restricted deviance up to a constant, the score of the variances, and their expected information."""
    from scipy.linalg import solve_triangular

    residual, effects = float(variances[-1]), variances[:-1]
    ratio = effects[pieces.apart] / residual
    q, m = pieces.q, pieces.q + pieces.p
    cross = pieces.without_apart(ratio)
    scale = np.concatenate([pieces.scales(np.sqrt(effects / residual)), np.ones(pieces.p)])
    left = cross[:m, :m] * scale[:, None] * scale
    left[np.arange(q), np.arange(q)] += 1.0
    lower = np.linalg.cholesky(left)
    shrink = 1 / (1 + ratio * pieces.squares)
    outer = pieces.sums * shrink[:, None]
    both = np.concatenate([cross[:m, :q], cross[:m, m:], outer[:, :m].T], axis=1) * scale[:, None]
    both = solve_triangular(lower, both, lower=True, check_finite=False)
    rest, y, apart = both[:, :q], both[:, q], both[:, q + 1 :]
    # Products under P, the projection that takes the fixed effects out: Z_k' P Z_l, Z_k' P y, y' P y.
    t_rest = (cross[:q, :q] - rest.T @ rest) / residual
    t_mixed = (outer[:, :q] - apart.T @ rest) / residual
    diagonal, pulls = pieces.squares * shrink, np.sum(apart**2, axis=0)
    inner = apart @ apart.T
    t_apart = float(diagonal @ diagonal - 2 * diagonal @ pulls + np.sum(inner**2)) / residual**2
    seen = {k: (cross[pieces.at[k], m] - rest[:, pieces.at[k]].T @ y) / residual for k in pieces.rest}
    seen[pieces.apart] = (outer[:, m] - apart.T @ y) / residual
    quadratic = float(cross[m, m] - y @ y) / residual
    count = len(effects)
    squares = np.empty((count, count))
    traces = np.empty(count)
    for k in range(count):
        own = pieces.at.get(k)
        traces[k] = float((diagonal - pulls).sum()) / residual if own is None else float(np.trace(t_rest[own, own]))
        for j in range(count):
            other = pieces.at.get(j)
            if own is None and other is None:
                squares[k, j] = t_apart
            elif own is None or other is None:
                squares[k, j] = float(np.sum(t_mixed[:, other if own is None else own] ** 2))
            else:
                squares[k, j] = float(np.sum(t_rest[own, other] ** 2))
    information, trace = _expected_information(squares, traces, effects, residual, pieces.n - pieces.p)
    lengths = np.array([float(seen[k] @ seen[k]) for k in range(count)])
    score = np.append(lengths - traces, (quadratic - effects @ lengths) / residual - trace) / 2
    deviance = float(np.log1p(ratio * pieces.squares).sum()) + 2 * float(np.log(np.diag(lower)).sum())
    return deviance + (pieces.n - pieces.p) * math.log(residual) + quadratic, score, information


def _expected_information(
    squares: np.ndarray, traces: np.ndarray, effects: np.ndarray, residual: float, df: int
) -> tuple[np.ndarray, float]:
    """Half the traces of P V_k P V_l, and the trace of P; those with the residual follow from P V P = P."""
    count = len(effects)
    information = np.empty((count + 1, count + 1))
    twice = (traces - squares @ effects) / residual
    trace = float(df - effects @ traces) / residual
    information[:count, :count] = squares
    information[:count, count] = information[count, :count] = twice
    information[count, count] = (trace - effects @ twice) / residual
    return information / 2, trace


def _optimise(pieces: _Pieces) -> np.ndarray:
    """Relative standard deviations by a general optimiser, where scoring does not settle."""
    from scipy.optimize import minimize

    def deviance(theta: np.ndarray) -> float:
        return pieces.solve(theta)[0]

    count = len(pieces.terms)
    best = None
    # A second start from small effects: the first may stop where one of them is all but 0 and flat.
    for start in (np.full(count, 0.7), np.full(count, 0.1)):
        optimum = minimize(deviance, start, method="L-BFGS-B", bounds=[(0.0, 1e4)] * count, options={"ftol": 1e-13})
        if best is None or optimum.fun < best.fun - 1e-9:
            best = optimum
        if np.all(best.x > 0.05):
            break
    assert best is not None
    theta = best.x
    for k in range(count):  # at 0 the derivative by the standard deviation is 0 whatever the variance wants
        if 0 < theta[k] < 1e-3:
            zero = theta.copy()
            zero[k] = 0.0
            theta = zero if deviance(zero) <= deviance(theta) + 1e-9 else theta
    return theta


def _fit(pieces: _Pieces, theta: np.ndarray, design: FixedEffects) -> LinearMixedFit:
    from scipy.linalg import solve_triangular

    deviance, lower, half, rss = pieces.solve(theta)
    variance = rss / (pieces.n - pieces.p)
    solved = solve_triangular(lower.T, half, check_finite=False)
    beta = solved[pieces.q :]
    tail = solve_triangular(lower[pieces.q :, pieces.q :], np.eye(pieces.p), lower=True)
    rest = pieces.scales(theta) * solved[: pieces.q]
    big = pieces.terms[pieces.apart]
    ratio = float(theta[pieces.apart]) ** 2
    left = pieces.sums[:, -1] - pieces.sums[:, :-1] @ np.concatenate([rest, beta])
    own = left * ratio / (1 + ratio * pieces.squares)
    random = {
        term.name: dict(zip(term.levels, (own if term is big else rest[pieces.at[k]]).tolist(), strict=True))
        for k, term in enumerate(pieces.terms)
    }
    variances = {term.name: float(variance * theta[k] ** 2) for k, term in enumerate(pieces.terms)}
    return LinearMixedFit(
        design, beta, variance * tail.T @ tail, {**variances, "residual": variance}, random, deviance, pieces.n,
        pieces,
    )  # fmt: skip


def _kenward_roger(
    pieces: _Pieces, variances: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    residual, effects = variances[-1], variances[:-1]
    count = len(effects)
    ratio = effects[pieces.apart] / residual
    cross = pieces.without_apart(ratio)
    q, m = pieces.q, pieces.q + pieces.p
    shrink = 1 / (1 + ratio * pieces.squares)
    outer = pieces.sums[:, :m] * shrink[:, None]  # of the effect set apart with all other columns
    scale = pieces.scales(np.sqrt(effects / residual))
    inner = cross[:q, :q]
    core = scale[:, None] * np.linalg.solve(np.eye(q) + scale[:, None] * inner * scale, np.diag(scale))
    # s[k, l] = Z_k' V^-1 Z_l and f[k] = X' V^-1 Z_k, for all pairs of random effects.
    s_rest = (inner - inner @ core @ inner) / residual
    f_rest = (cross[q:m, :q] - cross[q:m, :q] @ core @ inner) / residual
    s_mixed = (outer[:, :q] - outer[:, :q] @ core @ inner) / residual
    f_apart = (outer[:, q:].T - cross[q:m, :q] @ core @ outer[:, :q].T) / residual
    s_apart = (np.diag(pieces.squares * shrink) - outer[:, :q] @ core @ outer[:, :q].T) / residual

    def s(k: int, j: int) -> np.ndarray:
        if k == j == pieces.apart:
            return s_apart
        if k == pieces.apart:
            return s_mixed[:, pieces.at[j]]
        if j == pieces.apart:
            return s_mixed[:, pieces.at[k]].T
        return s_rest[pieces.at[k], pieces.at[j]]

    f = [f_apart if k == pieces.apart else f_rest[:, pieces.at[k]] for k in range(count)]
    t = [[s(k, j) - f[k].T @ covariance @ f[j] for j in range(count)] for k in range(count)]
    squares = np.array([[float(np.sum(t[k][j] ** 2)) for j in range(count)] for k in range(count)])
    traces = np.array([float(np.trace(t[k][k])) for k in range(count)])
    information, _ = _expected_information(squares, traces, effects, residual, pieces.n - pieces.p)
    inverse = np.linalg.pinv(information, rcond=1e-12, hermitian=True)
    # P_k and Q_kl of Kenward and Roger; those of the residual follow from V^-1 = V^-1 V V^-1.
    slopes = [-f[k] @ f[k].T for k in range(count)]
    last = -(np.linalg.inv(covariance) + sum(v * p for v, p in zip(effects, slopes, strict=True))) / residual
    slopes.append(last)
    g = [(f[j] - sum(effects[k] * f[k] @ s(k, j) for k in range(count))) / residual for j in range(count)]
    curved = [[f[k] @ s(k, j) @ f[j].T for j in range(count)] + [f[k] @ g[k].T] for k in range(count)]
    both = (-last - sum(effects[k] * g[k] @ f[k].T for k in range(count))) / residual
    curved.append([curved[k][count].T for k in range(count)] + [both])
    total = np.zeros_like(covariance)
    for k in range(count + 1):
        for j in range(count + 1):
            total += inverse[k, j] * (curved[k][j] - slopes[k] @ covariance @ slopes[j])
    adjusted = covariance + 2 * covariance @ total @ covariance
    adjusted = (adjusted + adjusted.T) / 2
    try:
        np.linalg.cholesky(adjusted)
    except np.linalg.LinAlgError:  # of a handful of values: the correction, an expansion, left a variance below 0
        adjusted = covariance
    return adjusted, inverse, slopes


def _f_moments(q: int, a1: float, a2: float) -> tuple[float, float]:
    """The factor of the Wald statistic and the denominator df, by matching two moments of F."""
    if a2 <= 0:
        return 1.0, math.inf
    if a2 >= q / 2:  # too little is known of the variances for moments of F to exist; one df is the fewest
        return 1.0, 1.0
    b = (a1 + 6 * a2) / (2 * q)
    g = ((q + 1) * a1 - (q + 4) * a2) / ((q + 2) * a2)
    below = 3 * q + 2 * (1 - g)
    c1, c2, c3 = g / below, (q - g) / below, (q + 2 - g) / below
    expected = 1 / (1 - a2 / q)
    variance = 2 / q * (1 + c1 * b) / ((1 - c2 * b) ** 2 * (1 - c3 * b))
    rho = variance / (2 * expected**2)
    df = 4 + (q + 2) / (q * rho - 1)
    return df / (expected * (df - 2)), df
