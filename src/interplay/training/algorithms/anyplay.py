"""Any-play: in every game one seat is told a style to play in, and the others learn to do well with all of them.

A judge that sees what a seat without a style sees guesses the style; the team is paid for being understood, so that
styles come to differ. The policy that is kept is the one without a style.

The published reward is minus the judge's cross-entropy in every step, which also charges for every step that a game
goes on. Paid as a gain (`pay`: gain) the reward is the change of the log-probability from step to step instead: the sum
over a game is what the judge has learnt by its end.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.agents.networks import Dense
from interplay.agents.partner_conditioned import network_of
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.records import record
from interplay.games.registry import make
from interplay.training.actor_critic import policy_shape
from interplay.training.algorithms.sp import scheme as self_play
from interplay.training.collect import Rollout
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.run import Trained
from interplay.training.run import train as train_stage


@dataclass(frozen=True)
class AnyPlayOptions:
    """The styles, and the judge that tells them apart."""

    styles: int = 64
    weight: float = 0.2  # of being understood, beside the game's points
    pay: str = "gain"  # or step: as published
    units: int = 128  # of the judge's layer and of its memory
    rate: float = 3e-4  # its learning rate
    parts: int = 4  # of its pass over each rollout, a step of gradient descent each

    def __post_init__(self) -> None:
        if self.styles < 2:
            raise InterplayError(f"algorithm.options.styles: {self.styles}; at least 2")
        if self.pay not in ("gain", "step"):
            raise InterplayError(f"algorithm.options.pay: {self.pay!r}; gain or step")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max E_z [J(π_z, π) + α log q(z | what the other saw)]."""
    options = build(AnyPlayOptions, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    encoding, shape = experiment.network.encoding, policy_shape(game, experiment.network)
    if game.num_seats < 2 or len(shape.input) != 1 or shape.mask:  # a style stands where the mask of the view would
        raise InterplayError(f"any-play is for two seats or more that read a flat vector; {encoding!r} is none")
    if experiment.envs % options.parts:
        raise InterplayError(f"algorithm.options.parts: {experiment.envs} envs cannot be cut into {options.parts}")
    plain = shape.input[0]
    judge = Judging(options, plain, game.num_seats, experiment.envs)

    def ship(core: Any) -> Any:
        return without_style(core, plain)

    scheme = dataclasses.replace(
        self_play(experiment),
        world=lambda g: Styled(g, encoding, options.styles),
        notebook=judge.begin,
        look_on=judge.look_on,
        ship=ship,
    )
    trained = train_stage(experiment, scheme, quiet=quiet)
    policies = jax.vmap(jax.vmap(ship))(trained.members.policy)
    members = eqx.tree_at(lambda m: m.policy, trained.members, policies)
    return dataclasses.replace(trained, game=game, members=members, snapshots=[], program=None)


@record
class WithStyle:
    """A state, and who was told which style."""

    plain: Any
    holder: Int[Array, ""]
    style: Int[Array, ""]


class Styled:
    """A game in which one seat's view ends with a style, one-hot, and the others' with zeros."""

    pure = True

    def __init__(self, game: Game, encoding: str, styles: int):
        self.base, self.styles = game, styles
        seen = game.encodings[encoding]
        assert seen.shape is not None
        self.encodings = {encoding: dataclasses.replace(seen, shape=(seen.shape[0] + styles,))}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def init(self, key: PRNGKeyArray, **start: Any) -> WithStyle:
        for_game, for_holder, for_style = jax.random.split(key, 3)
        return WithStyle(
            plain=self.base.init(for_game, **start),
            holder=jax.random.randint(for_holder, (), 0, self.base.num_seats),
            style=jax.random.randint(for_style, (), 0, self.styles),
        )

    def step(self, state: WithStyle, actions: Array, key: Any = None) -> tuple[WithStyle, Any]:
        after, step = self.base.step(state.plain, actions, key)
        return dataclasses.replace(state, plain=after), step

    def observe(self, state: WithStyle, encoding: str) -> Array:
        told = (jnp.arange(self.base.num_seats) == state.holder)[:, None] * jax.nn.one_hot(state.style, self.styles)
        return jnp.concatenate([self.base.observe(state.plain, encoding), told], axis=1)

    def legal(self, state: WithStyle) -> Bool[Array, "seat action"]:
        return self.base.legal(state.plain)

    def to_move(self, state: WithStyle) -> Bool[Array, " seat"]:
        return self.base.to_move(state.plain)


def without_style(core: Any, plain: int) -> Any:
    """The same policy where no style is told: zeros, so the weights that read it can go."""
    shape = dataclasses.replace(core.shape, input=(plain,))
    empty = jax.eval_shape(lambda: network_of(shape, 1.0, jax.random.key(0)))
    cut = eqx.tree_at(lambda c: c.trunk.layers[0].weight, core, core.trunk.layers[0].weight[:plain])
    return jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(empty), jax.tree_util.tree_leaves(cut))


class AnyPlayJudge(eqx.Module):
    """A layer, a memory and a guess."""

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
        """The memory after the steps, and log-probabilities of the styles at each."""

        def turn(memory: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            memory = self.cell(now[0], jnp.where(now[1], 0.0, memory))
            return memory, memory

        memory, memories = jax.lax.scan(turn, memory, (jax.nn.relu(self.layer(seen)), starts))
        return memory, jax.nn.log_softmax(self.head(memories))


@dataclass(frozen=True)
class Judging:
    """How the judge learns and what it pays. The notebook: judge, optimiser, memory of each environment."""

    options: AnyPlayOptions
    plain: int  # numbers of a view without style
    seats: int
    envs: int

    @property
    def steps(self) -> optax.GradientTransformation:
        return optax.flatten(optax.adam(self.options.rate, eps=1e-5))

    def begin(self, members: Any) -> Any:
        # Runs begin with judges of their own: the key is made of the members' first weights, which differ.
        number = jax.lax.bitcast_convert_type(jax.tree_util.tree_leaves(members)[0].reshape(-1)[0], jnp.uint32)
        key = jax.random.fold_in(jax.random.key(0), number)
        judge = AnyPlayJudge(self.plain, self.options.units, self.options.styles, key)
        state = self.steps.init(judge)  # type: ignore[arg-type] - any tree of arrays
        return judge, state, jnp.zeros((self.envs, self.options.units), jnp.float32)

    def look_on(self, notebook: Any, rollout: Rollout) -> tuple[Any, Array, dict[str, Array]]:
        judge, state, memory = notebook
        many, actions = rollout.start.shape[0], rollout.seen.shape[2]
        seen = rollout.seen[:, 0].reshape(many, self.envs, self.seats, -1)
        told = seen[..., self.plain : self.plain + self.options.styles].astype(jnp.float32)  # zeros may follow
        style = jnp.sum(told, axis=2)  # [step, env, style]
        holder = jnp.argmax(jnp.max(told, axis=-1), axis=-1)
        other = ((holder + 1) % self.seats)[..., None, None]
        view = jnp.take_along_axis(seen[..., : self.plain], other, axis=2)[:, :, 0].astype(jnp.float32)
        after, odds = jax.vmap(judge, in_axes=(0, 1, 1), out_axes=(0, 1))(memory, view, rollout.start)
        understood = jnp.sum(odds * style, axis=-1)  # [step, env]
        paid = self.options.weight * (
            self._gains(understood, rollout.done) if self.options.pay == "gain" else understood
        )
        reward = jnp.repeat(paid, self.seats, axis=1).reshape(many, 1, actions)
        judge, state, loss = self._learn(judge, state, memory, view, rollout.start, style)
        right = jnp.mean(jnp.argmax(odds, axis=-1) == jnp.argmax(style, axis=-1))
        return (judge, state, after), reward, {"judge_loss": loss, "judge_right": right}

    @staticmethod
    def _gains(understood: Float[Array, "step env"], done: Bool[Array, "step env"]) -> Float[Array, "step env"]:
        """What a step added. What the last step of a game or of the rollout added is not seen, and not paid."""
        gains = understood[1:] - understood[:-1]
        return jnp.concatenate([jnp.where(done[:-1], 0.0, gains), jnp.zeros_like(gains[:1])])

    def _learn(self, judge: AnyPlayJudge, state: Any, memory: Array, *whole: Array) -> tuple[AnyPlayJudge, Any, Array]:
        parts = self.options.parts

        def cut(x: Array) -> Array:
            return x.reshape(parts, -1, *x.shape[1:])

        pieces = (cut(memory), *(cut(jnp.moveaxis(x, 1, 0)) for x in whole))

        def loss(judge: AnyPlayJudge, memory: Array, view: Array, start: Array, style: Array) -> Array:
            _, odds = jax.vmap(judge)(memory, view, start)
            return -jnp.mean(jnp.sum(odds * style, axis=-1))

        def one(carry: tuple[Any, Any], piece: Any) -> tuple[Any, Array]:
            judge, state = carry
            value, gradient = jax.value_and_grad(loss)(judge, *piece)
            updates, state = self.steps.update(gradient, state)
            return (optax.apply_updates(judge, updates), state), value

        (judge, state), losses = jax.lax.scan(one, (judge, state), pieces)
        return judge, state, jnp.mean(losses)
