"""Episodes of a game that is plain Python: one after the other, policies and players alike asked step by step."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from interplay.agents.api import Agent, Move
from interplay.games.api import Game
from interplay.games.checksum import checksum
from interplay.rollout import event_loop
from interplay.rollout.compiled import Progress
from interplay.rollout.episode import Episode, EpisodeRecorder
from interplay.rollout.seat import START, Seat, chance_key, episode_keys, view_of
from interplay.rollout.teams import Team


def rollout(
    game: Game, teams: Sequence[Team], numbers: range, seed: int, progress: Progress | None = None
) -> Iterator[Episode]:
    """Play the episodes of these numbers of a Python game, each team its own."""
    for team in teams:
        for index in numbers:
            yield event_loop.run(play_episode(game, team, seed, index))
            if progress:
                progress(1)


_chance_key = jax.jit(chance_key)


class Seats:
    """Agents in the seats of one table. Runners in which seats do more than act have a class of their own."""

    def __init__(self, game: Game, agents: Mapping[int, Agent], key: Any):
        """Seat agents, by seat; `key` is the episode's."""
        self.game = game
        self.seats = {number: Seat(game, agent, number, key) for number, agent in agents.items()}

    async def choose(self, states: Sequence[Any], recorder: EpisodeRecorder) -> np.ndarray | None:
        """The joint action of a step, all seats asked on the same state; None: nobody can be asked any more."""
        legal = np.asarray(self.game.legal(states[-1]))
        asked = (self.ask(seat, states[-1], recorder.t, legal[number]) for number, seat in self.seats.items())
        return recorder.joint(await asyncio.gather(*asked))

    async def ask(self, seat: Seat, state: Any, t: int, legal: np.ndarray) -> Move:
        """One seat's move; a player who is neither to move nor watching is not asked."""
        on_turn = bool(np.asarray(self.game.to_move(state))[seat.seat])
        if not on_turn and not seat.watches:
            return Move(int(np.argmax(legal)))
        return await seat.act(view_of(self.game, state, t, seat.seat, legal, seat.encoding), on_turn)

    def close(self) -> None:
        """The episode is over."""
        for seat in self.seats.values():
            seat.close()


async def play_episode(game: Game, team: Team, seed: int, index: int, seating: type[Seats] = Seats) -> Episode:
    """Play one episode.

    Args:
        game: Any game; its rules are called step by step.
        team: Who plays.
        seed: Seeds all chance, together with the team and `index`.
        index: The episode's number.
        seating: How agents sit, and find a joint action.
    """
    key = episode_keys(seed, [team.number], [index])[0]
    state = game.init(chance_key(key, START, game.num_seats))
    seats = seating(game, dict(enumerate(team.agents)), key)
    recorder, states = EpisodeRecorder(game, state, game.start(state), state_checksum(game, state)), [state]
    with contextlib.closing(seats):
        while not recorder.done and recorder.t < game.horizon:
            actions = await seats.choose(states, recorder)
            if actions is None:
                break
            step_once(game, states, actions, key, recorder)
    return recorder.episode(team.identities, seed, index)


def step_once(game: Game, states: list[Any], actions: Any, key: Any, recorder: EpisodeRecorder) -> None:
    """Step a game by one joint action: the new state is added to `states`, and the step is recorded."""
    t = recorder.t
    after, step = game.step(states[-1], actions, _chance_key(key, np.int32(t), np.int32(game.num_seats)))
    done = bool(step.terminated) or bool(step.truncated) or t + 1 >= game.horizon
    states.append(after)  # before the action: whoever reads along takes the state of as many actions as there are
    recorder.record(actions, step.reward, bool(step.terminated), done, state_checksum(game, after))
    recorder.keep_state(after, step)


def state_checksum(game: Game, state: Any) -> int:
    """The checksum of a state; a game in plain Python may offer its own `checksum(state)`."""
    own = getattr(game, "checksum", None)
    return int(own(state) if own else checksum(state))
