"""Regressions of answers that come in clusters: several from one person are not several people.

`clustered_fit` is ordinary least squares with the bias-reduced sandwich (CR2) of Bell and McCaffrey and their degrees
of freedom, which hold for few people; `within_fit` does the same after taking away each person's mean, so that only
what changes within a person counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError
from interplay.stats._checks import open_unit
from interplay.stats.correlation import correlation_or_nan


@dataclass(frozen=True)
class Coefficient:
    """A slope with its interval by clusters."""

    slope: float
    se: float
    df: float
    p: float
    low: float
    high: float
    r: float  # of the rating with this column alone
    n: int
    clusters: int


def clustered_fit(y: ArrayLike, x: ArrayLike, clusters: Iterable[Any], *, level: float = 0.95) -> list[Coefficient]:
    """A coefficient for each column of x [row, column], with a constant beside them."""
    rows, columns, codes = _checked(y, x, clusters)
    design = np.column_stack([columns - columns.mean(axis=0), np.ones(len(rows))])
    return _sandwich(rows, design, codes, columns.shape[1], level)


def design_fit(y: ArrayLike, design: ArrayLike, clusters: Iterable[Any], *, level: float = 0.95) -> list[Coefficient]:
    """A coefficient for each column of a design [row, column] as it is, without a constant."""
    codes = np.unique(np.asarray([str(c) for c in clusters]), return_inverse=True)[1]
    if len(codes) <= np.shape(design)[1]:
        raise InterplayError(f"{len(codes)} answers are too few for {np.shape(design)[1]} coefficients")
    columns = np.asarray(design, float)
    return _sandwich(np.asarray(y, float), columns, codes, columns.shape[1], level)


def within_fit(y: ArrayLike, x: ArrayLike, clusters: Iterable[Any], *, level: float = 0.95) -> list[Coefficient]:
    """The same of differences from each cluster's own mean. Clusters of one row are left out."""
    rows, columns, codes = _checked(y, x, clusters)
    several = np.bincount(codes)[codes] > 1
    if not several.any():
        raise InterplayError("no person has two ratings, so nothing can be compared within a person")
    rows, columns = rows[several], columns[several]
    codes = np.unique(codes[several], return_inverse=True)[1]
    size = np.bincount(codes)
    design = columns - np.stack([np.bincount(codes, weights=c) / size for c in columns.T], axis=1)[codes]
    left = rows - (np.bincount(codes, weights=rows) / size)[codes]
    if np.any(np.ptp(design, axis=0) <= 1e-12 * np.maximum(1.0, np.abs(columns).max(axis=0))):
        raise InterplayError("the measure does not change within any person")
    return _sandwich(left, design, codes, columns.shape[1], level)


def _checked(y: ArrayLike, x: ArrayLike, clusters: Iterable[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = np.asarray(y, float)
    columns = np.asarray(x, float)
    columns = columns[:, None] if columns.ndim == 1 else columns
    codes = np.unique(np.asarray([str(c) for c in clusters]), return_inverse=True)[1]
    if not (len(rows) == len(columns) == len(codes)):
        raise InterplayError(f"{len(rows)} ratings, {len(columns)} rows of measures, {len(codes)} people: one each")
    if not (np.isfinite(rows).all() and np.isfinite(columns).all()):
        raise InterplayError("ratings and measures must be numbers; leave rows with missing ones out first")
    if len(rows) and (np.ptp(rows) == 0 or np.any(np.ptp(columns, axis=0) == 0)):
        raise InterplayError("all ratings, or all values of the measure, are the same")
    if len(rows) == 0 or codes.max() < 2:
        raise InterplayError(f"{len(np.unique(codes))} people are too few for a regression; at least 3 are needed")
    return rows, columns, codes


def _sandwich(y: np.ndarray, design: np.ndarray, codes: np.ndarray, count: int, level: float) -> list[Coefficient]:
    from scipy.special import stdtr, stdtrit

    open_unit(level, "level")
    if np.linalg.matrix_rank(design) < design.shape[1]:
        raise InterplayError("the measures depend on one another, so their slopes cannot be told apart")
    bread = np.linalg.inv(design.T @ design)
    beta = bread @ design.T @ y
    residual = y - design @ beta
    parts = [np.flatnonzero(codes == g) for g in range(codes.max() + 1)]
    adjusted = [_root(np.eye(len(at)) - design[at] @ bread @ design[at].T) for at in parts]
    coefficients = []
    for k in range(count):
        weight = design @ bread[:, k]
        scores = np.array([weight[at] @ a @ residual[at] for at, a in zip(parts, adjusted, strict=True)])
        se = math.sqrt(float(scores @ scores))
        df = _freedom(design, bread, weight, parts, adjusted)
        t = beta[k] / se if se > 0 else math.inf * np.sign(beta[k] or 1)
        half = float(stdtrit(df, (1 + level) / 2)) * se
        r = correlation_or_nan(design[:, k], y)
        p = float(2 * stdtr(df, -abs(t))) if math.isfinite(t) else 0.0
        low, high = float(beta[k] - half), float(beta[k] + half)
        coefficients.append(Coefficient(float(beta[k]), se, df, p, low, high, r, len(y), len(parts)))
    return coefficients


def _root(matrix: np.ndarray) -> np.ndarray:
    """The inverse of the symmetric root; directions that a cluster alone decides have none, and stay out."""
    values, vectors = np.linalg.eigh(matrix)
    inverse = np.where(values > 1e-10, 1 / np.sqrt(np.maximum(values, 1e-10)), 0.0)
    return (vectors * inverse) @ vectors.T


def _freedom(
    design: np.ndarray, bread: np.ndarray, weight: np.ndarray, parts: list[np.ndarray], adjusted: list[np.ndarray]
) -> float:
    """Degrees of freedom of the variance, were the errors alike and independent (Satterthwaite)."""
    scores = [a @ weight[at] for at, a in zip(parts, adjusted, strict=True)]
    pulls = np.stack([design[at].T @ s for at, s in zip(parts, scores, strict=True)])  # [cluster, column]
    gram = -pulls @ bread @ pulls.T
    gram[np.diag_indices(len(parts))] += [s @ s for s in scores]
    return float(np.trace(gram) ** 2 / np.sum(gram * gram))
