"""Any-play (Lucas and Allen, 2022, Any-Play: An Intrinsic Augmentation for Zero-Shot Coordination).

    max E_z [J(π_z, π) + α log q(z | what the other saw)]

In every game one seat reads a random style z. A discriminator q that sees what another seat sees predicts the style,
and the team is rewarded for its log-probability, so that styles come to differ; the other seats learn to do well with
all of them. The policy that is kept is the one without a style.

The published reward is the log-probability in every step, which also charges for every step that a game goes on. Paid
as a gain (`pay`: gain) the reward is its change from step to step instead: the sum over a game is what the
discriminator has learnt by its end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from interplay.agents.networks import Dense
from interplay.agents.partner_conditioned import network_of
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.records import record
from interplay.training.actor_critic import policy_shape
from interplay.training.algorithms.sp import SelfPlay
from interplay.training.collect import Rollout
from interplay.training.config import Experiment
from interplay.training.loader import make_game, method_options
from interplay.training.method import ProcessedRollout
from interplay.training.run import Trained, train_stage
from interplay.training.stage_state import TrainingSetup


@dataclass(frozen=True)
class AnyPlayOptions:
    """The styles, and the discriminator that tells them apart."""

    styles: int = 64
    weight: float = 0.2  # of the discriminator's reward, beside the game's points
    pay: str = "gain"  # or step: as published
    units: int = 128  # of the discriminator's layer and of its memory
    rate: float = 3e-4  # its learning rate
    parts: int = 4  # of its pass over each rollout, a step of gradient descent each

    def __post_init__(self) -> None:
        if self.styles < 2:
            raise InterplayError(f"algorithm.options.styles: {self.styles}; at least 2")
        if self.pay not in ("gain", "step"):
            raise InterplayError(f"algorithm.options.pay: {self.pay!r}; gain or step")


@record
class StyledState:
    """A state, and which seat reads which style."""

    plain: Any
    holder: Int[Array, ""]
    style: Int[Array, ""]


class StyledGame:
    """A game in which one seat's observation ends with a style, one-hot, and the others' with zeros."""

    pure = True

    def __init__(self, game: Game, encoding: str, styles: int):
        self.base, self.styles = game, styles
        seen = game.encodings[encoding]
        assert seen.shape is not None
        self.encodings = {encoding: replace(seen, shape=(seen.shape[0] + styles,))}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def init(self, key: PRNGKeyArray, **start: Any) -> StyledState:
        """Draw a state, a seat and its style."""
        for_game, for_holder, for_style = jax.random.split(key, 3)
        return StyledState(
            plain=self.base.init(for_game, **start),
            holder=jax.random.randint(for_holder, (), 0, self.base.num_seats),
            style=jax.random.randint(for_style, (), 0, self.styles),
        )

    def step(self, state: StyledState, actions: Array, key: Any = None) -> tuple[StyledState, Any]:
        """Step the game."""
        after, step = self.base.step(state.plain, actions, key)
        return replace(state, plain=after), step

    def observe(self, state: StyledState, encoding: str) -> Array:
        """Return observations with the style, or with zeros, at their end."""
        holds = (jnp.arange(self.base.num_seats) == state.holder)[:, None]
        style = holds * jax.nn.one_hot(state.style, self.styles)
        return jnp.concatenate([self.base.observe(state.plain, encoding), style], axis=1)

    def legal(self, state: StyledState) -> Bool[Array, "seat action"]:
        """Return the legal actions."""
        return self.base.legal(state.plain)

    def to_move(self, state: StyledState) -> Bool[Array, " seat"]:
        """Return who is to move."""
        return self.base.to_move(state.plain)


def without_style(core: PyTree, plain: int) -> PyTree:
    """Return a policy without the weights that read the style; `plain` is the size of an observation without it."""
    shape = replace(core.shape, input=(plain,))
    empty = jax.eval_shape(lambda: network_of(shape, 1.0, jax.random.key(0)))
    cut = eqx.tree_at(lambda c: c.trunk.layers[0].weight, core, core.trunk.layers[0].weight[:plain])
    return jax.tree.unflatten(jax.tree.structure(empty), jax.tree.leaves(cut))


class StyleDiscriminator(eqx.Module):
    """A layer, a GRU and the log-probabilities of the styles."""

    layer: Dense
    cell: eqx.nn.GRUCell
    head: Dense

    def __init__(self, inputs: int, units: int, styles: int, key: PRNGKeyArray):
        for_layer, for_cell, for_head = jax.random.split(key, 3)
        self.layer = Dense(inputs, units, 2**0.5, for_layer)
        self.cell = eqx.nn.GRUCell(units, units, key=for_cell)
        self.head = Dense(units, styles, 0.01, for_head)

    def __call__(
        self, memory: Float[Array, " unit"], seen: Float[Array, "step feature"], starts: Bool[Array, " step"]
    ) -> tuple[Array, Float[Array, "step style"]]:
        """Return the memory after the steps, and log-probabilities of the styles at each."""

        def turn(memory: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            memory = self.cell(now[0], jnp.where(now[1], 0.0, memory))
            return memory, memory

        memory, memories = jax.lax.scan(turn, memory, (jax.nn.relu(self.layer(seen)), starts))
        return memory, jax.nn.log_softmax(self.head(memories))


@dataclass(frozen=True, kw_only=True)
class AnyPlay(SelfPlay):
    """Self-play with styles. The state: discriminator, its optimiser, and its memory of each environment."""

    options: AnyPlayOptions
    encoding: str
    view_size: int  # numbers of an observation without style
    seats: int
    envs: int
    can_continue = False

    def wrap_game(self, game: Game) -> Game:
        """Return the game in which one seat reads a style."""
        return StyledGame(game, self.encoding, self.options.styles)  # type: ignore[return-value]

    def exported_policy(self, policy: Any) -> Any:
        """Return the policy that reads no style."""
        return without_style(policy, self.view_size)

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """The discriminator's own optimiser."""
        return optax.flatten(optax.adam(self.options.rate, eps=1e-5))

    def init_state(self, setup: TrainingSetup, members: PyTree) -> PyTree:
        """Return a random discriminator. Runs have different ones: the key is made of the members' first weights."""
        number = jax.lax.bitcast_convert_type(jax.tree.leaves(members)[0].reshape(-1)[0], jnp.uint32)
        key = jax.random.fold_in(jax.random.key(0), number)
        discriminator = StyleDiscriminator(self.view_size, self.options.units, self.options.styles, key)
        state = self.optimiser.init(discriminator)  # type: ignore[arg-type] - any tree of arrays
        return discriminator, state, jnp.zeros((self.envs, self.options.units), jnp.float32)

    def process_rollout(
        self, setup: TrainingSetup, state: PyTree, members: PyTree, rollout: Rollout
    ) -> ProcessedRollout:
        """Add the reward of the discriminator as it was, and train it on the rollout."""
        discriminator, optimiser_state, memory = state
        steps = rollout.start.shape[0]
        seen = rollout.seen[:, 0].reshape(steps, self.envs, self.seats, -1)
        styles = seen[..., self.view_size : self.view_size + self.options.styles].astype(
            jnp.float32
        )  # zeros may follow
        style = jnp.sum(styles, axis=2)  # [step, env, style]
        holder = jnp.argmax(jnp.max(styles, axis=-1), axis=-1)
        other = ((holder + 1) % self.seats)[..., None, None]
        view = jnp.take_along_axis(seen[..., : self.view_size], other, axis=2)[:, :, 0].astype(jnp.float32)
        after, odds = jax.vmap(discriminator, in_axes=(0, 1, 1), out_axes=(0, 1))(memory, view, rollout.start)
        log_prob = jnp.sum(odds * style, axis=-1)  # [step, env]
        paid = self._gains(log_prob, rollout.done) if self.options.pay == "gain" else log_prob
        reward = jnp.repeat(self.options.weight * paid, self.seats, axis=1).reshape(steps, 1, -1)
        discriminator, optimiser_state, loss = self._train(
            discriminator, optimiser_state, memory, view, rollout.start, style
        )
        right = jnp.mean(jnp.argmax(odds, axis=-1) == jnp.argmax(style, axis=-1))
        rollout = replace(rollout, reward=rollout.reward + reward)
        logs = {"judge_loss": loss, "judge_right": right}
        return ProcessedRollout((discriminator, optimiser_state, after), rollout, logs)

    @staticmethod
    def _gains(log_prob: Float[Array, "step env"], done: Bool[Array, "step env"]) -> Float[Array, "step env"]:
        """Return what each step added; of the last step of a game or of the rollout it is not known, and not paid."""
        gains = log_prob[1:] - log_prob[:-1]
        return jnp.concatenate([jnp.where(done[:-1], 0.0, gains), jnp.zeros_like(gains[:1])])

    def _train(self, discriminator: Any, state: PyTree, memory: Array, *whole: Array) -> tuple[Any, Any, Array]:
        def cut(x: Array) -> Array:
            return x.reshape(self.options.parts, -1, *x.shape[1:])

        parts = (cut(memory), *(cut(jnp.moveaxis(x, 1, 0)) for x in whole))

        def loss(discriminator: Any, memory: Array, view: Array, start: Array, style: Array) -> Array:
            _, odds = jax.vmap(discriminator)(memory, view, start)
            return -jnp.mean(jnp.sum(odds * style, axis=-1))

        def one(carry: tuple[Any, Any], part: Any) -> tuple[Any, Array]:
            discriminator, state = carry
            value, gradient = jax.value_and_grad(loss)(discriminator, *part)
            updates, state = self.optimiser.update(gradient, state)
            return (optax.apply_updates(discriminator, updates), state), value

        (discriminator, state), losses = jax.lax.scan(one, (discriminator, state), parts)
        return discriminator, state, jnp.mean(losses)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train policies without a style, one a run.

    Raises:
        InterplayError: If the game or the network cannot be told a style.
    """
    options = method_options(AnyPlayOptions, experiment)
    game = make_game(experiment)
    encoding, shape = experiment.network.encoding, policy_shape(game, experiment.network)
    if game.num_seats < 2 or len(shape.input) != 1 or shape.mask:  # a style stands where the mask of the view would
        raise InterplayError(f"any-play is for two seats or more that read a flat vector; {encoding!r} is none")
    if experiment.envs % options.parts:
        raise InterplayError(f"algorithm.options.parts: {experiment.envs} envs cannot be cut into {options.parts}")
    sizes: dict[str, Any] = {"view_size": shape.input[0], "seats": game.num_seats, "envs": experiment.envs}
    method = AnyPlay.create(experiment, options=options, encoding=encoding, **sizes)
    trained = train_stage(experiment, method, quiet=quiet)
    policies = jax.vmap(jax.vmap(method.exported_policy))(trained.members.policy)
    members = eqx.tree_at(lambda m: m.policy, trained.members, policies)
    return replace(trained, game=game, members=members, snapshots=[], program=None)
