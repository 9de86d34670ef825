"""Clocks as arguments: deadlines, quotas and phases are tested without waiting."""

from __future__ import annotations

import functools
import secrets
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

GAP_S = 60.0  # between two looks at steady time: longer ones say that this process did not run
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
    """Counts the seconds since the time of day was last set, or the machine or this process suspended.

    Args:
        clock: The clock.
        gap_s: The longest time between two calls; after a longer one this process did not run. None: do not tell.
    """

    def __init__(self, clock: Clock, gap_s: float | None = None):
        self._clock, self._gap_s = clock, gap_s
        self._since = self._monotonic = clock.monotonic()
        self._now = clock.now()

    def seconds(self) -> float:
        """Return for how long both clocks have run alike; it begins anew if they have not since the last call."""
        now, monotonic = self._clock.now(), self._clock.monotonic()
        gap = monotonic - self._monotonic
        apart = (now - self._now).total_seconds() - gap
        self._now, self._monotonic = now, monotonic
        if abs(apart) > JUMP_S or (self._gap_s is not None and gap > self._gap_s):
            self._since = monotonic
        return monotonic - self._since


@functools.cache
def boot() -> str:
    """Return what tells this start of this machine from all others: monotonic clocks of one boot can be compared."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:40]
    except OSError:
        return secrets.token_hex(16)  # at least within this process


def stamp(clock: Clock) -> str:
    """Return a text of now, from which `seconds_since` counts without regard to the time of day."""
    return f"{boot()}/{clock.monotonic():.3f}"


def seconds_since(clock: Clock, stamped: str | None) -> float | None:
    """Return the seconds since a `stamp`; None without one, or if it was made before the machine was started."""
    machine, _, seconds = (stamped or "").partition("/")
    return clock.monotonic() - float(seconds) if machine == boot() else None
