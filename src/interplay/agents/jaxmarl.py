"""Networks trained in JaxMARL, or in its style, as policies.

JaxMARL's agents are a function and parameters. Feed-forward ones are called as `apply(params, obs)`, batch first, and
return a distribution, often with a value; recurrent ones as `apply(params, hidden, (obs, dones))`, time and batch
first, and return the next hidden state before that. Nothing here needs JaxMARL, flax or distrax.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.agents.api import Info, Policy
from interplay.agents.basic import masked
from interplay.errors import InterplayError
from interplay.games.api import Game


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
        """Return its parameters, the function that reads them, and how it acts."""
        functions = {"apply": self.apply, "preprocess": self.preprocess}
        how = {"reads": self.reads, "greedy": self.greedy, "takes_legal": self.takes_legal}
        return {**functions, **how, "params": self.params, "hidden": self.hidden}

    @property
    def encoding(self) -> str:
        """Name of the encoding that `act` reads."""
        return self.reads

    def bind(self, game: Game) -> Policy:
        """Return this policy.

        Raises:
            InterplayError: The network does not fit the game's observations and actions.
        """
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
        obs = jax.tree.map(lambda leaf: leaf[0], game.observe(state, self.reads))
        return self.act(self.hidden, obs, jnp.asarray(game.legal(state)[0]), key)

    def init(self, key, seat):
        """Return the memory at the start of an episode."""
        return self.hidden

    def act(self, memory, obs, legal, key):
        """Choose an action and update the memory."""
        seen = obs if self.preprocess is None else self.preprocess(obs)
        extra = (legal.astype(jnp.float32),) if self.takes_legal else ()
        if self.hidden is None:
            output = self.apply(self.params, *jax.tree.map(lambda x: x[None], (seen, *extra)))
            output = output[0] if isinstance(output, tuple | list) else output
        else:
            # Hidden states are fresh at an episode's start, so that no row is ever marked as done.
            row = jax.tree.map(lambda x: x[None, None], (seen, jnp.zeros((), bool), *extra))
            memory, output, *_ = self.apply(self.params, memory, row)
        logits = masked(_logits(output, legal.shape[0]), legal)
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
    """Make a policy from a network's `apply` (such as flax's `network.apply`) and its parameters.

    The network may return logits, or values of actions, as an array, or anything that has `.logits` or `.probs`.

    Args:
        apply: The network's function.
        params: Its parameters.
        encoding: The encoding that it reads; in one of JaxMARL's environments, "obs".
        hidden: The first hidden state of a recurrent network, [1, size], as `initialize_carry(1, size)` returns it.
        greedy: Take the likeliest action instead of sampling.
        takes_legal: The mask of legal actions follows the observation (feed-forward) or the dones (recurrent).
        preprocess: Applied to an observation first, such as `jnp.ravel` for networks that read flat vectors.
    """
    params, hidden = jax.tree.map(jnp.asarray, (params, hidden))
    return JaxMARLPolicy(params, hidden, apply, preprocess, encoding, greedy, takes_legal)


def _logits(output: Any, actions: int) -> Float[Array, " action"]:
    """Return one row of logits from whatever a network calls its distribution."""
    if getattr(output, "logits", None) is not None:
        values = output.logits
    elif getattr(output, "probs", None) is not None:
        values = jnp.log(jnp.maximum(output.probs, 1e-9))
    elif isinstance(output, jax.Array):
        values = output
    else:
        raise InterplayError(
            f"cannot read actions out of a {type(output).__name__}: a network gives logits as an array, or something "
            "that bears .logits or .probs"
        )
    row = jnp.asarray(values, jnp.float32).reshape(-1)
    if row.shape != (actions,):
        raise InterplayError(f"this network chooses among {row.shape[0]} actions; the game has {actions}")
    return row
