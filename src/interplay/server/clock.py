"""Clocks as arguments: deadlines, quotas and phases are tested without waiting."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol


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
