"""Progress of schedules where a time limit ends training: it goes by the updates that the time left allows.

The pace is that of all updates since the first chunk, which includes the compilation. A schedule never goes back: what
is left of it is spread over the updates that are left by the latest estimate.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class TimeSchedule:
    """The progress of a stage that ends after `total` updates or `minutes`, whichever comes first."""

    def __init__(self, total: int, minutes: float, update: int, now: Callable[[], float] = time.perf_counter):
        self.total, self._now = total, now
        self._end = now() + 60 * minutes
        self._share = update / total
        self._mark: tuple[float, int] | None = None  # when the first chunk had been done, and how many updates that was
        self._rate: float | None = None  # updates a second

    @property
    def expired(self) -> bool:
        """Whether the time is over."""
        return self._now() > self._end

    def record(self, update: int) -> None:
        """Note that so many updates are done by now."""
        if self._mark is None:
            self._mark = self._now(), update
        elif update > self._mark[1]:
            self._rate = (update - self._mark[1]) / max(self._now() - self._mark[0], 1e-9)

    def plan_chunk(self, update: int, many: int) -> tuple[float, float]:
        """Return the progress at which a chunk of `many` updates begins, and what each update adds to it."""
        left = self.total - update
        if self._rate is not None:
            left = min(left, self._rate * (self._end - self._now()))
        begin, step = self._share, (1 - self._share) / max(left, many)
        self._share = min(1.0, begin + many * step)
        return begin, step
