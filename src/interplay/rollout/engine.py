"""Play teams and yield episodes. An engine decides where the work runs: in this process, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.registry import Registry
from interplay.rollout.compiled import Progress
from interplay.rollout.episode import Episode
from interplay.rollout.teams import Team

DEFAULT_BATCH = 2048  # environments at a time
SHARES_A_SLOT = 4  # shares of work for each slot of an engine, so that slow ones even out

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Where tasks run. Their results do not depend on it."""

    def slots(self) -> int:
        """How many tasks can run at the same time."""
        ...

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield the results of a function for all tasks, in their order."""
        ...


class LocalEngine:
    """Runs tasks in this process, one after the other."""

    def slots(self) -> int:
        """Return 1."""
        return 1

    def map(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield the results of a function for all tasks, in their order."""
        return map(function, tasks)


ENGINES = Registry(
    "engine",
    entry_points="interplay.engines",
    table={"local": "interplay.rollout.engine:LocalEngine", "ray": "interplay.rollout.ray_engine:RayEngine"},
)


def engine_by_name(name: str) -> Engine:
    """Make an engine: `local`, `ray`, or one that a package registers as an entry point of `interplay.engines`."""
    return ENGINES.load(name)()


class Share(NamedTuple):
    """A part of the work: some episodes of some teams."""

    game: Game
    teams: Sequence[Team]
    first: int  # number of the first episode
    episodes: int
    seed: int
    batch: int


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
    if engine == "local":
        return play_share(Share(game, teams, 0, episodes, seed, batch), progress)
    return _played_elsewhere(engine_by_name(engine), Share(game, teams, 0, episodes, seed, batch), progress)


def _played_elsewhere(engine: Engine, work: Share, progress: Progress | None) -> Iterator[Episode]:
    for episodes in engine.map(_all_of, shares(work, engine.slots())):
        if progress:
            progress(len(episodes))
        yield from episodes


def _all_of(share: Share) -> list[Episode]:
    return list(play_share(share))


def shares(work: Share, slots: int) -> Iterator[Share]:
    """Cut work into shares of about the same size whose episodes, one share after the other, are in the work's order.

    Args:
        work: What is to be played.
        slots: How many shares can be played at the same time.
    """
    size = max(1, min(work.batch, -(-len(work.teams) * work.episodes // (slots * SHARES_A_SLOT))))
    teams_a_share = max(1, size // work.episodes)
    for first_team in range(0, len(work.teams), teams_a_share):
        some = work._replace(teams=work.teams[first_team : first_team + teams_a_share])
        step = work.episodes if teams_a_share > 1 else min(size, work.episodes)
        for first in range(0, work.episodes, step):
            yield some._replace(first=first, episodes=min(step, work.episodes - first))


def play_share(share: Share, progress: Progress | None = None) -> Iterator[Episode]:
    """Play in this process."""
    game, teams, first, episodes, seed, batch = share
    numbers = range(first, first + episodes)
    if is_jax(game):
        from interplay.rollout.compiled import rollout

        return rollout(game, teams, numbers, seed, batch, progress)
    from interplay.rollout import dialogue_runner, python_runner

    if dialogue_runner.anyone_talks(game, teams):
        return dialogue_runner.rollout(game, teams, numbers, seed, progress)
    return python_runner.rollout(game, teams, numbers, seed, progress)
