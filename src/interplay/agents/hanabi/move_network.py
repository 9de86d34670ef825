"""Networks that score the moves of Hanabi one by one, beside the H-Group rules: clones of people, and proxies for them.

A move's score comes from numbers that describe it (`move_features`), the table, and the mean over all legal moves of
what the first layer makes of them. The numbers mean the same at any number of players, so a network learnt from games
of two can be asked at tables of three.

A proxy adds two things to a clone, so that it finishes its games: `rules` to the score of the move that the H-Group bot
would make, and, when one life is left, minus `care` times the chance that a played card does not fit. Of all policies
that follow the rules as often and risk as much, it is the nearest to the clone.

A file is a table of arrays like those of other policies (see `agents.neural`), with a header of its own format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from interplay.agents.api import Agent, Info, Observation, Policy
from interplay.agents.basic import masked
from interplay.agents.hanabi.base_bot import BotMemory
from interplay.agents.hanabi.hgroup_bot import HGroup
from interplay.agents.hanabi.move_features import (
    DECIDED,
    FACTS,
    FEATURES,
    FITS,
    LAST_LIFE,
    History,
    described,
    no_history,
    remembered,
)
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.records import record

FORMAT, VERSION = "interplay-hanabi-moves", 1
PARTS = ("first", "first_bias", "second", "second_bias", "last")


class MoveNetwork(eqx.Module):
    """Scores of all moves from what describes them."""

    first: Float[Array, "input unit"]
    first_bias: Float[Array, " unit"]
    second: Float[Array, "two_units unit"]
    second_bias: Float[Array, " unit"]
    last: Float[Array, " unit"]

    @classmethod
    def new(cls, units: int, key: PRNGKeyArray) -> MoveNetwork:
        """Return a network before training."""
        keys = jax.random.split(key, 3)

        def normal(key: PRNGKeyArray, inputs: int, outputs: int) -> Array:
            return jax.random.normal(key, (inputs, outputs)) * np.sqrt(2 / inputs)

        none = jnp.zeros(units)
        first, second = normal(keys[0], FEATURES + FACTS, units), normal(keys[1], 2 * units, units)
        return cls(first, none, second, none, 0.1 * normal(keys[2], units, 1)[:, 0])

    def __call__(
        self,
        moves: Float[Array, "... action feature"],
        table: Float[Array, "... fact"],
        legal: Bool[Array, "... action"],
        dropout: float = 0.0,
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, "... action"]:
        """Return the score of every move; those of moves that are not legal mean nothing.

        Args:
            moves: What describes each.
            table: What describes the game.
            legal: Which of them may be made.
            dropout: Share of units that are left out; needs a key.
            key: For dropout.
        """
        facts = jnp.broadcast_to(table[..., None, :], (*moves.shape[:-1], table.shape[-1]))
        inputs = jnp.concatenate([moves, facts], axis=-1).astype(jnp.float32)
        hidden = jax.nn.gelu(inputs @ self.first + self.first_bias)
        hidden = _dropped(hidden, dropout, key, 0)
        many = jnp.maximum(jnp.sum(legal, axis=-1), 1)[..., None, None]
        mean = jnp.sum(hidden * legal[..., None], axis=-2, keepdims=True) / many
        both = jnp.concatenate([hidden, jnp.broadcast_to(mean, hidden.shape)], axis=-1)
        after = _dropped(jax.nn.gelu(both @ self.second + self.second_bias), dropout, key, 1)
        return after @ self.last


def _dropped(x: Array, share: float, key: PRNGKeyArray | None, number: int) -> Array:
    if key is None or not share:
        return x
    return x * jax.random.bernoulli(jax.random.fold_in(key, number), 1 - share, x.shape) / (1 - share)


def drawn_to(
    moves: Float[Array, "... action feature"], table: Float[Array, "... fact"], rules: Any, care: Any
) -> Float[Array, "... action"]:
    """Return what a proxy adds to the scores of its clone."""
    risk = moves[..., 0] * (1 - moves[..., FITS])  # of plays
    return rules * moves[..., DECIDED] - care * table[..., LAST_LIFE, None] * risk


@record
class MoveMemory:
    """What the policy remembers."""

    bot: BotMemory
    history: History


class MovePolicy(Policy):
    """A network over moves. It samples, or takes the likeliest move if `greedy`."""

    identity_kind: ClassVar[str] = "Hanabi moves scored one by one"
    encoding: ClassVar[str] = "seen"  # that `act` reads
    network: MoveNetwork
    rules: Float[Array, ""]  # added to the score of the H-Group bot's move
    care: Float[Array, ""]  # taken from the score of a play by the chance that it fails, when one life is left
    greedy: Bool[Array, ""]
    bot: HGroup

    def __init__(self, network: MoveNetwork, *, rules: float = 0.0, care: float = 0.0, greedy: bool = False):
        self.network, self.bot = network, HGroup()
        self.rules, self.care, self.greedy = jnp.float32(rules), jnp.float32(care), jnp.bool_(greedy)

    def fingerprint(self) -> Mapping[str, Any]:
        """Return the weights and how it acts."""
        weights = {name: getattr(self.network, name) for name in PARTS}
        return {"weights": weights, "rules": self.rules, "care": self.care, "greedy": self.greedy}

    def bind(self, game: Game) -> Policy:
        """Return the policy with the rules of a game.

        Raises:
            InterplayError: The game is not Hanabi with the standard deck.
        """
        return eqx.tree_at(lambda policy: policy.bot, self, self.bot.bind(game))

    def init(self, key: PRNGKeyArray, seat: Array) -> MoveMemory:
        """Return the memory at the start of an episode."""
        return MoveMemory(bot=self.bot.init(key, seat), history=no_history(self.bot))

    def act(self, memory: MoveMemory, obs: Observation, legal: Array, key: PRNGKeyArray) -> tuple[Any, Array, Info]:
        """Choose an action and update the memory."""
        history = remembered(self.bot, memory.history, memory.bot.before, obs)
        bot = self.bot.look(memory.bot, obs)
        what = described(self.bot, bot.model, history, memory.bot.before, obs, legal)
        scores = self.network(what.moves, what.table, legal) + drawn_to(what.moves, what.table, self.rules, self.care)
        logits = masked(scores, legal)
        action = jnp.where(self.greedy, jnp.argmax(logits), jax.random.categorical(key, logits))
        return MoveMemory(bot=bot, history=history), action.astype(jnp.int32), Info(logits)


def save(
    path: str | Path,
    network: MoveNetwork,
    game: Game,
    *,
    rules: float = 0.0,
    care: float = 0.0,
    training: Mapping[str, Any],
) -> None:
    """Write a policy as one file, at half precision.

    Args:
        path: The file.
        network: Its weights.
        game: For which it is meant.
        rules: What the H-Group bot's move gets on top.
        care: What a play that fails for sure loses when one life is left.
        training: Plain JSON values that describe how it was made.
    """
    from safetensors.numpy import save_file

    about = {
        "format": FORMAT,
        "version": VERSION,
        "game": {"id": game.id, "options": dict(game.options), "rules_version": game.rules_version},
        "rules": rules,
        "care": care,
        "training": dict(training),
    }
    arrays = {name: np.asarray(getattr(network, name)).astype(np.float16) for name in PARTS}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(arrays, path, metadata={"interplay": json.dumps(about)})


def load(
    path: str | Path, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, greedy: bool = False
) -> Agent:
    """Return the agent of a file whose header and arrays were read.

    Raises:
        InterplayError: An array is missing or has the wrong shape, or the header lacks something.
    """
    path = Path(path)
    training: Any = about.get("training")
    rules: Any = about.get("rules")
    care: Any = about.get("care")
    numbers = isinstance(rules, int | float) and isinstance(care, int | float)
    if about.get("version") != VERSION or not isinstance(training, dict) or not numbers:
        raise InterplayError(f"{path}: its header is not that of version {VERSION} of {FORMAT}")
    sizes = {name: tuple(array.shape) for name, array in arrays.items()}
    units = sizes.get("last", ())
    wanted = {"first": (FEATURES + FACTS, *units), "first_bias": units, "second": (2 * (units or (0,))[0], *units)}
    wanted |= {"second_bias": units, "last": units}
    for name, shape in wanted.items():
        if len(units) != 1 or sizes.get(name) != shape:
            raise InterplayError(f"{path}: {name} is {list(sizes.get(name, ()))}; expected {list(shape)}")
    network = MoveNetwork(*(jnp.asarray(arrays[name], jnp.float32) for name in PARTS))
    config = {"greedy": greedy, "rules": rules, "care": care} | {
        k: v for k, v in training.items() if isinstance(v, str | int | float)
    }
    return Agent(path.stem, MovePolicy(network, rules=rules, care=care, greedy=greedy), config)
