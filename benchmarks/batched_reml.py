"""Linear mixed models of many simulated studies at once: the equations of `stats.models.linear_mixed_model`, batched.

For benchmarks/error_rates.py, where one fit after the other would take hours; that script checks p values against the
shipped functions. Ratings stand in slots [study, person, slot], with 0 in `mask` where there is none. Every random
effect but the partner's belongs to one person, so that people are eliminated as blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.stats.models.design import FixedEffects
from interplay.stats.models.linear_mixed_model import LinearMixedFit, _expected_information


@dataclass(frozen=True)
class Batch:
    """Columns of the same model in many studies."""

    own: np.ndarray  # [study, person, slot, column] of a person's random effects
    term: np.ndarray  # [column] which variance each of them has
    partner: np.ndarray | None  # [study, person, slot, partner] one-hot; None: no random effect of partners
    x: np.ndarray  # [study, person, slot, column] fixed effects
    y: np.ndarray  # [study, person, slot]
    mask: np.ndarray  # [study, person, slot]


class _Products:
    def __init__(self, batch: Batch):
        mask = batch.mask[..., None]
        parts = ([] if batch.partner is None else [batch.partner]) + [batch.x, batch.y[..., None]]
        c = np.concatenate(parts, axis=-1) * mask
        a = batch.own * mask
        self.q = 0 if batch.partner is None else batch.partner.shape[-1]
        self.p = batch.x.shape[-1]
        self.n = batch.mask.sum(axis=(1, 2))
        flat = c.reshape(len(c), -1, c.shape[-1])
        self.gram = flat.transpose(0, 2, 1) @ flat
        self.s = a.swapaxes(-1, -2) @ c  # [study, person, column, other]
        self.f = a.swapaxes(-1, -2) @ a
        self.term = batch.term
        self.terms = int(batch.term.max()) + 1
        self.count = self.terms + (self.q > 0)
        self.total = np.array([np.var(y[m > 0]) for y, m in zip(batch.y, batch.mask, strict=True)])

    def eliminated(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Cross-products without people, those with their effects, within them, and the log determinant."""
        root = np.sqrt(v[:, self.term] / v[:, -1:])[:, None]  # [study, 1, column]
        inner = self.f * root[..., None] * root[..., None, :]
        inner = inner + np.eye(len(self.term))
        k = np.linalg.inv(inner) * root[..., None] * root[..., None, :]
        ks = k @ self.s
        cross = self.gram - np.einsum("bpam,bpan->bmn", self.s, ks, optimize=True)
        outer = self.s - self.f @ ks
        within = self.f - self.f @ k @ self.f
        return cross, outer, within, np.linalg.slogdet(inner)[1].sum(axis=1)


def _derivatives(d: _Products, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[study] deviance, [study, variance] score, [study, variance, variance] information."""
    residual = v[:, -1]
    q, m = d.q, d.q + d.p
    cross, outer, within, deviance = d.eliminated(v)
    scale = np.ones((len(v), m))
    if q:
        scale[:, :q] = np.sqrt(v[:, d.terms] / residual)[:, None]
    left = cross[:, :m, :m] * scale[:, :, None] * scale[:, None]
    left[:, np.arange(q), np.arange(q)] += 1.0
    lower = np.linalg.cholesky(left)
    back = np.linalg.inv(lower) * scale[:, None]
    rest, y = back @ cross[:, :m, :q], (back @ cross[:, :m, m:])[..., 0]
    apart = outer[..., :m] @ back.swapaxes(1, 2)[:, None]  # [study, person, column, m]
    quadratic = (cross[:, m, m] - np.sum(y * y, axis=1)) / residual
    seen = outer[..., m] - np.einsum("bpam,bm->bpa", apart, y)
    pulls = np.einsum("bpam,bpcm->bpac", apart, apart)
    count = d.count
    squares, traces, lengths = np.zeros((len(v), count, count)), np.zeros((len(v), count)), np.zeros((len(v), count))
    of = [np.flatnonzero(d.term == k) for k in range(d.terms)]
    inner = [np.einsum("bpam,bpan->bmn", apart[:, :, c], apart[:, :, c], optimize=True) for c in of]
    for k, c in enumerate(of):
        traces[:, k] = sum(np.sum(within[:, :, i, i] - pulls[:, :, i, i], axis=1) for i in c) / residual
        lengths[:, k] = np.sum(seen[:, :, c] ** 2, axis=(1, 2)) / residual**2
        for j, e in enumerate(of):
            w, u = within[:, :, c][..., e], pulls[:, :, c][..., e]
            total = np.sum(w * w - 2 * w * u, axis=(1, 2, 3)) + np.sum(inner[k] * inner[j], axis=(1, 2))
            squares[:, k, j] = total / residual**2
    if q:
        t = (cross[:, :q, :q] - rest.swapaxes(1, 2) @ rest) / residual[:, None, None]
        mixed = (outer[..., :q] - apart @ rest[:, None]) / residual[:, None, None, None]
        at = d.terms
        traces[:, at] = np.trace(t, axis1=1, axis2=2)
        squares[:, at, at] = np.sum(t * t, axis=(1, 2))
        for k, c in enumerate(of):
            squares[:, at, k] = squares[:, k, at] = np.sum(mixed[:, :, c] ** 2, axis=(1, 2, 3))
        own = (cross[:, :q, m] - np.einsum("bmq,bm->bq", rest, y)) / residual[:, None]
        lengths[:, at] = np.sum(own * own, axis=1)
    information, trace = np.empty((len(v), count + 1, count + 1)), np.empty(len(v))
    for b in range(len(v)):
        information[b], trace[b] = _expected_information(squares[b], traces[b], v[b, :-1], residual[b], d.n[b] - d.p)
    last = (quadratic - np.sum(v[:, :-1] * lengths, axis=1)) / residual - trace
    score = np.column_stack([lengths - traces, last]) / 2
    deviance = deviance + 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
    return deviance + (d.n - d.p) * np.log(residual) + quadratic, score, information


def fit_batch(batch: Batch, names: tuple[str, ...], levels: dict | None = None) -> list[LinearMixedFit | None]:
    """Return one fit for every study; None where scoring did not settle."""
    d = _Products(batch)
    count = d.count
    v = np.column_stack([np.repeat(0.3 * d.total[:, None] / count, count, axis=1), 0.7 * d.total])
    deviance, score, information = _derivatives(d, v)
    settled, stuck = np.zeros(len(v), bool), np.zeros(len(v), bool)
    for _ in range(60):
        free = np.column_stack([(v[:, :-1] > 0) | (score[:, :-1] > 0), np.ones(len(v), bool)])
        both = free[:, :, None] & free[:, None]
        matrix = np.where(both, information, 0.0) + np.eye(count + 1) * ~free[:, None] * np.eye(count + 1)
        step = np.linalg.solve(matrix, np.where(free, score, 0.0)[..., None])[..., 0]
        size, waiting = np.ones(len(v)), ~(settled | stuck)
        change = np.zeros(len(v))
        for _ in range(12):
            moved = np.maximum(v + size[:, None] * step, 0.0)
            moved[:, -1] = np.maximum(moved[:, -1], 0.2 * v[:, -1])
            there = _derivatives(d, np.where(waiting[:, None], moved, v))
            good = waiting & (there[0] <= deviance + 1e-9 * np.abs(deviance))
            change[good] = np.max(np.abs(moved - v), axis=1)[good]
            v[good], deviance[good] = moved[good], there[0][good]
            score[good], information[good] = there[1][good], there[2][good]
            waiting &= ~good
            if not waiting.any():
                break
            size[waiting] /= 2
        stuck |= waiting
        settled |= ~stuck & (change <= 1e-7 * v.sum(axis=1))
        if (settled | stuck).all():
            break
    return _finish(d, v, settled, names, levels or {})


def _finish(d: _Products, v: np.ndarray, settled: np.ndarray, names: tuple, levels: dict) -> list:
    q, m = d.q, d.q + d.p
    cross, outer, within, _ = d.eliminated(v)
    of = [np.flatnonzero(d.term == k) for k in range(d.terms)]
    fits: list[LinearMixedFit | None] = []
    for b in range(len(v)):
        if not settled[b]:
            fits.append(None)
            continue
        residual, effects = v[b, -1], v[b, :-1]
        c, o, w = cross[b], outer[b], within[b]
        scale = np.sqrt(effects[d.terms] / residual) if q else 0.0
        core = scale**2 * np.linalg.inv(np.eye(q) + scale**2 * c[:q, :q])
        down = c[q:m, :q] @ core
        covariance = residual * np.linalg.inv(c[q:m, q:m] - down @ c[:q, q:m])
        beta = covariance @ (c[q:m, m] - down @ c[:q, m]) / residual
        # As in the shipped function, with people's effects in blocks: f = X' V^-1 Z, s = Z' V^-1 Z.
        f = (o[..., q:m] - o[..., :q] @ core @ c[:q, q:m]) / residual  # [person, column, x]
        fp = (c[q:m, :q] - down @ c[:q, :q]) / residual
        sp = (c[:q, :q] - c[:q, :q] @ core @ c[:q, :q]) / residual
        so = (o[..., :q] - o[..., :q] @ core @ c[:q, :q]) / residual  # [person, column, partner]
        slopes = [-np.einsum("pax,pay->xy", f[:, k], f[:, k]) for k in of] + ([-fp @ fp.T] if q else [])
        pulled = [np.einsum("pax,paq->xq", f[:, k], o[:, k, :q]) for k in of]
        to_partner = [np.einsum("pax,paq->xq", f[:, k], so[:, k]) for k in of]

        count = d.count
        curved = [[np.empty(0)] * count for _ in range(count)]
        for k in range(count):
            for j in range(count):
                if k < d.terms and j < d.terms:
                    inner = w[:, of[k]][..., of[j]]
                    direct = np.einsum("pax,pac,pcy->xy", f[:, of[k]], inner, f[:, of[j]], optimize=True)
                    curved[k][j] = (direct - pulled[k] @ core @ pulled[j].T) / residual
                elif k < d.terms:
                    curved[k][j] = to_partner[k] @ fp.T
                else:
                    curved[k][j] = fp @ to_partner[j].T if j < d.terms else fp @ sp @ fp.T
        last = -(np.linalg.inv(covariance) + sum(e * p for e, p in zip(effects, slopes, strict=True))) / residual
        # f_k g_k' with g_k = (f_k - sum_j effects_j f_j s_jk) / residual
        beside = [
            (-slopes[k] - sum(effects[j] * curved[j][k] for j in range(count)).T) / residual for k in range(count)
        ]
        both = (-last - sum(effects[k] * beside[k].T for k in range(count))) / residual
        full = [[*curved[k], beside[k]] for k in range(count)] + [[*(t.T for t in beside), both]]
        slopes = [*slopes, last]
        fits.append(_as_fit(d, b, v[b], names, levels, beta, covariance, slopes, full))
    information = _derivatives(d, v)[2]
    for b, fit in enumerate(fits):
        if fit is None:
            continue
        inverse = np.linalg.pinv(information[b], rcond=1e-12, hermitian=True)
        slopes, full, covariance = fit.__dict__.pop("_parts")
        total = sum(
            inverse[k, j] * (full[k][j] - slopes[k] @ covariance @ slopes[j])
            for k in range(len(slopes))
            for j in range(len(slopes))
        )
        adjusted = covariance + 2 * covariance @ total @ covariance
        fit.__dict__["_kenward_roger"] = ((adjusted + adjusted.T) / 2, inverse, slopes)
    return fits


def _as_fit(d, b, v, names, levels, beta, covariance, slopes, full) -> LinearMixedFit:
    """The shipped record, whose tests then use these pieces."""
    variances = {str(k): float(value) for k, value in enumerate(v)}
    fixed = FixedEffects(np.zeros((1, len(names))), names, levels)
    fit = LinearMixedFit(fixed, beta, covariance, variances, {}, np.nan, int(d.n[b]), None)  # type: ignore[arg-type]
    fit.__dict__["_parts"] = (slopes, full, covariance)
    return fit
