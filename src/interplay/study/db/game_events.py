"""The one fold of a game's stored events into its state, for resuming, replaying and exporting it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from interplay.server.database import Tx
from interplay.study.db.schema import events, games

STEP = "step"  # the kind of event that a step is
VISIBILITY = "visibility"  # the tab was hidden or shown
SILENT = "silent"  # ticks were not acknowledged any more
UNATTENDED = "unattended"  # the trace event that marks steps which a participant did not see
REMARKS = {"flag": "flag", "chat": "message", "takeover": "takeover", "back": "back"}  # rows that are trace events too
StoredEvent = tuple[int, int | None, str, dict[str, Any]]  # step, seat, kind, payload


def same_game(lead: Any) -> Any:
    """Return the condition for the rows of a game, one for each participant, by the first of them."""
    return (games.c.id == lead) | (games.c.joint == lead)


_SEATS = sa.select(games.c.id, games.c.seat).where(same_game(sa.bindparam("lead")))
_EVENTS = (
    sa.select(events.c.game, events.c.kind, events.c.t, events.c.payload)
    .where(events.c.game.in_(sa.bindparam("rows", expanding=True)))
    .order_by(events.c.id)
)


@dataclass
class GameEvents:
    """What the stored events of a game say."""

    joints: list[list[int]] = field(default_factory=list)  # by step
    remarks: list[StoredEvent] = field(default_factory=list)  # events of the trace
    seqs: dict[int, set[int]] = field(default_factory=dict)  # by row of the game: numbers of messages that were taken
    came: set[int] = field(default_factory=set)  # rows of the game whose participants ever connected
    taken: set[int] = field(default_factory=set)  # seats of people who left, in which bots play
    doing: dict[int, str | None] = field(default_factory=dict)  # by seat: the macro action under way
    unattended: dict[int, dict[int, str]] = field(default_factory=dict)  # by seat and step that they did not see: why
    hidden: dict[int, int] = field(default_factory=dict)  # by row of the game whose tab is hidden now: the seat
    flags: dict[int, int] = field(default_factory=dict)  # by row of the game: presses of buttons
    leaves: dict[int, list[int]] = field(default_factory=dict)  # by row of the game: steps at which the line was lost
    missed: int = 0  # steps for which a partner was not ready
    late_ms: float | None = None  # the latest step

    def add(self, game: int, seat: int, kind: str, t: int, payload: Mapping[str, Any]) -> None:
        """Take the next event into account.

        Args:
            game: The row of the game that it belongs to.
            seat: The seat of that row's participant.
            kind: The kind of event.
            t: The number of steps played when it happened.
            payload: What is stored with it.

        Raises:
            RuntimeError: A step is missing before it.
        """
        self.seqs.setdefault(game, set()).update(payload.get("seqs", ()))
        content = {name: value for name, value in payload.items() if name != "seqs"}
        if kind == STEP:
            self._add_step(game, t, payload)
        elif kind == VISIBILITY:
            if payload.get("hidden"):
                self.hidden[game] = seat
            else:
                self.hidden.pop(game, None)
        elif kind in (SILENT, "leave"):
            self._lost(game, seat, kind, t, payload)
        elif kind == "act":
            self.doing[seat] = payload["action"]
        elif kind == "remark":
            self.remarks.append((t, payload["seat"], payload["what"], payload["payload"]))
        elif kind == "join":
            self.came.add(game)
        elif kind in REMARKS:
            seat = payload.get("seat", seat)
            self.remarks.append((t, seat, REMARKS[kind], content))
            if kind == "flag":
                self.flags[game] = self.flags.get(game, 0) + 1
            if kind == "takeover":
                self.taken.add(seat)
            elif kind == "back":
                self.taken.discard(seat)

    def _add_step(self, game: int, t: int, payload: Mapping[str, Any]) -> None:
        if t != len(self.joints):
            raise RuntimeError(f"game {game}: step {t} is stored where step {len(self.joints)} is due")
        self.joints.append(payload["joint"])
        self.doing |= {int(actor): act for actor, act in payload.get("doing", {}).items()}
        self.remarks.extend((t, bot, "deadline", {"late": True}) for bot in payload.get("missed", ()))
        self.missed += bool(payload.get("missed"))
        late = payload.get("late_ms")
        if late is not None:
            self.late_ms = max(late, self.late_ms or 0.0)
        for seat in self.hidden.values():
            self.unattended.setdefault(seat, {})[t] = "hidden"

    def _lost(self, game: int, seat: int, kind: str, t: int, payload: Mapping[str, Any]) -> None:
        """A line fell silent or was lost: the steps since the last picture that was seen were not attended."""
        for step in range(payload.get("since", t), t):
            self.unattended.setdefault(seat, {}).setdefault(step, "line")
        if kind == "leave":
            self.leaves.setdefault(game, []).append(t)
            self.hidden.pop(game, None)

    def unattended_spans(self, seat: int) -> list[tuple[int, int, str]]:
        """Return the steps that a participant did not see, as spans of first step, end (not included) and reason."""
        spans: list[tuple[int, int, str]] = []
        for step, why in sorted(self.unattended.get(seat, {}).items()):
            if spans and spans[-1][1] == step and spans[-1][2] == why:
                spans[-1] = (spans[-1][0], step + 1, why)
            else:
                spans.append((step, step + 1, why))
        return spans

    def attention(self) -> list[StoredEvent]:
        """Return the trace events that say which steps participants did not see."""
        return [
            (since, seat, UNATTENDED, {"until": until, "why": why})
            for seat in sorted(self.unattended)
            for since, until, why in self.unattended_spans(seat)
        ]


def fold(rows: Iterable[tuple[int, str, int, Mapping[str, Any]]], seats: Mapping[int, int]) -> GameEvents:
    """Return what the events of a game say.

    Args:
        rows: Row of the game, kind, step and payload of each event, in the order in which they were stored.
        seats: By row of the game: the seat of its participant.
    """
    state = GameEvents()
    for game, kind, t, payload in rows:
        state.add(game, seats[game], kind, t, payload)
    return state


def stored_events(tx: Tx, lead: int) -> GameEvents:
    """Return what is stored of a game, by the row of its first participant."""
    seats = {row.id: row.seat for row in tx.execute(_SEATS, {"lead": lead})}
    return fold(tx.execute(_EVENTS, {"rows": list(seats)}).tuples(), seats)
