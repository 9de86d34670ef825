"""Cooperative open-ended learning (Li et al., 2023, Cooperative Open-ended Learning Framework ...).

    max J(π, π) + E_k J(π, π_k), π_k from a growing population of the ego's past

A generation is a number of updates. After it the ego plays with everyone of its population; it joins if the others
prefer it (or at the third try), and the partners of the next generation are sampled by how little they add to
coalitions: by their Shapley values in the graph of pairwise scores (`cole_graph`), or by the rank of their mean score.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.records import record
from interplay.training.actor_critic import new_member, new_networks
from interplay.training.algorithms.cole_graph import accepts, odds_by_rank, odds_by_shapley, outranks
from interplay.training.config import Experiment
from interplay.training.evaluation_pairs import play_pair
from interplay.training.frozen_partners import FrozenPartners, PartnerAssignment, PartnerStats, sample_partners
from interplay.training.loader import make_game, method_options
from interplay.training.method import Method
from interplay.training.run import Trained, train_stage
from interplay.training.stage_state import RunState, TrainingSetup
from interplay.training.team_assignment import PARTNER, TeamPlan

OLDEST = 10  # of a full population, one of so many makes room
LOOSER_AFTER = 50  # generations after which acceptance is easier


@dataclass(frozen=True)
class COLEOptions:
    """Options of COLE: generations, and how partners are chosen."""

    population: int = 50  # members at most; then old ones make room
    initial: int = 3  # random networks to begin with
    generation_steps: float = 1e6  # environment steps of each
    self_play_generations: int = 10  # first generations, in which the only partner is the newest copy of the ego
    self_tables: int = 1  # tables of self-play, and
    partner_tables: int = 3  # tables with a partner, in every group of tables
    groups: int = 8  # of tables; environments have to be shared equally among all of them
    rounds: int = 3  # episodes of each rotation of seats in which two members are judged
    solver: str = "shapley"  # shapley; or rank: by the rank of the members' mean utility
    permutations: int = 200  # from which Shapley values are estimated
    rank_power: float = 1.0  # of the ranks
    tries: int = 3  # a new member is taken at the latest in this one

    def __post_init__(self) -> None:
        if self.solver not in ("shapley", "rank"):
            raise InterplayError(f"algorithm.options.solver: {self.solver!r}; shapley or rank")
        if not 1 <= self.initial < self.population:
            raise InterplayError(
                f"algorithm.options.initial: {self.initial}; from 1 to less than the population of {self.population}"
            )


@record
class PopulationState:
    """What a run knows of its population, by place; all runs [run, ...]."""

    utility: Float[Array, "member member"]  # mean score together
    born: Array  # [member] number of the generation; -1: an empty place
    generation: Array
    tries: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class COLE(Method):
    """Self-play, and play with a population of the ego's past. The ego that is kept is its last member."""

    experiment: Experiment
    game: Game
    options: COLEOptions
    partners: FrozenPartners
    changes_partners = True
    can_continue = False

    @classmethod
    def create(cls, experiment: Experiment, options: COLEOptions) -> COLE:
        """Return COLE with its tables and its first population.

        Raises:
            InterplayError: If a generation is longer than the training.
        """
        game = make_game(experiment)
        self_play, with_partner = (0,) * game.num_seats, (0, *[PARTNER] * (game.num_seats - 1))
        group = (self_play,) * options.self_tables + (with_partner,) * options.partner_tables
        partners = initial_population(experiment, game, options)
        plan = TeamPlan(group * options.groups, rotate=True)
        method = cls(plan, experiment=experiment, game=game, options=options, partners=partners)
        if method.interval > experiment.updates:
            steps = f"a generation of {options.generation_steps:g} steps is more than all {experiment.steps:g} steps"
            raise InterplayError(f"algorithm.options.generation_steps: {steps}")
        return method

    @property
    def interval(self) -> int:
        """Updates of a generation, which ends with the episodes."""
        redraw = -(-self.game.horizon // self.experiment.rollout)
        steps = self.experiment.envs * self.experiment.rollout * redraw
        return max(round(self.options.generation_steps / steps), 1) * redraw

    def init_state(self, setup: TrainingSetup, members: PyTree) -> PopulationState:
        """Return the state of one run, in which nobody has played with anybody."""
        places, initial = self.options.population, self.options.initial
        return PopulationState(
            utility=jnp.zeros((places, places), jnp.float32),
            born=jnp.where(jnp.arange(places) < initial, jnp.int32(0), jnp.int32(-1)),
            generation=jnp.int32(0),
            tries=jnp.int32(0),
        )

    def assign_partners(self, key: PRNGKeyArray, stats: PartnerStats) -> PartnerAssignment:
        """Sample partners by the odds of this generation."""
        return sample_partners(self.plan, key, stats.odds)

    def on_interval(self, runs: RunState, update: int) -> tuple[RunState, dict[str, Any]]:
        """End a generation in all runs: score the ego, take it into the population, and set the partners' odds."""
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(self.experiment.seed), 2), update)
        for_first, for_scores, for_odds = jax.random.split(key, 3)
        networks = jax.tree.map(lambda x: x[:, 0], runs.members.policy)
        fields = dataclasses.fields(PopulationState)
        state = {f.name: np.array(getattr(runs.method_state, f.name)) for f in fields}
        if not state["generation"].any() and not state["tries"].any():
            initial = self.options.initial
            state["utility"][:, :initial, :initial] = self._score_initial(runs.partners, for_first)
        scores = np.asarray(self._score_ego(networks, runs.partners, for_scores))
        places, logs = self._accept(state, scores, update)
        partners, stats = self._with_egos(runs, networks, places)
        odds = self._next_odds(state, jnp.sum(stats.episodes, axis=-1), for_odds)
        runs = dataclasses.replace(
            runs,
            partners=partners,
            stats=dataclasses.replace(stats, odds=odds),
            method_state=PopulationState(**{name: jnp.asarray(value) for name, value in state.items()}),
        )
        return runs, logs

    @cached_property
    def _score_ego(self) -> Any:
        """Compiled: the mean score of each run's ego with each of the population, and with itself."""

        def one(network: Any, population: PyTree, key: PRNGKeyArray) -> Float[Array, " member+1"]:
            ego = NeuralPolicy(network, self.experiment.network.encoding)
            keys = jax.random.split(key, self.options.population + 1)
            each = jax.vmap(lambda other, k: self._score(ego, self.partners.policy(other), k))
            return jnp.append(each(population, keys[1:]), self._score(ego, ego, keys[0]))

        return jax.jit(jax.vmap(one, in_axes=(0, 0, None)))

    @cached_property
    def _score_initial(self) -> Any:
        """Compiled: the mean scores of the networks to begin with, [run, initial, initial]."""

        def one(population: PyTree, key: PRNGKeyArray) -> Float[Array, "initial initial"]:
            first = jax.tree.map(lambda x: x[: self.options.initial], population)

            def row(mine: Any, key: PRNGKeyArray) -> Array:
                policy = self.partners.policy(mine)
                return jax.vmap(lambda other: self._score(policy, self.partners.policy(other), key))(first)

            scores = jax.vmap(row)(first, jax.random.split(key, self.options.initial))
            return (scores + scores.T) / 2

        return jax.jit(jax.vmap(one, in_axes=(0, None)))

    def _score(self, one: Any, other: Any, key: PRNGKeyArray) -> Float[Array, ""]:
        return play_pair(self.game, one, other, key, self.options.rounds).score  # type: ignore[arg-type]

    def _accept(self, state: dict[str, np.ndarray], scores: np.ndarray, update: int) -> tuple[np.ndarray, dict]:
        """Return the place of each run's ego in its population (-1: not accepted); update the state in place."""
        places = np.full(len(scores), -1, np.int32)
        by_rank, accepted = self.options.solver == "rank", []
        for run, score in enumerate(scores):
            born, utility = state["born"][run], state["utility"][run]
            order = np.flatnonzero(born >= 0)
            order = order[np.argsort(born[order], kind="stable")]  # the oldest first
            table = np.zeros((len(order) + 1, len(order) + 1), np.float32)
            table[:-1, :-1] = utility[np.ix_(order, order)]
            table[-1] = table[:, -1] = [*score[order], score[-1]]
            full = len(order) == self.options.population
            looser = full if by_rank else state["generation"][run] >= LOOSER_AFTER
            fits = (outranks if by_rank else accepts)(table, 0.2 if looser else 0.1)
            accepted.append(bool(fits))
            state["tries"][run] += 1
            if not fits and state["tries"][run] < self.options.tries:
                continue
            generator = np.random.default_rng([self.experiment.seed, self.experiment.first_run + run, update])
            place = int(generator.choice(order[:OLDEST])) if full else int(np.flatnonzero(born < 0)[0])
            utility[place] = utility[:, place] = score[:-1]
            utility[place, place] = score[-1]
            state["generation"][run] += 1
            born[place], state["tries"][run] = state["generation"][run], 0
            places[run] = place
        sizes = np.sum(state["born"] >= 0, axis=1)
        logs = {"population": sizes.tolist(), "generation": state["generation"].tolist(), "preferred": accepted}
        return places, logs

    def _with_egos(self, runs: RunState, networks: PyTree, places: np.ndarray) -> tuple[Any, PartnerStats]:
        """Return partners and their statistics with the egos in their places."""
        here = jnp.asarray(places)[:, None] == jnp.arange(self.options.population)  # [run, member]

        def put(old: Array, new: Array) -> Array:
            return jnp.where(here.reshape(*here.shape, *[1] * (old.ndim - 2)), new[:, None], old)

        cores = jax.tree.map(put, runs.partners.core, networks)
        returns, episodes = (jnp.where(here[..., None], 0.0, x) for x in (runs.stats.returns, runs.stats.episodes))
        stats = dataclasses.replace(runs.stats, returns=returns, episodes=episodes)
        return eqx.tree_at(lambda p: p.core, runs.partners, cores), stats

    @cached_property
    def _shapley_odds(self) -> Any:
        solver = partial(odds_by_shapley, permutations=self.options.permutations)
        return jax.jit(jax.vmap(solver, in_axes=(0, 0, 0, None)))

    def _next_odds(self, state: dict[str, np.ndarray], visits: Array, key: PRNGKeyArray) -> Array:
        """Return the odds of the partners of the next generation, [run, member]."""
        alive = state["born"] >= 0
        if self.options.solver == "rank":
            odds = np.stack([odds_by_rank(*of_run, self.options.rank_power) for of_run in zip(state["utility"], alive)])
        else:
            odds = np.asarray(self._shapley_odds(state["utility"], alive, visits, key))
        newest = np.eye(alive.shape[1], dtype=np.float32)[np.argmax(state["born"], axis=1)]
        early = state["generation"] < self.options.self_play_generations
        return jnp.asarray(np.where(early[:, None], newest, odds), jnp.float32)


def initial_population(experiment: Experiment, game: Game, options: COLEOptions) -> FrozenPartners:
    """Return places for the population with random networks; empty places hold the same ones until they are taken."""
    key = jax.random.fold_in(jax.random.key(experiment.seed), 1)

    def fresh(key: PRNGKeyArray) -> Any:
        return new_member(game, experiment.network, 0, key).policy

    of_run = [jax.random.fold_in(key, experiment.first_run + run) for run in range(experiment.runs)]
    which = np.arange(options.population) % options.initial
    keys = jax.vmap(lambda k: jax.random.split(k, options.initial)[which])(jnp.stack(of_run))
    cores = jax.jit(lambda keys: new_networks(lambda of_run: new_networks(fresh, of_run), keys))(keys)
    return FrozenPartners.from_networks(cores, experiment.network.encoding)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train egos, one a run."""
    method = COLE.create(experiment, method_options(COLEOptions, experiment))
    return train_stage(experiment, method, partners=method.partners, quiet=quiet)
