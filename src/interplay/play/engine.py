"""The one way to play: line-ups in, episodes out. Where the work runs is an engine's business."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.play.episodes import Episode
from interplay.play.lineups import LineUp
from interplay.play.rollout import Progress
from interplay.registry import Registry

DEFAULT_BATCH = 2048  # environments at a time

ENGINES = Registry("engine", entry_points="interplay.engines", table={"local": "interplay.play.engine:local"})


def run(
    game: Game,
    line_ups: Sequence[LineUp],
    *,
    episodes: int,
    seed: int,
    engine: str = "local",
    batch: int = DEFAULT_BATCH,
    progress: Progress | None = None,
) -> Iterator[Episode]:
    """Each line-up plays `episodes` episodes. Results depend on the seed and the line-up, not on batch or engine."""
    if episodes < 1:
        raise InterplayError(f"episodes: {episodes}; play at least one")
    if batch < 1:
        raise InterplayError(f"batch: {batch}; play at least one environment at a time")
    return ENGINES.load(engine)(game, line_ups, episodes, seed, batch, progress)


def local(
    game: Game, line_ups: Sequence[LineUp], episodes: int, seed: int, batch: int, progress: Progress | None
) -> Iterator[Episode]:
    """In this process."""
    if is_jax(game):
        from interplay.play.rollout import rollout

        return rollout(game, line_ups, episodes, seed, batch, progress)
    from interplay.play import talk
    from interplay.play.plain import rollout as plain_rollout

    if talk.anyone_talks(game, line_ups):
        return talk.rollout(game, line_ups, episodes, seed, progress)

    return plain_rollout(game, line_ups, episodes, seed, progress)
