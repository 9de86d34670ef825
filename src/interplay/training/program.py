"""The compiled program: many runs, each an update after the other, without a word to the host in between."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from interplay.errors import InterplayError
from interplay.training import entropy_terms, schedule
from interplay.training.actor_critic import ActorCritic, new_member, new_networks
from interplay.training.advantages import new_normaliser
from interplay.training.collect import Finished, Rollout, begin, collect
from interplay.training.config import Experiment
from interplay.training.kl_anchor import opinion
from interplay.training.method import MethodView, Stats, Traits
from interplay.training.setup import RunState, TrainingSetup
from interplay.training.team_assignment import GUEST, TeamPlan
from interplay.training.update import improve, optimiser, prepare


class Program:
    """All runs of a stage. `runs` are [run, ...]; guests are shared by the runs unless each has its own."""

    def __init__(self, setting: TrainingSetup):
        self.setting = setting
        self.experiment = setting.experiment
        self._axis = 0 if setting.guests is not None and setting.guests.per_run else None

    @property
    def guests(self) -> Any:
        return () if self.setting.guests is None else self.setting.guests.arrays

    def again(self, setting: TrainingSetup) -> Program:
        """The same program, compiled already, for other guests of the kind."""
        mine, same = self.setting, setting.experiment == self.experiment and setting.scheme == self.setting.scheme
        if not same or (setting.game.id, setting.labels, setting.prices) != (mine.game.id, mine.labels, mine.prices):
            raise InterplayError("a compiled program serves stages that differ in their guests alone")
        other = Program(setting)
        other.__dict__.update(start=self.start, chunk=self.chunk)
        return other

    @cached_property
    def start(self) -> Any:
        """(members or None, guests) -> runs at update 0."""

        def start(members: Any, guests: Any) -> RunState:
            numbers = jnp.arange(self.experiment.runs) + self.experiment.first_run
            own = None if self._axis is None else guests
            return new_networks(
                lambda run: self._start(run[0], run[1], guests if self._axis is None else run[2]),
                (numbers, members, own),
            )

        return jax.jit(start)

    @cached_property
    def chunk(self) -> Any:
        """(runs, traits, guests, first update, how many, pace) -> runs, logs [chunk_size, run, ...].

        How many is not compiled in, so that the last, shorter chunk is served by the same program. The pace is where
        schedules are and how far an update takes them; None: by the updates that the experiment has.
        """

        def chunk(
            runs: RunState, traits: Traits, guests: Any, first: Array, many: Array, pace: Any = None
        ) -> tuple[RunState, dict]:
            def share(i: Array) -> Array:
                return (first + i) / self.experiment.updates if pace is None else pace[0] + i * pace[1]

            update = jax.jit(self._update_all)  # traced once, for the shapes of the logs and for the loop
            logs = jax.eval_shape(update, runs, traits, guests, first, share(first))[1]
            empty = jax.tree_util.tree_map(lambda x: jnp.zeros((self.chunk_size, *x.shape), x.dtype), logs)

            def one(i: Array, carry: tuple[RunState, dict]) -> tuple[RunState, dict]:
                runs, logs = carry
                runs, told = update(runs, traits, guests, first + i, share(i))
                return runs, jax.tree_util.tree_map(lambda all, now: all.at[i].set(now), logs, told)

            return jax.lax.fori_loop(0, many, one, (runs, empty))

        return jax.jit(chunk, donate_argnums=0)

    @property
    def chunk_size(self) -> int:
        """Updates between two words to the host."""
        return max(1, -(-self.experiment.updates // self.experiment.output.logs))

    def _start(self, number: Array, members: Any, guests: Any) -> RunState:
        setting, plan = self.setting, self.setting.plan
        key = jax.random.fold_in(jax.random.key(self.experiment.seed), number)
        key, for_members, for_world = jax.random.split(key, 3)
        if members is None:
            members = new_networks(self.new_member, jax.random.split(for_members, plan.learners))
        invited = setting.guests.number if setting.guests else 0
        zeros = jnp.zeros((invited, plan.roles), jnp.float32)
        given = jnp.asarray(setting.scheme.priority or (0.0,) * self.experiment.runs, jnp.float32)
        priority = given[number - self.experiment.first_run]
        stats = Stats(returns=zeros, episodes=zeros, odds=jnp.ones(invited) / max(invited, 1), priority=priority)
        if setting.scheme.follow is not None:
            guests = setting.scheme.follow(members, guests, True)
        one = jax.tree_util.tree_map(lambda x: x[0], members)
        # Copies, since a chunk gives the members' arrays away to the next one.
        anchor = jax.tree_util.tree_map(jnp.copy, members.policy) if setting.scheme.anchored else ()
        return RunState(
            key=key,
            members=members,
            optimiser=jax.vmap(optimiser(self.experiment.ppo).init)(members),
            normaliser=new_normaliser(plan.learners),
            world=begin(setting, one, stats, guests, for_world),
            stats=stats,
            guests=guests if setting.scheme.moving else (),
            notebook=() if setting.scheme.notebook is None else setting.scheme.notebook(members),
            anchor=anchor,
        )

    def new_member(self, key: PRNGKeyArray) -> ActorCritic:
        if self.setting.scheme.member is not None:
            return self.setting.scheme.member(key)
        return new_member(self.setting.game, self.experiment.network, self.setting.labels, key)

    def _update_all(
        self, runs: RunState, traits: Traits, guests: Any, number: Array, share: Array
    ) -> tuple[RunState, dict[str, Array]]:
        """What is the same for all runs is computed once: the schedules and the orders of the sequences."""
        ppo, setting = self.experiment.ppo, self.setting
        for_order = jax.random.fold_in(jax.random.key(self.experiment.seed), number)
        orders = jnp.broadcast_to(jnp.arange(setting.sequences), (ppo.epochs, setting.sequences))
        if ppo.minibatches > 1:
            keys = jax.random.split(for_order, ppo.epochs)
            orders = jnp.stack([jax.random.permutation(k, setting.sequences) for k in keys])
        each = jax.vmap(self._update, in_axes=(0, 0, self._axis, None, None, None))
        return each(runs, traits, guests, orders, share, number)

    def _update(
        self, run: RunState, traits: Traits, guests: Any, orders: Array, share: Array, number: Array
    ) -> tuple[RunState, dict[str, Array]]:
        setting, experiment, plan = self.setting, self.experiment, self.setting.plan
        scheme, guests = setting.scheme, run.guests if setting.scheme.moving else guests
        key, for_world, for_rollout = jax.random.split(run.key, 3)
        world = run.world
        if len(plan.guests) and scheme.redraw == "updates":
            one = jax.tree_util.tree_map(lambda x: x[0], run.members)
            redraw = (number > 0) & (number % setting.redraw_every == 0)
            fresh = lambda: begin(setting, one, run.stats, guests, for_world, run.world.pool)  # noqa: E731
            world = jax.lax.cond(redraw, fresh, lambda: run.world)
        shaping = schedule.at(experiment.rewards.shaping, share)
        if setting.prices:
            weight = schedule.at(experiment.rewards.events_weight, share)
            traits = dataclasses.replace(traits, events=weight * traits.events)
        odds = None if scheme.stand_ins is None else schedule.at(scheme.stand_ins.odds, share)
        played = collect(setting, run.members, traits, guests, world, shaping, for_rollout, odds)
        after, rollout, cuts, finished = played
        rollout, notebook, weighed = _rewarded(setting, run, traits, rollout)
        weights = None
        if scheme.weigh is not None:
            score, episodes = (_per_table(plan, x).sum(axis=1) for x in (finished.score, finished.episodes))
            seen = MethodView(score, episodes, world.guests, run.stats)
            notebook, weights, more = scheme.weigh(notebook, seen)
            weighed = weighed | more
        held = None
        if scheme.anchored:
            anchor_memory, held = opinion(setting, run.anchor, world, rollout)
            after = dataclasses.replace(after, anchor_memory=anchor_memory)
        batch, normaliser, value_memory, told = prepare(
            setting, run.members, run.normaliser, world, after, rollout, cuts, weights, held
        )
        rate, entropy = (schedule.at(s, share) for s in (experiment.ppo.learning_rate, experiment.ppo.entropy))
        material = None if scheme.material is None else scheme.material(run.members, rollout)
        members, learnt = run.members, {}
        if scheme.teach is not None:
            members, notebook, learnt = scheme.teach(members, notebook, rollout)
        members, state, of_loss = improve(
            setting, members, run.optimiser, batch, orders, rate, entropy, material, traits.hold
        )
        told = (
            told
            | of_loss
            | learnt
            | weighed
            | {
                "score": plan.sits @ _per_table(plan, finished.score).sum(axis=1),  # [learner] of all tables it sits at
                "episodes": plan.sits @ _per_table(plan, finished.episodes).sum(axis=1),
                "reward": jnp.mean(rollout.reward, axis=(0, 2)),
            }
        )
        if finished.seen is not None and setting.witness is not None:
            told |= setting.witness.told(jnp.mean(finished.seen, axis=0) / experiment.rollout)
        after = dataclasses.replace(after, value_memory=value_memory)
        stats = _follow(setting, run.stats, world.guests, finished)
        new = RunState(
            key=key,
            members=members,
            optimiser=state,
            normaliser=normaliser,
            world=after,
            stats=stats,
            guests=run.guests if scheme.follow is None else scheme.follow(members, guests, False),
            notebook=notebook,
            anchor=run.anchor,
        )
        return new, told


def _rewarded(
    setting: TrainingSetup, run: RunState, traits: Traits, rollout: Rollout
) -> tuple[Rollout, Any, dict[str, Array]]:
    """What the scheme and the settings pay for a whole rollout, on top of its steps; the notebook, and what to log."""
    scheme, rewards, notebook, told = setting.scheme, setting.experiment.rewards, run.notebook, {}
    if scheme.bonus is not None:
        rollout = dataclasses.replace(rollout, reward=rollout.reward + scheme.bonus(run.members, rollout))
    if scheme.look_on is not None:
        notebook, bonus, told = scheme.look_on(notebook, rollout)
        rollout = dataclasses.replace(rollout, reward=rollout.reward + bonus)
    if rewards.entropies:
        bonus, varied = entropy_terms.bonus(setting.plan, _entropy_weights(setting.experiment, traits), rollout)
        rollout, told = dataclasses.replace(rollout, reward=rollout.reward + bonus), told | varied
    return rollout, notebook, told


def _entropy_weights(experiment: Experiment, traits: Traits) -> dict[str, Any]:
    """By name; from the learner's traits if it has any of its own."""
    given = experiment.rewards.entropies
    if traits.entropies is None:
        return {name: given.get(name, 0.0) for name in entropy_terms.NAMES}
    return dict(zip(entropy_terms.NAMES, traits.entropies[0], strict=True))


def _per_table(plan: TeamPlan, x: Float[Array, "env rotation"]) -> Float[Array, "table rotation"]:
    return x.reshape(len(plan.tables), -1, plan.roles).sum(axis=1)


def _follow(setting: TrainingSetup, stats: Stats, guests: Int[Array, " guest_slot"], finished: Finished) -> Stats:
    """Running means of the score with each guest, by rotation."""
    plan = setting.plan
    if not len(plan.guests) or setting.scheme.redraw == "episode":
        return stats
    learns = np.array([any(who != GUEST for who in table) for table in plan.tables])
    whole = learns & (np.array(setting.scheme.origins or (-1,) * len(plan.tables)) < 0)  # episodes of a learner
    score, episodes = (whole[:, None] * _per_table(plan, x) for x in (finished.score, finished.episodes))
    at = plan.guests // plan.roles  # the table of every guest
    total = jnp.zeros_like(stats.returns).at[guests].add(score[at])
    count = jnp.zeros_like(stats.returns).at[guests].add(episodes[at])
    mean = total / jnp.maximum(count, 1.0)
    decay = jnp.where(stats.episodes > 0, setting.scheme.stats_decay, 0.0)
    returns = jnp.where(count > 0, decay * stats.returns + (1 - decay) * mean, stats.returns)
    return dataclasses.replace(stats, returns=returns, episodes=stats.episodes + count)
