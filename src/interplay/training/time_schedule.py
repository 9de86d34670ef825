"""How far schedules have come where a clock ends training: they go by the updates that the time left allows.

The pace is that of all updates since the first chunk, which was compiled on the way. A schedule never goes back: what
is left of it is spread over what is left of the training, whatever was thought before.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class TimeSchedule:
    """Of one stage of training that ends after `total` updates or `minutes`, whichever comes first."""

    def __init__(self, total: int, minutes: float, update: int, now: Callable[[], float] = time.perf_counter):
        self.total, self._now = total, now
        self._end = now() + 60 * minutes
        self._share = update / total
        self._mark: tuple[float, int] | None = None  # when the first chunk had been done, and how many updates that was
        self._rate: float | None = None  # updates a second

    @property
    def late(self) -> bool:
        return self._now() > self._end

    def heard(self, update: int) -> None:
        """So many updates are done."""
        if self._mark is None:
            self._mark = self._now(), update
        elif update > self._mark[1]:
            self._rate = (update - self._mark[1]) / max(self._now() - self._mark[0], 1e-9)

    def ahead(self, update: int, many: int) -> tuple[float, float]:
        """For a chunk of so many updates that begins here: the share of the schedules done, and what an update adds."""
        left = self.total - update
        if self._rate is not None:
            left = min(left, self._rate * (self._end - self._now()))
        found = self._share, (1 - self._share) / max(left, many)
        self._share = min(1.0, found[0] + many * found[1])
        return found
