"""A clock that tests move by hand."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta


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
