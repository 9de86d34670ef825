"""Verification of trace sets: every episode is replayed and compared with its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from interplay.errors import TraceError
from interplay.games.api import Game, is_jax
from interplay.rollout.episode import Episode
from interplay.table import Table
from interplay.traces.replay import Replay, check_fits, game_key, made_game, replay_batches, replay_unchecked
from interplay.traces.replay_comparison import Difference, compare
from interplay.traces.store import TraceSet

CHUNK = 256  # episodes verified at once; their states are not kept


@dataclass(frozen=True, kw_only=True)
class VerifyProblem(Difference):
    """A difference, in this episode of the set."""

    episode: int
    game: str

    def __str__(self) -> str:
        return f"episode {self.episode} ({self.game}): {super().__str__()}"


@dataclass(frozen=True, kw_only=True)
class VerifyReport:
    """The result of verifying a trace set."""

    name: str
    episodes: int  # replayed, and equal to the record
    steps: int  # of those
    games: tuple[str, ...]  # all that the set holds
    unreplayable: int  # episodes of games that cannot be replayed, whose recorded states agree with the record
    problems: tuple[VerifyProblem, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def table(self) -> Table:
        """One row per problem."""
        columns = ("episode", "game", "t", "what", "expected", "found")
        return Table.of([{c: getattr(p, c) for c in columns} for p in self.problems], "problems", columns=columns)

    def check(self) -> VerifyReport:
        """This report, or an error that tells the first problem and how many there are."""
        if len(self.problems) > 0:
            more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
            raise TraceError(f"{self.name}: {self.problems[0]}{more}")
        return self


def verify(traces: TraceSet, *, progress: Callable[[int], None] | None = None) -> VerifyReport:
    """Replay every episode of a set and compare. `progress` is told how many more episodes were done."""
    if len(traces) == 0:
        raise TraceError(
            f"{traces.name} holds no episodes, so there is nothing to verify. A run that was killed before it "
            "committed its first episodes leaves such a set: run it again"
        )
    verified = steps = unreplayable = 0
    games: dict[str, None] = {}
    problems: list[VerifyProblem] = []
    for number, episode, replayed, differences in _outcomes(traces):
        games[episode.game_id] = None
        problems += [VerifyProblem(episode=number, game=episode.game_id, **vars(d)) for d in differences]
        if not differences:
            verified += replayed
            steps += episode.length * replayed
            unreplayable += not replayed
        if progress is not None:
            progress(1)
    return VerifyReport(
        name=traces.name,
        episodes=verified,
        steps=steps,
        games=tuple(games),
        unreplayable=unreplayable,
        problems=tuple(sorted(problems, key=lambda p: (p.episode, -1 if p.t is None else p.t))),
    )


Outcome = tuple[int, Episode, bool, list[Difference]]  # number, episode, whether it was replayed, differences


def _outcomes(traces: TraceSet) -> Iterator[Outcome]:
    """The outcome of every episode, a game's episodes gathered until a chunk is full."""
    waiting: dict[tuple[str, str], list[tuple[int, Episode]]] = {}
    for number, episode in traces.items():
        group = waiting.setdefault(game_key(episode), [])
        group.append((number, episode))
        if len(group) == CHUNK:
            yield from _compare_group(group)
            group.clear()
    for group in waiting.values():
        yield from _compare_group(group)


def _compare_group(group: list[tuple[int, Episode]]) -> Iterator[Outcome]:
    able: list[tuple[int, Episode]] = []
    for number, episode in group:
        try:
            check_fits(made_game(episode), episode)
        except TraceError as error:
            yield number, episode, False, [Difference(what=str(error))]
        else:
            able.append((number, episode))
    if able:
        yield from _replay_group(made_game(able[0][1]), able)


def _replay_group(game: Game, group: list[tuple[int, Episode]]) -> Iterator[Outcome]:
    try:
        replays = list(_replays(game, [episode for _, episode in group]))
    except Exception as error:  # whatever a damaged start or a game of a user may raise is a finding, not a crash
        if len(group) == 1:
            number, episode = group[0]
            yield number, episode, True, [Difference(what=f"the replay failed, {type(error).__name__}: {error}")]
            return
        for one in group:
            yield from _replay_group(game, [one])
        return
    for (number, episode), replayed in zip(group, replays, strict=True):
        yield number, episode, game.replayable, compare(game, episode, replayed)


def _replays(game: Game, episodes: list[Episode]) -> Iterator[Replay]:
    if not is_jax(game):
        return (replay for _, replay in replay_unchecked(game, episodes, CHUNK))
    batches = replay_batches(game, episodes, chunk=CHUNK, keep_states=False)
    return (replay for batch in batches for replay in batch.each())
