"""What happened in the games of a study, one row for each: scores, dominated moves, who offered and who accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.errors import InterplayError
from interplay.games.registry import make_recorded
from interplay.metrics.api import measure
from interplay.metrics.interdependence.metric import readable
from interplay.study.analysis.data import Data
from interplay.study.analysis.plan import CARD_MEASURES, TEAM_MEASURES
from interplay.table import Row
from interplay.traces import TraceSet

UNLIMITED = "unlimited"


class Measured:
    """What happened in the games of a study, worked out when first asked for, and once: games are replayed."""

    def __init__(self, data: Data):
        self._games = list(data.counted())
        self._data = data
        self._cards: dict[int, Row] | None = None
        self._team: list[Row] | None = None

    def team(self) -> list[Row]:
        """Of each game whose world can tell: who offered, who accepted, what came of it."""
        if self._team is None:
            self._team = team_rows(self._data, self._games)
        return self._team

    def games(self, wanted: Sequence[str]) -> dict[int, Row]:
        """By the number of a game that counts and is done: the wanted measures. Null where a game cannot tell."""
        found: dict[int, Row] = {g["number"]: {name: g.get(name) for name in wanted} for g in self._games}
        if set(CARD_MEASURES) & set(wanted):
            if self._cards is None:
                self._cards = card_rows(self._data, self._games)
            _fill(found, self._cards, [name for name in wanted if name in CARD_MEASURES])
        if set(TEAM_MEASURES) & set(wanted):
            _fill(
                found, {row["number"]: row for row in self.team()}, [name for name in wanted if name in TEAM_MEASURES]
            )
        return found


def _fill(found: dict[int, Row], values: Mapping[int, Row], names: Sequence[str]) -> None:
    for number, row in values.items():
        found[number].update({name: row[name] for name in names})


def traces_of(data: Data, rows: Sequence[Row]) -> tuple[TraceSet, list[Row]]:
    """The traces of some games, in their order; an episode's number is its game's place in the list."""
    if data.traces is None:
        raise InterplayError("the traces of the games are not there: export the study with its traces")
    held = [row for row in rows if row["episode"] is not None]
    # Games of one world beside each other are replayed together.
    held.sort(key=lambda row: (row["game"], row["episode"]))
    wanted = {row["episode"] for row in held}
    episodes = {number: episode for number, episode in data.traces.items() if number in wanted}
    return TraceSet.in_memory([episodes[row["episode"]] for row in held]), held


def card_rows(data: Data, rows: Sequence[Row]) -> dict[int, Row]:
    """Shares of the partner's moves in Hanabi."""
    ours = [row for row in rows if data.protocol.games[row["game"]].game.startswith("hanabi/")]
    if not ours or data.traces is None:
        return {}
    traces, held = traces_of(data, ours)
    found: dict[int, Row] = {row["number"]: dict.fromkeys(CARD_MEASURES) for row in held}
    for value in measure(traces, ["hanabi/dominance", "hanabi/behaviour"]):
        game = held[value["episode"]]
        public = value["metric"] == "communicativeness" or value.get("known") == "public"
        if value["seat"] != game["seat"] and public and value["metric"] in CARD_MEASURES:
            found[game["number"]][value["metric"]] = value["value"]
    return found


def team_rows(data: Data, rows: Sequence[Row]) -> list[Row]:
    """Of each game whose world can tell: hand-overs, what each side offered, and how much of it the other took up."""
    tells = {
        name: readable(make_recorded(setting.game, setting.options)) for name, setting in data.protocol.games.items()
    }
    ours = [row for row in rows if row["episode"] is not None and tells[row["game"]]]
    if not ours or data.traces is None:
        return []
    traces, held = traces_of(data, ours)
    values = measure(traces, ["interdependence"])
    by_game: dict[int, list[Row]] = {}
    for value in values:
        if value["window"] == UNLIMITED:
            by_game.setdefault(value["episode"], []).append(value)
    return [_team_row(game, by_game.get(place, [])) for place, game in enumerate(held)]


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
    """Offers of one side that a teammate used."""
    by_seat: dict[int, dict[str, float]] = {}
    for value in values:
        if mine(value) and value["metric"] in ("triggers", "adr") and value["value"] is not None:
            by_seat.setdefault(value["seat"], {})[value["metric"]] = value["value"]
    known = [told["triggers"] * told["adr"] for told in by_seat.values() if {"triggers", "adr"} <= told.keys()]
    return sum(known) if known else None
