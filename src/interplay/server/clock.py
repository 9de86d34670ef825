"""Clocks as arguments: deadlines, quotas and phases are tested without waiting."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

JUMP_S = 5.0  # by which the time of day may drift from the monotonic clock between two looks


class Clock(Protocol):
    """A source of the time."""

    def now(self) -> datetime:
        """The time of day in UTC, for what is recorded."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards, for deadlines and rates."""
        ...


class SystemClock:
    """The computer's clock."""

    def now(self) -> datetime:
        """The time of day in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()


class SteadyTime:
    """Counts the seconds since the time of day was last set, or the machine suspended, as far as one can tell."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._since = self._monotonic = clock.monotonic()
        self._now = clock.now()

    def seconds(self) -> float:
        """Return for how long both clocks have run alike; it begins anew if they have not since the last call."""
        now, monotonic = self._clock.now(), self._clock.monotonic()
        apart = (now - self._now).total_seconds() - (monotonic - self._monotonic)
        self._now, self._monotonic = now, monotonic
        if abs(apart) > JUMP_S:
            self._since = monotonic
        return monotonic - self._since


@dataclass
class ManualClock:
    """A clock that moves when `advance` is called."""

    at: datetime = field(default_factory=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    seconds: float = 0.0

    def now(self) -> datetime:
        """The time of day in UTC."""
        return self.at

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return self.seconds

    def advance(self, seconds: float) -> None:
        """Move the clock forward by so many seconds."""
        self.at += timedelta(seconds=seconds)
        self.seconds += seconds
