"""Clones of Hanabi players that score moves one by one (`agents.hanabi.move_network`), and proxies made from them.

Unlike `clone`, which reads the game as a vector, these read what the conventions, hints and habits say of every move.
They need few games: 1,300 games of people take two minutes on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from interplay.agents.hanabi.hgroup_bot import HGroup
from interplay.agents.hanabi.move_features import described, no_history, remembered
from interplay.agents.hanabi.move_network import MoveNetwork, drawn_to
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.rollout.recorded_games import Recorded
from interplay.training.imitation.recordings import GameStream, arrays_of, kinds_of, walk

AT_ONCE = 64  # games that are replayed at a time
JUDGED = 2000  # decisions that are judged at a time


class MoveDecisions(NamedTuple):
    """Decisions of the seats to learn from, as a network over moves reads them; at half precision."""

    moves: Float[np.ndarray, "decision action feature"]
    table: Float[np.ndarray, "decision fact"]
    legal: Bool[np.ndarray, "decision action"]
    action: Int[np.ndarray, " decision"]
    game: Int[np.ndarray, " decision"]

    def of(self, rows: np.ndarray) -> MoveDecisions:
        """Return some of them."""
        return MoveDecisions(*(x[rows] for x in self))


def decisions_of(game: Game, games: Sequence[Recorded]) -> MoveDecisions:
    """Replay games and describe every decision."""
    bot: Any = HGroup().bind(game)
    stream, kinds = GameStream(game, games, "belief"), kinds_of(game, games, "belief")
    arrays = arrays_of(game, games, stream.turn.shape[1])
    seats = np.asarray(stream.arrays.of_seat)
    parts = []
    for number, by in enumerate(kinds.games):
        look = jax.jit(jax.vmap(partial(_looked_on, bot, game, by)))
        mine = np.flatnonzero(kinds.of[stream.game] == number)
        for first in range(0, len(mine), AT_ONCE):
            block = mine[first : first + AT_ONCE]
            rows = np.resize(block, AT_ONCE)  # of one size, so that little is compiled
            of = stream.game[rows]
            seen = look({n: x[of] for n, x in arrays.starts.items()}, arrays.actions[of], seats[rows])
            place, step = np.nonzero(stream.turn[block])
            of_block = stream.game[block][place]
            described_moves = [np.asarray(x)[place, step] for x in seen]
            parts.append([*described_moves, arrays.actions[of_block, step, seats[block][place]], of_block])
    moves, table, legal, action, of_game = (np.concatenate(x) for x in zip(*parts, strict=True))
    return MoveDecisions(moves, table, legal, action.astype(np.int32), of_game)


def _looked_on(bot: HGroup, game: Game, by: Any, start: Any, actions: Array, seat: Array) -> Any:
    """What a seat would have read before every step, and what is legal there."""

    def look(carry: PyTree, state: PyTree) -> Any:
        memory, history = carry
        seen = by.observe_as(state, "seen", seat)
        history, before = remembered(bot, history, memory.before, seen), memory.before
        memory = bot.look(memory, seen)
        legal = game.legal(state)[seat]
        what = described(bot, memory.model, history, before, seen, legal)
        return (memory, history), (what.moves.astype(jnp.float16), what.table.astype(jnp.float16), legal)

    states = walk(by, start, actions, lambda state: state)[0]
    return jax.lax.scan(look, (bot.init(jax.random.key(0), seat), no_history(bot)), states)[1]


@dataclass(frozen=True)
class MoveCloning:
    """The settings."""

    units: int = 96
    epochs: int = 10  # the best of them is kept
    batch: int = 256  # decisions of a step of gradient descent
    learning_rate: float = 2e-3  # falls to 0 along a cosine
    weight_decay: float = 1e-2
    dropout: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("units", "epochs", "batch"):
            if getattr(self, name) < 1:
                raise InterplayError(f"{name}: {getattr(self, name)}; at least 1")


class MoveFit(NamedTuple):
    """How well moves are predicted: means over decisions."""

    cross_entropy: float  # in nats
    accuracy: float
    decisions: int


def clone_moves(
    learn: MoveDecisions, select: MoveDecisions, how: MoveCloning, tell: Callable[[int, MoveFit], None] | None = None
) -> tuple[MoveNetwork, MoveFit]:
    """Train a network; return that of the epoch with the least loss on `select`, and its fit there.

    Raises:
        InterplayError: If there are fewer decisions than a batch.
    """
    batches = len(learn.action) // how.batch
    if not batches:
        raise InterplayError(f"{len(learn.action)} decisions to learn from; at least one batch, {how.batch}")
    rule = optax.adamw(
        optax.cosine_decay_schedule(how.learning_rate, how.epochs * batches), weight_decay=how.weight_decay
    )
    network = MoveNetwork.new(how.units, jax.random.key(how.seed))
    state = rule.init(network)  # type: ignore[arg-type]

    @jax.jit
    def step(network: Any, state: PyTree, part: MoveDecisions, key: PRNGKeyArray) -> tuple[Any, Any]:
        def loss(network: Any) -> Array:
            odds = _log_odds(network, part, 0.0, 0.0, how.dropout, key)
            return -jnp.mean(jnp.take_along_axis(odds, part.action[:, None], axis=1))

        updates, state = rule.update(jax.grad(loss)(network), state, network)
        return optax.apply_updates(network, updates), state

    order, best, kept = np.random.default_rng(how.seed), None, network
    for epoch in range(how.epochs):
        rows = order.permutation(len(learn.action))[: batches * how.batch]
        for number, some in enumerate(np.split(rows, batches)):
            key = jax.random.fold_in(jax.random.key(how.seed + 1), epoch * batches + number)
            network, state = step(network, state, learn.of(some), key)
        fit = judged(network, select)
        if tell is not None:
            tell(epoch + 1, fit)
        if best is None or fit.cross_entropy < best.cross_entropy:
            best, kept = fit, network
    assert best is not None
    return kept, best


def _log_odds(network: Any, part: Any, rules: Any, care: Any, dropout: float = 0.0, key: Any = None) -> Array:
    scores = network(part.moves, part.table, part.legal, dropout, key) + drawn_to(part.moves, part.table, rules, care)
    return jax.nn.log_softmax(jnp.where(part.legal, scores, -1e9))


_compiled_log_odds = jax.jit(_log_odds)


def log_odds(
    network: MoveNetwork, part: MoveDecisions, rules: float, care: float
) -> Float[np.ndarray, "decision action"]:
    """Return the logarithm of each move's probability, drawn to the rules and to care as a proxy is."""
    return np.asarray(_compiled_log_odds(network, part, jnp.float32(rules), jnp.float32(care)))


def judged(network: MoveNetwork, data: MoveDecisions, rules: float = 0.0, care: float = 0.0) -> MoveFit:
    """Return how well a network predicts decisions, drawn to the rules and to care as a proxy is."""
    nats, right = 0.0, 0
    for rows in np.array_split(np.arange(len(data.action)), len(data.action) // JUDGED + 1):
        part = data.of(rows)
        odds = log_odds(network, part, rules, care)
        nats -= float(np.sum(odds[np.arange(len(rows)), part.action]))
        right += int(np.sum(np.argmax(odds, axis=1) == part.action))
    return MoveFit(nats / len(data.action), right / len(data.action), len(data.action))
