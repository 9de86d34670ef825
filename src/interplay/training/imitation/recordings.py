"""Recorded games as arrays to learn from: what every seat saw, what it was allowed and what it did.

A game keeps only its start and its actions; the rest is played again. Any game of ours in JAX serves, by turns or not.
Games that were played by laxer rules are replayed by those; what the game at hand forbids is then not learnt.

`Recordings` hold everything in memory, `GameStream` plays games again whenever they are asked for: views of Hanabi take
2.6 kB a step, its moves one byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PyTree

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
        """Number of games."""
        return int(self.game.max()) + 1

    @property
    def arrays(self) -> Sequences:
        """Return what `taken` reads."""
        return Sequences(*(jnp.asarray(getattr(self, name)) for name in Sequences._fields))

    @property
    def taken(self) -> Take:
        """Function that takes parts from `arrays`."""
        return parts_of

    def of_own_turns(self) -> Recordings:
        """Return the steps in which each seat had something to choose, one after the other.

        They are what a network reads that remembers its own turns alone.
        """
        own, order = own_steps(self.turn, self.legal.sum(axis=-1) > 1)

        def taken(x: np.ndarray) -> np.ndarray:
            return np.take_along_axis(x, order.reshape(*order.shape, *[1] * (x.ndim - 2)), axis=1)

        seen, legal, action, turn = (taken(x) for x in (self.seen, self.legal, self.action, self.turn & own))
        return Recordings(seen, legal, action, turn, _first(order.shape), self.game, self.person)

    def padded(self, length: int) -> Recordings:
        """Return recordings whose number of steps is a multiple of this length."""
        more = -self.action.shape[1] % length
        if not more:
            return self

        def pad(x: np.ndarray, value: Any = 0) -> np.ndarray:
            return np.pad(x, ((0, 0), (0, more), *[(0, 0)] * (x.ndim - 2)), constant_values=value)

        padded = (pad(self.seen), pad(self.legal, True), pad(self.action), pad(self.turn), pad(self.start))
        return Recordings(*padded, self.game, self.person)


class Sequences(NamedTuple):
    """What is trained on, [sequence, step, ...]."""

    seen: Array
    legal: Array
    action: Array
    turn: Array
    start: Array


Take = Callable[[Any, Array, int], Sequences]  # (arrays, numbers of parts, steps of a part) -> parts


def parts_of(arrays: Sequences, which: Int[Array, " part"], length: int) -> Sequences:
    """Return parts of so many steps; part p is the (p mod k)-th of sequence p div k, where k parts are a sequence."""
    return jax.tree.map(lambda x: x.reshape(-1, length, *x.shape[2:])[which], arrays)


def own_steps(turn: np.ndarray, chooses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where a seat chose something, [sequence, step], and the numbers of these steps one after the other."""
    steps = np.arange(turn.shape[1])
    last = np.where(turn, steps, -1).max(axis=1, keepdims=True)  # after it there is padding alone
    own = chooses & (steps <= last)
    return own, np.argsort(~own, axis=1, kind="stable")[:, : max(1, int(own.sum(axis=1).max()))]


def _first(shape: tuple[int, ...]) -> np.ndarray:
    """True in each sequence's first step."""
    first = np.zeros(shape, bool)
    first[:, 0] = True
    return first


class Kinds(NamedTuple):
    """The rules by which games were played."""

    games: list[Game]
    of: Int[np.ndarray, " game"]  # number of each recorded game's rules


def kinds_of(game: Game, games: Sequence[Recorded], encoding: str) -> Kinds:
    """Group games by their rules.

    Raises:
        InterplayError: If they cannot be learnt from.
    """
    if not is_jax(game):
        raise InterplayError(f"{game.id} is not written in JAX, so its games cannot be replayed as arrays")
    if not games:
        raise InterplayError("there are no recorded games to learn from")
    readable = [name for name, e in game.encodings.items() if e.shape and 0 not in e.shape]
    if encoding not in readable:
        known = ", ".join(readable)
        raise InterplayError(f"{encoding!r} is nothing that a network reads in {game.id}; {known} are")
    kinds: list[tuple[str, dict[str, Any]]] = []
    of_kind = []
    for one in games:
        kind = (one.game, dict(one.options))
        kinds += [] if kind in kinds else [kind]
        of_kind.append(kinds.index(kind))
    for id, _ in kinds:
        if id and id != game.id:
            raise InterplayError(f"these games are of {id}, not of {game.id}")
    return Kinds([make_recorded(id, options) if id else game for id, options in kinds], np.array(of_kind))


def persons_of(games: Sequence[Recorded]) -> np.ndarray | None:
    """Return whose games they are, [game]; None if that is known of none."""
    if all(one.person is None for one in games):
        return None
    return np.array([-1 - i if one.person is None else one.person for i, one in enumerate(games)])


def replayed(game: Game, games: Sequence[Recorded], encoding: str) -> Recordings:
    """Replay recorded games and return what every seat to learn from saw, [game x seat] sequences."""
    kinds, steps = kinds_of(game, games, encoding), max(len(one.actions) for one in games)
    parts = []
    for number, by in enumerate(kinds.games):
        chosen = np.flatnonzero(kinds.of == number)
        parts.append(_played_again(game, by, [games[int(i)] for i in chosen], chosen, encoding, steps))
    joined = [np.concatenate(x) for x in zip(*parts, strict=True)]
    order = np.argsort(joined[-1], kind="stable")
    seen, legal, action, turn, numbers = (x[order] for x in joined)
    return Recordings(seen, legal, action, turn, _first(action.shape), numbers, persons_of(games))


def _played_again(
    game: Game, by: Game, games: Sequence[Recorded], numbers: np.ndarray, encoding: str, steps: int
) -> tuple[np.ndarray, ...]:
    """What was seen, was legal, was done and was to be decided, [sequence, step, ...], and the sequences' games."""
    arrays = arrays_of(game, games, steps)
    actions = arrays.actions.astype(np.int32)

    def play(start: Mapping[str, Any], actions: Array) -> Any:
        def note(state: PyTree) -> Any:
            return by.observe(state, encoding), by.legal(state), game.legal(state), by.to_move(state)

        return walk(by, start, actions, note)

    records, points = jax.jit(jax.vmap(play))(arrays.starts, actions)
    seen, allowed, legal, to_move = (np.asarray(x) for x in records)
    decides = decisions(by, games, arrays, allowed, legal, to_move, np.asarray(points))
    learn = [(True,) * game.num_seats if one.learn is None else one.learn for one in games]
    rows = np.flatnonzero(np.array(learn).reshape(-1))

    def by_seat(x: np.ndarray) -> np.ndarray:
        """Reorder [game, step, seat, ...] to [game x seat, step, ...]."""
        return np.moveaxis(x, 2, 1).reshape(-1, x.shape[1], *x.shape[3:])[rows]

    return (*(by_seat(x) for x in (seen, legal, actions, decides)), np.repeat(numbers, game.num_seats)[rows])


class GameArrays(NamedTuple):
    """Starts and moves of games, filled up to one length."""

    starts: dict[str, np.ndarray]  # [game, ...]
    actions: np.ndarray  # [game, step, seat]
    lengths: np.ndarray  # [game]


def arrays_of(game: Game, games: Sequence[Recorded], steps: int) -> GameArrays:
    """Return games as arrays: a byte a move, where there are no more than 127 actions."""
    small = len(game.action_names) < 128
    actions = np.zeros((len(games), steps, game.num_seats), np.int8 if small else np.int32)
    for row, one in zip(actions, games, strict=True):
        row[: len(one.actions)] = one.actions
    starts = {name: np.stack([np.asarray(one.start[name]) for one in games]) for name in games[0].start}
    return GameArrays(starts, actions, np.array([len(one.actions) for one in games]))


def walk(game: Game, start: Mapping[str, Any], actions: Int[Array, "step seat"], note: Any) -> tuple[Any, Array]:
    """Replay a game: return what `note` says of the state before every step, and the steps' points."""

    def turn(state: PyTree, joint: Array) -> tuple[Any, Any]:
        noted = note(state)
        state, step = game.step(state, joint.astype(jnp.int32), jax.random.key(0))
        return state, (noted, jnp.sum(step.reward))

    return jax.lax.scan(turn, game.init(jax.random.key(0), **start), actions)[1]


def decisions(
    by: Game,
    games: Sequence[Recorded],
    arrays: GameArrays,
    allowed: np.ndarray,
    legal: np.ndarray,
    to_move: np.ndarray,
    points: np.ndarray,
) -> Bool[np.ndarray, "game step seat"]:
    """Return where seats decided something that the game at hand allows, after a check of moves and scores.

    Args:
        by: The game by whose rules these were played.
        games: The recorded games.
        arrays: The same as arrays.
        allowed: [game, step, seat, action] by the rules of then.
        legal: [game, step, seat, action] by those of the game at hand.
        to_move: [game, step, seat].
        points: [game, step].

    Raises:
        InterplayError: If a move was not allowed, or a score is not what was written down.
    """
    there = np.arange(arrays.actions.shape[1]) < arrays.lengths[:, None]  # [game, step]
    actions = arrays.actions.astype(np.int32)
    decides = to_move & there[..., None]
    _check(by, games, actions, allowed, decides, (points * there).sum(axis=1))
    return decides & np.take_along_axis(legal, actions[..., None], axis=-1)[..., 0]


def _check(
    game: Game, games: Sequence[Recorded], actions: np.ndarray, legal: np.ndarray, turn: np.ndarray, scores: np.ndarray
) -> None:
    """Check that every action was allowed and that the score is the recorded one."""
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
                part = jax.tree.map(lambda x, rows=filled: x[rows], whole)
                (allowed, legal, to_move), points = facts(part.starts, part.actions)
                rows = slice(len(block))
                allowed, legal, to_move, points = (np.asarray(x)[rows] for x in (allowed, legal, to_move, points))
                here = jax.tree.map(lambda x, rows=rows: x[rows], part)
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

    def _views(self, by: Game, starts: PyTree, actions: Array, seats: Array, steps: Array) -> tuple[Array, Array]:
        """What seats saw and what the game at hand allows them, [part, step, ...]."""
        view = getattr(by, "observe_as", None) or (lambda state, encoding, seat: by.observe(state, encoding)[seat])

        def one(start: Any, moves: Array, seat: Array, at: Array) -> tuple[Array, Array]:
            states = walk(by, start, moves, lambda state: state)[0]
            mine = jax.tree.map(lambda x: x[at], states)
            return jax.vmap(lambda s: (view(s, self.encoding, seat), self.rules.legal(s)[seat]))(mine)

        return jax.vmap(one)(starts, actions, seats, steps)


def _facts(game: Game, by: Game) -> Any:
    """Of games by arrays: what was allowed, is legal and was to move, and the points; nothing is observed."""

    def play(start: Any, actions: Array) -> Any:
        return walk(by, start, actions, lambda state: (by.legal(state), game.legal(state), by.to_move(state)))

    return jax.jit(jax.vmap(play))
