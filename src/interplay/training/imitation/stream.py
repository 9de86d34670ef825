"""Recorded games that are played again whenever they are learnt from: of each only its start and its moves are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.rollout.recorded_games import Recorded
from interplay.training.imitation.recordings import (
    Sequences,
    arrays_of,
    decisions,
    kinds_of,
    own_steps,
    persons_of,
    walk,
)

BLOCK = 1024  # games that are checked at a time


class StreamArrays(NamedTuple):
    """All that is kept, on the device: about 0.3 kB a game of two-player Hanabi."""

    starts: dict[str, Array]  # [game, ...]
    actions: Int[Array, "game step seat"]
    kind: Int[Array, " game"]  # number of the rules by which it was played
    of_game: Int[Array, " sequence"]
    of_seat: Int[Array, " sequence"]
    steps: Int[Array, "sequence step"]  # numbers of the game's steps that the sequence has
    turn: Bool[Array, "sequence step"]


class GameStream:
    """Sequences as `Recordings` have them, one for each seat to learn from, computed from moves when they are taken.

    Whole games only: a part of a game costs as much as all of it.
    """

    def __init__(
        self,
        game: Game,
        games: Sequence[Recorded],
        encoding: str,
        *,
        own_turns: bool = False,
        progress: Callable[[int], None] | None = None,
    ):
        """Check all games, block by block.

        Args:
            game: In which a network learns.
            games: What was played, perhaps by laxer rules.
            encoding: What the network reads.
            own_turns: Whether it reads only the steps in which its seat had something to choose.
            progress: Told how many games have just been checked.

        Raises:
            InterplayError: If games are none, of another game, or do not replay.
        """
        kinds = kinds_of(game, games, encoding)
        self.taken = StreamReplay(game, tuple(kinds.games), encoding)
        self.person, self.games = persons_of(games), len(games)
        whole = arrays_of(game, games, max(len(one.actions) for one in games))
        shape = whole.actions.shape
        decides, chooses = np.zeros(shape, bool), np.zeros(shape, bool)  # [game, step, seat]
        for number, by in enumerate(kinds.games):
            facts = _facts(game, by)
            mine = np.flatnonzero(kinds.of == number)
            for block in np.split(mine, range(BLOCK, len(mine), BLOCK)):
                filled = np.resize(block, min(BLOCK, len(mine)))  # of one size, so that little is compiled
                part = jax.tree_util.tree_map(lambda x, rows=filled: x[rows], whole)
                (allowed, legal, to_move), points = facts(part.starts, part.actions)
                rows = slice(len(block))
                allowed, legal, to_move, points = (np.asarray(x)[rows] for x in (allowed, legal, to_move, points))
                here = jax.tree_util.tree_map(lambda x, rows=rows: x[rows], part)
                of_block = [games[int(i)] for i in block]
                decides[block] = decisions(by, of_block, here, allowed, legal, to_move, points)
                chooses[block] = legal.sum(axis=-1) > 1
                if progress is not None:
                    progress(len(block))
        learn = np.array([(True,) * game.num_seats if one.learn is None else one.learn for one in games])
        of_game, of_seat = np.nonzero(learn)
        by_seat = np.moveaxis(decides, 2, 1)[of_game, of_seat], np.moveaxis(chooses, 2, 1)[of_game, of_seat]
        steps = np.broadcast_to(np.arange(shape[1]), (len(of_game), shape[1]))
        turn = by_seat[0]
        if own_turns:
            own, steps = own_steps(*by_seat)
            turn = np.take_along_axis(turn & own, steps, axis=1)
        self.turn, self.game = turn, of_game.astype(np.int32)
        self.arrays = StreamArrays(
            {name: jnp.asarray(x) for name, x in whole.starts.items()},
            jnp.asarray(whole.actions),
            jnp.asarray(kinds.of.astype(np.int8)),
            jnp.asarray(self.game),
            jnp.asarray(of_seat.astype(np.int8)),
            jnp.asarray(steps.astype(np.int16)),
            jnp.asarray(turn),
        )


@dataclass(frozen=True)
class StreamReplay:
    """Plays games again and gives what their seats saw. It is compiled in, and holds no games."""

    rules: Game  # of the game at hand
    kinds: tuple[Game, ...]  # by whose rules games were played
    encoding: str

    def __call__(self, arrays: StreamArrays, which: Int[Array, " part"], length: int) -> Sequences:
        """Whole sequences by their numbers."""
        if length != arrays.turn.shape[1]:
            raise InterplayError(f"games that are played again are learnt whole; chunk is {length}: set it to 0")
        number = arrays.of_game[which]
        starts, actions = {name: x[number] for name, x in arrays.starts.items()}, arrays.actions[number]
        seats, steps = arrays.of_seat[which].astype(jnp.int32), arrays.steps[which].astype(jnp.int32)
        seen, legal = self._views(self.kinds[0], starts, actions, seats, steps)
        for kind, by in list(enumerate(self.kinds))[1:]:
            here = (arrays.kind[number] == kind)[:, None, None]
            other = self._views(by, starts, actions, seats, steps)
            seen, legal = jnp.where(here, other[0], seen), jnp.where(here, other[1], legal)
        by_seat = jnp.take_along_axis(actions, seats[:, None, None], axis=2)[..., 0]
        action = jnp.take_along_axis(by_seat, steps, axis=1).astype(jnp.int32)
        first = jnp.broadcast_to(jnp.arange(length) == 0, action.shape)
        return Sequences(seen, legal, action, arrays.turn[which], first)

    def _views(self, by: Game, starts: Any, actions: Array, seats: Array, steps: Array) -> tuple[Array, Array]:
        """What seats saw and what the game at hand allows them, [part, step, ...]."""
        view = getattr(by, "observe_as", None) or (lambda state, encoding, seat: by.observe(state, encoding)[seat])

        def one(start: Any, moves: Array, seat: Array, at: Array) -> tuple[Array, Array]:
            states = walk(by, start, moves, lambda state: state)[0]
            mine = jax.tree_util.tree_map(lambda x: x[at], states)
            return jax.vmap(lambda s: (view(s, self.encoding, seat), self.rules.legal(s)[seat]))(mine)

        return jax.vmap(one)(starts, actions, seats, steps)


def _facts(game: Game, by: Game) -> Any:
    """Of games by arrays: what was allowed, is legal and was to move, and the points; nothing is observed."""

    def play(start: Any, actions: Array) -> Any:
        return walk(by, start, actions, lambda state: (by.legal(state), game.legal(state), by.to_move(state)))

    return jax.jit(jax.vmap(play))
