"""Improve the members by a rollout: values, advantages, training sequences, and steps of gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from interplay.training import recurrent_state
from interplay.training.actor_critic import Memories
from interplay.training.advantages import Normaliser, advantages, observe_returns, scale
from interplay.training.collect import Cuts, Rollout
from interplay.training.config import PPO
from interplay.training.learner_observations import observe
from interplay.training.loss import LossBatch, chosen, learner_loss, log_probs
from interplay.training.reward_weights import RewardWeights
from interplay.training.stage_state import RolloutWorld, TrainingSetup
from interplay.training.team_assignment import spread


def optimiser(ppo: PPO) -> optax.GradientTransformation:
    """Return the optimiser of one learner, without the learning rate, which follows a schedule.

    It treats the weights as one vector: a few kernels, not a few for each array.
    """
    steps = optax.chain(optax.clip_by_global_norm(ppo.grad_norm), optax.scale_by_adam(eps=ppo.adam_eps))
    return optax.flatten(steps)


class LearningSignal(NamedTuple):
    """What is learnt from in each step, [step, learner, slot]."""

    value: Array  # in units of the return
    advantage: Array
    target: Array  # of the value, in units of the return
    counted: Array  # 1 where the step counts


@dataclass(frozen=True)
class ValueEstimates:
    """Values and advantages of a rollout, from which `Method.advantages` makes the learning signal."""

    setup: TrainingSetup
    members: PyTree
    normaliser: Normaliser
    before: RolloutWorld
    after: RolloutWorld
    rollout: Rollout
    cuts: Cuts

    def per_env(self, x: Array) -> Array:
        """Repeat [step, env] for all slots, as [step, learner, slot]."""
        return jax.vmap(lambda y: spread(self.setup.plan, y))(x)

    @cached_property
    def labels(self) -> Float[Array, "learner slot label"]:
        """What else the value networks read."""
        return _labels(self.setup, self.before)

    @cached_property
    def values(self) -> NetworkValues:
        """What the value networks say of the rollout."""
        return _network_values(self, self.labels)

    def values_as_at(self, tables: tuple[int, ...]) -> NetworkValues:
        """Return the values that the networks give if each table has the label of another one, [table]."""
        return _network_values(self, _labels(self.setup, self.before, np.array(tables)))

    def in_return_units(self, x: Array) -> Array:
        """Undo the normalisation of values [..., learner, slot]."""
        mean, deviation = scale(self.normaliser)  # 0 and 1 for a normaliser that has seen nothing
        return x * deviation[:, None] + mean[:, None]

    def advantages(self, values: NetworkValues, reward: Array, lam: float) -> tuple[Array, Array]:
        """Return values in units of the return, and generalised advantage estimates by them."""
        parts = (values.values, values.last, values.cuts)
        value, final, cut_value = (self.in_return_units(x) for x in parts)
        following = jnp.concatenate([value[1:], final[None]])
        number = self.per_env(self.rollout.cut)
        for cut in range(self.setup.cuts):
            following = jnp.where(number == cut, cut_value[cut], following)
        terminated, done = self.per_env(self.rollout.terminated), self.per_env(self.rollout.done)
        gamma = self.setup.experiment.ppo.gamma
        return value, advantages(reward, value, following, terminated, done, gamma, lam)

    def learning_signal(self) -> LearningSignal:
        """Return the signal of plain PPO. Steps whose following value is unknown do not count."""
        rollout = self.rollout
        done, terminated, cut = (self.per_env(x) for x in (rollout.done, rollout.terminated, rollout.cut))
        counted = (~(done & ~terminated & (cut < 0))).astype(jnp.float32)
        value, advantage = self.advantages(self.values, rollout.reward, self.setup.experiment.ppo.lam)
        return LearningSignal(value, advantage, advantage + value, counted)


class PreparedBatch(NamedTuple):
    """What a rollout gives for the update."""

    batch: LossBatch
    normaliser: Normaliser
    value_memory: Any  # of the values, after the rollout
    logs: dict[str, Array]


def prepare(estimates: ValueEstimates, weights: Float[Array, "table role"] | None = None) -> PreparedBatch:
    """Cut a rollout into training sequences.

    Args:
        estimates: The rollout and the members that played it.
        weights: Of the advantages at each table; None: those of the plan.
    """
    setup, normaliser = estimates.setup, estimates.normaliser
    plan, ppo = setup.plan, setup.experiment.ppo
    signal = setup.method.advantages(estimates)
    slot_weights = setup.per_slot(plan.weight_table if weights is None else weights)
    # Where the weight is 0 the policy is not trained, and its entropy does not count.
    acted = signal.counted * estimates.rollout.turn * (slot_weights != 0)
    if ppo.normalise_values:
        returns = jnp.moveaxis(signal.target, 1, 0).reshape(plan.learners, -1)
        counts = jnp.moveaxis(signal.counted, 1, 0).reshape(plan.learners, -1)
        normaliser = observe_returns(normaliser, returns, ppo.normaliser_decay, counts)
    mean, deviation = scale(normaliser)
    logs = _explained(signal.value, signal.target, signal.counted)
    signal = signal._replace(
        advantage=_normalised(setup, signal.advantage, acted) * slot_weights,
        target=(signal.target - mean[:, None]) / deviation[:, None],
    )
    return PreparedBatch(_sequences(estimates, signal, acted), normaliser, estimates.values.memory_after, logs)


def _sequences(estimates: ValueEstimates, signal: LearningSignal, acted: Array) -> LossBatch:
    """Cut a rollout into sequences. Where slots have several memories, the steps are sorted by seat."""
    setup, rollout, values = estimates.setup, estimates.rollout, estimates.values
    start = estimates.per_env(rollout.start)
    memory, begins, restart_memory, order = rollout.memory, start, None, None
    if rollout.memory_seat is not None:
        order = recurrent_state.order_by_seat(rollout.memory_seat)
        begins = recurrent_state.sequence_starts(rollout.memory_seat, start, order)
        memory = jnp.take_along_axis(memory, order[..., None], axis=0)
        restart_memory = _fold(setup, memory)

    def folded(x: Array) -> Array:
        if order is not None:
            x = jnp.take_along_axis(x, order.reshape(order.shape + (1,) * (x.ndim - 3)), axis=0)
        return _fold(setup, x)

    return LossBatch(
        seen=folded(rollout.seen),
        view=None if rollout.view is None else folded(rollout.view),
        legal=folded(rollout.legal),
        action=folded(rollout.action),
        start=_fold(setup, begins),
        log_prob=folded(chosen(log_probs(rollout.logits, rollout.legal), rollout.action)),
        advantage=folded(signal.advantage),
        target=folded(signal.target),
        value=folded(values.values),
        acted=folded(acted),
        counted=folded(signal.counted),
        memory=Memories(_first(setup, memory), _first(setup, values.memory_before)),
        label=jnp.tile(estimates.labels, (1, setup.experiment.rollout // setup.chunk, 1)),
        restart_memory=restart_memory,
        extra=jax.tree.map(folded, rollout.extra),
    )


def _labels(setup: TrainingSetup, world: RolloutWorld, tables: Any = None) -> Float[Array, "learner slot label"]:
    """Return one-hot labels: the number of the table's first partner, and the kind of the table.

    With `tables` [table], each table has the label of another one.
    """
    plan, envs = setup.plan, setup.experiment.envs
    if not setup.experiment.network.critic_knows_partner:
        return jnp.zeros((plan.learners, setup.slots, 0))
    parts = [jnp.zeros((len(plan.tables), 0))]
    if setup.partners is not None:
        first = [np.flatnonzero(plan.partner_slots // plan.roles == table) for table in range(len(plan.tables))]
        of_table = jnp.stack([world.partners[f[0]] if len(f) else jnp.int32(-1) for f in first])  # -1: all zeros
        parts.append(jax.nn.one_hot(of_table, setup.partners.number))
    if plan.table_kinds is not None:
        parts.append(jax.nn.one_hot(jnp.array(plan.table_kinds), plan.num_kinds))
    labels = jnp.concatenate(parts, axis=1)
    return spread(plan, jnp.repeat(labels if tables is None else labels[tables], envs // len(plan.tables), axis=0))


class NetworkValues(NamedTuple):
    """What the value network says of a rollout, on its own (normalised) scale."""

    values: Float[Array, "step learner slot"]
    last: Float[Array, "learner slot"]  # of the state after the last step
    cuts: Float[Array, "cut learner slot"]  # of the states in which the horizon struck
    memory_before: Float[Array, "step learner slot memory"]  # of size 0 where values use the policy's memory
    memory_after: Float[Array, "learner slot memory"]  # after the last step


def _network_values(estimates: ValueEstimates, label: Array) -> NetworkValues:
    if estimates.setup.values_use_policy_memory:
        return _values_from_policy_memory(estimates, label)
    setup, members, before, after = estimates.setup, estimates.members, estimates.before, estimates.after
    plan, rollout, cuts = setup.plan, estimates.rollout, estimates.cuts

    def values(memory: Memories, view: Array, start: Array) -> tuple[Array, Array]:
        """Return memory and values [step, learner, slot, ...] of views [step, learner, slot, ...]."""
        of_slot = jax.vmap(lambda m, *xs: m.values(*xs), in_axes=(None, 0, 1, 1, 0), out_axes=1)
        return jax.vmap(of_slot, in_axes=(0, 0, 1, 1, 0), out_axes=1)(members, memory, view, start, label)

    def in_blocks(memory: Memories, view: Array, start: Array) -> tuple[Array, Array]:
        """Return the same, a block of steps after the other, in the memory that a part of a minibatch needs."""
        steps, blocks = setup.experiment.rollout, setup.blocks
        parts = jax.tree.map(lambda x: x.reshape(blocks, steps // blocks, *x.shape[1:]), (view, start))

        def block(memory: Memories, part: tuple[Array, Array]) -> tuple[Memories, tuple[Array, Array]]:
            memories, value = values(memory, *part)
            return Memories(memory.policy, memories[-1]), (memories, value)

        outputs = jax.lax.scan(block, memory, parts)[1]
        return jax.tree.map(lambda x: x.reshape(steps, *x.shape[2:]), outputs)

    own = Memories(recurrent_state.select(before.memory, None), before.value_memory)
    view = rollout.seen if rollout.view is None else rollout.view
    memories, value = in_blocks(own, view, estimates.per_env(rollout.start))
    ended = Memories(memories[-1], memories[-1])
    seen, view = observe(setup, after.state, after.rotation)
    _, last = values(ended, (seen if view is None else view)[None], spread(plan, after.start)[None])

    def at_cut(state: PyTree, rotation: Array, time: Array) -> Array:
        seen, view = observe(setup, state, rotation)
        then = jnp.take_along_axis(memories, spread(plan, time)[None, ..., None], axis=0)[0]
        never = jnp.zeros((1, *then.shape[:2]), bool)
        return values(Memories(then, then), (seen if view is None else view)[None], never)[1][0]

    at_cuts = jax.vmap(at_cut)(cuts.state, cuts.rotation, cuts.time)
    memory_before = jnp.concatenate([before.value_memory[None], memories[:-1]])
    return NetworkValues(value, last[0], at_cuts, memory_before, memories[-1])


def _values_from_policy_memory(estimates: ValueEstimates, label: Array) -> NetworkValues:
    """Return the same where values use the policies' memory, which the rollout holds: all steps are independent."""
    setup, members, after = estimates.setup, estimates.members, estimates.after
    rollout, cuts, steps, blocks = estimates.rollout, estimates.cuts, setup.experiment.rollout, setup.blocks

    def values(memory: Array, seen: Array) -> Array:
        """Return [learner, slot] from memory and views [learner, slot, ...]."""

        def one(member: PyTree, memory: Array, seen: Array, label: Array) -> Array:
            return member.values(Memories(memory, memory[:0]), seen[None], jnp.zeros(1, bool), label)[1][0]

        return jax.vmap(jax.vmap(one, in_axes=(None, 0, 0, 0)))(members, memory, seen, label)

    def at_state(memory: Array, state: PyTree, rotation: Array) -> Array:
        seen = observe(setup, state, rotation)[0]
        return values(recurrent_state.select(memory, recurrent_state.active_seat(setup, state, rotation)), seen)

    def cut(x: Array) -> Array:
        return x.reshape(blocks, steps // blocks, *x.shape[1:])

    value = jax.lax.map(lambda part: jax.vmap(values)(*part), (cut(rollout.memory), cut(rollout.seen)))
    started = spread(setup.plan, after.start)[..., None, None]
    last = at_state(jnp.where(started, 0.0, after.memory), after.state, after.rotation)
    at_cuts = jax.vmap(at_state)(cuts.memory, cuts.state, cuts.rotation)
    none = jnp.zeros((*rollout.memory.shape[:3], 0), jnp.float32)
    value = value.reshape(steps, *value.shape[2:])
    return NetworkValues(value, last, at_cuts, none, estimates.before.value_memory)


def _normalised(setup: TrainingSetup, advantage: Array, acted: Array) -> Array:
    """Normalise advantages over the steps in which each learner acted."""
    if not setup.experiment.ppo.normalise_advantages:
        return advantage
    total = jnp.maximum(jnp.sum(acted, axis=(0, 2), keepdims=True), 1.0)
    mean = jnp.sum(advantage * acted, axis=(0, 2), keepdims=True) / total
    square = jnp.sum((advantage - mean) ** 2 * acted, axis=(0, 2), keepdims=True) / total
    return (advantage - mean) / (jnp.sqrt(square) + 1e-8)


def _fold(setup: TrainingSetup, x: Array) -> Array:
    """Reorder [step, learner, slot, ...] to [learner, sequence, step of the sequence, ...]."""
    steps, learners, slots, *rest = x.shape
    chunk = setup.chunk
    cut = x.reshape(steps // chunk, chunk, learners, slots, *rest)
    order = (2, 0, 3, 1, *range(4, cut.ndim))
    return cut.transpose(order).reshape(learners, -1, chunk, *rest)


def _first(setup: TrainingSetup, memory: Array) -> Array:
    """Return [learner, sequence, memory], the memory [step, learner, slot, memory] at each sequence's first step."""
    first = memory[:: setup.chunk]
    return jnp.moveaxis(first, 1, 0).reshape(first.shape[1], setup.sequences, first.shape[-1])


def _explained(value: Array, target: Array, counted: Array) -> dict[str, Array]:
    """Return the share of the returns' variance that the values explain, [learner]."""
    total = jnp.maximum(jnp.sum(counted, axis=(0, 2)), 1.0)

    def variance(x: Array) -> Array:
        mean = jnp.sum(x * counted, axis=(0, 2)) / total
        return jnp.sum((x - mean[:, None]) ** 2 * counted, axis=(0, 2)) / total

    return {"explained": 1 - variance(target - value) / jnp.maximum(variance(target), 1e-8)}


def improve(
    setup: TrainingSetup,
    members: PyTree,
    state: PyTree,
    batch: LossBatch,
    shuffles: Int[Array, "epoch sequence"],
    learning_rate: Array,
    entropy: Array,
    weights: RewardWeights,
    samples: Any,
) -> tuple[Any, Any, dict[str, Array]]:
    """Take all steps of gradient descent on a batch.

    Args:
        setup: Of the stage.
        members: Networks of the learners, [learner, ...].
        state: Of the optimiser, [learner, ...].
        batch: The training sequences.
        shuffles: Orders of the sequences, the same for all learners and runs.
        learning_rate: Now.
        entropy: Coefficient of the entropy, now.
        weights: Of the rewards, [learner, ...], for `Method.regularise`.
        samples: For `Method.extra_loss`, [minibatch, ...].

    Returns:
        The members, the state of the optimiser, and logs as means over the steps.
    """
    ppo, method = setup.experiment.ppo, setup.method
    size = setup.sequences // ppo.minibatches
    step = optimiser(ppo)

    def one(carry: tuple[Any, Any], now: tuple[Array, Array]) -> tuple[Any, dict[str, Array]]:
        (members, state), (order, number) = carry, now
        part = batch if ppo.minibatches == 1 else jax.tree.map(lambda x: jnp.take(x, order, axis=1), batch)
        gradient, logs = _gradient(setup, members, part, entropy, weights)
        samples_now = jax.tree.map(lambda x: x[number], samples)
        extra, more = jax.grad(method.extra_loss, has_aux=True)(members, samples_now)
        gradient, logs = jax.tree.map(jnp.add, gradient, extra), logs | more
        logs["grad_norm"] = jax.vmap(optax.global_norm)(gradient)
        updates, state = jax.vmap(step.update)(gradient, state)
        members = jax.tree.map(lambda m, u: m - learning_rate * u, members, updates)
        return (members, state), logs

    orders = shuffles.reshape(ppo.epochs * ppo.minibatches, size)
    numbers = jnp.tile(jnp.arange(ppo.minibatches), ppo.epochs)
    (members, state), logs = jax.lax.scan(one, (members, state), (orders, numbers))
    return members, state, jax.tree.map(lambda x: jnp.mean(x, axis=0), logs)


def _gradient(
    setup: TrainingSetup, members: PyTree, batch: LossBatch, entropy: Array, weights: RewardWeights
) -> tuple[Any, dict[str, Array]]:
    """Return the gradient of the sum of all learners' losses: each learner's part depends on it alone."""
    ppo, method = setup.experiment.ppo, setup.method
    totals = jnp.sum(batch.acted, axis=(1, 2)), jnp.sum(batch.counted, axis=(1, 2))

    def learner(member: PyTree, part: LossBatch, totals: tuple[Array, Array], weights: Any) -> tuple[Array, dict]:
        loss, logs, log_prob = learner_loss(member, part, ppo, entropy, totals)
        loss, more = method.regularise(loss, log_prob, part, part.acted / jnp.maximum(totals[0], 1.0), weights)
        return loss, logs | more

    def loss(members: PyTree, part: LossBatch) -> tuple[Array, dict[str, Array]]:
        losses, logs = jax.vmap(learner)(members, part, totals, weights)
        return jnp.sum(losses), logs

    gradient = jax.grad(loss, has_aux=True)
    if ppo.microbatches == 1:
        return gradient(members, batch)

    def cut(x: Array) -> Array:
        size = x.shape[1] // ppo.microbatches  # written out, since an array of size 0 cannot tell
        return jnp.moveaxis(x.reshape(x.shape[0], ppo.microbatches, size, *x.shape[2:]), 1, 0)

    parts = jax.tree.map(cut, batch)

    def add(sums: Any, part: LossBatch) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, sums, gradient(members, part)), None

    first = jax.tree.map(lambda x: x[0], parts)
    shapes = jax.eval_shape(gradient, members, first)
    zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    return jax.lax.scan(add, zeros, parts)[0]
