"""From a rollout to better members: values, advantages, training sequences, and steps of gradient descent."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int

from interplay.training import recurrent_state
from interplay.training.actor_critic import Memories
from interplay.training.advantages import Normaliser, advantages, observe_returns, scale
from interplay.training.collect import Cuts, Rollout
from interplay.training.config import PPO
from interplay.training.loss import LossBatch, chosen, learner_loss, log_probs
from interplay.training.setup import RolloutWorld, TrainingSetup
from interplay.training.team_assignment import spread
from interplay.training.views import observe


def optimiser(ppo: PPO) -> optax.GradientTransformation:
    """Of one learner, over its weights as one vector: a few kernels, not a few for each array. The learning rate
    follows its schedule outside."""
    steps = optax.chain(optax.clip_by_global_norm(ppo.grad_norm), optax.scale_by_adam(eps=ppo.adam_eps))
    return optax.flatten(steps)


def prepare(
    setting: TrainingSetup,
    members: Any,
    normaliser: Normaliser,
    before: RolloutWorld,
    after: RolloutWorld,
    rollout: Rollout,
    cuts: Cuts,
    weights: Float[Array, "table role"] | None = None,
    anchor: Any = None,
) -> tuple[LossBatch, Normaliser, Any, dict[str, Array]]:
    """The training sequences of a rollout, the new normaliser, the memory of the values, and what is logged.

    `weights` are those of the advantages; None: as the plan has them. `anchor` are the logarithms of the odds of the
    policies that hold the learners, [step, learner, slot, action].
    """
    plan, ppo = setting.plan, setting.experiment.ppo
    label = _labels(setting, before)
    per_env = jax.vmap(lambda x: spread(plan, x))
    start, terminated, done = per_env(rollout.start), per_env(rollout.terminated), per_env(rollout.done)
    found = _appraise(setting, members, before, after, rollout, cuts, label, start)
    mean, deviation = scale(normaliser)  # 0 and 1 for a normaliser that has seen nothing
    number = per_env(rollout.cut)

    def judged(found: Appraisal, lam: float, reward: Array) -> tuple[Array, Array]:
        """Values, and advantages by them."""
        parts = (found.values, found.last, found.cuts)
        value, final, cut_value = (x * deviation[:, None] + mean[:, None] for x in parts)
        following = jnp.concatenate([value[1:], final[None]])
        for cut in range(setting.cuts):
            following = jnp.where(number == cut, cut_value[cut], following)
        return value, advantages(reward, value, following, terminated, done, ppo.gamma, lam)

    counted = (~(done & ~terminated & (number < 0))).astype(jnp.float32)
    if rollout.away is not None:
        counted = counted * ~rollout.away
    value, advantage = judged(found, ppo.lam, rollout.reward)
    if rollout.imagined is not None:  # one step in a state that looked the same, in place of what was played
        then = rollout.imagined
        worth = then.goes_on * (then.value * deviation[:, None] + mean[:, None])
        advantage, counted = then.reward + ppo.gamma * worth - value, counted * then.sound
    target = advantage + value
    regret = setting.scheme.regret
    if regret is not None:
        there = _labels(setting, before, np.array(regret.table))
        other = _appraise(setting, members, before, after, rollout, cuts, there, start)
        own, others = (_of_slots(setting, np.array(x, np.float32)) for x in (regret.own, regret.other))
        # The step's reward is not part of it: it was earned with whoever sits here, not with whom the value is of.
        change = judged(other, 0.0, jnp.zeros_like(rollout.reward))[1]
        advantage = own * advantage + others * _centred(setting, change, counted)
    weights = _of_slots(setting, setting.plan.weight_table if weights is None else weights)
    acted = counted * rollout.turn * (weights != 0)  # what weighs nothing is not learnt from, nor kept random

    if ppo.normalise_values:
        flat = jnp.moveaxis(target, 1, 0).reshape(plan.learners, -1)
        present = jnp.moveaxis(counted, 1, 0).reshape(plan.learners, -1)
        normaliser = observe_returns(normaliser, flat, ppo.normaliser_decay, present)
        mean, deviation = scale(normaliser)
    told = _explained(value, target, counted)
    signals = UpdateSignals(
        advantage=_normalised(setting, advantage, acted) * weights,
        target=(target - mean[:, None]) / deviation[:, None],
        acted=acted,
        counted=counted,
    )
    return _sequences(setting, rollout, start, label, found, signals, anchor), normaliser, found.memory_after, told


class UpdateSignals(NamedTuple):
    """What is learnt from in each step, [step, learner, slot]."""

    advantage: Array
    target: Array  # of the value, normalised
    acted: Array
    counted: Array


def _sequences(
    setting: TrainingSetup,
    rollout: Rollout,
    start: Array,
    label: Array,
    found: Appraisal,
    signals: UpdateSignals,
    anchor: Any,
) -> LossBatch:
    """The steps of a rollout cut into sequences, where slots have several minds those of one mind after the other."""
    memory, begins, anew, order = rollout.memory, start, None, None
    if rollout.who is not None:
        order = recurrent_state.by_mind(rollout.who)
        begins = recurrent_state.taken_up(rollout.who, start, order)
        memory = jnp.take_along_axis(memory, order[..., None], axis=0)
        anew = _fold(setting, memory)

    def folded(x: Array) -> Array:
        if order is not None:
            x = jnp.take_along_axis(x, order.reshape(order.shape + (1,) * (x.ndim - 3)), axis=0)
        return _fold(setting, x)

    return LossBatch(
        seen=folded(rollout.seen),
        view=None if rollout.view is None else folded(rollout.view),
        legal=folded(rollout.legal),
        action=folded(rollout.action),
        start=_fold(setting, begins),
        log_prob=folded(chosen(log_probs(rollout.logits, rollout.legal), rollout.action)),
        advantage=folded(signals.advantage),
        target=folded(signals.target),
        value=folded(found.values),
        acted=folded(signals.acted),
        counted=folded(signals.counted),
        memory=Memories(_first(setting, memory), _first(setting, found.memory_before)),
        label=jnp.tile(label, (1, setting.experiment.rollout // setting.chunk, 1)),
        anew=anew,
        anchor=None if anchor is None else folded(anchor),
    )


def _labels(setting: TrainingSetup, world: RolloutWorld, of: Any = None) -> Float[Array, "learner slot label"]:
    """One-hot, for values that are told: the number of the table's first guest, and the kind of the table. With `of`,
    what is told at another table in its stead, [table]."""
    plan, envs = setting.plan, setting.experiment.envs
    if not setting.experiment.network.critic_knows_partner:
        return jnp.zeros((plan.learners, setting.slots, 0))
    told = [jnp.zeros((len(plan.tables), 0))]
    if setting.guests is not None:
        first = [np.flatnonzero(plan.guests // plan.roles == table) for table in range(len(plan.tables))]
        of_table = jnp.stack([world.guests[f[0]] if len(f) else jnp.int32(-1) for f in first])  # -1: all zeros
        told.append(jax.nn.one_hot(of_table, setting.guests.number))
    if plan.streams is not None:
        told.append(jax.nn.one_hot(jnp.array(plan.streams), plan.kinds))
    labels = jnp.concatenate(told, axis=1)
    return spread(plan, jnp.repeat(labels if of is None else labels[of], envs // len(plan.tables), axis=0))


class Appraisal(NamedTuple):
    """What the value network says of a rollout, on its own (normalised) scale."""

    values: Float[Array, "step learner slot"]
    last: Float[Array, "learner slot"]  # of the state after the last step
    cuts: Float[Array, "cut learner slot"]  # of the states in which the horizon struck
    memory_before: Float[Array, "step learner slot memory"]  # of the values; of size 0 where they rest on the policy's
    memory_after: Float[Array, "learner slot memory"]  # after the last step


def _appraise(
    setting: TrainingSetup,
    members: Any,
    before: RolloutWorld,
    after: RolloutWorld,
    rollout: Rollout,
    cuts: Cuts,
    label: Array,
    start: Array,
) -> Appraisal:
    if setting.recalls:
        return _recalled(setting, members, before, after, rollout, cuts, label)
    plan = setting.plan

    def values(memory: Memories, view: Array, start: Array) -> tuple[Array, Array]:
        """Of [step, learner, slot, ...] -> memory and values [step, learner, slot, ...]."""
        of_slot = jax.vmap(lambda m, *xs: m.values(*xs), in_axes=(None, 0, 1, 1, 0), out_axes=1)
        return jax.vmap(of_slot, in_axes=(0, 0, 1, 1, 0), out_axes=1)(members, memory, view, start, label)

    def in_blocks(memory: Memories, view: Array, start: Array) -> tuple[Array, Array]:
        """The same a block of steps after the other, so that it needs no more memory than a part of a minibatch."""
        steps = setting.experiment.rollout
        blocks = math.gcd(steps, setting.experiment.ppo.minibatches * setting.experiment.ppo.microbatches)
        parts = jax.tree_util.tree_map(lambda x: x.reshape(blocks, steps // blocks, *x.shape[1:]), (view, start))

        def block(memory: Memories, part: tuple[Array, Array]) -> tuple[Memories, tuple[Array, Array]]:
            memories, value = values(memory, *part)
            return Memories(memory.policy, memories[-1]), (memories, value)

        found = jax.lax.scan(block, memory, parts)[1]
        return jax.tree_util.tree_map(lambda x: x.reshape(steps, *x.shape[2:]), found)

    own = Memories(recurrent_state.pick(before.memory, None), before.value_memory)
    memories, value = in_blocks(own, rollout.seen if rollout.view is None else rollout.view, start)
    ended = Memories(memories[-1], memories[-1])
    seen, view = observe(setting, after.state, after.rotation)
    _, last = values(ended, (seen if view is None else view)[None], spread(plan, after.start)[None])

    def at_cut(state: Any, rotation: Array, time: Array) -> Array:
        seen, view = observe(setting, state, rotation)
        then = jnp.take_along_axis(memories, spread(plan, time)[None, ..., None], axis=0)[0]
        never = jnp.zeros((1, *then.shape[:2]), bool)
        return values(Memories(then, then), (seen if view is None else view)[None], never)[1][0]

    at_cuts = jax.vmap(at_cut)(cuts.state, cuts.rotation, cuts.time)
    memory_before = jnp.concatenate([before.value_memory[None], memories[:-1]])
    return Appraisal(value, last[0], at_cuts, memory_before, memories[-1])


def _recalled(
    setting: TrainingSetup,
    members: Any,
    before: RolloutWorld,
    after: RolloutWorld,
    rollout: Rollout,
    cuts: Cuts,
    label: Array,
) -> Appraisal:
    """The same where values rest on the policies' memory: play has kept it, so no step waits for the one before."""
    plan, steps = setting.plan, setting.experiment.rollout

    def values(memory: Array, seen: Array) -> Array:
        """[learner, slot, ...] -> [learner, slot], where nothing begins anew."""

        def one(member: Any, memory: Array, seen: Array, label: Array) -> Array:
            return member.values(Memories(memory, memory[:0]), seen[None], jnp.zeros(1, bool), label)[1][0]

        return jax.vmap(jax.vmap(one, in_axes=(None, 0, 0, 0)))(members, memory, seen, label)

    def now(memory: Array, state: Any, rotation: Array) -> Array:
        seen = observe(setting, state, rotation)[0]
        return values(recurrent_state.pick(memory, recurrent_state.movers(setting, state, rotation)), seen)

    blocks = math.gcd(steps, setting.experiment.ppo.minibatches * setting.experiment.ppo.microbatches)
    cut = lambda x: x.reshape(blocks, steps // blocks, *x.shape[1:])  # noqa: E731
    value = jax.lax.map(lambda part: jax.vmap(values)(*part), (cut(rollout.memory), cut(rollout.seen)))
    started = spread(plan, after.start)[..., None, None]
    last = now(jnp.where(started, 0.0, after.memory), after.state, after.rotation)
    at_cuts = jax.vmap(now)(cuts.memory, cuts.state, cuts.rotation)
    none = jnp.zeros((*rollout.memory.shape[:3], 0), jnp.float32)
    return Appraisal(value.reshape(steps, *value.shape[2:]), last, at_cuts, none, before.value_memory)


def _normalised(setting: TrainingSetup, advantage: Array, acted: Array) -> Array:
    """Normalised over what each learner did."""
    if not setting.experiment.ppo.normalise_advantages:
        return advantage
    total = jnp.maximum(jnp.sum(acted, axis=(0, 2), keepdims=True), 1.0)
    mean = jnp.sum(advantage * acted, axis=(0, 2), keepdims=True) / total
    square = jnp.sum((advantage - mean) ** 2 * acted, axis=(0, 2), keepdims=True) / total
    return (advantage - mean) / (jnp.sqrt(square) + 1e-8)


def _centred(setting: TrainingSetup, x: Array, counted: Array) -> Array:
    """Less its mean at each place, [step, learner, slot]: what is the same for all actions there says nothing."""
    steps, learners, slots = x.shape
    places = (steps, learners, setting.plan.slots.shape[1], slots // setting.plan.slots.shape[1])
    x, counted = x.reshape(places), counted.reshape(places)
    total = jnp.maximum(jnp.sum(counted, axis=(0, 3), keepdims=True), 1.0)
    return (x - jnp.sum(x * counted, axis=(0, 3), keepdims=True) / total).reshape(steps, learners, slots)


def _of_slots(setting: TrainingSetup, x: Any) -> Float[Array, "learner slot"]:
    """[table, role] -> what each learner's slots have of it."""
    places = jnp.asarray(x).reshape(-1)[setting.plan.slots]
    return jnp.repeat(places, setting.slots // places.shape[1], axis=1)


def _fold(setting: TrainingSetup, x: Array) -> Array:
    """[step, learner, slot, ...] -> [learner, sequence, step of the sequence, ...]"""
    steps, learners, slots, *rest = x.shape
    chunk = setting.chunk
    cut = x.reshape(steps // chunk, chunk, learners, slots, *rest)
    order = (2, 0, 3, 1, *range(4, cut.ndim))
    return cut.transpose(order).reshape(learners, -1, chunk, *rest)


def _first(setting: TrainingSetup, memory: Array) -> Array:
    """[step, learner, slot, memory] -> [learner, sequence, memory] at each sequence's first step."""
    first = memory[:: setting.chunk]
    return jnp.moveaxis(first, 1, 0).reshape(first.shape[1], setting.sequences, first.shape[-1])


def _explained(value: Array, target: Array, counted: Array) -> dict[str, Array]:
    """The share of the returns' variance that the values explain, [learner]."""
    total = jnp.maximum(jnp.sum(counted, axis=(0, 2)), 1.0)

    def variance(x: Array) -> Array:
        mean = jnp.sum(x * counted, axis=(0, 2)) / total
        return jnp.sum((x - mean[:, None]) ** 2 * counted, axis=(0, 2)) / total

    return {"explained": 1 - variance(target - value) / jnp.maximum(variance(target), 1e-8)}


def improve(
    setting: TrainingSetup,
    members: Any,
    state: Any,
    batch: LossBatch,
    shuffles: Int[Array, "epoch sequence"],
    learning_rate: Array,
    entropy: Array,
    material: Any = None,
    hold: Any = None,
) -> tuple[Any, Any, dict[str, Array]]:
    """All epochs over a batch. `shuffles` are the orders of the sequences, the same for all learners and runs; `hold`
    [learner] how closely learners are held."""
    ppo, tie = setting.experiment.ppo, setting.scheme.loss
    size = setting.sequences // ppo.minibatches
    step = optimiser(ppo)

    def one(carry: tuple[Any, Any], now: tuple[Array, Array]) -> tuple[Any, dict[str, Array]]:
        (members, state), (order, number) = carry, now
        part = batch if ppo.minibatches == 1 else jax.tree_util.tree_map(lambda x: jnp.take(x, order, axis=1), batch)
        gradient, told = _gradient(setting, members, part, entropy, hold)
        if tie is not None:
            its = jax.tree_util.tree_map(lambda x: x[number], material)
            extra, more = jax.grad(tie, has_aux=True)(members, its)
            gradient, told = jax.tree_util.tree_map(jnp.add, gradient, extra), told | more
        told["grad_norm"] = jax.vmap(optax.global_norm)(gradient)
        updates, state = jax.vmap(step.update)(gradient, state)
        members = jax.tree_util.tree_map(lambda m, u: m - learning_rate * u, members, updates)
        return (members, state), told

    orders = shuffles.reshape(ppo.epochs * ppo.minibatches, size)
    numbers = jnp.tile(jnp.arange(ppo.minibatches), ppo.epochs)
    (members, state), told = jax.lax.scan(one, (members, state), (orders, numbers))
    return members, state, jax.tree_util.tree_map(lambda x: jnp.mean(x, axis=0), told)


def _gradient(
    setting: TrainingSetup, members: Any, batch: LossBatch, entropy: Array, hold: Any = None
) -> tuple[Any, dict[str, Array]]:
    """Of the sum of all learners' losses: each learner's part depends on it alone."""
    ppo = setting.experiment.ppo
    totals = jnp.sum(batch.acted, axis=(1, 2)), jnp.sum(batch.counted, axis=(1, 2))

    def loss(members: Any, part: LossBatch) -> tuple[Array, dict[str, Array]]:
        each = jax.vmap(lambda m, b, t, h: learner_loss(m, b, ppo, entropy, t, h))
        losses, told = each(members, part, totals, hold)
        return jnp.sum(losses), told

    gradient = jax.grad(loss, has_aux=True)
    if ppo.microbatches == 1:
        return gradient(members, batch)

    def cut(x: Array) -> Array:
        size = x.shape[1] // ppo.microbatches  # written out, since an array of size 0 cannot tell
        return jnp.moveaxis(x.reshape(x.shape[0], ppo.microbatches, size, *x.shape[2:]), 1, 0)

    parts = jax.tree_util.tree_map(cut, batch)

    def add(sums: Any, part: LossBatch) -> tuple[Any, None]:
        return jax.tree_util.tree_map(jnp.add, sums, gradient(members, part)), None

    first = jax.tree_util.tree_map(lambda x: x[0], parts)
    shapes = jax.eval_shape(gradient, members, first)
    zeros = jax.tree_util.tree_map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    return jax.lax.scan(add, zeros, parts)[0]
