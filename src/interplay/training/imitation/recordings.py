"""Recorded games as arrays to learn from: what every seat saw, what it was allowed and what it did.

A game keeps only its start and its actions; the rest is played again. Any game of ours in JAX serves, by turns or not.
Games that were played by laxer rules are replayed by those; what the game at hand forbids is then not learnt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.games.registry import make_recorded
from interplay.rollout.recorded_games import Recorded


@dataclass(frozen=True)
class Recordings:
    """What is learnt from. A sequence is one seat of one game; shorter ones are padded, with `turn` false there."""

    seen: np.ndarray  # [sequence, step, ...] in the encoding that the network reads
    legal: Bool[np.ndarray, "sequence step action"]
    action: Int[np.ndarray, "sequence step"]
    turn: Bool[np.ndarray, "sequence step"]  # where the seat had a choice to make: only these are learnt
    start: Bool[np.ndarray, "sequence step"]  # where memory is empty
    game: Int[np.ndarray, " sequence"]  # which game it is from: games, not steps, are held out
    person: Any = None  # [game] whose game it is: games of one person are held out together; None: each game alone

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


def own_turns(data: Recordings) -> Recordings:
    """The steps in which each seat had something to choose, one after the other: what a network reads that remembers
    its own turns alone."""
    steps = np.arange(data.action.shape[1])
    last = np.where(data.turn, steps, -1).max(axis=1, keepdims=True)  # after it there is padding alone
    own = (data.legal.sum(axis=-1) > 1) & (steps <= last)
    order = np.argsort(~own, axis=1, kind="stable")[:, : max(1, int(own.sum(axis=1).max()))]

    def taken(x: np.ndarray) -> np.ndarray:
        return np.take_along_axis(x, order.reshape(*order.shape, *[1] * (x.ndim - 2)), axis=1)

    first = np.zeros(order.shape, bool)
    first[:, 0] = True
    seen, legal, action, turn = (taken(x) for x in (data.seen, data.legal, data.action, data.turn & own))
    return Recordings(seen, legal, action, turn, first, data.game, data.person)


def replayed(game: Game, games: Sequence[Recorded], encoding: str) -> Recordings:
    """Play recorded games again and note what every seat to learn from saw, [game x seat] sequences."""
    if not is_jax(game):
        raise InterplayError(f"{game.id} is not written in JAX, so its games cannot be replayed as arrays")
    if not games:
        raise InterplayError("there are no recorded games to learn from")
    readable = [name for name, e in game.encodings.items() if e.shape and 0 not in e.shape]
    if encoding not in readable:
        known = ", ".join(readable)
        raise InterplayError(f"{encoding!r} is nothing that a network reads in {game.id}; {known} are")
    steps = max(len(one.actions) for one in games)
    kinds: list[tuple[str, dict[str, Any]]] = []
    of_kind = []
    for one in games:
        kind = (one.game, dict(one.options))
        kinds += [] if kind in kinds else [kind]
        of_kind.append(kinds.index(kind))
    parts = []
    for number, (id, options) in enumerate(kinds):
        if id and id != game.id:
            raise InterplayError(f"these games are of {id}, not of {game.id}")
        chosen = [i for i, kind in enumerate(of_kind) if kind == number]
        by = make_recorded(id, options) if id else game
        parts.append(_played_again(game, by, [games[i] for i in chosen], np.array(chosen), encoding, steps))
    joined = [np.concatenate(x) for x in zip(*parts, strict=True)]
    order = np.argsort(joined[-1], kind="stable")
    seen, legal, action, turn, numbers = (x[order] for x in joined)
    first = np.zeros(action.shape, bool)
    first[:, 0] = True
    persons = None
    if any(one.person is not None for one in games):
        persons = np.array([-1 - i if one.person is None else one.person for i, one in enumerate(games)])
    return Recordings(seen, legal, action, turn, first, numbers, persons)


def _played_again(
    game: Game, by: Game, games: Sequence[Recorded], numbers: np.ndarray, encoding: str, steps: int
) -> tuple[np.ndarray, ...]:
    """What was seen, was legal, was done and was to be decided, [sequence, step, ...], and the sequences' games."""
    lengths = np.array([len(one.actions) for one in games])
    actions = np.zeros((len(games), steps, game.num_seats), np.int32)
    for row, one in zip(actions, games, strict=True):
        row[: len(one.actions)] = one.actions
    starts = {name: jnp.stack([jnp.asarray(one.start[name]) for one in games]) for name in games[0].start}

    def play(start: Mapping[str, Any], actions: Any, length: Any) -> Any:
        def turn(state: Any, now: tuple[Any, Any]) -> tuple[Any, Any]:
            t, joint = now
            noted = (by.observe(state, encoding), by.legal(state), game.legal(state), by.to_move(state))
            state, step = by.step(state, joint, jax.random.key(0))
            return state, (*noted, jnp.sum(step.reward) * (t < length))

        state = by.init(jax.random.key(0), **start)
        return jax.lax.scan(turn, state, (jnp.arange(actions.shape[0]), actions))[1]

    found = jax.jit(jax.vmap(play))(starts, jnp.asarray(actions), jnp.asarray(lengths))
    seen, allowed, legal, to_move, points = (np.asarray(x) for x in found)
    decides = to_move & (np.arange(steps) < lengths[:, None])[..., None]  # [game, step, seat]
    _check(by, games, actions, allowed, decides, points.sum(axis=1))
    decides &= np.take_along_axis(legal, actions[..., None], axis=-1)[..., 0]
    learn = [(True,) * game.num_seats if one.learn is None else one.learn for one in games]
    rows = np.flatnonzero(np.array(learn).reshape(-1))

    def by_seat(x: np.ndarray) -> np.ndarray:
        """[game, step, seat, ...] -> [game x seat, step, ...]"""
        return np.moveaxis(x, 2, 1).reshape(-1, x.shape[1], *x.shape[3:])[rows]

    return (*(by_seat(x) for x in (seen, legal, actions, decides)), np.repeat(numbers, game.num_seats)[rows])


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
