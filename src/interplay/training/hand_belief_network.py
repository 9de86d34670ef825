"""A learnt belief about a Hanabi seat's own hand, for further levels of off-belief learning.

An autoregressive network reads the seat's present observation and gives the odds of its cards one after the other,
never of one that hints or cards seen rule out. It has no memory, since it is for policies that have none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, PRNGKeyArray

from interplay.agents.networks import Dense
from interplay.agents.neural import game_key, named_arrays, opened
from interplay.errors import InterplayError
from interplay.games.hanabi.hand_sampling import unseen
from interplay.games.hanabi.state import NO_CARD, HanabiRules, HanabiState

FORMAT = "interplay-hanabi-belief"
RULED_OUT = -1e9


class HandBelief(eqx.Module):
    """The odds of a seat's cards, oldest first."""

    layers: tuple[Dense, ...]
    before: Dense  # what the cards before a slot, and which slot it is, add
    head: Dense
    encoding: str = eqx.field(static=True)

    def __init__(self, rules: HanabiRules, size: int, encoding: str, widths: tuple[int, ...], key: PRNGKeyArray):
        keys = jax.random.split(key, len(widths) + 2)
        sizes = zip((size, *widths[:-1]), widths, strict=True)
        self.layers = tuple(Dense(a, b, 2**0.5, k) for (a, b), k in zip(sizes, keys[2:], strict=True))
        self.before = Dense(rules.hand_size * (rules.identities + 1), widths[-1], 1.0, keys[0])
        self.head = Dense(widths[-1], rules.identities, 0.01, keys[1])
        self.encoding = encoding

    def features(self, seen: Float[Array, " size"]) -> Float[Array, " unit"]:
        """Return the features of an observation."""
        x = seen.astype(jnp.float32)
        for layer in self.layers[:-1]:
            x = jax.nn.relu(layer(x))
        return self.layers[-1](x)

    def odds(
        self, features: Array, cards: Float[Array, "slot identity"], slot: int, may: Float[Array, " identity"]
    ) -> Float[Array, " identity"]:
        """Return the log-odds of the card in a slot.

        Args:
            features: Of the observation.
            cards: Those before the slot, one-hot; rows of zeros from the slot on.
            slot: Number of the slot.
            may: Copies left of each card that can be there.
        """
        here = jnp.zeros(cards.shape[0]).at[slot].set(1.0)
        x = jax.nn.relu(features + self.before(jnp.concatenate([cards.ravel(), here])))
        # What is learnt is how the odds differ from those by the copies left.
        return jax.nn.log_softmax(jnp.where(may > 0, self.head(x) + jnp.log(jnp.maximum(may, 1e-9)), RULED_OUT))

    def draw(
        self, rules: HanabiRules, state: HanabiState, seat: Int[Array, ""], seen: Array, key: PRNGKeyArray
    ) -> tuple[Int8[Array, " slot"], Bool[Array, ""]]:
        """Sample a hand that fits hints and cards seen, and return whether there is one."""
        features, keys = self.features(seen), jax.random.split(key, rules.hand_size)

        def choose(slot: int, odds: Array) -> Array:
            return jax.random.categorical(keys[slot], odds)

        hand, _, _, sound = _one_by_one(self, rules, state, seat, features, choose)
        return hand, sound

    def log_prob(
        self, rules: HanabiRules, state: HanabiState, seat: Int[Array, ""], seen: Array
    ) -> tuple[Array, Array, Array]:
        """Return the log-odds of the true hand, the same by copies left alone, and its number of cards."""
        real = state.hands[seat].astype(jnp.int32)
        features = self.features(seen)
        _, learnt, counted, _ = _one_by_one(self, rules, state, seat, features, lambda slot, _: real[slot])
        return learnt, counted, jnp.sum(real != NO_CARD)


def _one_by_one(
    belief: HandBelief, rules: HanabiRules, state: HanabiState, seat: Array, features: Array, choose: Any
) -> tuple:
    left, sound = unseen(rules, state, seat).astype(jnp.float32), jnp.bool_(True)
    cards = jnp.zeros((rules.hand_size, rules.identities))
    learnt, counted, hand = jnp.float32(0.0), jnp.float32(0.0), []
    ids = np.arange(rules.identities, dtype=np.uint32)
    for slot in range(rules.hand_size):
        there = state.hands[seat, slot] != NO_CARD
        may = ((state.possible[seat, slot] >> ids) & 1).astype(jnp.float32) * left
        odds = belief.odds(features, cards, slot, may)
        card = choose(slot, odds)
        one_hot = jax.nn.one_hot(card, rules.identities) * there
        share = jnp.sum(one_hot * may) / jnp.maximum(jnp.sum(may), 1e-9)
        learnt = learnt + jnp.sum(one_hot * odds)
        counted = counted + jnp.where(there, jnp.log(jnp.maximum(share, 1e-9)), 0.0)
        sound = sound & (~there | (jnp.sum(may) > 0))
        left, cards = left - one_hot, cards.at[slot].set(one_hot)
        hand.append(jnp.where(there, card, NO_CARD).astype(jnp.int8))
    return jnp.stack(hand), learnt, counted, sound


def save(path: str | Path, belief: HandBelief, game: Any, about: dict[str, Any]) -> None:
    """Write a belief as a safetensors file; `about` are plain values for its metadata."""
    from safetensors.numpy import save_file

    widths = [layer.bias.shape[0] for layer in belief.layers]
    metadata = {"format": FORMAT, "game": game_key(game), "encoding": belief.encoding, "widths": widths, "about": about}
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    arrays = {name: np.asarray(a) for name, a in named_arrays(belief).items()}
    save_file(arrays, path, metadata={"interplay": json.dumps(metadata)})


def load(path: str | Path, game: Any) -> HandBelief:
    """Read the belief of a file.

    Raises:
        InterplayError: If there is none, or if it is about another game.
    """
    if not Path(path).is_file():
        raise InterplayError(f"there is no belief {path}; train one with the algorithm obl_belief")
    metadata, arrays = opened(path)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise InterplayError(f"{path} holds no belief about hands")
    if metadata["game"] != game_key(game):
        raise InterplayError(f"{path} is about hands in {metadata['game']}, not in {game_key(game)}")
    size = game.encodings[metadata["encoding"]].shape
    assert size is not None
    empty = HandBelief(game.rules, size[0], metadata["encoding"], tuple(metadata["widths"]), jax.random.key(0))
    leaves = [jnp.asarray(arrays[name]) for name in named_arrays(empty)]
    return jax.tree.unflatten(jax.tree.structure(empty), leaves)
