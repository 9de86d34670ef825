"""Episodes in which seats talk within a step: language models, and whoever sits beside them.

A step: in seat order, a seat that has nothing left to do thinks and may speak; what it says opens a dialogue on the
spot, up to a cap of messages. Then, in seat order and on the same state, every seat settles on its action.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.agents.api import Remark
from interplay.agents.llm.chat import ModelError
from interplay.agents.llm.limits import Meter
from interplay.agents.llm.talk import Message, Sight, Talker
from interplay.games.api import Game
from interplay.play import plain
from interplay.play.episodes import Episode, Remarked
from interplay.play.lineups import LineUp
from interplay.play.rollout import Progress

AT_ONCE = 16  # episodes in flight


@dataclass(frozen=True)
class Job:
    """An episode to be played."""

    game: Game
    line_up: LineUp
    seed: int
    index: int


def anyone_talks(game: Game, line_ups: Iterable[LineUp]) -> bool:
    """Whether a seat of these line-ups may talk in this game."""
    return any(_can_talk(agent.mind, game) for line_up in line_ups for agent in line_up.agents)


def rollout(
    game: Game, line_ups: Sequence[LineUp], episodes: int, seed: int, progress: Progress | None = None
) -> Iterator[Episode]:
    """Each line-up plays its episodes, many at once, since models are slow."""
    jobs = [Job(game, line_up, seed, index) for line_up in line_ups for index in range(episodes)]
    found: dict[int, Episode] = {}

    def ended(job: Job, episode: Episode) -> bool:
        found[numbers[id(job)]] = episode
        if progress:
            progress(1)
        return True

    numbers = {id(job): number for number, job in enumerate(jobs)}
    play_jobs(jobs, ended)
    return iter([found[number] for number in range(len(jobs))])


def play_jobs(jobs: Iterable[Job], ended: Callable[[Job, Episode], bool], *, at_once: int = AT_ONCE) -> None:
    """Play jobs, so many at once. `ended` is told of each episode as it ends; False: begin no more."""
    asyncio.run(play_jobs_async(jobs, ended, at_once=at_once))


async def play_jobs_async(
    jobs: Iterable[Job], ended: Callable[[Job, Episode], bool], *, at_once: int = AT_ONCE
) -> None:
    """As `play_jobs`, within an event loop."""
    waiting, open_ = iter(jobs), True

    async def worker() -> None:
        nonlocal open_
        while open_ and (job := next(waiting, None)) is not None:
            if not ended(job, await play_one(job)):
                open_ = False
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # a time-out that ends in the same moment can swallow it
                raise asyncio.CancelledError

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, at_once)):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None  # the first that failed; the others were called off


async def play_one(job: Job) -> Episode:
    """One episode with talk; its last remark says how it ended."""
    meter = Meter()

    def sit(mind: Any, game: Game, seat: int, key: Any, seed: int, index: int, number: int) -> Any:
        if not _can_talk(mind, game):
            return plain.sit_down(mind, game, seat, key, seed, index, number)
        own_seed = int(np.random.SeedSequence([seed, number, index, seat]).generate_state(1)[0])
        return mind.begin_talking(game, seat, own_seed, meter)

    caps = [a.mind.turn_cap for a in job.line_up.agents if _can_talk(a.mind, job.game)]  # type: ignore[union-attr]
    step = _Step(min(caps, default=0))
    episode = await plain.play_episode(job.game, job.line_up, job.seed, job.index, sit, step.choose)
    if episode.events and episode.events[-1].kind == "end":
        return episode
    remarks = list(episode.events)
    reason = "done" if episode.terminated else "horizon"
    plain.note(remarks, episode.length, None, Remark("end", {"reason": reason}))
    return dataclasses.replace(episode, events=tuple(remarks))


def _can_talk(mind: Any, game: Game) -> bool:
    return hasattr(mind, "talks") and bool(mind.talks(game))


@dataclass(frozen=True)
class _Step:
    turn_cap: int

    async def choose(
        self,
        game: Game,
        line_up: LineUp,
        seats: Sequence[Any],
        states: Sequence[Any],
        actions: Sequence[np.ndarray],
        remarks: list[Remarked],
    ) -> np.ndarray | None:
        """The joint action of a step with talk; None if a model cannot be asked any more."""
        state, t = states[-1], len(actions)
        legal, turn = np.asarray(game.legal(state)), np.asarray(game.to_move(state))
        table = _Table(game, seats, states, actions, legal, remarks)
        try:
            for seat in table.talkers:
                await table.dialogue(seat, self.turn_cap)
            moves = []
            for seat in range(game.num_seats):
                moves.append(
                    await table.settle(seat)
                    if seat in table.talkers
                    else await plain.ask_seat(game, seats[seat], state, t, seat, legal, turn)
                )
        except ModelError as error:
            table.take_all()
            plain.note(remarks, t, None, Remark("end", {"reason": error.reason, "message": str(error)}))
            return None
        for seat, move in enumerate(moves):
            plain.check_legal(game, line_up, seat, move.action, legal[seat], t)
            for remark in move.remarks:
                plain.note(remarks, t, seat, remark)
        return np.array([m.action for m in moves], np.int32)


class _Table:
    """One step: who can talk, what they see, and the remarks in the order in which they fell."""

    def __init__(self, game: Game, seats: Sequence[Any], states: Any, actions: Any, legal: Any, remarks: Any):
        self.talkers: dict[int, Talker] = {s: seat for s, seat in enumerate(seats) if hasattr(seat, "take_remarks")}
        self._game, self._states, self._actions = game, states, actions
        self._legal, self._remarks, self._t = legal, remarks, len(actions)

    async def dialogue(self, opener: int, turn_cap: int) -> None:
        """What the opener says, and the answers to it, until nobody says more or the cap is reached."""
        said = list(await self._ask(opener, self.talkers[opener].open(self._sight(opener))))
        turn = 0
        while said:
            heard_by = self._deliver(said)
            turn += len(said)
            if turn >= turn_cap:
                # The last word has been heard; what it asks is answered when the listener next thinks.
                plain.note(self._remarks, self._t, None, Remark("dialogue_cut", {"turns": turn}))
                return
            said = []
            for seat in heard_by:
                said += await self._ask(seat, self.talkers[seat].reply(self._sight(seat), turn + len(said)))

    async def settle(self, seat: int) -> Any:
        return await self._ask(seat, self.talkers[seat].settle(self._sight(seat)))

    def take_all(self) -> None:
        for seat in self.talkers:
            self._take(seat)

    def _deliver(self, said: Sequence[Message]) -> list[int]:
        """Everybody addressed hears it, and so does the speaker; who was addressed, in seat order."""
        addressed = set()
        for message in said:
            for seat, talker in self.talkers.items():
                if seat == message.sender or message.to in (None, seat):
                    talker.hear(message)
                    addressed |= {seat} - {message.sender}
        return sorted(addressed)

    async def _ask(self, seat: int, answer: Any) -> Any:
        found = await answer
        self._take(seat)
        return found

    def _take(self, seat: int) -> None:
        for remark in self.talkers[seat].take_remarks():
            plain.note(self._remarks, self._t, seat, remark)

    def _sight(self, seat: int) -> Sight:
        return Sight(
            game=self._game,
            seat=seat,
            t=self._t,
            state=self._states[-1],
            legal=self._legal[seat],
            states=self._states,
            actions=self._actions,
        )
