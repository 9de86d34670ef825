"""Scales of several questions: how much the questions have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError
from interplay.stats._checks import Seed, generator
from interplay.stats.correlation import correlation_or_nan


@dataclass(frozen=True)
class Alpha:
    """How much questions of a scale have in common. The interval draws people whole."""

    alpha: float
    low: float
    high: float
    without: tuple[float, ...]  # alpha of the others, by question
    item_rest: tuple[float, ...]  # correlation of a question with the sum of the others
    n: int
    people: int


def cronbach_alpha(
    items: ArrayLike, clusters: Iterable[Any], *, seed: Seed, level: float = 0.95, replicates: int = 1000
) -> Alpha:
    """Cronbach's alpha of items [answer, question], with the alphas without each."""
    table = np.asarray(items, float)
    if table.ndim != 2 or table.shape[1] < 2 or len(table) < 3:
        raise InterplayError(f"alpha needs at least 3 answers to at least 2 questions, got shape {table.shape}")
    total = table.sum(axis=1)
    if np.ptp(total) == 0:
        raise InterplayError("everyone has the same sum, so alpha is not defined")
    codes = np.unique(np.asarray([str(c) for c in clusters]), return_inverse=True)[1]
    people = int(codes.max()) + 1
    rng = generator(seed)
    drawn = rng.multinomial(people, np.full(people, 1 / people), size=replicates)[:, codes].astype(float)
    values = _alpha(table, drawn)
    values = values[np.isfinite(values)]
    ends = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]) if len(values) else (math.nan, math.nan)
    ones = np.ones((1, len(table)))
    rest = tuple(_alpha(np.delete(table, k, axis=1), ones)[0] for k in range(table.shape[1]))
    item = tuple(correlation_or_nan(table[:, k], total - table[:, k]) for k in range(table.shape[1]))
    alone = rest if table.shape[1] > 2 else (math.nan,) * 2
    whole = float(_alpha(table, ones)[0])
    return Alpha(whole, float(ends[0]), float(ends[1]), tuple(map(float, alone)), item, len(table), people)


def _alpha(table: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """[replicate] alpha where each row stands as often as its count [replicate, row]."""
    k, n = table.shape[1], counts.sum(axis=1, keepdims=True)
    parts = np.column_stack([table, table.sum(axis=1)])
    mean = counts @ parts / n
    variance = counts @ parts**2 / n - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        return k / (k - 1) * (1 - variance[:, :k].sum(axis=1) / variance[:, k]) if k > 1 else np.full(len(n), np.nan)
