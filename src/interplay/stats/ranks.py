"""Ranks, shares of ranks, and how stable a ranking is when the experiment is drawn again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError
from interplay.stats._checks import Numbers, Seed, generator
from interplay.stats.comparison import grouped
from interplay.stats.estimators import Estimator, estimator


@dataclass(frozen=True)
class RankStability:
    """What the bootstrap says about a ranking of groups. Arrays are ordered as `names`, best first."""

    names: tuple[Any, ...]
    estimates: np.ndarray  # [group]
    ranks: np.ndarray  # [group], 1 is best, ties share the mean of their ranks
    shares: np.ndarray  # [group, rank], share of replicates in which a group has a rank
    beats: np.ndarray  # [group, group], share of replicates in which the row is better than the column, ties half
    tau: float  # mean Kendall tau-b between the replicates' rankings and the ranking of the data
    concordance: float  # Kendall's W among the replicates: 1 where all agree, near 0 where none do
    resampled: tuple[str, ...]
    not_resampled: tuple[str, ...]


def ranks(scores: ArrayLike, *, higher_is_better: bool = True) -> np.ndarray:
    """Ranks along the last axis: 1 is best, ties share the mean of their ranks."""
    better, equal = _better_equal(_scores(scores), higher_is_better)
    return 1 + better + (equal - 1) / 2


def rank_shares(scores: ArrayLike, *, higher_is_better: bool = True) -> np.ndarray:
    """Share of rows (layouts, people, replicates) [row, group] in which a group takes each rank: [group, rank].

    A tie over several ranks is divided equally among them, so rows and columns both sum to 1.
    """
    table = np.atleast_2d(_scores(scores))
    better, equal = _better_equal(table, higher_is_better)
    places = np.arange(table.shape[-1])
    taken = (better[..., None] <= places) & (places < (better + equal)[..., None])
    return (taken / equal[..., None]).mean(axis=0)


def kendall_w(scores: ArrayLike, *, higher_is_better: bool = True) -> float:
    """Kendall's coefficient of concordance, corrected for ties, among the rows of [rater, item]."""
    table = np.atleast_2d(_scores(scores))
    raters, items = table.shape
    if raters < 2 or items < 2:
        raise InterplayError(f"concordance needs at least 2 raters and 2 items, not {raters} and {items}")
    ranked = ranks(table, higher_is_better=higher_is_better)
    spread = np.sum((ranked.sum(axis=0) - raters * (items + 1) / 2) ** 2)
    _, equal = _better_equal(table, higher_is_better)
    ties = np.sum(equal**2 - 1)  # each group of t ties holds t items, so this sums t^3 - t over the groups
    largest = raters**2 * (items**3 - items) - raters * ties
    if largest == 0:
        raise InterplayError("concordance is not defined where every rater ties every item")
    return float(12 * spread / largest)


def rank_stability(
    values: Numbers,
    groups: Any,
    factors: Mapping[str, Any] | None = None,
    *,
    seed: Seed,
    units: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    shared: Sequence[str] = (),
    statistic: str | Estimator = "iqm",
    higher_is_better: bool = True,
    replicates: int = 2000,
) -> RankStability:
    """Ranks groups (algorithms) by a statistic and asks how often each rank would come out again.

    Units in `shared` (the partners that all algorithms met) are drawn once for all groups; the others (the training
    seeds of each algorithm) are drawn for each group on its own.
    """
    data = grouped(values, groups, factors, units=units, fixed=fixed, shared=shared)
    if len(data.names) < 2:
        raise InterplayError(f"a ranking needs at least two groups, found {list(data.names)}")
    of = estimator(statistic)

    def per_group(counts: np.ndarray) -> np.ndarray:
        return np.stack([of(data.values[rows], counts[:, rows]) for rows in data.rows], axis=-1)

    estimates = per_group(np.ones((1, len(data.values)), np.int64))[0]
    drawn = np.concatenate([per_group(c) for c in data.plan.counts(replicates, generator(seed))])
    order = np.argsort(-estimates if higher_is_better else estimates, kind="stable")
    estimates, drawn = estimates[order], drawn[:, order]
    sign = 1 if higher_is_better else -1
    difference = np.sign(drawn[:, :, None] - drawn[:, None, :]) * sign
    return RankStability(
        names=tuple(data.names[i] for i in order),
        estimates=estimates,
        ranks=ranks(estimates, higher_is_better=higher_is_better),
        shares=rank_shares(drawn, higher_is_better=higher_is_better),
        beats=(difference.mean(axis=0) + 1) / 2,
        tau=_mean_tau(difference, np.sign(estimates[:, None] - estimates[None, :]) * sign),
        concordance=kendall_w(drawn, higher_is_better=higher_is_better),
        resampled=data.plan.resampled,
        not_resampled=data.plan.not_resampled,
    )


def _mean_tau(drawn: np.ndarray, reference: np.ndarray) -> float:
    """Tau-b from the signs of all pairs: [replicate, group, group] against [group, group]."""
    agreement = (drawn * reference).sum(axis=(1, 2))
    size = np.sqrt(np.abs(drawn).sum(axis=(1, 2)) * np.abs(reference).sum())
    defined = size > 0
    return float(np.mean(agreement[defined] / size[defined])) if defined.any() else float("nan")


def _better_equal(table: np.ndarray, higher_is_better: bool) -> tuple[np.ndarray, np.ndarray]:
    """For every score, how many of its row are strictly better, and how many equal it (itself included)."""
    signed = table if higher_is_better else -table
    other = signed[..., None, :]
    return (other > signed[..., None]).sum(-1), (other == signed[..., None]).sum(-1)


def _scores(scores: ArrayLike) -> np.ndarray:
    table = np.asarray(scores, dtype=np.float64)
    if table.size == 0 or not np.isfinite(table).all():
        raise InterplayError("ranks need at least one score and no missing ones; leave incomplete rows out first")
    return table


@dataclass(frozen=True)
class Friedman:
    """Whether people agree on an order at all."""

    chi2: float
    df: int
    p: float
    w: float  # Kendall's concordance
    n: int


def friedman(scores: ArrayLike) -> Friedman:
    """Friedman's test of scores [person, item], corrected for ties; two items make it a test of signs."""
    from scipy.special import chdtrc

    table = np.asarray(scores, float)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise InterplayError(f"Friedman's test needs at least 2 people and 2 items, got shape {table.shape}")
    people, items = table.shape
    w = kendall_w(table)
    chi2 = people * (items - 1) * w
    return Friedman(chi2, items - 1, float(chdtrc(items - 1, chi2)), w, people)
