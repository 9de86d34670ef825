"""Where the variance comes from: seeds, partners, their interactions, episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats._checks import Missing, Numbers, rows_present
from interplay.stats.resampling_design import EPISODE

Subset = frozenset[str]


@dataclass(frozen=True)
class VarianceComponents:
    """Variance of a value by source. Sources are factors ("seed"), interactions ("seed:partner") and "episode".

    `fixed` factors (seats) are played in full in every design, so their own effect adds no uncertainty.
    """

    factors: tuple[str, ...]
    fixed: dict[str, int]  # name -> number of levels
    variances: dict[str, float]  # source -> variance, never negative
    separated: bool = True  # False: one row per cell, so episodes cannot be told from the cell's own deviation

    @property
    def sds(self) -> dict[str, float]:
        """The standard deviation of each source."""
        return {source: variance**0.5 for source, variance in self.variances.items()}

    @property
    def shares(self) -> dict[str, float]:
        """The share of each source in the sum of all variances."""
        total = sum(self.variances.values())
        return {source: variance / total if total else 0.0 for source, variance in self.variances.items()}


def assumed_components(
    sds: Mapping[str, float], *, factors: Sequence[str] = ("seed", "partner"), fixed: Mapping[str, int] | None = None
) -> VarianceComponents:
    """Components from assumed standard deviations, where there is no pilot: {"seed": 10, "seed:partner": 5, ...}."""
    constant = dict(fixed or {})
    known = _names([*factors, *constant])
    variances = dict.fromkeys([*known.values(), EPISODE], 0.0)
    for source, sd in sds.items():
        name = source if source == EPISODE else known.get(frozenset(source.split(":")))
        if name is None:
            raise InterplayError(f"unknown source of variance {source!r}; known: {', '.join(variances)}")
        if not sd >= 0:
            raise InterplayError(f"the standard deviation of {source!r} must not be negative, got {sd!r}")
        variances[name] = float(sd) ** 2
    return VarianceComponents(tuple(factors), constant, variances)


def variance_components(
    values: Numbers,
    factors: Mapping[str, Any],
    *,
    fixed: Sequence[str] = (),
    missing: Missing = "raise",
) -> VarianceComponents:
    """Components from a pilot in which the factors are crossed; the rows of one cell are its episodes.

    Unbiased and free of distributional assumptions, also for unequal cells: pairs of rows that agree exactly on a set
    of factors covary by the components inside that set. Estimates below 0 are set to 0.
    """
    x, columns = rows_present(values, factors, missing)
    for name in fixed:
        if name not in columns:
            raise InterplayError(f"unknown factor {name!r}; the columns are {', '.join(columns) or 'none'}")
    if EPISODE in columns:
        raise InterplayError("leave out the episode column: the rows of one cell are its episodes")
    codes = {name: np.unique([str(v) for v in column], return_inverse=True)[1] for name, column in columns.items()}
    lone = [name for name, code in codes.items() if code.max() == 0]
    if lone:
        raise InterplayError(f"factor {lone[0]!r} has one level; a pilot needs at least two to see how much it varies")
    names = _names(list(columns))
    half_squares = _half_squared_differences(x, codes, names)
    whole = frozenset(columns)
    separated = whole in half_squares
    variances = _solve(half_squares, names, whole)
    levels = {name: int(codes[name].max()) + 1 for name in fixed}
    return VarianceComponents(tuple(n for n in columns if n not in fixed), levels, variances, separated)


def _names(factors: Sequence[str]) -> dict[Subset, str]:
    subsets = chain.from_iterable(combinations(factors, size) for size in range(1, len(factors) + 1))
    return {frozenset(subset): ":".join(subset) for subset in subsets}


def _half_squared_differences(
    x: np.ndarray, codes: Mapping[str, np.ndarray], names: Mapping[Subset, str]
) -> dict[Subset, float]:
    """Mean of (y - y')^2 / 2 over the pairs of rows that agree on exactly a set of factors, where there are any.

    Sums over "at least this set" come from group sums in one pass; inclusion and exclusion makes them exact.
    """
    x = x - x.mean()
    at_least: dict[Subset, np.ndarray] = {}
    for subset in [frozenset(), *names]:
        group = np.zeros(len(x), np.int64)
        for name in subset:
            group = np.unique(group * (codes[name].max() + 1) + codes[name], return_inverse=True)[1]
        n, total, squares = (np.bincount(group, weights=w) for w in (np.ones_like(x), x, x * x))
        at_least[subset] = np.array([np.sum(n * (n - 1)) / 2, np.sum(n * squares - total**2) / 2])
    means = {}
    for subset in at_least:
        pairs, halves = np.sum([(-1) ** len(s - subset) * v for s, v in at_least.items() if s >= subset], axis=0)
        if pairs > 0.5:
            means[subset] = halves / pairs
    return means


def _solve(half_squares: Mapping[Subset, float], names: Mapping[Subset, str], whole: Subset) -> dict[str, float]:
    if frozenset() not in half_squares:
        raise InterplayError("no two rows differ in every factor; the pilot's factors are not crossed")
    total = half_squares[frozenset()]
    episode = half_squares.get(whole, 0.0)
    covariance = {s: total - half_squares[s] for s in half_squares} | {frozenset(): 0.0}
    covariance.setdefault(whole, total)
    absent = [names[s] for s in names if s not in covariance]
    if absent:
        raise InterplayError(
            f"no two rows of the pilot share {absent[0].replace(':', ' and ')} and differ in the other factors; "
            "cross the factors in the pilot, or leave one out"
        )
    raw = {
        name: sum((-1) ** len(subset - s) * c for s, c in covariance.items() if s <= subset)
        for subset, name in names.items()
    }
    return {name: max(float(v), 0.0) for name, v in (raw | {EPISODE: episode}).items()}
