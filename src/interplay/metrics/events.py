"""How often each event of the game happened to each seat."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.metrics.api import Metric, Sample
from interplay.table import Row


def compute(sample: Sample) -> Iterator[Row]:
    for base, episode, again in zip(sample.about(), sample.episodes, sample.replays, strict=True):
        counts = again.steps.events.sum(axis=0)  # [seat, event]
        for seat, identity in enumerate(episode.agents):
            for number, name in enumerate(sample.game.event_names):
                told = {"metric": "events", "event": name, "value": int(counts[seat, number])}
                yield {**base, "seat": seat, "agent": identity.name, **told}


EVENTS = Metric(
    name="events",
    doc="counts of every event of the game (column `event`), by seat, from the replay",
    compute=compute,
    direction="neither",
    unit="times per episode",
    source="the game's event list; for Overcooked those of ZSC-Eval",
)
