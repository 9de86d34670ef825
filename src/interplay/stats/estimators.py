"""Point estimates of one column, each also under counts: how often every value stands in a resample.

With `counts` of shape [N] an estimate equals that of the values repeated so often; with [replicate, N] there is one
estimate per replicate. This is what makes the bootstrap fast: no resample is ever written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError
from interplay.stats._checks import Missing, Numbers, complete

Estimator = Callable[..., Any]  # (values [N], counts=None | [N] | [replicate, N]) -> float | [replicate]


def mean(values: Numbers, counts: ArrayLike | None = None, *, missing: Missing = "raise") -> Any:
    """Arithmetic mean."""
    x, w = _pair(values, counts, missing)
    return _plain(w @ x / w.sum(-1), counts)


def sd(values: Numbers, counts: ArrayLike | None = None, *, missing: Missing = "raise") -> Any:
    """Standard deviation with n - 1."""
    x, w = _pair(values, counts, missing)
    n = w.sum(-1)
    if np.any(n < 2):
        raise InterplayError("a standard deviation needs at least two values")
    centred = x - (w @ x / n)[..., None]  # in two passes: the sum of squares less the squared sum cancels badly
    return _plain(np.sqrt((w * centred**2).sum(-1) / (n - 1)), counts)


def iqm(values: Numbers, counts: ArrayLike | None = None, *, missing: Missing = "raise") -> Any:
    """Inter-quartile mean: the mean without the floor(n/4) lowest and highest values (a 25 % trimmed mean)."""
    x, w = _sorted_pair(values, counts, missing)
    upto = np.cumsum(w, axis=-1)
    n = upto[..., -1:].copy()
    cut = n // 4
    kept_upto = np.clip(upto, cut, n - cut, out=upto)
    # the sum of kept counts times values, by parts: cheaper than the differences of kept_upto, and this is the hot loop
    total = kept_upto[..., -1] * x[-1] - cut[..., 0] * x[0] - kept_upto[..., :-1] @ np.diff(x)
    return _plain(total / (n - 2 * cut)[..., 0], counts)


def quantile(values: Numbers, q: float, counts: ArrayLike | None = None, *, missing: Missing = "raise") -> Any:
    """Quantile with linear interpolation between order statistics (numpy's default)."""
    if not 0 <= q <= 1:
        raise InterplayError(f"q must lie between 0 and 1, not {q!r}")
    x, w = _sorted_pair(values, counts, missing)
    upto = np.cumsum(w, axis=-1)
    place = (upto[..., -1] - 1) * q
    low = np.floor(place)
    at = [x[(upto <= k[..., None]).sum(-1)] for k in (low, np.ceil(place))]
    return _plain(at[0] + (place - low) * (at[1] - at[0]), counts)


def median(values: Numbers, counts: ArrayLike | None = None, *, missing: Missing = "raise") -> Any:
    """Median."""
    return quantile(values, 0.5, counts, missing=missing)


def iqr(values: Numbers, counts: ArrayLike | None = None, *, missing: Missing = "raise") -> Any:
    """Inter-quartile range: the 75 % quantile less the 25 % quantile."""
    return quantile(values, 0.75, counts, missing=missing) - quantile(values, 0.25, counts, missing=missing)


def share_above(
    values: Numbers, counts: ArrayLike | None = None, *, threshold: float, missing: Missing = "raise"
) -> Any:
    """Share of values strictly above a threshold."""
    x, w = _pair(values, counts, missing)
    return _plain(w @ (x > threshold) / w.sum(-1), counts)


def optimality_gap(
    values: Numbers, counts: ArrayLike | None = None, *, target: float = 1.0, missing: Missing = "raise"
) -> Any:
    """Mean shortfall below a target; what lies above the target does not make up for it."""
    x, w = _pair(values, counts, missing)
    return _plain(w @ np.maximum(target - x, 0) / w.sum(-1), counts)


ESTIMATORS: dict[str, Estimator] = {"mean": mean, "median": median, "iqm": iqm, "iqr": iqr, "sd": sd}


def estimator(statistic: str | Estimator) -> Estimator:
    """An estimator by name, or the function given."""
    if callable(statistic):
        return statistic
    if statistic not in ESTIMATORS:
        raise InterplayError(
            f"unknown statistic {statistic!r}; known: {', '.join(ESTIMATORS)}, or a function of (values, counts)"
        )
    return ESTIMATORS[statistic]


def _pair(values: Numbers, counts: ArrayLike | None, missing: Missing) -> tuple[np.ndarray, np.ndarray]:
    if counts is None:
        (x,) = complete(values, names=["values"], missing=missing)
        return x, np.ones(len(x), np.int64)
    (x,) = complete(values, names=["values"])  # counts belong to rows, so a row cannot silently go
    w = np.asarray(counts)
    if w.shape[-1:] != x.shape:
        raise InterplayError(f"counts of shape {w.shape} do not fit {len(x)} values")
    if w.dtype.kind not in "iub":
        raise InterplayError("counts must be whole numbers: how often each value stands in the sample")
    if w.min() < 0 or np.any(w.sum(-1) == 0):
        raise InterplayError("counts must not be negative, nor all zero")
    return x, w.astype(np.int64, copy=False)


def _sorted_pair(values: Numbers, counts: ArrayLike | None, missing: Missing) -> tuple[np.ndarray, np.ndarray]:
    x, w = _pair(values, counts, missing)
    if np.all(x[:-1] <= x[1:]):  # the bootstrap sorts once, before it draws
        return x, w
    order = np.argsort(x, kind="stable")
    return x[order], w[..., order]


def _plain(result: Any, counts: ArrayLike | None) -> Any:
    return float(result) if counts is None or np.ndim(counts) == 1 else result
