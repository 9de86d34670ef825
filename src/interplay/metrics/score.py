"""What a team scored, what each seat was credited with, and how long the episode was."""

from __future__ import annotations

from collections.abc import Iterator

from interplay.games.registry import scoring
from interplay.metrics.api import Metric, Sample
from interplay.table import Row


def compute(sample: Sample) -> Iterator[Row]:
    """Yield the score and the length of each episode, and the reward of each seat."""
    rule = scoring(sample.game.id, sample.game.options)
    for base, episode in zip(sample.about(), sample.episodes, strict=True):
        yield {**base, "seat": None, "agent": None, "metric": "score", "value": episode.score, **rule}
        yield {**base, "seat": None, "agent": None, "metric": "length", "value": episode.length}
        for seat, identity in enumerate(episode.agents):
            points = float(episode.rewards[seat])
            yield {**base, "seat": seat, "agent": identity.name, "metric": "reward", "value": points, **rule}


SCORE = Metric(
    name="score",
    doc="the team's score (the sum of all rewards), the points credited to each seat, and the episode's length",
    compute=compute,
    direction="higher",
    unit="points",
    source="the game's own rules",
)
