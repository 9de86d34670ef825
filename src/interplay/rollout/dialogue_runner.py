"""Episodes in which seats talk within a step: language models, and whoever sits beside them.

A step: in seat order, a seat that has nothing left to do thinks and may speak; what it says opens a dialogue on the
spot, up to a cap of messages. Then, in seat order and on the same state, every seat settles on its action.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.agents.api import Agent, Move, TraceEvent
from interplay.agents.dialogue import Dialogue, DialogueObservation, can_talk
from interplay.agents.llm.chat import ModelError
from interplay.agents.llm.limits import Usage
from interplay.games.api import Game
from interplay.rollout import event_loop
from interplay.rollout.compiled import Progress
from interplay.rollout.episode import Episode, EpisodeRecorder, EventLog
from interplay.rollout.python_runner import Seats, play_episode
from interplay.rollout.seat import player_seed, require_legal
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
    played: dict[int, Episode] = {}

    def ended(job: DialogueJob, episode: Episode) -> bool:
        played[id(job)] = episode
        if progress:
            progress(1)
        return True

    play_jobs(jobs, ended)
    return (played[id(job)] for job in jobs)


def play_jobs(
    jobs: Iterable[DialogueJob], ended: Callable[[DialogueJob, Episode], bool], *, at_once: int = AT_ONCE
) -> None:
    """Play jobs, so many at once. `ended` is called with each episode as it ends; False: begin no more."""
    event_loop.run(_play_jobs(jobs, ended, at_once))


async def _play_jobs(jobs: Iterable[DialogueJob], ended: Callable[[DialogueJob, Episode], bool], at_once: int) -> None:
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


class DialogueSeats(Seats):
    """Agents in the seats of one table: those who talk in this game, and the others."""

    def __init__(self, game: Game, agents: Mapping[int, Agent], key: Any):
        """Seat agents; `key` is the episode's."""
        talking = {seat: agent.policy for seat, agent in agents.items() if can_talk(agent.policy, game)}
        super().__init__(game, {seat: agent for seat, agent in agents.items() if seat not in talking}, key)
        self._names, meter = {seat: agent.name for seat, agent in agents.items()}, Usage()
        self.talkers: dict[int, Any] = {
            seat: policy.begin_talking(game, seat, player_seed(key, seat), meter)  # type: ignore[union-attr]
            for seat, policy in talking.items()
        }
        self.turn_cap: int = min((policy.turn_cap for policy in talking.values()), default=0)  # type: ignore[union-attr]

    def observation(self, seat: int, states: Sequence[Any], actions: Sequence[np.ndarray]) -> DialogueObservation:
        """What a seat that talks sees after these states and joint actions."""
        legal = np.asarray(self.game.legal(states[-1]))[seat]
        return DialogueObservation(
            game=self.game, seat=seat, t=len(actions), state=states[-1], legal=legal, states=states, actions=actions
        )

    async def move(self, dialogue: Dialogue, seat: int, state: Any, t: int) -> Move:
        """What a seat does when all have spoken.

        Raises:
            IllegalAction: The agent chose an action that is not legal.
        """
        legal = np.asarray(self.game.legal(state))[seat]
        if seat in self.seats:
            return await self.ask(self.seats[seat], state, t, legal)
        move = await dialogue.settle(seat)
        require_legal(self.game, self._names[seat], seat, move.action, legal, t)
        return move

    async def choose(self, states: Sequence[Any], recorder: EpisodeRecorder) -> np.ndarray | None:
        """The joint action of a step with talk; None if a model cannot be asked any more."""
        t = recorder.t
        dialogue = Dialogue(
            self.talkers,
            lambda seat: self.observation(seat, states, recorder.actions),
            lambda seat, event: recorder.log.add(t, seat, event),
        )
        try:
            for seat in self.talkers:
                await dialogue.open(seat, self.turn_cap)
            moves = [await self.move(dialogue, seat, states[-1], t) for seat in range(self.game.num_seats)]
        except ModelError as error:
            dialogue.take_events()
            recorder.log.add(t, None, end_event(error.reason, str(error)))
            return None
        return recorder.joint(moves)


def end_event(reason: str, message: str | None = None) -> TraceEvent:
    """The event that says why an episode ended."""
    return TraceEvent("end", {"reason": reason} | ({} if message is None else {"message": message}))


async def play_one(job: DialogueJob) -> Episode:
    """Play one episode with talk; its last event says how it ended."""
    episode = await play_episode(job.game, job.team, job.seed, job.index, DialogueSeats)
    if episode.events and episode.events[-1].kind == "end":
        return episode
    log = EventLog()
    log.events = list(episode.events)
    log.add(episode.length, None, end_event("done" if episode.terminated else "horizon"))
    return dataclasses.replace(episode, events=tuple(log.events))
