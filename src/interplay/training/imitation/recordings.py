"""Recorded games as arrays to learn from: what every seat saw, what it was allowed and what it did.

A game keeps only its start and its actions; the rest is played again. Any game of ours in JAX serves, by turns or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax


@dataclass(frozen=True)
class Recorded:
    """A game that was played: enough to play it again."""

    name: str  # for messages
    actions: Int[np.ndarray, "step seat"]
    start: Mapping[str, Any] = field(default_factory=dict)  # what `game.init(key, **start)` needs
    score: float | None = None  # if it was written down, the replay has to come to it


@dataclass(frozen=True)
class Recordings:
    """What is learnt from. A sequence is one seat of one game; shorter ones are padded, with `turn` false there."""

    seen: np.ndarray  # [sequence, step, ...] in the encoding that the network reads
    legal: Bool[np.ndarray, "sequence step action"]
    action: Int[np.ndarray, "sequence step"]
    turn: Bool[np.ndarray, "sequence step"]  # where the seat had a choice to make: only these are learnt
    start: Bool[np.ndarray, "sequence step"]  # where memory is empty
    game: Int[np.ndarray, " sequence"]  # which game it is from: games, not steps, are held out

    def __post_init__(self) -> None:
        shape = self.action.shape
        for name in ("seen", "legal", "turn", "start"):
            if getattr(self, name).shape[:2] != shape:
                raise InterplayError(
                    f"recordings: {name} is {list(getattr(self, name).shape)}, but there are {list(shape)} actions"
                )
        if len(self.game) != shape[0]:
            raise InterplayError(f"recordings: {len(self.game)} numbers of games for {shape[0]} sequences")
        if not np.all(np.take_along_axis(self.legal, self.action[..., None].astype(int), -1)[..., 0][self.turn]):
            raise InterplayError("recordings: some of the actions to learn are not legal where they were taken")

    @property
    def games(self) -> int:
        return int(self.game.max()) + 1


def replayed(game: Game, games: Sequence[Recorded], encoding: str) -> Recordings:
    """Play recorded games again and note what every seat saw, [game x seat] sequences."""
    if not is_jax(game):
        raise InterplayError(f"{game.id} is not written in JAX, so its games cannot be replayed as arrays")
    if not games:
        raise InterplayError("there are no recorded games to learn from")
    readable = [name for name, e in game.encodings.items() if e.shape and 0 not in e.shape]
    if encoding not in readable:
        known = ", ".join(readable)
        raise InterplayError(f"{encoding!r} is nothing that a network reads in {game.id}; {known} are")
    lengths = np.array([len(one.actions) for one in games])
    actions = np.zeros((len(games), lengths.max(), game.num_seats), np.int32)
    for row, one in zip(actions, games, strict=True):
        row[: len(one.actions)] = one.actions
    starts = {name: jnp.stack([jnp.asarray(one.start[name]) for one in games]) for name in games[0].start}

    def play(start: Mapping[str, Any], actions: Any, length: Any) -> Any:
        def turn(state: Any, now: tuple[Any, Any]) -> tuple[Any, Any]:
            t, joint = now
            noted = (game.observe(state, encoding), game.legal(state), game.to_move(state))
            state, step = game.step(state, joint, jax.random.key(0))
            return state, (*noted, jnp.sum(step.reward) * (t < length))

        state = game.init(jax.random.key(0), **start)
        return jax.lax.scan(turn, state, (jnp.arange(actions.shape[0]), actions))[1]

    found = jax.jit(jax.vmap(play))(starts, jnp.asarray(actions), jnp.asarray(lengths))
    seen, legal, to_move, points = (np.asarray(x) for x in found)
    played = np.arange(actions.shape[1]) < lengths[:, None]  # [game, step]
    _check(game, games, actions, legal, to_move & played[..., None], points.sum(axis=1))

    def by_seat(x: np.ndarray) -> np.ndarray:
        """[game, step, seat, ...] -> [game x seat, step, ...]"""
        return np.moveaxis(x, 2, 1).reshape(-1, x.shape[1], *x.shape[3:])

    first = np.zeros((len(games) * game.num_seats, actions.shape[1]), bool)
    first[:, 0] = True
    return Recordings(
        seen=by_seat(seen),
        legal=by_seat(legal),
        action=by_seat(actions),
        turn=by_seat(to_move & played[..., None]),
        start=first,
        game=np.repeat(np.arange(len(games)), game.num_seats),
    )


def _check(game: Game, games: Sequence[Recorded], actions: Any, legal: Any, turn: Any, scores: Any) -> None:
    """Every action was allowed, and the score is what was written down."""
    allowed = np.take_along_axis(legal, actions[..., None], axis=-1)[..., 0]
    wrong = np.argwhere(turn & ~allowed)
    if len(wrong):
        g, t, seat = wrong[0]
        action = game.action_names[actions[g, t, seat]]
        raise InterplayError(
            f"{games[g].name}: {action} of {game.seat_names[seat]} in step {t} is not legal in {game.id} "
            f"with these options ({len(wrong)} such actions in all)"
        )
    for one, score in zip(games, scores, strict=True):
        if one.score is not None and abs(one.score - score) > 1e-3:
            raise InterplayError(f"{one.name}: its replay in {game.id} ends at {score:g} points, not at {one.score:g}")
