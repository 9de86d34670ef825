"""Least squares on one predictor: a line or a parabola.

p values assume independent residuals; where people or agents give several rows each, use `slope_interval`, which
resamples them whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError
from interplay.stats._checks import Missing, Numbers, Seed, complete, open_unit, varying
from interplay.stats.bootstrap import Interval, bootstrap_counts
from interplay.stats.resampling_design import design


@dataclass(frozen=True)
class LinearFit:
    """y = intercept + slope x, with the interval of the slope."""

    slope: float
    intercept: float
    r: float
    r_squared: float
    p: float
    slope_se: float
    low: float
    high: float
    level: float
    df: int
    n: int

    def predict(self, x: ArrayLike) -> np.ndarray:
        """Return the line's values at x."""
        return self.intercept + self.slope * np.asarray(x, dtype=np.float64)


@dataclass(frozen=True)
class QuadraticFit:
    """y = a x^2 + b x + c. `r` is the multiple correlation; a parabola with a < 0 has its best point at `vertex`."""

    a: float
    b: float
    c: float
    r: float
    r_squared: float
    p: float  # F test of both terms together
    p_quadratic: float  # t test of a
    a_se: float
    vertex: float
    df: int
    n: int

    def predict(self, x: ArrayLike) -> np.ndarray:
        """Return the parabola's values at x."""
        at = np.asarray(x, dtype=np.float64)
        return (self.a * at + self.b) * at + self.c


def linear_fit(x: Numbers, y: Numbers, *, level: float = 0.95, missing: Missing = "raise") -> LinearFit:
    """Ordinary least squares with the t test of the slope."""
    from scipy.special import stdtr, stdtrit

    a, b = complete(x, y, names=["x", "y"], missing=missing, least=3)
    varying(a, "x")
    varying(b, "y")
    dx, dy = a - a.mean(), b - b.mean()
    sxx, syy, sxy = dx @ dx, dy @ dy, dx @ dy
    slope, df = sxy / sxx, len(a) - 2
    residual = max(float(np.sum((dy - slope * dx) ** 2)), 0.0)
    se = math.sqrt(residual / df / sxx)
    p = float(2 * stdtr(df, -abs(slope) / se)) if se > 0 else 0.0
    half = float(stdtrit(df, (1 + open_unit(level, "level")) / 2)) * se
    r = float(np.clip(sxy / math.sqrt(sxx * syy), -1, 1))
    return LinearFit(
        slope=float(slope), intercept=float(b.mean() - slope * a.mean()), r=r, r_squared=r * r, p=p, slope_se=se,
        low=float(slope - half), high=float(slope + half), level=level, df=df, n=len(a),
    )  # fmt: skip


def quadratic_fit(x: Numbers, y: Numbers, *, missing: Missing = "raise") -> QuadraticFit:
    """A parabola by least squares. x is centred and scaled while solving: x and x^2 are all but collinear otherwise."""
    from scipy.special import fdtrc, stdtr

    u, v = complete(x, y, names=["x", "y"], missing=missing, least=4)
    varying(v, "y")
    if len(np.unique(u)) < 3:
        raise InterplayError(f"x: a parabola needs at least 3 distinct values, found {len(np.unique(u))}")
    centre, scale = u.mean(), u.std()
    z = (u - centre) / scale
    columns = np.column_stack([z * z, z, np.ones_like(z)])
    fitted = np.linalg.lstsq(columns, v, rcond=None)[0]
    residual, total = float(np.sum((v - columns @ fitted) ** 2)), float(np.sum((v - v.mean()) ** 2))
    df = len(u) - 3
    r_squared = max(0.0, 1 - residual / total)
    se = math.sqrt(residual / df * np.linalg.inv(columns.T @ columns)[0, 0])
    explained = (total - residual) / 2
    a, b = fitted[0] / scale**2, fitted[1] / scale - 2 * fitted[0] * centre / scale**2
    c = fitted[2] - fitted[1] * centre / scale + fitted[0] * centre**2 / scale**2
    return QuadraticFit(
        a=float(a), b=float(b), c=float(c), r=math.sqrt(r_squared), r_squared=r_squared,
        p=float(fdtrc(2, df, explained / (residual / df))) if residual > 0 else 0.0,
        p_quadratic=float(2 * stdtr(df, -abs(fitted[0]) / se)) if se > 0 else 0.0,
        a_se=se / scale**2, vertex=float(-b / (2 * a)) if a != 0 else math.nan, df=df, n=len(u),
    )  # fmt: skip


def slope_interval(
    x: Numbers,
    y: Numbers,
    factors: Mapping[str, Any] | None = None,
    *,
    seed: Seed,
    units: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    level: float = 0.95,
    method: str = "percentile",
    replicates: int = 2000,
) -> Interval:
    """The slope of y on x with a bootstrap interval that resamples people, agents or seeds whole."""
    a, b = complete(x, y, names=["x", "y"], least=3)
    varying(a, "x")
    columns = dict(factors or {})
    plan = design(columns, len(a), units=units, fixed=fixed)
    a, b = a - a.mean(), b - b.mean()

    def slopes(counts: np.ndarray) -> np.ndarray:
        n = counts.sum(axis=1)
        sx, sy = counts @ a, counts @ b
        squares = counts @ (a * a)
        sxx = squares - sx * sx / n
        varies = sxx > 1e-12 * squares  # a replicate with one x has no slope, whatever rounding leaves
        return np.divide(counts @ (a * b) - sx * sy / n, sxx, out=np.full(len(n), np.nan), where=varies)

    return bootstrap_counts(slopes, plan, seed=seed, level=level, method=method, replicates=replicates)
