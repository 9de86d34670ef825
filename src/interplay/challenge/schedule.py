"""Who sits where in each game of an evaluation: fixed when the key is issued, uniform over all line-ups."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Sequence

from interplay.errors import InterplayError

Seats = tuple[int | None, ...]  # by seat: the number of a partner, or None for the candidate
MOST = 100_000


def line_ups(seats: int, partners: int, several_seats: bool = True) -> list[Seats]:
    """Every way to seat the candidate with partners, except alone: 4 for two seats and two partners, 18 for three."""
    if partners**seats > MOST:
        raise InterplayError(f"{partners} partners on {seats} seats make too many line-ups; choose fewer partners")
    teams = []
    for count in range(1, seats if several_seats else 2):
        for own in itertools.combinations(range(seats), count):
            for others in itertools.product(range(partners), repeat=seats - count):
                left = iter(others)
                teams.append(tuple(None if seat in own else next(left) for seat in range(seats)))
    return teams


def schedule(choices: Sequence[Seats], games: int, secret: bytes) -> list[int]:
    """Return the line-up of each game, by number.

    Each pass goes through all line-ups in an order of its own, so that their counts differ by at most one at any time
    during the evaluation; the secret decides the orders.
    """
    draw = random.Random(hashlib.sha256(b"schedule" + secret).digest())
    order: list[int] = []
    while len(order) < games:
        once = list(range(len(choices)))
        draw.shuffle(once)
        order += once
    return order[:games]


def chance(secret: bytes, setting: str, number: int, attempt: int) -> tuple[int, int]:
    """The 64 bits from which a game's deck and its partners' chances follow. A game that is dealt anew gets others."""
    digest = hashlib.sha256(b"chance" + secret + f"{setting}/{number}/{attempt}".encode()).digest()
    return int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big")
