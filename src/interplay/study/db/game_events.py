"""The one fold of a game's stored events into its state, for resuming, replaying and exporting it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from interplay.server.database import Tx
from interplay.study.db.schema import events, games

STEP = "step"  # the kind of event that a step is
REMARKS = {"flag": "flag", "chat": "message", "takeover": "takeover", "back": "back"}  # rows that are trace events too
StoredEvent = tuple[int, int | None, str, dict[str, Any]]  # step, seat, kind, payload


@dataclass
class GameEvents:
    """What the stored events of a game say."""

    joints: list[list[int]] = field(default_factory=list)  # by step
    remarks: list[StoredEvent] = field(default_factory=list)  # events of the trace
    seqs: dict[int, set[int]] = field(default_factory=dict)  # by row of the game: numbers of messages that were taken
    came: set[int] = field(default_factory=set)  # rows of the game whose participants ever connected
    taken: set[int] = field(default_factory=set)  # seats of people who left, in which bots play
    doing: dict[int, str | None] = field(default_factory=dict)  # by seat: the macro action under way

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
            if t != len(self.joints):
                raise RuntimeError(f"game {game}: step {t} is stored where step {len(self.joints)} is due")
            self.joints.append(payload["joint"])
            self.doing |= {int(actor): act for actor, act in payload.get("doing", {}).items()}
            self.remarks.extend((t, bot, "deadline", {"late": True}) for bot in payload.get("missed", ()))
        elif kind == "act":
            self.doing[seat] = payload["action"]
        elif kind == "remark":
            self.remarks.append((t, payload["seat"], payload["what"], payload["payload"]))
        elif kind == "join":
            self.came.add(game)
        elif kind in REMARKS:
            seat = payload.get("seat", seat)
            self.remarks.append((t, seat, REMARKS[kind], content))
            if kind == "takeover":
                self.taken.add(seat)
            elif kind == "back":
                self.taken.discard(seat)


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
    query = sa.select(games.c.id, games.c.seat).where(same_game(lead))
    seats = {row.id: row.seat for row in tx.execute(query)}
    query = sa.select(events.c.game, events.c.kind, events.c.t, events.c.payload).where(events.c.game.in_(seats))
    return fold(tx.execute(query.order_by(events.c.id)).tuples(), seats)


def same_game(lead: int) -> Any:
    """Return the condition for the rows of a game, one for each participant, by the first of them."""
    return (games.c.id == lead) | (games.c.joint == lead)
