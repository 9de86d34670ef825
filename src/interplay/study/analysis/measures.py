"""Measures of a study's games, one row for each: scores, dominated moves, who offered and who accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.errors import InterplayError
from interplay.games.registry import make_recorded
from interplay.metrics.api import measure
from interplay.metrics.interdependence.metric import readable
from interplay.study.analysis.analysis_list import CARD_MEASURES, TEAM_MEASURES
from interplay.study.analysis.data import Data
from interplay.table import Row
from interplay.traces import TraceSet

UNLIMITED = "unlimited"


class Measured:
    """The measures of a study's games, computed when first asked for, and once, since games are replayed."""

    def __init__(self, data: Data):
        self._games = list(data.counted())
        self._data = data
        self._cards: dict[int, Row] | None = None
        self._team: list[Row] | None = None

    def team(self) -> list[Row]:
        """Return a row of interdependence measures for each game that has them."""
        if self._team is None:
            self._team = team_rows(self._data, self._games)
        return self._team

    def games(self, wanted: Sequence[str]) -> dict[int, Row]:
        """Return the wanted measures by the number of a game that counts and is done; None where a game has none."""
        by_game: dict[int, Row] = {g["number"]: {name: g.get(name) for name in wanted} for g in self._games}
        if set(CARD_MEASURES) & set(wanted):
            if self._cards is None:
                self._cards = card_rows(self._data, self._games)
            _fill(by_game, self._cards, [name for name in wanted if name in CARD_MEASURES])
        if set(TEAM_MEASURES) & set(wanted):
            _fill(
                by_game, {row["number"]: row for row in self.team()}, [name for name in wanted if name in TEAM_MEASURES]
            )
        return by_game


def _fill(by_game: dict[int, Row], values: Mapping[int, Row], names: Sequence[str]) -> None:
    for number, row in values.items():
        by_game[number].update({name: row[name] for name in names})


def traces_of(data: Data, rows: Sequence[Row]) -> tuple[TraceSet, list[Row]]:
    """Return the traces of some games, and the games in the order of their episodes.

    Raises:
        InterplayError: The study was read without traces.
    """
    if data.traces is None:
        raise InterplayError("the traces of the games are not there: export the study with its traces")
    ordered = [row for row in rows if row["episode"] is not None]
    # Games of one setting that follow each other are replayed in one batch.
    ordered.sort(key=lambda row: (row["game"], row["episode"]))
    wanted = {row["episode"] for row in ordered}
    episodes = {number: episode for number, episode in data.traces.items() if number in wanted}
    return TraceSet.in_memory([episodes[row["episode"]] for row in ordered]), ordered


def card_rows(data: Data, rows: Sequence[Row]) -> dict[int, Row]:
    """Return shares of the partner's moves in Hanabi, by the number of the game."""
    ours = [row for row in rows if data.protocol.games[row["game"]].game.startswith("hanabi/")]
    if not ours or data.traces is None:
        return {}
    traces, ordered = traces_of(data, ours)
    by_game: dict[int, Row] = {row["number"]: dict.fromkeys(CARD_MEASURES) for row in ordered}
    for value in measure(traces, ["hanabi/dominance", "hanabi/behaviour"]):
        game = ordered[value["episode"]]
        public = value["metric"] == "communicativeness" or value.get("known") == "public"
        if value["seat"] != game["seat"] and public and value["metric"] in CARD_MEASURES:
            by_game[game["number"]][value["metric"]] = value["value"]
    return by_game


def team_rows(data: Data, rows: Sequence[Row]) -> list[Row]:
    """Return hand-overs, what each side offered, and how much of it the other took up, for each game that has them."""
    tells = {
        name: readable(make_recorded(setting.game, setting.options)) for name, setting in data.protocol.games.items()
    }
    ours = [row for row in rows if row["episode"] is not None and tells[row["game"]]]
    if not ours or data.traces is None:
        return []
    traces, ordered = traces_of(data, ours)
    values = measure(traces, ["interdependence"])
    by_game: dict[int, list[Row]] = {}
    for value in values:
        if value["window"] == UNLIMITED:
            by_game.setdefault(value["episode"], []).append(value)
    return [_team_row(game, by_game.get(place, [])) for place, game in enumerate(ordered)]


def _team_row(game: Row, values: Sequence[Row]) -> Row:
    def add(metric: str, mine: Any) -> float | None:
        known = [v["value"] for v in values if v["metric"] == metric and mine(v) and v["value"] is not None]
        return float(sum(known)) if known else None

    def both(value: Row) -> bool:
        return True

    row: Row = {name: game[name] for name in ("number", "person", "partner", "game", "turn", "score")}
    row["constructive"] = add("constructive", both)
    other = [add("looping", both), add("irrelevant", both)]
    row["non_constructive"] = None if None in other else sum(x for x in other if x is not None)
    for who, mine in (
        ("person", lambda v: v["seat"] == game["seat"]),
        ("partner", lambda v: v["seat"] not in (None, game["seat"])),
    ):
        offers, steps = add("triggers", mine), add("subtasks", mine)
        taken = _taken(values, mine)
        taker = "partner" if who == "person" else "person"
        row[f"{who}_triggers"] = offers
        row[f"{who}_triggered"] = None if offers is None or not steps else 100 * offers / steps
        row[f"{taker}_accepted"] = None if not offers or taken is None else 100 * taken / offers
        row[f"constructive_from_{who}"] = add(
            "constructive", lambda v, w=who: (v["giver"] == game["seat"]) == (w == "person")
        )
    return row


def _taken(values: Sequence[Row], mine: Any) -> float | None:
    """Return how many offers of one side a teammate used; None if it is not known."""
    by_seat: dict[int, dict[str, float]] = {}
    for value in values:
        if mine(value) and value["metric"] in ("triggers", "adr") and value["value"] is not None:
            by_seat.setdefault(value["seat"], {})[value["metric"]] = value["value"]
    known = [
        metrics["triggers"] * metrics["adr"] for metrics in by_seat.values() if {"triggers", "adr"} <= metrics.keys()
    ]
    return sum(known) if known else None
