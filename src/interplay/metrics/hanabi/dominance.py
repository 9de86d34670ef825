"""Moves that no player should make, or that none needs to regret, by what it knew of the card (G1, G2, G3)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from interplay.metrics.api import Metric, Sample
from interplay.metrics.hanabi.moves import KNOWN, MoveRecord, is_discard, is_play, moves, per_seat, share_rows
from interplay.table import Row

NAMES = ("g1", "g2", "g3")


def flags(record: MoveRecord, name: str) -> np.ndarray:
    """Return whether each move is of the kind named, [move, sense].

    g1 discards a card known to be playable, g2 plays one known to be unplayable, g3 plays one known to be playable.
    """
    if name == "g1":
        return is_discard(record)[:, None] & record.playable
    if name == "g2":
        return is_play(record)[:, None] & record.unplayable
    return is_play(record)[:, None] & record.playable


def compute(sample: Sample) -> Iterator[Row]:
    """Yield the share of each seat's moves that are g1, g2 and g3, in each sense of `known`."""
    record = moves(sample)
    turns = per_seat(sample, record, np.ones(len(record.seat)))
    for name in NAMES:
        which = flags(record, name)
        for sense, known in enumerate(KNOWN):
            yield from share_rows(sample, name, known, per_seat(sample, record, which[:, sense]), turns)


DOMINANCE = Metric(
    name="hanabi/dominance",
    doc="of a seat's turns in a game, the share in which it discards a card known to be playable (g1, dominated), "
    "plays one known to be unplayable (g2, dominated) or plays one known to be playable (g3, dominant); `known` by "
    "hints and open cards (public), or by the other hands, too (seen)",
    compute=compute,
    describing=("n",),
    direction="neither",
    unit="share of turns",
    source="the objective-metrics study of human preference in Hanabi, appendix C.3",
)
