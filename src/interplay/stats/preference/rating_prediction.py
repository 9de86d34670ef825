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
from interplay.stats.preference.rating_columns import check_columns, codes, numbers
from interplay.stats.preference.ridge import Prepared, choose, fit_predict
from interplay.stats.resampling_design import design
from interplay.table import Table

INNER_FOLDS = 10


@dataclass(frozen=True)
class RatingPrediction:
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
    repeats: int = 5,
    unit: str | None = None,
    shuffles: int = 999,
    level: float = 0.95,
    missing: Missing = "raise",
    seed: Seed = 0,
) -> RatingPrediction:
    """Cross-validated prediction of a rating from several metrics.

    `leave_out` names the column whose groups are left out in turn (agent); the penalty is then chosen by leaving out
    one more. Or it is a number of random parts of equal size; errors are then averaged over so many `repeats` of
    parting. `unit` names who rated: rows of one person stay in one part and are resampled whole. Metrics that are the
    same in all rows of a group are shuffled among the groups; otherwise ratings are shuffled among the rows.
    """
    grouped = isinstance(leave_out, str)
    check_columns(table, [rating, *metrics, *([unit] if unit else []), *([leave_out] if grouped else [])])
    if not metrics:
        raise InterplayError("metrics: name at least one column to predict from")
    if repeats < 1:
        raise InterplayError(f"repeats: {repeats}; at least 1")
    rng = generator(seed)
    data = _data(table, metrics, rating, unit, missing)
    splits = [_split(data, leave_out, rng) for _ in range(1 if grouped else repeats)]
    guesses, bases, folds = _validate(data.x, data.y[:, None], splits)
    wrong, plainest = (np.mean((data.y - g[..., 0]) ** 2, axis=0) for g in (guesses, bases))
    null = _shuffled(data, splits, shuffles, rng)
    guess = guesses[..., 0].mean(axis=0)
    half, covered = _interval(np.abs(data.y - guesses[0, :, 0]), splits[0].outer, level)
    split = splits[0]
    return RatingPrediction(
        rating=rating, metrics=tuple(metrics), n=len(data.y), groups=len(split.names),
        left_out=f"one {leave_out}" if grouped else f"1 of {leave_out} parts",
        r_squared=_r_squared(wrong, plainest, data.unit, level, rng),
        r=float(np.corrcoef(data.y, guess)[0, 1]) if np.ptp(guess) > 1e-9 * max(1.0, np.abs(guess).max()) else None,
        error=float(np.mean(np.abs(data.y - guesses[..., 0]))),
        error_of_mean=float(np.mean(np.abs(data.y - bases[..., 0]))),
        p=float((1 + np.sum(null >= 1 - wrong.sum() / plainest.sum())) / (1 + len(null))),
        chance=float(np.quantile(null, 0.95)), shuffles=len(null), half_width=half, coverage=covered, level=level,
        folds=Table.of(
            [{"group": name, **row} for name, row in zip(split.names, folds, strict=True)],
            f"{rating}: each part predicted from the others",
        ),
        coefficients=_coefficients(data, metrics, level, rng),
        predictions=_predictions(data, guess, split, half),
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
    complete_rows = Table(table.columns, [row for row, k in zip(table.rows, keep, strict=True) if k], table.title)
    who = codes(complete_rows, unit)[0] if unit else np.arange(len(complete_rows))
    if len(complete_rows) < 10:
        raise InterplayError(f"{rating}: {len(complete_rows)} ratings; a prediction needs at least 10")
    y = columns[0][keep]
    if np.ptp(y) == 0:
        raise InterplayError(f"{rating}: all {len(y)} ratings are {y[0]:g}; there is nothing to predict")
    return _Data(np.column_stack([c[keep] for c in columns[1:]]), y, who, complete_rows)


@dataclass(frozen=True)
class _Split:
    outer: np.ndarray  # [row] the part to which it belongs
    inner: list[np.ndarray]  # of each part left out, how the other rows are parted to choose the penalty
    names: list


def _split(data: _Data, leave_out: str | int, rng: np.random.Generator) -> _Split:
    if isinstance(leave_out, str):
        outer, names = codes(data.table, leave_out)
        if len(names) < 3:
            raise InterplayError(f"{leave_out}: {len(names)} groups; to leave one out, at least 3 are needed")
        return _Split(outer, [outer[outer != part] for part in range(len(names))], names)
    people = len(np.unique(data.unit))
    if not 2 <= leave_out <= people:
        raise InterplayError(f"leave_out: {leave_out} parts of {people} people; it is a number from 2 to {people}")
    outer = _parts(data.unit, leave_out, rng)
    inner = []
    for part in range(leave_out):
        rest = data.unit[outer != part]
        inner.append(_parts(rest, min(INNER_FOLDS, len(np.unique(rest))), rng))
    return _Split(outer, inner, list(range(1, leave_out + 1)))


def _parts(unit: np.ndarray, parts: int, rng: np.random.Generator) -> np.ndarray:
    """[row] one of so many parts of nearly equal numbers of people."""
    people, who = np.unique(unit, return_inverse=True)
    part = np.empty(len(people), int)
    part[rng.permutation(len(people))] = np.arange(len(people)) % parts
    return part[who]


def _validate(x: np.ndarray, y: np.ndarray, splits: Sequence[_Split]) -> tuple[np.ndarray, np.ndarray, list[dict]]:
    """Predictions and mean guesses [split, row, outcome], each made without the row's part; and the first's parts."""
    made = [_cross_validate(x, y, split.outer, split.inner) for split in splits]
    return np.stack([m[0] for m in made]), np.stack([m[1] for m in made]), made[0][2]


def _cross_validate(
    x: np.ndarray, y: np.ndarray, outer: np.ndarray, inner: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, list[dict]]:
    """Predictions and mean guesses [row, outcome], each made without the row's own part."""
    guess, base, parts = np.empty_like(y), np.empty_like(y), []
    for part, within in enumerate(inner):
        test = outer == part
        guess[test], penalty = fit_predict(x[~test], y[~test], x[test], within)
        base[test] = y[~test].mean(axis=0)
        wrong, plainest = (float(np.sum((y[test] - g[test])[:, 0] ** 2)) for g in (guess, base))
        parts.append(
            {
                "n": int(test.sum()), "mean_rating": float(y[test, 0].mean()),
                "mean_guess": float(guess[test, 0].mean()),
                "r_squared": 1 - wrong / plainest if plainest > 0 else None, "penalty": _penalty(penalty[0]),
            }
        )  # fmt: skip
    return guess, base, parts


def _penalty(value: float) -> float | str:
    return "mean only" if np.isinf(value) else float(value)


def _shuffled(data: _Data, splits: Sequence[_Split], shuffles: int, rng: np.random.Generator) -> np.ndarray:
    """[shuffle] R squared of the same procedure on shuffled data."""
    outer = splits[0].outer
    parts = int(outer.max()) + 1
    own = [np.ptp(data.x[outer == part], axis=0) for part in range(parts)]
    if np.all(np.array(own) <= 1e-12 * np.maximum(1.0, np.abs(data.x).max(axis=0))):
        value = np.array([data.x[outer == part][0] for part in range(parts)])
        y = data.y[:, None]
        deals = (value[rng.permutation(parts)][outer] for _ in range(shuffles))
        return np.array([_skill(y, *_validate(x, y, splits)[:2])[0] for x in deals])
    y = np.column_stack([rng.permutation(data.y) for _ in range(shuffles)])
    return _skill(y, *_validate(data.x, y, splits)[:2])


def _skill(y: np.ndarray, guesses: np.ndarray, bases: np.ndarray) -> np.ndarray:
    """[outcome] R squared over all splits."""
    return 1 - np.sum((y - guesses) ** 2, axis=(0, 1)) / np.sum((y - bases) ** 2, axis=(0, 1))


def _r_squared(
    wrong: np.ndarray, plainest: np.ndarray, unit: np.ndarray, level: float, rng: np.random.Generator
) -> Interval:
    """With an interval that resamples people. The groups stay the same, and so do the fitted models."""
    plan = design({"person": unit.tolist()}, len(unit))
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


def _predictions(data: _Data, guess: np.ndarray, split: _Split, half: float) -> Table:
    rows = [
        {"part": split.names[part], "rating": float(y), "prediction": g, "low": g - half, "high": g + half}
        for part, y, g in zip(split.outer, data.y, guess.tolist(), strict=True)
    ]
    return Table.of(rows, "Each rating, and what the model made without its part says")
