"""The best responses of a table: how sure their returns are, whom they are for, and who did better."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.metrics.brprox.ratios import BEST_RESPONSE_KEY, Cells
from interplay.metrics.brprox.rows import Reduced
from interplay.stats._checks import generator
from interplay.stats.bootstrap import Statistic
from interplay.table import Row, Table

PARTNER = ("layout", "partner", "skill")
BY_SELF_PLAY, BY_BEST_RESPONSE = "self_play_return", "best_response_return"


@dataclass(frozen=True)
class BestResponses:
    """The best responses of a table, by layout, partner, skill and the ego's seats."""

    returns: Mapping[tuple[Any, ...], Reduced]
    groups: Mapping[tuple[Any, ...], str]  # (layout, partner, skill) -> expert or moderate
    split_by: str
    by_response: Mapping[tuple[Any, ...], str]  # the same by what partners' best responses return

    @classmethod
    def of(cls, cells: Cells) -> BestResponses:
        """Return the best responses of cells, with their partners split into expert and moderate."""
        returns = cells.best_responses
        own = {tuple(r[n] for n in PARTNER): r["self_play_return"] for r in cells.table}
        by_own, by_response = all(value is not None for value in own.values()), _split(_mean_returns(returns))
        groups = _split(own) if by_own else by_response
        return cls(returns, groups, BY_SELF_PLAY if by_own else BY_BEST_RESPONSE, by_response)

    @property
    def uncertain(self) -> bool:
        """Whether the spread of any return is known."""
        return any(r.se is not None for r in self.returns.values())

    def groups_of(self, row: Row) -> dict[str, str]:
        """Expert or moderate, as the table allows and by the best response."""
        key = tuple(row[name] for name in PARTNER)
        return {"partners": self.groups[key], "partners_by_response": self.by_response[key]}

    def without_return(self) -> list[Row]:
        """Return the best responses whose return is not positive."""
        return [
            dict(zip(BEST_RESPONSE_KEY, key, strict=True)) | {"best_response_return": r.mean}
            for key, r in self.returns.items()
            if r.mean <= 0
        ]

    def exceeded(self, table: Table, level: float) -> list[Row]:
        """Every best response with its interval, the number of egos that did better, and the highest ratio."""
        from scipy.special import stdtrit

        met: dict[tuple[Any, ...], list[float]] = {}
        for row in table:
            met.setdefault(_key(row), []).append(row["ratio"])
        rows = []
        for key, made in self.returns.items():
            ratios = [v for v in met.get(key, ()) if v is not None]
            half = None if made.se is None else made.se * stdtrit(_degrees([(made.se**2, made.n)]), (1 + level) / 2)
            rows.append(dict(zip(BEST_RESPONSE_KEY, key, strict=True)) | {
                "partners": self.groups.get((key[0], key[1], key[2])), "return": made.mean, "se": made.se,
                "low": None if half is None else made.mean - half, "high": None if half is None else made.mean + half,
                "egos": len(met.get(key, ())), "n_above": sum(v > 1 for v in ratios),
                "highest_ratio": max(ratios, default=None),
            })  # fmt: skip
        return rows

    def p_value(self, row: Row, times: float = 1.0) -> float | None:
        """Return the one-sided p of a cell's return being no higher than that of its best response (Welch's test).

        Args:
            row: The cell.
            times: Compare with so many times the best response's return.

        Returns:
            The p value; None where a spread is unknown.
        """
        from scipy.special import stdtr

        best = self.returns[_key(row)]
        if row["return_se"] is None or best.se is None:
            return None
        spreads = (row["return_se"] ** 2, row["episodes"]), ((times * best.se) ** 2, best.n)
        difference = row["return"] - times * best.mean
        error = (spreads[0][0] + spreads[1][0]) ** 0.5
        if error == 0:
            return 0.0 if difference > 0 else 1.0
        return float(stdtr(_degrees(spreads), -difference / error))

    def redrawn(self, rows: Sequence[Row], *, excluding_undefined: bool, seed: int) -> Statistic:
        """Return the IQM of rows as a function of counts, each replicate with best responses drawn again.

        One draw of a best response serves all cells that are measured by it.

        Args:
            rows: The cells.
            excluding_undefined: Leave out the cells whose best response has no positive return.
            seed: The seed of the draws.
        """
        keys = list(dict.fromkeys(_key(row) for row in rows))
        place = np.array([keys.index(_key(row)) for row in rows])
        got = np.array([row["return"] for row in rows])
        generator(seed)  # refuses what is no seed
        rng = np.random.default_rng([seed, 1])  # apart from the draws of seeds and partners

        def statistic(counts: np.ndarray) -> np.ndarray:
            best = np.stack([_draws(self.returns[key], len(counts), rng) for key in keys], axis=1)[:, place]
            measurable = best > 0
            ratio = np.minimum(np.divide(got, best, out=np.ones_like(best), where=measurable), 1)
            return iqm_by_row(ratio, counts * measurable if excluding_undefined else counts)

        return statistic


def iqm_by_row(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The IQM of each row of values [replicate, N] under its counts; NaN where a row holds nothing."""
    order = np.argsort(values, axis=1, kind="stable")
    x, w = (np.take_along_axis(a, order, axis=1) for a in (values, counts))
    upto = np.cumsum(w, axis=1)
    n = upto[:, -1:]
    cut = n // 4
    inner_counts = np.diff(np.clip(upto, cut, n - cut), axis=1, prepend=cut)
    size = (n - 2 * cut)[:, 0]
    return np.divide((inner_counts * x).sum(axis=1), size, out=np.full(len(x), np.nan), where=size > 0)


def _degrees(spreads: Sequence[tuple[float, int | None]]) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances; one without known episodes counts as exact."""
    inverse = sum(v**2 / (n - 1) for v, n in spreads if n is not None and v > 0)
    return min(sum(v for v, _ in spreads) ** 2 / inverse, 1e9) if inverse else 1e9


def _draws(made: Reduced, replicates: int, rng: np.random.Generator) -> np.ndarray:
    if made.episodes:
        drawn = rng.integers(len(made.episodes), size=(replicates, len(made.episodes)))
        return np.asarray(made.episodes)[drawn].mean(axis=1)
    return np.full(replicates, made.mean) if made.se is None else rng.normal(made.mean, made.se, replicates)


def _mean_returns(returns: Mapping[tuple[Any, ...], Reduced]) -> dict[tuple[Any, ...], float]:
    by_partner: dict[tuple[Any, ...], list[float]] = {}
    for (layout, partner, skill, _), reduced in returns.items():
        by_partner.setdefault((layout, partner, skill), []).append(reduced.mean)
    return {key: statistics.fmean(values) for key, values in by_partner.items()}


def _split(skill: Mapping[tuple[Any, ...], float]) -> dict[tuple[Any, ...], str]:
    """Above the median of their layout partners are expert, the others moderate, as in the paper."""
    by_layout: dict[Any, list[float]] = {}
    for (layout, *_), value in skill.items():
        by_layout.setdefault(layout, []).append(value)
    middle = {layout: statistics.median(values) for layout, values in by_layout.items()}
    return {key: "expert" if value > middle[key[0]] else "moderate" for key, value in skill.items()}


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in BEST_RESPONSE_KEY)
