"""The compiled program of a stage: many runs side by side, and many updates without the host."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray, PyTree

from interplay.errors import InterplayError
from interplay.training import information_rewards, schedule
from interplay.training.actor_critic import ActorCritic, new_networks
from interplay.training.advantages import new_normaliser
from interplay.training.collect import Cuts, Finished, Rollout, begin, collect
from interplay.training.method import TableScores
from interplay.training.reward_weights import RewardWeights
from interplay.training.sharding import DeviceLayout
from interplay.training.stage_state import RolloutWorld, RunState, TrainingSetup
from interplay.training.update import ValueEstimates, improve, optimiser, prepare


class Program:
    """All runs of a stage. `runs` are [run, ...]; partners are shared by the runs unless each has its own."""

    def __init__(self, setup: TrainingSetup):
        self.setup = setup
        self.experiment = setup.experiment
        self._partner_axis = 0 if setup.partners is not None and setup.partners.per_run else None

    @cached_property
    def layout(self) -> DeviceLayout:
        """Where arrays lie."""
        return DeviceLayout(self.experiment)

    @cached_property
    def partners(self) -> PyTree:
        """Arrays of the frozen partners; () without any."""
        arrays = () if self.setup.partners is None else self.setup.partners.arrays
        return self.layout.place_inputs(arrays, per_run=self._partner_axis == 0)

    def close(self) -> None:
        """Let go of what the program holds beside its arrays: nothing, where all of it is compiled."""

    def with_setup(self, setup: TrainingSetup) -> Program:
        """Return the same compiled program for other partners.

        Raises:
            InterplayError: If the setup differs in more than the arrays of its partners.
        """
        mine = self.setup
        same = setup.experiment == self.experiment and setup.method == mine.method
        shapes = [(s.game.id, s.labels, s.pays_events) for s in (setup, mine)]
        if not same or shapes[0] != shapes[1]:
            raise InterplayError("a compiled program serves stages that differ in their partners alone")
        other = Program(setup)
        other.__dict__.update(start=self.start, chunk=self.chunk)
        return other

    @cached_property
    def start(self) -> Any:
        """Compiled function (members or None, partners) -> runs at update 0."""

        def start(members: PyTree, partners: PyTree) -> RunState:
            numbers = jnp.arange(self.experiment.runs) + self.experiment.first_run
            own = None if self._partner_axis is None else partners
            return new_networks(
                lambda run: self._start(run[0], run[1], partners if self._partner_axis is None else run[2]),
                (numbers, members, own),
            )

        return jax.jit(start)

    @cached_property
    def chunk(self) -> Any:
        """Compiled function (runs, weights, partners, first, number, pace) -> runs, logs [chunk_size, run, ...].

        `number` of updates is an argument, so that the last, shorter chunk is served by the same program. `pace` is
        the progress of schedules and what an update adds to it; None: by the updates that the experiment has.
        """

        def chunk(
            runs: RunState, weights: RewardWeights, partners: PyTree, first: Array, number: Array, pace: Any = None
        ) -> tuple[RunState, dict]:
            def progress(i: Array) -> Array:
                return (first + i) / self.experiment.updates if pace is None else pace[0] + i * pace[1]

            update = jax.jit(self._update_all)  # traced once, for the shapes of the logs and for the loop
            shapes = jax.eval_shape(update, runs, weights, partners, first, progress(first))[1]
            empty = jax.tree.map(lambda x: jnp.zeros((self.chunk_size, *x.shape), x.dtype), shapes)

            def one(i: Array, carry: tuple[RunState, dict]) -> tuple[RunState, dict]:
                runs, logs = carry
                runs, new = update(runs, weights, partners, first + i, progress(i))
                return runs, jax.tree.map(lambda all, now: all.at[i].set(now), logs, new)

            return jax.lax.fori_loop(0, number, one, (runs, empty))

        return jax.jit(chunk, donate_argnums=0)

    @property
    def chunk_size(self) -> int:
        """Updates between two log lines."""
        return max(1, -(-self.experiment.updates // self.experiment.output.logs))

    def _start(self, number: Array, members: PyTree, partners: PyTree) -> RunState:
        setup, method, plan = self.setup, self.setup.method, self.setup.plan
        key = jax.random.fold_in(jax.random.key(self.experiment.seed), number)
        key, for_members, for_world = jax.random.split(key, 3)
        if members is None:
            members = new_networks(self.new_member, jax.random.split(for_members, plan.learners))
        stats = method.new_stats(setup, number - self.experiment.first_run)
        partners = method.init_partners(members, partners)
        one = jax.tree.map(lambda x: x[0], members)
        return RunState(
            key=key,
            members=members,
            optimiser=jax.vmap(optimiser(self.experiment.ppo).init)(members),
            normaliser=new_normaliser(plan.learners),
            world=begin(setup, one, stats, partners, for_world),
            stats=stats,
            partners=partners if method.changes_partners else (),
            method_state=method.init_state(setup, members),
        )

    def new_member(self, key: PRNGKeyArray) -> ActorCritic:
        """Return a learner's networks with random weights."""
        return self.setup.method.new_member(self.setup, key)

    def _update_all(
        self, runs: RunState, weights: RewardWeights, partners: PyTree, number: Array, progress: Array
    ) -> tuple[RunState, dict[str, Array]]:
        """Update all runs. What is the same for all is computed once: schedules, and the orders of sequences."""
        orders = self._orders(number)
        each = jax.vmap(self._update, in_axes=(0, 0, self._partner_axis, None, None, None))
        return each(runs, weights, partners, orders, progress, number)

    def _orders(self, number: Array) -> Array:
        """Return the orders in which an update goes through its sequences, [epoch, sequence]."""
        ppo, setup = self.experiment.ppo, self.setup
        orders = jnp.broadcast_to(jnp.arange(setup.sequences), (ppo.epochs, setup.sequences))
        if ppo.minibatches > 1:
            for_order = jax.random.fold_in(jax.random.key(self.experiment.seed), number)
            keys = jax.random.split(for_order, ppo.epochs)
            orders = jnp.stack([jax.random.permutation(k, setup.sequences) for k in keys])
        return orders

    def _update(
        self, run: RunState, weights: RewardWeights, partners: PyTree, orders: Array, progress: Array, number: Array
    ) -> tuple[RunState, dict[str, Array]]:
        setup, method = self.setup, self.setup.method
        partners = run.partners if method.changes_partners else partners
        key, for_world, for_rollout = jax.random.split(run.key, 3)
        world = run.world
        if method.redraws_partners:
            one = jax.tree.map(lambda x: x[0], run.members)
            redraw = (number > 0) & (number % setup.redraw_every == 0)
            world = jax.lax.cond(
                redraw,
                lambda: begin(setup, one, run.stats, partners, for_world, run.world.kept_states),
                lambda: run.world,
            )
        weights, shaping = self._rewards(weights, progress)
        played = collect(setup, run.members, weights, partners, world, shaping, for_rollout, progress)
        return self._learn(dataclasses.replace(run, key=key, world=world), weights, played, orders, progress)

    def _rewards(self, weights: RewardWeights, progress: Array) -> tuple[RewardWeights, Array]:
        """Return the weights of the rewards and that of the shaped reward at this time."""
        if self.setup.pays_events:
            scale = schedule.at(self.experiment.rewards.events_weight, progress)
            weights = dataclasses.replace(weights, events=scale * weights.events)
        return weights, schedule.at(self.experiment.rewards.shaping, progress)

    def _learn(
        self,
        run: RunState,
        weights: RewardWeights,
        played: tuple[RolloutWorld, Rollout, Cuts, Finished],
        orders: Array,
        progress: Array,
    ) -> tuple[RunState, dict[str, Array]]:
        """Learn from what was played; `run.world` are the environments before it."""
        setup, experiment, plan, method = self.setup, self.experiment, self.setup.plan, self.setup.method
        world, (after, rollout, cuts, finished) = run.world, played
        state, rollout, logs = method.process_rollout(setup, run.method_state, run.members, rollout)
        if experiment.rewards.entropies:
            rollout, more = _with_entropy_rewards(setup, weights, rollout)
            logs |= more
        score, episodes = (plan.sum_by_table(x).sum(axis=1) for x in (finished.score, finished.episodes))
        state, table_weights, more = method.table_weights(
            state, TableScores(score, episodes, world.partners, run.stats)
        )
        logs |= more
        estimates = ValueEstimates(setup, run.members, run.normaliser, world, after, rollout, cuts)
        prepared = prepare(estimates, table_weights)
        samples = method.loss_samples(run.members, rollout)
        members, state, more = method.aux_update(run.members, state, rollout)
        logs |= more | prepared.logs
        rate, entropy = (schedule.at(s, progress) for s in (experiment.ppo.learning_rate, experiment.ppo.entropy))
        members, optimiser_state, more = improve(
            setup, members, run.optimiser, prepared.batch, orders, rate, entropy, weights, samples
        )
        logs |= more | {
            "score": plan.scored_tables @ score,  # [learner] of all tables at which it plays
            "episodes": plan.scored_tables @ episodes,
            "reward": jnp.mean(rollout.reward, axis=(0, 2)),
        }
        if setup.event_recorder is not None:
            logs |= setup.event_recorder.logs(jnp.mean(finished.recorded, axis=0) / experiment.rollout)
        new = RunState(
            key=run.key,
            members=members,
            optimiser=optimiser_state,
            normaliser=prepared.normaliser,
            world=dataclasses.replace(after, value_memory=prepared.value_memory),
            stats=method.update_stats(setup, run.stats, world.partners, finished),
            partners=method.update_partners(members, run.partners),
            method_state=state,
        )
        return new, logs


def _with_entropy_rewards(
    setup: TrainingSetup, weights: RewardWeights, rollout: Rollout
) -> tuple[Rollout, dict[str, Array]]:
    """Return the rollout with the rewards of `rewards.entropies` added, and the entropies."""
    shared = setup.experiment.rewards.entropies
    named = information_rewards.NAMES
    own = [shared.get(name, 0.0) for name in named] if weights.entropies is None else weights.entropies[0]
    by_name: dict[str, Any] = dict(zip(named, own, strict=True))
    bonus, entropies = information_rewards.bonus(setup.plan, by_name, rollout)
    return dataclasses.replace(rollout, reward=rollout.reward + bonus), entropies
