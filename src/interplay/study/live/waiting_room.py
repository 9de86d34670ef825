"""Waiting rooms as the application sees them; who waits is in the database, which all processes share."""

from __future__ import annotations

from interplay.server.app import Base
from interplay.study.db import groups
from interplay.study.db.participants import Person
from interplay.study.protocol.model import Protocol


class WaitingRooms:
    """All waiting rooms of a study."""

    def __init__(self, protocol: Protocol, base: Base, speed: float = 1.0):
        self._protocol, self._base, self._speed = protocol, base, speed

    async def attend(self, who: Person) -> float | None:
        """Handle a poll of a participant's browser.

        Returns:
            The seconds left to wait; None for a participant who is in no waiting room, or has just left it.
        """
        if groups.waiting_at(self._protocol, who) is None:
            return None
        base = self._base
        return await base.database.awrite(groups.attend, base.clock, self._protocol, who.id, self._speed)
