"""Episodes of a game that is plain Python: one after the other, policies and players alike asked step by step."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from interplay.agents.api import Agent, Move, TraceEvent
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

# How agents are seated: (game, agents by seat, episode's key) -> whatever `choose` asks, with a method `close()`.
# How the joint action of a step is found: (game, seats, states so far, recorder) -> actions [seat], or None to stop.
SeatAll = Callable[[Game, Mapping[int, Agent], Any], Any]
Choose = Callable[[Game, Any, Sequence[Any], EpisodeRecorder], Awaitable[np.ndarray | None]]


class Seats:
    """Agents who only act, in the seats of one table."""

    def __init__(self, game: Game, agents: Mapping[int, Agent], key: Any):
        self.game, self.seats = game, [Seat(game, agent, seat, key) for seat, agent in agents.items()]

    def close(self) -> None:
        """The episode is over."""
        for seat in self.seats:
            seat.close()


async def play_episode(
    game: Game, team: Team, seed: int, index: int, sit_down: SeatAll = Seats, choose: Choose | None = None
) -> Episode:
    """Play one episode.

    Args:
        game: Any game; its rules are called step by step.
        team: Who plays.
        seed: Seeds all chance, together with the team and `index`.
        index: The episode's number.
        sit_down: How agents are seated, for runners in which seats do more than act.
        choose: How a joint action is found; by default all seats are asked in turn.
    """
    key = episode_keys(seed, [team.number], [index])[0]
    state = game.init(chance_key(key, START, game.num_seats))
    seats = sit_down(game, dict(enumerate(team.agents)), key)
    recorder, states = EpisodeRecorder(game, state, game.start(state), state_checksum(game, state)), [state]
    with contextlib.closing(seats):
        while not recorder.done and recorder.t < game.horizon:
            actions = await (choose or ask_seats)(game, seats, states, recorder)
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


async def ask_seats(game: Game, seats: Seats, states: Sequence[Any], recorder: EpisodeRecorder) -> np.ndarray:
    """The joint action of all seats, asked on the same state."""
    state, t = states[-1], recorder.t
    legal, turn = np.asarray(game.legal(state)), np.asarray(game.to_move(state))
    return recorder.joint(await asyncio.gather(*(ask_seat(game, seat, state, t, legal, turn) for seat in seats.seats)))


async def ask_seat(game: Game, seat: Seat, state: Any, t: int, legal: np.ndarray, turn: np.ndarray) -> Move:
    """One seat's move; a player who is neither to move nor watching is not asked."""
    number = seat.seat
    if not turn[number] and not seat.watches:
        return Move(int(np.argmax(legal[number])))
    view = view_of(game, state, t, number, legal[number], seat.encoding)
    return await seat.act(view, bool(turn[number]))


def state_checksum(game: Game, state: Any) -> int:
    """The checksum of a state; a game in plain Python may offer its own `checksum(state)`."""
    own = getattr(game, "checksum", None)
    return int(own(state) if own else checksum(state))


def end_event(reason: str, message: str | None = None) -> TraceEvent:
    """The event that says why an episode ended."""
    return TraceEvent("end", {"reason": reason} | ({} if message is None else {"message": message}))
