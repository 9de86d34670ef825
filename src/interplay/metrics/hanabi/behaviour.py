"""The two behaviour features of Canaan et al.: information per play (IPP) and communicativeness.

IPP is how much a player knows of the cards it plays; communicativeness is how often it hints when it can. Data of human
play are described by these features.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from interplay.metrics.api import Metric, Sample
from interplay.metrics.hanabi.moves import MoveRecord, is_hint, is_play, moves, per_seat, share_rows
from interplay.table import Row


def counts(sample: Sample, record: MoveRecord) -> dict[tuple[str, str | None], tuple[np.ndarray, np.ndarray]]:
    """Of each feature: what is counted and out of how many, [episode, seat] each."""
    plays, able = is_play(record), record.tokens > 0
    played = per_seat(sample, record, plays)
    hints = per_seat(sample, record, is_hint(record) & able)
    return {
        ("ipp", "told"): (per_seat(sample, record, plays * record.hinted) / 2, played),
        ("ipp", "deduced"): (per_seat(sample, record, plays * record.deduced) / 2, played),
        ("communicativeness", None): (hints, per_seat(sample, record, able)),
    }


def compute(sample: Sample) -> Iterator[Row]:
    """Yield both features of each seat of each episode."""
    for (name, known), (top, bottom) in counts(sample, moves(sample)).items():
        yield from share_rows(sample, name, known, top, bottom)


BEHAVIOUR = Metric(
    name="hanabi/behaviour",
    doc="ipp: of colour and rank, the share known of the cards that a seat played (`told` by hints that named them, "
    "or `deduced` from all hints); communicativeness: of its turns with a hint token, the share in which it hinted",
    compute=compute,
    describing=("n",),
    direction="neither",
    unit="share",
    source="Canaan et al. 2020; as used in the ad-hoc human-AI coordination challenge, appendix A.6",
)
