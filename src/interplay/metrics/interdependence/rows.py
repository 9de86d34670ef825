"""The count as tidy rows: one per value, null where a rate has no denominator or nothing can be handed over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from interplay.metrics.interdependence.records import (
    CLASSES,
    CONSTRUCTIVE,
    OUTCOMES,
    UNLIMITED,
    Interdependence,
    Window,
    windows,
)

Row = dict[str, Any]


def rows(counted: Interdependence, *, about: Mapping[str, Any] = {}, over: Iterable[Window] | None = None) -> list[Row]:
    """Tidy rows of an episode; `about` (game, episode, ...) stands in front of each.

    Per giver and receiver: links of each class, constructive ones for each goal achieved (soup, victim), and told apart
    as sequential and reciprocal. Per seat: triggers and what became of them, shares, and ADR, MOR and IDensity for each
    acceptance window.
    """
    base = {"game": counted.game_id, **about, "channel": counted.channel}
    return [*_directed(counted, base), *_per_seat(counted, base, tuple(over or windows(counted.horizon)))]


def _directed(counted: Interdependence, base: Row) -> Iterable[Row]:
    for giver in range(counted.num_seats):
        for receiver in range(counted.num_seats):
            if giver == receiver:
                continue
            pair = {**base, "seat": None, "giver": giver, "receiver": receiver}
            possible = receiver in counted.partners.get(giver, ())
            mine = [k for k in counted.links if (k.giver, k.receiver) == (giver, receiver)]
            numbers: dict[str, float | None] = {kind: sum(k.kind == kind for k in mine) for kind in CLASSES}
            numbers["reciprocal"] = sum(k.kind == CONSTRUCTIVE and k.reciprocal for k in mine)
            useful = sum(k.kind == CONSTRUCTIVE for k in mine)
            numbers["sequential"] = useful - sum(k.kind == CONSTRUCTIVE and k.reciprocal for k in mine)
            numbers["constructive_per_goal"] = useful / counted.goals if counted.goals else None
            for metric, value in numbers.items():
                yield {**pair, "metric": metric, "window": UNLIMITED.name, "value": value if possible or mine else None}


def _per_seat(counted: Interdependence, base: Row, over: tuple[Window, ...]) -> Iterable[Row]:
    for seat in range(counted.num_seats):
        mine = {**base, "seat": seat, "giver": None, "receiver": None}
        always = {
            "triggers": counted.num_triggers(seat),
            **{outcome: counted.num_outcome(outcome, seat) for outcome in OUTCOMES},
            "subtasks": counted.subtasks[seat],
            "percent_triggered": counted.percent_triggered(seat),
            "percent_not_accepted": counted.percent_not_accepted(seat),
        }
        for metric, value in always.items():
            yield {**mine, "metric": metric, "window": UNLIMITED.name, "value": value}
        for window in over:
            rates = {
                "adr": counted.adr(seat, window),
                "mor": counted.mor(seat, window),
                "idensity": counted.idensity(seat, window),
            }
            for metric, value in rates.items():
                yield {**mine, "metric": metric, "window": window.name, "value": value}


def detail(counted: Interdependence, *, about: Mapping[str, Any] = {}) -> list[Row]:
    """One row per link with its times, so that a report can jump to the moment."""
    base = {"game": counted.game_id, **about}
    return [
        {
            **base,
            "giver": k.giver,
            "receiver": k.receiver,
            "object": k.object,
            "fact": k.fact,
            "class": k.kind,
            "channel": k.channel,
            "gave_t": k.gave_t,
            "used_t": k.used_t,
            "gave": k.gave,
            "used": k.used,
            "goal_reaching": k.goal_reaching,
            "looping": k.looping,
            "reciprocal": k.reciprocal,
        }
        for k in counted.links
    ]


def unused(counted: Interdependence, *, about: Mapping[str, Any] = {}) -> list[Row]:
    """One row per trigger that no teammate ever used, parked or ignored."""
    base = {"game": counted.game_id, **about}
    return [
        {**base, "seat": t.seat, "t": t.t, "object": t.object, "fact": t.fact, "action": t.action, "outcome": t.outcome}
        for t in counted.triggers
        if t.accepted_t is None
    ]
