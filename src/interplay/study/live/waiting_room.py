"""Waiting rooms: who is there, and who goes on with whom."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import NamedTuple

from interplay.server.app import Base
from interplay.study.db import groups
from interplay.study.db.groups import Room
from interplay.study.db.participants import Person
from interplay.study.protocol.model import Protocol

HERE_S = 8.0  # browsers poll every three seconds; one that has not for so long has gone


class Waiter(NamedTuple):
    """A participant who waits."""

    since: datetime
    began: float  # when that was on the monotonic clock, which nobody sets
    asked: float  # when the browser last polled, on the monotonic clock


class WaitingRooms:
    """All waiting rooms of a study. Those who have waited longest go on first."""

    def __init__(self, protocol: Protocol, base: Base, speed: float = 1.0):
        self._protocol, self._base, self._speed = protocol, base, speed
        self._waiting: dict[str, dict[int, Waiter]] = {}  # by page and person
        self._lock = asyncio.Lock()

    async def attend(self, who: Person) -> float | None:
        """Handle a poll of a participant's browser.

        Returns:
            The seconds left to wait; None for a participant who is in no waiting room, or has just left it.
        """
        room = groups.waiting_at(self._protocol, who)
        if room is None:
            return None
        async with self._lock:
            return await self._attend(who.id, room)

    def forget(self, number: int) -> None:
        """Remove a participant who has withdrawn."""
        for waiters in self._waiting.values():
            waiters.pop(number, None)

    def here(self, page: str) -> list[int]:
        """Return who waits, the longest first; those whose browsers have gone are removed."""
        now, waiters = self._base.clock.monotonic(), self._waiting.get(page, {})
        for number in [number for number, waiter in waiters.items() if now - waiter.asked > HERE_S]:
            del waiters[number]
        return sorted(waiters, key=lambda number: (waiters[number].since, number))

    async def _attend(self, number: int, room: Room) -> float | None:
        base, waiters = self._base, self._waiting.setdefault(room.page, {})
        known = waiters.get(number)
        if known is None:
            since = await base.database.awrite(groups.came, base.clock, number, room.page)
            waited = max(0.0, (base.clock.now() - since).total_seconds())  # also before a restart of the server
            known = Waiter(since, base.clock.monotonic() - waited, 0.0)
        waiters[number] = known._replace(asked=base.clock.monotonic())
        while True:
            here, left = self.here(room.page), self._left_s(waiters[number], room)
            enough = len(here) >= room.item.people
            if not enough and left > 0:
                return left
            together = here[: room.item.people] if enough else [*dict.fromkeys([number, *here])]
            gone = await base.database.awrite(groups.join, base.clock, self._protocol, together, room.page)
            for person in gone or together:
                waiters.pop(person, None)
            if number not in waiters:
                return None

    def _left_s(self, waiter: Waiter, room: Room) -> float:
        waited = self._base.clock.monotonic() - waiter.began
        return room.item.patience_s / self._speed - waited
