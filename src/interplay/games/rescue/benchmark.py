"""The houses of the rescue benchmark: fires that spread, short horizons, and a certified difficulty.

Made and certified by `difficulty.py`, which says what the classes mean.
"""

from __future__ import annotations

from typing import NamedTuple


class BenchmarkHouse(NamedTuple):
    """A house with its own horizon.

    Attributes:
        text: The house; two of its places (?) have a victim.
        horizon: Steps of an episode: those of `plan`, or up to 15 % more where scripted teams would all fail, and where
            help is useless.
        spread: Fires spread every so many steps.
        hidden: Victims.
        plan: Steps of the joint plan that search found to treat them all; the longest over all placements.
    """

    text: str
    horizon: int
    spread: int
    hidden: int
    plan: int


BENCHMARK: dict[str, BenchmarkHouse] = {
    "required_1": BenchmarkHouse(
        "#########/#...#?..#/#n.fD...#/#...#..K#/##D###D##/#...#E..#/#...D...#/#..?#F.?#/#########", 66, 30, 2, 66
    ),
    "required_2": BenchmarkHouse(
        "#########/#.n.#...#/#...D...#/#.fE#?..#/##D###D##/#...#..?#/#...D...#/#..?#F.K#/#########", 84, 30, 2, 76
    ),
    "required_3": BenchmarkHouse(
        "#########/#En.#?.F#/#f..D...#/#...#...#/##D###D##/#...#?..#/#...D...#/#?..#K..#/#########", 77, 30, 2, 70
    ),
    "helpful_1": BenchmarkHouse(
        "#########/#...#?..#/#n.fD...#/#...#F.K#/##+###+##/#...#E..#/#...+...#/#..?#F.?#/#########", 83, 30, 2, 72
    ),
    "useless_1": BenchmarkHouse(
        "#############/#...#?..#..?#/#n.f+...+...#/#...#..K#...#/##+###+###+##/#...#E..#?..#/#...+...+...#/"
        "#...#F..#K..#/#############",
        67,
        30,
        2,
        59,
    ),
}
