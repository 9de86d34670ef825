"""Play: every environment for a rollout's steps, inside one scan.

Only what the next step needs is computed in the loop. Values and probabilities are worked out afterwards, for the
whole rollout at once, and all chance is drawn beforehand: what is left is small, and a step is a few kernels.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.agents.basic import masked
from interplay.games.records import record
from interplay.training import partner_rollout, partner_substitution, recurrent_state, schedule
from interplay.training.actor_critic import ActorCritic
from interplay.training.method import Traits, event_weights, uniform
from interplay.training.setup import RolloutWorld, TrainingSetup, where
from interplay.training.team_assignment import (
    TeamPlan,
    roles_to_seats,
    seats_to_roles,
    spread,
    to_learners,
    to_roles,
)
from interplay.training.views import in_half, kept, observe


@record
class Rollout:
    """What was played, [step, learner, slot, ...] unless it says env."""

    seen: Array  # what the policies read
    view: Any  # what the values read; None: the same
    legal: Bool[Array, "step learner slot action"]
    turn: Bool[Array, "step learner slot"]
    logits: Float[Array, "step learner slot action"]
    action: Int[Array, "step learner slot"]
    reward: Float[Array, "step learner slot"]
    memory: Any  # of the policies, before each step
    start: Bool[Array, "step env"]
    terminated: Bool[Array, "step env"]
    done: Bool[Array, "step env"]
    cut: Int[Array, "step env"]  # number among the environment's cuts where the horizon struck, else -1
    others: Any = None  # [step, learner, slot, other role] what the others did, for a scheme that teaches
    away: Any = None  # [step, learner, slot] where a stand-in sat
    imagined: Any = None  # what the scheme's `imagine` gave, [step, learner, slot]
    who: Any = None  # [step, learner, slot] whose mind it was, where a slot has several


@record
class Cuts:
    """The states in which the horizon struck: what they were still worth is asked after the rollout."""

    state: Any  # [cut, env, ...]
    rotation: Int[Array, "cut env"]
    time: Int[Array, "cut env"]
    count: Int[Array, " env"]
    memory: Any  # [cut, learner, slot, mind, memory] of the policies then, where values rest on it; else ()


@record
class Finished:
    """Episodes that ended in a rollout, by seat rotation."""

    score: Float[Array, "env rotation"]
    episodes: Float[Array, "env rotation"]
    seen: Any  # [env, kind] what the witness saw in the rollout, of all seats; None without one


def begin(
    setting: TrainingSetup, member: ActorCritic, stats: Any, guests: Any, key: PRNGKeyArray, pool: Any = None
) -> RolloutWorld:
    """Fresh environments, with partners drawn. `pool` are the states where tables with an origin go on."""
    plan, envs = setting.plan, setting.experiment.envs
    for_state, for_guests, for_rotation, for_memory = jax.random.split(key, 4)
    state = jax.vmap(_start_of(setting))(jax.random.split(for_state, envs))
    chosen, table_rotation = jnp.zeros(0, jnp.int32), jnp.full(len(plan.tables), -1, jnp.int32)
    guest_memory: Any = ()
    if len(plan.guests):
        chosen, table_rotation = (setting.scheme.assign or uniform)(plan, for_guests, stats)
        guest_memory = partner_rollout.fresh_memory(setting, guests, chosen, for_memory)
    away: Any = ()
    if setting.scheme.stand_ins is not None:
        guest_memory = partner_substitution.fresh_memory(setting.guests, guests, envs, plan, for_memory)
        odds = schedule.at(setting.scheme.stand_ins.odds, 0.0)
        away = partner_substitution.draw(odds, jax.random.uniform(for_guests, (envs, plan.roles)))
    rotation = _rotation(plan, table_rotation, jax.random.randint(for_rotation, (envs,), 0, plan.roles))
    if setting.scheme.origins is None:
        pool = ()
    elif pool is None:
        pool = (state, rotation)
    else:
        state, rotation = _resumed(setting, pool, state, rotation, jax.random.uniform(for_rotation, (envs,)))
    empty = member.start()
    slots = (plan.learners, setting.slots)
    return RolloutWorld(
        state=state,
        note=_new_note(setting),
        start=jnp.ones(envs, bool),
        rotation=rotation,
        score=jnp.zeros(envs, jnp.float32),
        memory=jnp.zeros((*slots, setting.minds, *empty.policy.shape), jnp.float32),
        value_memory=jnp.zeros((*slots, *empty.value.shape), jnp.float32),
        guests=chosen,
        table_rotation=table_rotation,
        guest_memory=guest_memory,
        pool=pool,
        away=away,
        anchor_memory=jnp.zeros((*slots, setting.minds, *empty.policy.shape), jnp.float32)
        if setting.scheme.anchored
        else (),
    )


def collect(
    setting: TrainingSetup,
    members: Any,
    traits: Traits,
    guests: Any,
    world: RolloutWorld,
    shaping: Array,
    key: PRNGKeyArray,
    odds: Any = None,
) -> tuple[RolloutWorld, Rollout, Cuts, Finished]:
    """Play one rollout. `members` and `traits` are [learner, ...]; `odds` are those of stand-ins."""
    steps, envs, plan = setting.experiment.rollout, setting.experiment.envs, setting.plan
    for_noise, for_rotation, for_reset, for_step, for_guests = jax.random.split(key, 5)
    actions = len(setting.game.action_names)
    chance = {
        "t": jnp.arange(steps),
        "noise": jax.random.gumbel(for_noise, (steps, plan.learners, setting.slots, actions)),
        "rotation": jax.random.randint(for_rotation, (steps, envs), 0, plan.roles),
        "reset": jax.random.split(for_reset, (steps, envs)),
        "step": jax.random.split(for_step, (steps, envs)),
        "guests": jax.random.split(for_guests, steps),
    }
    chance |= _further_chance(setting, key, steps, odds)
    if _small(setting, chance["reset"]):
        chance["fresh"] = jax.vmap(jax.vmap(_start_of(setting)))(chance.pop("reset"))
    if setting.scheme.origins is not None:
        for_place, for_time = jax.random.split(jax.random.fold_in(key, 1))
        chance["place"] = jax.random.uniform(for_place, (steps, envs))
        chance["keep"] = jnp.arange(steps)[:, None] == jax.random.randint(for_time, (envs,), 0, steps)
    cuts = Cuts(
        state=jax.tree_util.tree_map(lambda x: jnp.broadcast_to(x, (setting.cuts, *x.shape)), world.state),
        rotation=jnp.zeros((setting.cuts, envs), jnp.int32),
        time=jnp.zeros((setting.cuts, envs), jnp.int32),
        count=jnp.zeros(envs, jnp.int32),
        memory=jnp.broadcast_to(world.memory, (setting.cuts, *world.memory.shape)) if setting.recalls else (),
    )
    zeros = jnp.zeros((envs, plan.roles), jnp.float32)
    watched = None if setting.witness is None else jnp.zeros((envs, len(setting.witness.kinds)), jnp.float32)
    finished = Finished(score=zeros, episodes=zeros, seen=watched)

    playing = in_half(setting, members)

    def turn(carry: tuple[RolloutWorld, Cuts, Finished], now: dict[str, Any]) -> tuple[Any, Rollout]:
        return _turn(setting, (members, playing), traits, guests, shaping, *carry, now)

    (world, cuts, finished), rollout = jax.lax.scan(turn, (world, cuts, finished), chance)
    return world, rollout, cuts, finished


def _turn(
    setting: TrainingSetup,
    learners: tuple[Any, Any],
    traits: Traits,
    guests: Any,
    shaping: Array,
    world: RolloutWorld,
    cuts: Cuts,
    finished: Finished,
    now: dict[str, Any],
) -> tuple[tuple[RolloutWorld, Cuts, Finished], Rollout]:
    """One step of all environments. `learners` are the members, and the same as they play."""
    game, plan, (members, playing) = setting.game, setting.plan, learners
    seen, view = (kept(setting, x) for x in observe(setting, world.state, world.rotation))
    legal = to_learners(plan, seats_to_roles(plan, jax.vmap(game.legal)(world.state), world.rotation))
    on_turn = to_learners(plan, seats_to_roles(plan, jax.vmap(game.to_move)(world.state), world.rotation))
    everything = where(spread(plan, world.start), jnp.zeros_like(world.memory), world.memory)
    who = recurrent_state.movers(setting, world.state, world.rotation)
    memory = recurrent_state.pick(everything, who)
    after_memory, logits = jax.vmap(lambda m, h, x: jax.vmap(m.policy.step)(h, x))(playing, memory, seen)
    after_memory = recurrent_state.put(everything, who, after_memory)
    action = jnp.argmax(masked(logits, legal) + now["noise"], axis=-1)
    guest_memory, guest_action = world.guest_memory, None
    if len(plan.guests):
        guest_memory, guest_action = partner_rollout.act(setting, guests, world, now["guests"])
    by_role = to_roles(plan, action, guest_action)
    if setting.scheme.stand_ins is not None:
        guest_memory, instead = partner_substitution.act(game, plan, setting.guests, guests, world, now["guests"])
        by_role = jnp.where(world.away, instead, by_role)
    joint = roles_to_seats(plan, by_role, world.rotation).astype(jnp.int32)
    state, step = jax.vmap(game.step)(world.state, joint, now["step"])
    note, extra = _witness(setting, world, state, joint)
    reward = _reward(setting, traits, shaping, step, extra, world.rotation)

    done, score = step.terminated | step.truncated, world.score + jnp.sum(step.reward, axis=-1)
    struck = step.truncated & ~step.terminated
    cuts, number = _keep_cut(plan, cuts, state, world.rotation, after_memory, now["t"], struck)
    played = Rollout(
        seen=seen,
        view=view,
        legal=legal,
        turn=on_turn,
        logits=logits,
        action=action.astype(jnp.int8 if len(game.action_names) < 128 else jnp.int32),
        reward=reward,
        memory=memory,
        start=world.start,
        terminated=step.terminated,
        done=done,
        cut=number,
        others=_others(plan, by_role) if setting.scheme.teach is not None else None,
        away=to_learners(plan, world.away) if setting.scheme.stand_ins is not None else None,
        imagined=_imagined(setting, members, world, joint, now),
        who=who,
    )
    here = jax.nn.one_hot(world.rotation, plan.roles) * done[:, None]
    watched = None if extra is None else finished.seen + jnp.sum(extra, axis=1)
    finished = Finished(score=finished.score + here * score[:, None], episodes=finished.episodes + here, seen=watched)
    after = dataclasses.replace(
        world, state=state, note=note, start=done, score=score, memory=after_memory, guest_memory=guest_memory
    )
    return (_begun_anew(setting, world, after, now), cuts, finished), played


def _begun_anew(setting: TrainingSetup, before: RolloutWorld, after: RolloutWorld, now: dict[str, Any]) -> RolloutWorld:
    """The world after a step, with new episodes where some ended (`after.start`)."""
    done = after.start
    fresh = now["fresh"] if "fresh" in now else jax.vmap(_start_of(setting))(now["reset"])
    rotation, pool = _rotation(setting.plan, before.table_rotation, now["rotation"]), before.pool
    if setting.scheme.origins is not None:
        pool = where(now["keep"], (before.state, before.rotation), pool)
        fresh, rotation = _resumed(setting, pool, fresh, rotation, now["place"])
    return dataclasses.replace(
        after,
        state=where(done, fresh, after.state),
        note=where(done, _new_note(setting), after.note),
        rotation=jnp.where(done, rotation, before.rotation),
        score=jnp.where(done, 0.0, after.score),
        pool=pool,
        **_new_company(setting, before, done, now),
    )


def _further_chance(setting: TrainingSetup, key: PRNGKeyArray, steps: int, odds: Any) -> dict[str, Array]:
    """What only some schemes need."""
    scheme, plan, found = setting.scheme, setting.plan, {}
    if scheme.stand_ins is not None:
        number = jax.random.uniform(jax.random.fold_in(key, 2), (steps, setting.experiment.envs, plan.roles))
        found["away"] = partner_substitution.draw(odds, number)
    if scheme.redraw == "episode":
        assert setting.guests is not None
        places = (steps, len(plan.guests))
        found["who"] = jax.random.randint(jax.random.fold_in(key, 3), places, 0, setting.guests.number)
    if scheme.imagine is not None:
        found["imagine"] = jax.random.split(jax.random.fold_in(key, 4), (steps, setting.experiment.envs))
    return found


def _new_company(
    setting: TrainingSetup, world: RolloutWorld, done: Bool[Array, " env"], now: dict[str, Any]
) -> dict[str, Array]:
    """Where an episode ended: who plays the next one, if that is decided by the episode."""
    found: dict[str, Array] = {}
    if setting.scheme.stand_ins is not None:
        found["away"] = jnp.where(done[:, None], now["away"], world.away)
    if setting.scheme.redraw == "episode":
        at = setting.plan.guests // setting.plan.roles  # the table, which is one environment, of every guest
        found["guests"] = jnp.where(done[at], now["who"], world.guests)
    return found


def _imagined(
    setting: TrainingSetup, members: Any, world: RolloutWorld, joint: Int[Array, "env seat"], now: dict[str, Any]
) -> Any:
    """[learner, slot] of every leaf that the scheme's `imagine` gives by seat."""
    plan = setting.plan
    if setting.scheme.imagine is None:
        return None
    by_seat = setting.scheme.imagine(setting, members, world.state, joint, now["imagine"])
    return jax.tree_util.tree_map(lambda x: to_learners(plan, seats_to_roles(plan, x, world.rotation)), by_seat)


def _others(plan: TeamPlan, by_role: Int[Array, "env role"]) -> Int[Array, "learner slot other"]:
    turned = [jnp.roll(by_role, -i, axis=1) for i in range(1, plan.roles)]
    return to_learners(plan, jnp.stack(turned, axis=-1)).astype(jnp.int8)


def _reward(setting: TrainingSetup, traits: Traits, shaping: Array, step: Any, extra: Any, rotation: Array) -> Array:
    """[learner, slot]"""
    plan = setting.plan

    def slots(x: Array) -> Array:
        return to_learners(plan, seats_to_roles(plan, x, rotation))

    own = setting.experiment.rewards.share == "own"
    points = slots(step.reward) if own else spread(plan, jnp.sum(step.reward, axis=-1))
    reward = traits.task[:, None] * points
    reward = reward + shaping * traits.shaping[:, None] * _shaped(setting, step, slots)
    if setting.prices:
        reward = reward + jnp.einsum("lne,le->ln", slots(step.events).astype(jnp.float32), traits.events)
    if setting.witness is None or (traits.seen is None and not setting.witness.weights.any()):
        return reward
    prices = setting.witness.weights[None] if traits.seen is None else traits.seen
    return reward + jnp.sum(slots(extra) * prices[:, None], axis=-1)


def _shaped(setting: TrainingSetup, step: Any, slots: Callable[[Array], Array]) -> Array:
    """[learner, slot] the game's shaped reward, and what it is told to pay for events."""
    rewards, shaped = setting.experiment.rewards, step.shaped
    if rewards.shaped_events:
        shaped = shaped + step.events.astype(jnp.float32) @ event_weights(setting.game, rewards.shaped_events)
    return spread(setting.plan, jnp.sum(shaped, axis=-1)) if rewards.share_shaping else slots(shaped)


def _witness(setting: TrainingSetup, world: RolloutWorld, after: Any, actions: Array) -> tuple[Any, Any]:
    if setting.witness is None:
        return world.note, None
    return jax.vmap(setting.witness.see)(world.note, world.state, after, actions)


def _new_note(setting: TrainingSetup) -> Any:
    if setting.witness is None:
        return ()
    envs = setting.experiment.envs
    return jax.tree_util.tree_map(lambda x: jnp.broadcast_to(x, (envs, *x.shape)), setting.witness.begin())


def _resumed(
    setting: TrainingSetup, pool: Any, state: Any, rotation: Array, place: Float[Array, " env"]
) -> tuple[Any, Array]:
    """Where tables have an origin: the state and the seats of one of its environments, as they were kept."""
    assert setting.scheme.origins is not None
    per_table = setting.plan.per_table(place.shape[0])
    origin = jnp.repeat(jnp.array(setting.scheme.origins), per_table)
    source = origin * per_table + (place * per_table).astype(jnp.int32)
    source = jnp.where(origin >= 0, source, jnp.arange(place.shape[0]))
    kept = jax.tree_util.tree_map(lambda x: x[source], pool)
    return where(origin >= 0, kept, (state, rotation))


def _start_of(setting: TrainingSetup) -> Any:
    return setting.scheme.start or setting.game.init


FRESH_BYTES = 2**26


def _small(setting: TrainingSetup, keys: Any) -> bool:
    """Whether the states in which episodes may begin can be made for all steps beforehand, rather than a step's at a
    time: dealing cards is many small kernels."""
    one = jax.eval_shape(_start_of(setting), keys[0, 0])
    leaves = [x for x in jax.tree_util.tree_leaves(one) if not jnp.issubdtype(x.dtype, jax.dtypes.prng_key)]
    size = sum(math.prod(x.shape) * x.dtype.itemsize for x in leaves)
    return size * keys.size <= FRESH_BYTES


def _rotation(plan: TeamPlan, of_table: Int[Array, " table"], drawn: Int[Array, " env"]) -> Int[Array, " env"]:
    given = jnp.repeat(of_table, drawn.shape[0] // len(plan.tables))
    return jnp.where(given >= 0, given, drawn) if plan.rotate else jnp.zeros_like(drawn)


def _keep_cut(
    plan: TeamPlan, cuts: Cuts, state: Any, rotation: Array, memory: Array, t: Array, struck: Bool[Array, " env"]
) -> tuple[Cuts, Array]:
    """Note where the horizon struck. More often than an episode's length allows gives -1: that step is left out."""
    capacity = cuts.rotation.shape[0]
    here = struck & (jnp.arange(capacity)[:, None] == cuts.count)  # [cut, env]
    candidates = jax.tree_util.tree_map(lambda x: jnp.broadcast_to(x, (capacity, *x.shape)), state)
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
