"""What interdependence says of people's ratings and of later scores, beyond the score.

For every game of a study: hand-overs by channel (counters, pots, both), by soup and episode, and what became of offers.
For every rating of that game, and for the score of the person's next game: the correlation within people, given the
score, with an interval over people. A measure that says no more than the score has a partial correlation of 0.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence

from interplay.errors import InterplayError
from interplay.games.registry import make_recorded
from interplay.metrics.api import measure
from interplay.metrics.interdependence.metric import readable
from interplay.stats.partial_correlation import partial_correlation
from interplay.study.analysis.data import Data
from interplay.study.analysis.measures import traces_of
from interplay.table import Row, Table

MEASURES = ("constructive", "non_constructive", "constructive_per_goal", "accepted", "parked", "ignored")
NEXT = "next_score"
UNLIMITED = "unlimited"


def game_rows(data: Data) -> Table:
    """Return a row for each game and channel: person, score, measures of interdependence, and ratings of the game.

    Raises:
        InterplayError: The traces are not there, or no game can tell who helped whom.
    """
    games = data.protocol.games
    tells = {name: readable(make_recorded(setting.game, setting.options)) for name, setting in games.items()}
    ours = [row for row in data.counted() if row["episode"] is not None and tells[row["game"]]]
    if not ours:
        raise InterplayError("no finished game of this study can tell who helped whom")
    traces, ordered = traces_of(data, ours)
    ratings = _ratings(data)
    by_game = _measures(measure(traces, ["interdependence"], channels="each"))
    rows = [
        {"person": g["person"], "game": g["game"], "partner": g["partner"], "turn": g["turn"], "score": g["score"]}
        | {"channel": channel, **measures}
        | ratings.get((g["person"], g["turn"]), {})
        for place, g in enumerate(ordered)
        for channel, measures in by_game.get(place, {}).items()
    ]
    return with_next_score(Table.of(rows, "Games", columns=list(dict.fromkeys(c for r in rows for c in r))))


def _measures(values: Table) -> dict[int, dict[str, Row]]:
    """Return the measures of each episode and channel, summed over seats."""
    sums: dict[int, dict[str, Row]] = {}
    for value in values:
        if value["window"] != UNLIMITED:
            continue
        name = "non_constructive" if value["metric"] in ("looping", "irrelevant") else value["metric"]
        if name in MEASURES:
            row = sums.setdefault(value["episode"], {}).setdefault(value["channel"], dict.fromkeys(MEASURES))
            if value["value"] is not None:
                row[name] = (row[name] or 0) + value["value"]
    return sums


def _ratings(data: Data) -> dict[tuple[str, int], Row]:
    """Return the numeric answers about each game, by person and turn."""
    ratings: dict[tuple[str, int], Row] = {}
    for answer in data.answers:
        value = answer["value"]
        if answer["turn"] is not None and isinstance(value, int | float) and not isinstance(value, bool):
            ratings.setdefault((answer["person"], answer["turn"]), {})[answer["question"]] = float(value)
    return ratings


def with_next_score(rows: Table) -> Table:
    """Return the rows with the score of the person's next game."""
    scores = {(r["person"], r["turn"]): r["score"] for r in rows}
    made = [{**r, NEXT: scores.get((r["person"], r["turn"] + 1))} for r in rows]
    return Table.of(made, rows.title, columns=[*rows.columns, NEXT])


def validity(
    rows: Table,
    *,
    outcomes: Sequence[str] = (),
    measures: Iterable[str] = MEASURES,
    given: str = "score",
    seed: int = 0,
) -> Table:
    """Return the partial correlations of every measure and outcome, for each channel.

    Args:
        rows: A row for each game: `person`, the covariate, measures and outcomes; `channel` if there are several.
        outcomes: Columns to be predicted; by default every numeric column that is no measure, and the next score.
        measures: Columns that may predict.
        given: The covariate.
        seed: Of the bootstrap.

    Raises:
        InterplayError: A column is missing.
    """
    known = [m for m in measures if m in rows.columns]
    wanted = list(outcomes) or _outcomes(rows, {*known, given, "person", "turn", "number"})
    for name in ("person", given, *wanted):
        if name not in rows.columns:
            raise InterplayError(f"the table has no column {name!r}; it has {', '.join(rows.columns)}")
    if not known or not wanted:
        raise InterplayError("the table needs a column of a measure and one of a rating (or of what comes later)")
    made: list[Row] = []
    parts: Mapping[tuple, Table] = rows.groups("channel") if "channel" in rows.columns else {("",): rows}
    for (channel,), part in parts.items():
        for outcome in wanted:
            for name in known:
                columns = [part.column(c) for c in (name, outcome, given, "person")]
                result = partial_correlation(*columns, seed=seed)
                row: Row = {"channel": channel, "outcome": outcome, "measure": name, "partial_r": result.r}
                row |= {"low": result.low, "high": result.high}
                made.append(row | {"games": result.rows, "people": result.people})
    title = f"Correlation with each outcome within people, given the {given}; intervals over people"
    return Table.of(made, title)


def _outcomes(rows: Table, others: set[str]) -> list[str]:
    def numeric(column: str) -> bool:
        values = [v for v in rows.column(column) if v is not None]
        return bool(values) and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)

    return [c for c in rows.columns if c not in others and numeric(c)]


def read_rows(text: str) -> Table:
    """Return the rows of a CSV file; numbers are numbers, and empty cells are missing."""

    def value(cell: str | None) -> str | float | None:
        if cell is None or not cell.strip():
            return None
        try:
            return float(cell)
        except ValueError:
            return cell

    plain = ("person", "channel")
    rows = [
        {k: v if k in plain else value(v) for k, v in row.items() if k} for row in csv.DictReader(text.splitlines())
    ]
    if not rows:
        raise InterplayError("the table holds no rows")
    return Table.of(rows)
