"""How often each event of the game happened to each seat."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.metrics.api import Metric, Sample
from interplay.table import Row


def compute(sample: Sample) -> Iterator[Row]:
    """Yield the count of each event for each seat of each episode."""
    for base, episode, replay in zip(sample.about(), sample.episodes, sample.replays, strict=True):
        counts = replay.steps.events.sum(axis=0)  # [seat, event]
        for seat, identity in enumerate(episode.agents):
            for number, name in enumerate(sample.game.event_names):
                value = {"metric": "events", "event": name, "value": int(counts[seat, number])}
                yield {**base, "seat": seat, "agent": identity.name, **value}


EVENTS = Metric(
    name="events",
    doc="counts of every event of the game (column `event`), by seat, from the replay",
    compute=compute,
    direction="neither",
    unit="times per episode",
    source="the game's event list; for Overcooked those of ZSC-Eval",
)
