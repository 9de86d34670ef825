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

from interplay.agents.api import Agent
from interplay.agents.dialogue import Dialogue, DialogueObservation, can_talk
from interplay.agents.llm.chat import ModelError
from interplay.agents.llm.limits import Usage
from interplay.games.api import Game
from interplay.rollout import event_loop
from interplay.rollout.compiled import Progress
from interplay.rollout.episode import Episode, EpisodeRecorder, EventLog
from interplay.rollout.python_runner import ask_seat, end_event, play_episode
from interplay.rollout.seat import Seat, player_seed, require_legal
from interplay.rollout.teams import Team

AT_ONCE = 16  # episodes in flight


@dataclass(frozen=True)
class DialogueJob:
    """An episode to be played."""

    game: Game
    team: Team
    seed: int
    index: int


def anyone_talks(game: Game, teams: Iterable[Team]) -> bool:
    """Whether a seat of these teams talks in this game."""
    return any(can_talk(agent.policy, game) for team in teams for agent in team.agents)


def rollout(
    game: Game, teams: Sequence[Team], numbers: range, seed: int, progress: Progress | None = None
) -> Iterator[Episode]:
    """Play the episodes of these numbers with talk, many at once, since models are slow."""
    jobs = [DialogueJob(game, team, seed, index) for team in teams for index in numbers]
    places = {id(job): place for place, job in enumerate(jobs)}
    played: dict[int, Episode] = {}

    def ended(job: DialogueJob, episode: Episode) -> bool:
        played[places[id(job)]] = episode
        if progress:
            progress(1)
        return True

    play_jobs(jobs, ended)
    return iter([played[place] for place in range(len(jobs))])


def play_jobs(
    jobs: Iterable[DialogueJob], ended: Callable[[DialogueJob, Episode], bool], *, at_once: int = AT_ONCE
) -> None:
    """Play jobs, so many at once. `ended` is called with each episode as it ends; False: begin no more."""
    event_loop.run(play_jobs_async(jobs, ended, at_once=at_once))


async def play_jobs_async(
    jobs: Iterable[DialogueJob], ended: Callable[[DialogueJob, Episode], bool], *, at_once: int = AT_ONCE
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


async def play_one(job: DialogueJob) -> Episode:
    """Play one episode with talk; its last event says how it ended."""
    meter = Usage()

    def make_seat(game: Game, agent: Agent, seat: int, key: Any) -> Any:
        if can_talk(agent.policy, game):
            return agent.policy.begin_talking(game, seat, player_seed(key, seat), meter)  # type: ignore[union-attr]
        return Seat(game, agent, seat, key)

    caps = [a.policy.turn_cap for a in job.team.agents if can_talk(a.policy, job.game)]  # type: ignore[union-attr]
    choose = _Choose(job.team, min(caps, default=0))
    episode = await play_episode(job.game, job.team, job.seed, job.index, make_seat, choose)
    if episode.events and episode.events[-1].kind == "end":
        return episode
    log = EventLog()
    log.events = list(episode.events)
    log.add(episode.length, None, end_event("done" if episode.terminated else "horizon"))
    return dataclasses.replace(episode, events=tuple(log.events))


@dataclass(frozen=True)
class _Choose:
    team: Team
    turn_cap: int

    async def __call__(
        self, game: Game, seats: Sequence[Any], states: Sequence[Any], recorder: EpisodeRecorder
    ) -> np.ndarray | None:
        """The joint action of a step with talk; None if a model cannot be asked any more."""
        state, t = states[-1], recorder.t
        legal, turn = np.asarray(game.legal(state)), np.asarray(game.to_move(state))

        def observe(seat: int) -> DialogueObservation:
            return DialogueObservation(
                game=game, seat=seat, t=t, state=state, legal=legal[seat], states=states, actions=recorder.actions
            )

        talkers = {s: seat for s, seat in enumerate(seats) if not isinstance(seat, Seat)}
        dialogue = Dialogue(talkers, observe, lambda seat, event: recorder.log.add(t, seat, event))
        try:
            for seat in talkers:
                await dialogue.open(seat, self.turn_cap)
            moves = [
                await (dialogue.settle(s) if s in talkers else ask_seat(game, seats[s], state, t, legal, turn))
                for s in range(game.num_seats)
            ]
        except ModelError as error:
            dialogue.take_events()
            recorder.log.add(t, None, end_event(error.reason, str(error)))
            return None
        for seat, move in enumerate(moves):
            require_legal(game, self.team.agents[seat].name, seat, move.action, legal[seat], t)
            for event in move.events:
                recorder.log.add(t, seat, event)
        return np.array([m.action for m in moves], np.int32)
