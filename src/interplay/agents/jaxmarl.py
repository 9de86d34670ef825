"""Networks trained in JaxMARL, or in its style, as policies.

JaxMARL's agents are a function and parameters. Feed-forward ones are called as `apply(params, obs)`, batch first, and
give a distribution, often with a value beside it; recurrent ones as `apply(params, hidden, (obs, dones))`, time and
batch first, and give the next hidden state before that. Nothing here needs JaxMARL, flax or distrax.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.agents.api import Info, Policy
from interplay.agents.basic import masked
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.safe_files import read_safetensors


class JaxMARLPolicy(Policy):
    """A network of JaxMARL's style in any seat; made by `from_jaxmarl`."""

    identity_kind: ClassVar[str] = "JaxMARL network"
    params: Any
    hidden: Any  # the first hidden state, with a batch axis of one; None: feed-forward
    apply: Callable[..., Any] = eqx.field(static=True)
    preprocess: Callable[[Any], Any] | None = eqx.field(static=True)
    reads: str = eqx.field(static=True)
    greedy: bool = eqx.field(static=True)
    takes_legal: bool = eqx.field(static=True)

    def fingerprint(self) -> Mapping[str, Any]:
        """Its parameters, the function that reads them, and how it acts."""
        functions = {"apply": self.apply, "preprocess": self.preprocess}
        how = {"reads": self.reads, "greedy": self.greedy, "takes_legal": self.takes_legal}
        return {**functions, **how, "params": self.params, "hidden": self.hidden}

    @property
    def encoding(self) -> str:
        return self.reads

    def bind(self, game: Game) -> Policy:
        """This policy; an error if the network does not fit the game's views and actions."""
        if self.reads not in game.encodings:
            known = ", ".join(game.encodings)
            raise InterplayError(f"this network reads the encoding {self.reads!r}; {game.id} has {known}")
        try:
            jax.eval_shape(lambda: self._try(game))
        except InterplayError:
            raise
        except Exception as error:
            # flax and others raise errors of their own kinds when a weight does not fit an observation.
            shape = game.encodings[self.reads].shape
            problem = str(error).splitlines()[0]
            raise InterplayError(f"this network cannot read {self.reads!r} of {game.id}, {shape}: {problem}") from error
        return self

    def _try(self, game: Game) -> Any:
        key = jax.random.key(0)
        state = game.init(key)
        obs = jax.tree_util.tree_map(lambda leaf: leaf[0], game.observe(state, self.reads))
        return self.act(self.hidden, obs, jnp.asarray(game.legal(state)[0]), key)

    def init(self, key, seat):
        return self.hidden

    def act(self, memory, obs, legal, key):
        seen = obs if self.preprocess is None else self.preprocess(obs)
        extra = (legal.astype(jnp.float32),) if self.takes_legal else ()
        if self.hidden is None:
            found = self.apply(self.params, *jax.tree_util.tree_map(lambda x: x[None], (seen, *extra)))
            found = found[0] if isinstance(found, tuple | list) else found
        else:
            # Hidden states are fresh at an episode's start, so that no row is ever marked as done.
            row = jax.tree_util.tree_map(lambda x: x[None, None], (seen, jnp.zeros((), bool), *extra))
            memory, found, *_ = self.apply(self.params, memory, row)
        logits = masked(_logits(found, legal.shape[0]), legal)
        action = jnp.argmax(logits) if self.greedy else jax.random.categorical(key, logits)
        return memory, action, Info(logits)


def from_jaxmarl(
    apply: Callable[..., Any],
    params: Any,
    *,
    encoding: str,
    hidden: Any = None,
    greedy: bool = False,
    takes_legal: bool = False,
    preprocess: Callable[[Any], Any] | None = None,
) -> JaxMARLPolicy:
    """A policy from a network's `apply` (such as flax's `network.apply`) and its parameters.

    The network may give logits, or values of actions, as an array, or anything that bears `.logits` or `.probs`.

    encoding: what it reads; at one of JaxMARL's environments, "obs".
    hidden: the first hidden state of a recurrent network, [1, size], as its `initialize_carry(1, size)` gives it.
    greedy: the likeliest action instead of a drawn one.
    takes_legal: the mask of legal actions follows the observation (feed-forward) or the dones (recurrent).
    preprocess: applied to an observation first, such as `jnp.ravel` for networks that read flat vectors.
    """
    params, hidden = jax.tree_util.tree_map(jnp.asarray, (params, hidden))
    return JaxMARLPolicy(params, hidden, apply, preprocess, encoding, greedy, takes_legal)


def load_params(path: str | Path) -> dict[str, Any]:
    """Parameters from a file of JaxMARL's `save_params`: safetensors whose names are paths joined by commas."""
    flat = read_safetensors(path).arrays
    tree: dict[str, Any] = {}
    for name, array in flat.items():
        *folders, last = name.split(",")
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[last] = jnp.asarray(array)
    return tree


def _logits(found: Any, actions: int) -> Float[Array, " action"]:
    """One row of logits out of whatever a network calls its distribution."""
    if getattr(found, "logits", None) is not None:
        values = found.logits
    elif getattr(found, "probs", None) is not None:
        values = jnp.log(jnp.maximum(found.probs, 1e-9))
    elif isinstance(found, jax.Array):
        values = found
    else:
        raise InterplayError(
            f"cannot read actions out of a {type(found).__name__}: a network gives logits as an array, or something "
            "that bears .logits or .probs"
        )
    row = jnp.asarray(values, jnp.float32).reshape(-1)
    if row.shape != (actions,):
        raise InterplayError(f"this network chooses among {row.shape[0]} actions; the game has {actions}")
    return row
