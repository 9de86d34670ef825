"""Collect a rollout: step every environment inside one scan.

Only what the next step needs is computed in the scan. Values and probabilities are computed afterwards, for the whole
rollout at once, and all random numbers are drawn beforehand, so that a step is a few kernels.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from interplay.agents.basic import masked
from interplay.games.api import Step
from interplay.games.records import is_key, record
from interplay.training import recurrent_state
from interplay.training.actor_critic import ActorCritic
from interplay.training.learner_observations import members_for_play, observe, to_network_dtype
from interplay.training.method import JointStep
from interplay.training.reward_weights import RewardWeights, event_weights
from interplay.training.stage_state import RolloutWorld, TrainingSetup, where
from interplay.training.team_assignment import TeamPlan, roles_to_seats, seats_to_roles, spread, to_learners


@record
class Rollout:
    """What was played, [step, learner, slot, ...] unless it says env."""

    seen: Array  # what the policies read
    view: PyTree  # what the values read; None: the same
    legal: Bool[Array, "step learner slot action"]
    turn: Bool[Array, "step learner slot"]
    logits: Float[Array, "step learner slot action"]
    action: Int[Array, "step learner slot"]
    reward: Float[Array, "step learner slot"]
    memory: PyTree  # of the policies, before each step
    start: Bool[Array, "step env"]
    terminated: Bool[Array, "step env"]
    done: Bool[Array, "step env"]
    cut: Int[Array, "step env"]  # number among the environment's cuts where the horizon struck, else -1
    extra: PyTree = ()  # what `Method.record_step` or `Method.process_rollout` adds
    memory_seat: Any = None  # [step, learner, slot] whose memory was used, where a slot has several


@record
class Cuts:
    """The states in which the horizon struck, whose values are computed after the rollout."""

    state: PyTree  # [cut, env, ...]
    rotation: Int[Array, "cut env"]
    time: Int[Array, "cut env"]
    count: Int[Array, " env"]
    memory: PyTree  # [cut, learner, slot, memory seat, memory] of the policies, where values need it; else ()


@record
class Finished:
    """Episodes that ended in a rollout, by seat rotation."""

    score: Float[Array, "env rotation"]
    episodes: Float[Array, "env rotation"]
    recorded: Any  # [env, kind] what the event recorder saw in the rollout, of all seats; None without one


def begin(
    setup: TrainingSetup,
    member: ActorCritic,
    stats: Any,
    partners: PyTree,
    key: PRNGKeyArray,
    kept_states: PyTree = None,
) -> RolloutWorld:
    """Return fresh environments with their partners.

    Args:
        setup: Of the stage.
        member: Networks of one learner, for the size of its memory.
        stats: Statistics by which partners are assigned.
        partners: Arrays of the frozen partners, [partner, ...].
        key: Of all random numbers.
        kept_states: Where tables with `plan.start_from` begin; None at the start of training.
    """
    plan, envs = setup.plan, setup.experiment.envs
    for_state, for_partners, for_rotation, for_memory = jax.random.split(key, 4)
    state = jax.vmap(setup.game.init)(jax.random.split(for_state, envs))
    placement = setup.method.place_partners(setup, partners, stats, (for_partners, for_memory))
    table_rotation = placement.assignment.rotation
    rotation = _rotation(plan, table_rotation, jax.random.randint(for_rotation, (envs,), 0, plan.roles))
    if plan.start_from is None:
        kept_states = ()
    elif kept_states is None:
        kept_states = (state, rotation)
    else:
        draws = jax.random.uniform(for_rotation, (envs,))
        state, rotation = _from_kept_states(plan, kept_states, state, rotation, draws)
    empty = member.start()
    slots = (plan.learners, setup.slots)
    return RolloutWorld(
        state=state,
        event_record=_new_event_record(setup),
        start=jnp.ones(envs, bool),
        rotation=rotation,
        score=jnp.zeros(envs, jnp.float32),
        memory=jnp.zeros((*slots, setup.memory_seats, *empty.policy.shape), jnp.float32),
        value_memory=jnp.zeros((*slots, *empty.value.shape), jnp.float32),
        partners=placement.assignment.partners,
        table_rotation=table_rotation,
        partner_memory=placement.memory,
        episode_state=placement.episode_state,
        kept_states=kept_states,
    )


def collect(
    setup: TrainingSetup,
    members: PyTree,
    weights: RewardWeights,
    partners: PyTree,
    world: RolloutWorld,
    shaping: Array,
    key: PRNGKeyArray,
    progress: Any = 0.0,
) -> tuple[RolloutWorld, Rollout, Cuts, Finished]:
    """Play one rollout.

    Args:
        setup: Of the stage.
        members: Networks of the learners, [learner, ...].
        weights: Of the rewards, [learner, ...].
        partners: Arrays of the frozen partners, [partner, ...].
        world: The environments as the last rollout left them.
        shaping: Weight of the shaped reward now.
        key: Of all random numbers.
        progress: Share of the training that is done.

    Returns:
        The environments after the rollout, the rollout, the states in which the horizon struck, and scores.
    """
    draws = draw(setup, key, progress)
    if _fits_in_memory(setup, draws["reset"]):
        draws["fresh"] = jax.vmap(jax.vmap(setup.game.init))(draws.pop("reset"))
    cuts, finished = nothing_yet(setup, world)
    playing = members_for_play(setup, members)

    def turn(carry: tuple[RolloutWorld, Cuts, Finished], now: dict[str, Any]) -> tuple[Any, Rollout]:
        world, cuts, finished = carry
        decision = decide(setup, playing, partners, world, now)
        outcome = jax.vmap(setup.game.step)(world.state, decision.joint, now["step"])
        return settle(setup, members, weights, shaping, (world, cuts, finished), decision, outcome, now)

    (world, cuts, finished), rollout = jax.lax.scan(turn, (world, cuts, finished), draws)
    return world, rollout, cuts, finished


def draw(setup: TrainingSetup, key: PRNGKeyArray, progress: Any) -> dict[str, Any]:
    """Return all random numbers of a rollout, [step, ...]."""
    steps, envs, plan = setup.experiment.rollout, setup.experiment.envs, setup.plan
    for_noise, for_rotation, for_reset, for_step, for_partners = jax.random.split(key, 5)
    actions = len(setup.game.action_names)
    draws = {
        "t": jnp.arange(steps),
        "noise": jax.random.gumbel(for_noise, (steps, plan.learners, setup.slots, actions)),
        "rotation": jax.random.randint(for_rotation, (steps, envs), 0, plan.roles),
        "reset": jax.random.split(for_reset, (steps, envs)),
        "step": jax.random.split(for_step, (steps, envs)),
        "partners": jax.random.split(for_partners, steps),
        "method": setup.method.draw_randomness(setup, key, steps, progress),
    }
    if plan.start_from is not None:
        for_place, for_time = jax.random.split(jax.random.fold_in(key, 1))
        draws["place"] = jax.random.uniform(for_place, (steps, envs))
        draws["keep"] = jnp.arange(steps)[:, None] == jax.random.randint(for_time, (envs,), 0, steps)
    return draws


def nothing_yet(setup: TrainingSetup, world: RolloutWorld) -> tuple[Cuts, Finished]:
    """Return cuts and finished episodes at the start of a rollout."""
    envs, plan, recalls = setup.experiment.envs, setup.plan, setup.values_use_policy_memory
    cuts = Cuts(
        state=jax.tree.map(lambda x: jnp.broadcast_to(x, (setup.cuts, *x.shape)), world.state),
        rotation=jnp.zeros((setup.cuts, envs), jnp.int32),
        time=jnp.zeros((setup.cuts, envs), jnp.int32),
        count=jnp.zeros(envs, jnp.int32),
        memory=jnp.broadcast_to(world.memory, (setup.cuts, *world.memory.shape)) if recalls else (),
    )
    zeros = jnp.zeros((envs, plan.roles), jnp.float32)
    recorder = setup.event_recorder
    recorded = None if recorder is None else jnp.zeros((envs, len(recorder.kinds)), jnp.float32)
    return cuts, Finished(score=zeros, episodes=zeros, recorded=recorded)


class Decision(NamedTuple):
    """What everybody chose in a step, and what the choice was made from."""

    seen: Array
    view: PyTree
    legal: Array
    turn: Array
    seat: Any  # whose memory was used, where a slot has several
    memory: PyTree
    memories: Any  # after the step
    logits: Array
    action: Array  # [learner, slot]
    partner_memory: Any
    by_role: Int[Array, "env role"]
    joint: Int[Array, "env seat"]


def decide(setup: TrainingSetup, playing: Any, partners: PyTree, world: RolloutWorld, now: dict[str, Any]) -> Decision:
    """Choose the joint actions of all environments; `playing` are the members in the precision of play."""
    game, plan, method = setup.game, setup.plan, setup.method
    seen, view = (to_network_dtype(setup, x) for x in observe(setup, world.state, world.rotation))
    legal = to_learners(plan, seats_to_roles(plan, jax.vmap(game.legal)(world.state), world.rotation))
    on_turn = to_learners(plan, seats_to_roles(plan, jax.vmap(game.to_move)(world.state), world.rotation))
    memories = where(spread(plan, world.start), jnp.zeros_like(world.memory), world.memory)
    seat = recurrent_state.active_seat(setup, world.state, world.rotation)
    memory = recurrent_state.select(memories, seat)
    new_memory, logits = jax.vmap(lambda m, h, x: jax.vmap(m.policy.step)(h, x))(playing, memory, seen)
    memories = recurrent_state.store(memories, seat, new_memory)
    action = jnp.argmax(masked(logits, legal) + now["noise"], axis=-1)
    partner_memory, by_role = method.joint_actions(setup, partners, world, action, now["partners"])
    joint = roles_to_seats(plan, by_role, world.rotation).astype(jnp.int32)
    return Decision(seen, view, legal, on_turn, seat, memory, memories, logits, action, partner_memory, by_role, joint)


def settle(
    setup: TrainingSetup,
    members: PyTree,
    weights: RewardWeights,
    shaping: Array,
    carry: tuple[RolloutWorld, Cuts, Finished],
    decision: Decision,
    outcome: tuple[Any, Step],
    now: dict[str, Any],
) -> tuple[tuple[RolloutWorld, Cuts, Finished], Rollout]:
    """Note what came of a decision: rewards, cuts and scores; new episodes begin where some ended.

    Args:
        setup: Of the stage.
        members: Networks of the learners, [learner, ...].
        weights: Of the rewards, [learner, ...].
        shaping: Weight of the shaped reward now.
        carry: The environments before the step, and what the rollout has gathered so far.
        decision: What was chosen.
        outcome: The states after the step, [env, ...], and the steps.
        now: The random numbers of this step, with the states of new episodes under `fresh` if they are made already.
    """
    (world, cuts, finished), (state, step), game, plan = carry, outcome, setup.game, setup.plan
    event_record, recorded = _record_events(setup, world, state, decision.joint)
    reward = _reward(setup, weights, shaping, step, recorded, world.rotation)

    done, score = step.terminated | step.truncated, world.score + jnp.sum(step.reward, axis=-1)
    struck = step.truncated & ~step.terminated
    cuts, cut = _keep_cut(plan, cuts, state, world.rotation, decision.memories, now["t"], struck)
    joint_step = JointStep(decision.by_role, decision.joint, now["method"])
    played = Rollout(
        seen=decision.seen,
        view=decision.view,
        legal=decision.legal,
        turn=decision.turn,
        logits=decision.logits,
        action=decision.action.astype(jnp.int8 if len(game.action_names) < 128 else jnp.int32),
        reward=reward,
        memory=decision.memory,
        start=world.start,
        terminated=step.terminated,
        done=done,
        cut=cut,
        extra=setup.method.record_step(setup, members, world, joint_step),
        memory_seat=decision.seat,
    )
    here = jax.nn.one_hot(world.rotation, plan.roles) * done[:, None]
    finished = Finished(
        score=finished.score + here * score[:, None],
        episodes=finished.episodes + here,
        recorded=None if recorded is None else finished.recorded + jnp.sum(recorded, axis=1),
    )
    after = dataclasses.replace(
        world,
        state=state,
        event_record=event_record,
        start=done,
        score=score,
        memory=decision.memories,
        partner_memory=decision.partner_memory,
    )
    return (_reset(setup, world, after, now), cuts, finished), played


def _reset(setup: TrainingSetup, before: RolloutWorld, after: RolloutWorld, now: dict[str, Any]) -> RolloutWorld:
    """Return the world after a step, with new episodes where some ended (`after.start`)."""
    plan, done = setup.plan, after.start
    fresh = now["fresh"] if "fresh" in now else jax.vmap(setup.game.init)(now["reset"])
    rotation, kept_states = _rotation(plan, before.table_rotation, now["rotation"]), before.kept_states
    if plan.start_from is not None:
        kept_states = where(now["keep"], (before.state, before.rotation), kept_states)
        fresh, rotation = _from_kept_states(plan, kept_states, fresh, rotation, now["place"])
    return dataclasses.replace(
        after,
        state=where(done, fresh, after.state),
        event_record=where(done, _new_event_record(setup), after.event_record),
        rotation=jnp.where(done, rotation, before.rotation),
        score=jnp.where(done, 0.0, after.score),
        kept_states=kept_states,
        **setup.method.on_episode_end(before, done, now["method"]),
    )


def _reward(
    setup: TrainingSetup, weights: RewardWeights, shaping: Array, step: Any, recorded: Any, rotation: Array
) -> Float[Array, "learner slot"]:
    plan, recorder = setup.plan, setup.event_recorder

    def slots(x: Array) -> Array:
        return to_learners(plan, seats_to_roles(plan, x, rotation))

    own = setup.experiment.rewards.share == "own"
    points = slots(step.reward) if own else spread(plan, jnp.sum(step.reward, axis=-1))
    reward = weights.task[:, None] * points
    reward = reward + shaping * weights.shaping[:, None] * _shaped(setup, step, slots)
    if setup.pays_events:
        reward = reward + jnp.einsum("lne,le->ln", slots(step.events).astype(jnp.float32), weights.events)
    if recorder is None or (weights.recorded is None and not recorder.weights.any()):
        return reward
    prices = recorder.weights[None] if weights.recorded is None else weights.recorded
    return reward + jnp.sum(slots(recorded) * prices[:, None], axis=-1)


def _shaped(setup: TrainingSetup, step: Any, slots: Callable[[Array], Array]) -> Float[Array, "learner slot"]:
    """Return the game's shaped reward, with the events that the configuration adds to it."""
    rewards, shaped = setup.experiment.rewards, step.shaped
    if rewards.shaped_events:
        shaped = shaped + step.events.astype(jnp.float32) @ event_weights(setup.game, rewards.shaped_events)
    return spread(setup.plan, jnp.sum(shaped, axis=-1)) if rewards.share_shaping else slots(shaped)


def _record_events(setup: TrainingSetup, world: RolloutWorld, after: Any, actions: Array) -> tuple[Any, Any]:
    if setup.event_recorder is None:
        return world.event_record, None
    return jax.vmap(setup.event_recorder.record)(world.event_record, world.state, after, actions)


def _new_event_record(setup: TrainingSetup) -> PyTree:
    if setup.event_recorder is None:
        return ()
    envs = setup.experiment.envs
    return jax.tree.map(lambda x: jnp.broadcast_to(x, (envs, *x.shape)), setup.event_recorder.begin())


def _from_kept_states(
    plan: TeamPlan, kept_states: PyTree, state: PyTree, rotation: Array, place: Float[Array, " env"]
) -> tuple[Any, Array]:
    """Return states and rotations, at tables with `start_from` those kept of one of that table's environments."""
    assert plan.start_from is not None
    per_table = plan.envs_per_table(place.shape[0])
    origin = jnp.repeat(jnp.array(plan.start_from), per_table)
    source = origin * per_table + (place * per_table).astype(jnp.int32)
    source = jnp.where(origin >= 0, source, jnp.arange(place.shape[0]))
    kept = jax.tree.map(lambda x: x[source], kept_states)
    return where(origin >= 0, kept, (state, rotation))


FRESH_BYTES = 2**26


def _fits_in_memory(setup: TrainingSetup, keys: Any) -> bool:
    """Return whether initial states can be made for all steps beforehand: dealing cards is many small kernels."""
    one = jax.eval_shape(setup.game.init, keys[0, 0])
    leaves = [x for x in jax.tree.leaves(one) if not is_key(x)]
    size = sum(math.prod(x.shape) * x.dtype.itemsize for x in leaves)
    return size * keys.size <= FRESH_BYTES


def _rotation(plan: TeamPlan, of_table: Int[Array, " table"], draws: Int[Array, " env"]) -> Int[Array, " env"]:
    fixed = jnp.repeat(of_table, draws.shape[0] // len(plan.tables))
    return jnp.where(fixed >= 0, fixed, draws) if plan.rotate else jnp.zeros_like(draws)


def _keep_cut(
    plan: TeamPlan, cuts: Cuts, state: PyTree, rotation: Array, memory: Array, t: Array, struck: Bool[Array, " env"]
) -> tuple[Cuts, Array]:
    """Keep the states in which the horizon struck. More often than there is room for gives -1: the step is left out."""
    capacity = cuts.rotation.shape[0]
    here = struck & (jnp.arange(capacity)[:, None] == cuts.count)  # [cut, env]
    candidates = jax.tree.map(lambda x: jnp.broadcast_to(x, (capacity, *x.shape)), state)
    if not isinstance(cuts.memory, tuple):
        there = jax.vmap(lambda x: spread(plan, x))(here)  # [cut, learner, slot]
        memory = jnp.where(there[..., None, None], memory, cuts.memory)
    kept = Cuts(
        state=where(here, candidates, cuts.state),
        rotation=jnp.where(here, rotation, cuts.rotation),
        time=jnp.where(here, t, cuts.time),
        count=cuts.count + struck,
        memory=cuts.memory if isinstance(cuts.memory, tuple) else memory,
    )
    return kept, jnp.where(struck & (cuts.count < capacity), cuts.count, -1)
