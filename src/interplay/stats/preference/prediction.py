"""All metrics together: how well can a rating be predicted that the model has not seen?

Ridge regression, its penalty chosen inside each training part (nested cross-validation). The ratings of a whole group
(an agent, or some people) are predicted from the others. R squared compares with the plainest guess, the mean of the
training ratings: it is below 0 where the metrics mislead. A permutation test shows what the procedure finds in noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.errors import InterplayError
from interplay.stats._checks import Missing, Seed, generator, present
from interplay.stats.bootstrap import Interval, bootstrap_counts
from interplay.stats.preference.columns import check_columns, codes, numbers
from interplay.stats.preference.ridge import Prepared, choose, fit_predict
from interplay.stats.resampling import design
from interplay.table import Table

INNER_FOLDS = 10


@dataclass(frozen=True)
class Prediction:
    """What cross-validation says about a model of ratings."""

    rating: str
    metrics: tuple[str, ...]
    left_out: str  # what is predicted from the rest: a group's name, or "1 of k parts"
    n: int
    groups: int
    r_squared: Interval  # over people, for these very groups
    r: float | None  # between rating and prediction; null if all predictions are equal
    error: float  # mean absolute
    error_of_mean: float  # the same, of the plainest guess
    p: float  # share of shuffles in which the same procedure does as well
    chance: float  # the R squared that only 5 % of the shuffles exceed
    shuffles: int
    half_width: float  # of the interval for a single new rating, at `level`
    coverage: float  # share of the ratings that fall into the interval made without them
    level: float
    folds: Table
    coefficients: Table
    predictions: Table

    def table(self) -> Table:
        """One row."""
        return Table.of(
            [
                {
                    "rating": self.rating, "left out": self.left_out, "n": self.n, "r_squared": self.r_squared.estimate,
                    "low": self.r_squared.low, "high": self.r_squared.high, "r": self.r, "p": self.p,
                    "chance": self.chance, "error": self.error, "error_of_mean": self.error_of_mean,
                    "half_width": self.half_width, "coverage": self.coverage,
                }
            ],
            "Prediction of ratings that the model has not seen",
        )  # fmt: skip


def predict_ratings(
    table: Table,
    metrics: Sequence[str],
    *,
    rating: str = "rating",
    leave_out: str | int = "agent",
    unit: str | None = None,
    shuffles: int = 999,
    level: float = 0.95,
    missing: Missing = "raise",
    seed: Seed = 0,
) -> Prediction:
    """Cross-validated prediction of a rating from several metrics.

    `leave_out` names the column whose groups are left out in turn (agent); the penalty is then chosen by leaving out
    one more. Or it is a number of random parts of equal size. `unit` names who rated: rows of one person stay in one
    part and are resampled whole. Metrics that are the same in all rows of a group are shuffled among the groups;
    otherwise ratings are shuffled among the rows.
    """
    check_columns(
        table, [rating, *metrics, *([unit] if unit else []), *([leave_out] if leave_out in table.columns else [])]
    )
    if not metrics:
        raise InterplayError("metrics: name at least one column to predict from")
    rng = generator(seed)
    data = _data(table, metrics, rating, unit, missing)
    outer, names, told = _outer(data, leave_out, rng)
    inner = _inner(data.unit, outer, by_group=isinstance(leave_out, str), rng=rng)
    guess, base, folds = _cross_validate(data.x, data.y[:, None], outer, inner)
    null = _shuffled(data, outer, inner, shuffles, rng)
    y, guess, base = data.y, guess[:, 0], base[:, 0]
    observed = float(1 - np.sum((y - guess) ** 2) / np.sum((y - base) ** 2))
    half, covered = _interval(np.abs(y - guess), outer, level)
    rows = [{"group": names[i], **row} for i, row in enumerate(folds)]
    return Prediction(
        rating=rating, metrics=tuple(metrics), left_out=told, n=len(y), groups=len(names),
        r_squared=_r_squared(y, guess, base, data.unit, level, rng),
        r=float(np.corrcoef(y, guess)[0, 1]) if np.ptp(guess) > 1e-9 * max(1.0, np.abs(guess).max()) else None,
        error=float(np.mean(np.abs(y - guess))), error_of_mean=float(np.mean(np.abs(y - base))),
        p=float((1 + np.sum(null >= observed)) / (1 + len(null))), chance=float(np.quantile(null, 0.95)),
        shuffles=len(null), half_width=half, coverage=covered, level=level,
        folds=Table.of(rows, f"{rating}: each part predicted from the others"),
        coefficients=_coefficients(data, metrics, level, rng),
        predictions=_predictions(data, guess, outer, names, half),
    )  # fmt: skip


@dataclass(frozen=True)
class _Data:
    x: np.ndarray  # [row, metric]
    y: np.ndarray  # [row]
    unit: np.ndarray  # [row] who rated
    table: Table  # the rows kept


def _data(table: Table, metrics: Sequence[str], rating: str, unit: str | None, missing: Missing) -> _Data:
    columns = [numbers(table, name) for name in (rating, *metrics)]
    keep = present(*columns, names=[rating, *metrics], missing=missing)
    kept = Table(table.columns, [row for row, k in zip(table.rows, keep, strict=True) if k], table.title)
    who = codes(kept, unit)[0] if unit else np.arange(len(kept))
    if len(kept) < 10:
        raise InterplayError(f"{rating}: {len(kept)} ratings; a prediction needs at least 10")
    y = columns[0][keep]
    if np.ptp(y) == 0:
        raise InterplayError(f"{rating}: all {len(y)} ratings are {y[0]:g}; there is nothing to predict")
    return _Data(np.column_stack([c[keep] for c in columns[1:]]), y, who, kept)


def _outer(data: _Data, leave_out: str | int, rng: np.random.Generator) -> tuple[np.ndarray, list, str]:
    """[row] the part to which it belongs, the names of the parts, and what they are."""
    if isinstance(leave_out, str):
        group, names = codes(data.table, leave_out)
        if len(names) < 3:
            raise InterplayError(f"{leave_out}: {len(names)} groups; to leave one out, at least 3 are needed")
        return group, names, f"one {leave_out}"
    units = len(np.unique(data.unit))
    if not 2 <= leave_out <= units:
        raise InterplayError(f"leave_out: {leave_out} parts of {units} people; it is a number from 2 to {units}")
    return _parts(data.unit, leave_out, rng), list(range(1, leave_out + 1)), f"1 of {leave_out} parts"


def _parts(unit: np.ndarray, parts: int, rng: np.random.Generator) -> np.ndarray:
    """[row] one of so many parts of nearly equal numbers of people."""
    people, who = np.unique(unit, return_inverse=True)
    part = np.empty(len(people), int)
    part[rng.permutation(len(people))] = np.arange(len(people)) % parts
    return part[who]


def _inner(unit: np.ndarray, outer: np.ndarray, *, by_group: bool, rng: np.random.Generator) -> list[np.ndarray]:
    """For each part left out, how the other rows are parted to choose the penalty: as for the test itself."""
    rest = [outer != part for part in range(int(outer.max()) + 1)]
    if by_group:
        return [outer[kept] for kept in rest]
    return [_parts(unit[kept], min(INNER_FOLDS, len(np.unique(unit[kept]))), rng) for kept in rest]


def _cross_validate(
    x: np.ndarray, y: np.ndarray, outer: np.ndarray, inner: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[dict]]:
    """Predictions and mean guesses [row, outcome], each made without the row's own part."""
    guess, base, told = np.empty_like(y), np.empty_like(y), []
    for part, within in enumerate(inner):
        test = outer == part
        guess[test], penalty = fit_predict(x[~test], y[~test], x[test], within)
        base[test] = y[~test].mean(axis=0)
        wrong, plainest = (float(np.sum((y[test] - g[test])[:, 0] ** 2)) for g in (guess, base))
        told.append(
            {
                "n": int(test.sum()), "mean_rating": float(y[test, 0].mean()),
                "mean_guess": float(guess[test, 0].mean()),
                "r_squared": 1 - wrong / plainest if plainest > 0 else None, "penalty": _penalty(penalty[0]),
            }
        )  # fmt: skip
    return guess, base, told


def _penalty(value: float) -> float | str:
    return "mean only" if np.isinf(value) else float(value)


def _shuffled(
    data: _Data, outer: np.ndarray, inner: list[np.ndarray], shuffles: int, rng: np.random.Generator
) -> np.ndarray:
    """[shuffle] R squared of the same procedure on shuffled data."""
    parts = int(outer.max()) + 1
    own = [np.ptp(data.x[outer == part], axis=0) for part in range(parts)]
    if np.all(np.array(own) <= 1e-12 * np.maximum(1.0, np.abs(data.x).max(axis=0))):
        value = np.array([data.x[outer == part][0] for part in range(parts)])
        found = []
        for _ in range(shuffles):
            x = value[rng.permutation(parts)][outer]
            guess, base, _ = _cross_validate(x, data.y[:, None], outer, inner)
            found.append(1 - np.sum((data.y - guess[:, 0]) ** 2) / np.sum((data.y - base[:, 0]) ** 2))
        return np.array(found)
    y = np.column_stack([rng.permutation(data.y) for _ in range(shuffles)])
    guess, base, _ = _cross_validate(data.x, y, outer, inner)
    return 1 - np.sum((y - guess) ** 2, axis=0) / np.sum((y - base) ** 2, axis=0)


def _r_squared(
    y: np.ndarray, guess: np.ndarray, base: np.ndarray, unit: np.ndarray, level: float, rng: np.random.Generator
) -> Interval:
    """With an interval that resamples people. The groups stay the same, and so do the fitted models."""
    wrong, plainest = (y - guess) ** 2, (y - base) ** 2
    plan = design({"person": unit.tolist()}, len(y))
    return bootstrap_counts(
        lambda counts: 1 - (counts @ wrong) / (counts @ plainest),
        plan, seed=rng, level=level, method="percentile", replicates=2000,
    )  # fmt: skip


def _interval(miss: np.ndarray, outer: np.ndarray, level: float) -> tuple[float, float]:
    """Half the width of an interval for a new rating, and how often such an interval, made without a group, holds."""

    def half(misses: np.ndarray) -> float:
        place = min(int(np.ceil(level * (len(misses) + 1))), len(misses)) - 1
        return float(np.sort(misses)[place])

    inside = [miss[outer == part] <= half(miss[outer != part]) for part in range(int(outer.max()) + 1)]
    return half(miss), float(np.concatenate(inside).mean())


def _coefficients(data: _Data, metrics: Sequence[str], level: float, rng: np.random.Generator) -> Table:
    """Of the model of all rows: rating points per standard deviation of a metric, with intervals over people."""
    y = data.y[:, None]
    inner = _parts(data.unit, min(INNER_FOLDS, len(np.unique(data.unit))), rng)
    penalty = choose(data.x, y, inner)
    if np.isinf(penalty[0]):
        rows = [{"metric": m, "per_sd": 0.0, "low": None, "high": None, "penalty": "mean only"} for m in metrics]
        return Table.of(rows, "The best model uses no metric")
    fitted = Prepared.of(data.x).coefficients(y, penalty[0])[:, 0]
    rows_of = [np.flatnonzero(data.unit == u) for u in np.unique(data.unit)]
    draws = []
    for _ in range(400):
        drawn = np.concatenate([rows_of[i] for i in rng.integers(len(rows_of), size=len(rows_of))])
        draws.append(Prepared.of(data.x[drawn]).coefficients(y[drawn], penalty[0])[:, 0])
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    rows = [
        {"metric": m, "per_sd": fitted[i], "low": low[i], "high": high[i], "penalty": float(penalty[0])}
        for i, m in enumerate(metrics)
    ]
    return Table.of(rows, "Rating points per standard deviation of a metric, all together (shrunk)")


def _predictions(data: _Data, guess: np.ndarray, outer: np.ndarray, names: list, half: float) -> Table:
    rows = [
        {
            "left_out": names[part],
            "rating": float(y),
            "prediction": float(g),
            "low": float(g - half),
            "high": float(g + half),
        }
        for part, y, g in zip(outer, data.y, guess, strict=True)
    ]
    return Table.of(rows, "Each rating, and what the model made without its part says")
