"""A person's place at a table: what came from the browser and was taken, and where to send what is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from interplay.rollout.live import LiveTable
from interplay.server.api_error import ApiError
from interplay.study.db.game_rows import SeatedPerson
from interplay.study.live.event_log import GameEventLog
from interplay.study.live.kitchen_view import CookMemory

Send = Callable[[dict[str, Any]], None]


class PressedAction(NamedTuple):
    action: int
    seqs: tuple[int, ...]  # its own number, and those of the keys that it replaced


class ParticipantSlot:
    """One of a game's people. Its slot holds the latest action, its hands the act under way where acts are played."""

    def __init__(self, seated: SeatedPerson, event_log: GameEventLog, cook: CookMemory | None):
        self.seated, self.cook = seated, cook
        self.seat, self.person = seated.seat, seated.person
        self.flags = {flag.id for flag in seated.page.item.flags}
        self.pressed: PressedAction | None = None
        self.send: Send | None = None
        self.joined = False  # ever, since the game is held in memory
        self.gone_at: float | None = None  # on the loop's clock
        self.shut = False  # never came, and the game is over: nothing more is stored of it
        self.stopped = seated.stopped  # taking part, for good
        self._event_log = event_log
        self._taken, self._safe = set(seated.seqs), set(seated.seqs)  # numbers that were taken; those of them on disk

    @property
    def here(self) -> bool:
        return self.send is not None

    @property
    def came(self) -> bool:
        """Whether this person was ever there, before a restart of the server too."""
        return self.joined or self.seated.came

    @property
    def seq(self) -> int:
        """The highest number that was taken."""
        return max(self._taken, default=-1)

    def tell(self, message: dict[str, Any]) -> None:
        if self.send is not None:
            self.send(message)

    def note(self, t: int, kind: str, **payload: Any) -> asyncio.Future[None]:
        return self._event_log.add(self.person, self.seated.game, t, kind, **payload)

    # Numbers: nothing is taken twice, and nothing acknowledged before it is on disk.

    def again(self, seq: int, t: int) -> bool:
        """Whether this came before, since its answer got lost or someone copied it."""
        if seq in self._safe:
            self.tell({"type": "ack", "seq": seq, "t": t})
        return seq in self._taken  # what is not on disk yet is acknowledged when it is

    def take(self, seq: int) -> None:
        self._taken.add(seq)

    def give_back(self) -> None:
        """What is in the slot can no longer be done: its numbers may come again."""
        if self.pressed is not None:
            self._taken.difference_update(self.pressed.seqs)
            self.pressed = None

    def acknowledge(self, stored: asyncio.Future[None], seqs: tuple[int, ...], t: int) -> None:
        """Tell that something was taken, once it is on disk."""

        def tell(stored: asyncio.Future[None]) -> None:
            if stored.cancelled() or stored.exception() is not None:
                return
            self._safe.update(seqs)
            for seq in seqs:
                self.tell({"type": "ack", "seq": seq, "t": t})

        stored.add_done_callback(tell)

    # Moves.

    def press(self, seq: int, action: int) -> None:
        replaced = self.pressed.seqs if self.pressed else ()
        self.take(seq)
        self.pressed = PressedAction(action, (*replaced, seq))

    def may(self, table: LiveTable, action: int) -> bool:
        return bool(table.turn[self.seat]) and bool(table.legal[self.seat][action])

    def ready(self, table: LiveTable) -> bool:
        """Whether this person has chosen for the next step of a game in turns."""
        if not table.turn[self.seat]:
            return True
        if self.cook is not None:
            return self.cook.act is not None
        if self.pressed is not None and not self.may(table, self.pressed.action):
            self.give_back()
        return self.pressed is not None


def whole(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise ApiError("bad_frame", f"{name}: a whole number from 0")
    return value
