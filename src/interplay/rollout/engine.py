"""Play teams and yield episodes. An engine decides where the work runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.registry import Registry
from interplay.rollout.compiled import Progress
from interplay.rollout.episode import Episode
from interplay.rollout.teams import Team

DEFAULT_BATCH = 2048  # environments at a time

ENGINES = Registry("engine", entry_points="interplay.engines", table={"local": "interplay.rollout.engine:local"})


def run(
    game: Game,
    teams: Sequence[Team],
    *,
    episodes: int,
    seed: int,
    engine: str = "local",
    batch: int = DEFAULT_BATCH,
    progress: Progress | None = None,
) -> Iterator[Episode]:
    """Let each team play `episodes` episodes. Results depend on the seed and the team, not on batch or engine."""
    if episodes < 1:
        raise InterplayError(f"episodes: {episodes}; play at least one")
    if batch < 1:
        raise InterplayError(f"batch: {batch}; play at least one environment at a time")
    return ENGINES.load(engine)(game, teams, episodes, seed, batch, progress)


def local(
    game: Game, teams: Sequence[Team], episodes: int, seed: int, batch: int, progress: Progress | None
) -> Iterator[Episode]:
    """Play in this process."""
    if is_jax(game):
        from interplay.rollout.compiled import rollout

        return rollout(game, teams, episodes, seed, batch, progress)
    from interplay.rollout import dialogue, python_runner

    if dialogue.anyone_talks(game, teams):
        return dialogue.rollout(game, teams, episodes, seed, progress)
    return python_runner.rollout(game, teams, episodes, seed, progress)
