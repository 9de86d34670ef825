"""Rate limits: token buckets in memory, one per name.

Visitors without a name are known by a keyed hash of their address, which is forgotten with the process: no address is
stored.
"""

from __future__ import annotations

import hmac
import math
import secrets

from interplay.server.api_error import ApiError
from interplay.server.clock import Clock

MOST_NAMES = 50_000


class Buckets:
    """Each name may do `burst` things at once and `per_second` in the long run."""

    def __init__(self, clock: Clock, per_second: float, burst: float):
        self._clock, self._rate, self._burst = clock, per_second, float(burst)
        self._level: dict[str, tuple[float, float]] = {}  # name -> what is left, and when that was so

    def take(self, name: str, cost: float = 1.0) -> bool:
        """Take tokens of a name; return whether there were enough."""
        now = self._clock.monotonic()
        left = self._left(name, now)
        if left < cost:
            self._level[name] = (left, now)
            return False
        self._level[name] = (left - cost, now)
        if len(self._level) > MOST_NAMES:
            self._forget(now)
        return True

    def require(self, name: str, what: str, cost: float = 1.0) -> None:
        """Take tokens of a name.

        Args:
            name: The name.
            what: What there is too much of, for the message.
            cost: The number of tokens.

        Raises:
            ApiError: The name has too few left; the message says how long to wait.
        """
        if not self.take(name, cost):
            wait = (cost - self._left(name, self._clock.monotonic())) / self._rate
            wait_s = max(1, math.ceil(wait))
            raise ApiError("too_many", f"too many {what}: wait {wait_s} s", wait_s=wait_s)

    def exhausted(self, name: str) -> bool:
        """Whether the name has nothing left; asking costs nothing."""
        return self._left(name, self._clock.monotonic()) < 1.0

    def _left(self, name: str, now: float) -> float:
        left, since = self._level.get(name, (self._burst, now))
        return min(self._burst, left + (now - since) * self._rate)

    def _forget(self, now: float) -> None:
        """Full buckets say nothing, so they need not be kept."""
        self._level = {n: v for n, v in self._level.items() if self._left(n, now) < self._burst}


class Addresses:
    """Addresses as anonymous names: a keyed hash whose key is never written down."""

    def __init__(self):
        self._key = secrets.token_bytes(32)

    def name(self, address: str | None) -> str:
        """Return the name of an address."""
        digest = hmac.digest(self._key, (address or "nowhere").encode(), "sha256").hex()
        return f"address:{digest[:16]}"
