"""Cooperative open-ended learning: an ego that trains on with its own past, most of all with whom it fits worst.

A generation is a number of updates. Then the ego meets everyone of its population, is taken into it if the others
prefer it (or after the third try), and partners for the next generation are drawn by how little they add to coalitions.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.records import record
from interplay.games.registry import make
from interplay.training.actor_critic import new_member, new_networks
from interplay.training.algorithms.cole_graph import accepts, odds_by_rank, odds_by_shapley, outranks
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.method import Assignment, Guests, Method, Stats, drawn
from interplay.training.pairing import meet
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.setup import RunState
from interplay.training.team_assignment import GUEST, TeamPlan

OLDEST = 10  # of a full population, one of so many makes room
LOOSER_AFTER = 50  # generations after which acceptance is easier


@dataclass(frozen=True)
class COLEOptions:
    """Generations, and how partners are chosen."""

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
class Book:
    """What a run knows of its population, by place; all runs [run, ...]."""

    utility: Float[Array, "member member"]  # mean score together
    born: Array  # [member] number of the generation; -1: an empty place
    generation: Array
    tries: Array


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max J(π, π) + E_k J(π, π_k), k from a growing population of the ego's past. The ego is its last member."""
    options = build(COLEOptions, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    plan = seating(game, options)
    guests = population(experiment, game, options)
    redraw = -(-game.horizon // experiment.rollout)  # a generation ends with the episodes
    every = round(options.generation_steps / (experiment.envs * experiment.rollout * redraw)) * redraw
    if max(every, redraw) > experiment.updates:
        steps = f"a generation of {options.generation_steps:g} steps is more than all {experiment.steps:g} steps"
        raise InterplayError(f"algorithm.options.generation_steps: {steps}")
    judge = COLEJudge(experiment, game, options, guests)
    scheme = Method(
        plan,
        assign=by_odds,
        notebook=lambda members: judge.first_book(),
        between=judge,
        every=max(every, redraw),
    )
    return train_stage(experiment, scheme, guests=guests, quiet=quiet)


def seating(game: Game, options: COLEOptions) -> TeamPlan:
    alone, company = (0,) * game.num_seats, (0, *[GUEST] * (game.num_seats - 1))
    return TeamPlan(
        ((alone,) * options.self_tables + (company,) * options.partner_tables) * options.groups, rotate=True
    )


def population(experiment: Experiment, game: Game, options: COLEOptions) -> Guests:
    """Places for the population, with random networks; empty places hold the same ones until they are taken."""
    key = jax.random.fold_in(jax.random.key(experiment.seed), 1)

    def fresh(key: PRNGKeyArray) -> Any:
        return new_member(game, experiment.network, 0, key).policy

    of_run = [jax.random.fold_in(key, experiment.first_run + run) for run in range(experiment.runs)]
    which = np.arange(options.population) % options.initial
    keys = jax.vmap(lambda k: jax.random.split(k, options.initial)[which])(jnp.stack(of_run))
    cores = jax.jit(lambda keys: new_networks(lambda of_run: new_networks(fresh, of_run), keys))(keys)
    one = NeuralPolicy(jax.tree_util.tree_map(lambda x: x[0, 0], cores), experiment.network.encoding)
    places = Guests.repeated(one, options.population, experiment.runs)
    arrays = eqx.tree_at(lambda g: g.core, places.arrays, cores)
    return dataclasses.replace(places, arrays=arrays)


def by_odds(plan: TeamPlan, key: PRNGKeyArray, stats: Stats) -> Assignment:
    """Partners by the odds of this generation."""
    return drawn(plan, key, stats.odds)


class COLEJudge:
    """The end of a generation, in all runs at once."""

    def __init__(self, experiment: Experiment, game: Game, options: COLEOptions, guests: Guests):
        self.experiment, self.game, self.options, self.guests = experiment, game, options, guests
        self._scores = jax.jit(jax.vmap(self._meet, in_axes=(0, 0, None)))
        self._pairs = jax.jit(jax.vmap(self._all_pairs, in_axes=(0, None)))
        solver = partial(odds_by_shapley, permutations=options.permutations)
        self._odds = jax.jit(jax.vmap(solver, in_axes=(0, 0, 0, None)))

    def first_book(self) -> Book:
        """Of one run: nobody has met anybody."""
        places, initial = self.options.population, self.options.initial
        return Book(
            utility=jnp.zeros((places, places), jnp.float32),
            born=jnp.where(jnp.arange(places) < initial, jnp.int32(0), jnp.int32(-1)),
            generation=jnp.int32(0),
            tries=jnp.int32(0),
        )

    def _key(self, update: int) -> PRNGKeyArray:
        return jax.random.fold_in(jax.random.fold_in(jax.random.key(self.experiment.seed), 2), update)

    def _meet(self, core: Any, population: Any, key: PRNGKeyArray) -> Float[Array, " member+1"]:
        """The mean score of the ego with each of the population, and with itself."""
        ego = self._policy(core)
        keys = jax.random.split(key, self.options.population + 1)
        with_others = jax.vmap(lambda other, k: self._score(ego, self.guests.policy(other), k))(population, keys[1:])
        return jnp.append(with_others, self._score(ego, ego, keys[0]))

    def _all_pairs(self, population: Any, key: PRNGKeyArray) -> Float[Array, "initial initial"]:
        """The mean scores of the networks to begin with."""
        first = jax.tree_util.tree_map(lambda x: x[: self.options.initial], population)

        def row(one: Any, key: PRNGKeyArray) -> Array:
            met = lambda other: self._score(self.guests.policy(one), self.guests.policy(other), key)  # noqa: E731
            return jax.vmap(met)(first)

        scores = jax.vmap(row)(first, jax.random.split(key, self.options.initial))
        return (scores + scores.T) / 2

    def _policy(self, core: Any) -> NeuralPolicy:
        return NeuralPolicy(core, self.experiment.network.encoding)

    def _score(self, one: Any, other: Any, key: PRNGKeyArray) -> Float[Array, ""]:
        return meet(self.game, one, other, key, self.options.rounds).score  # type: ignore[arg-type]

    def __call__(self, runs: RunState, update: int) -> tuple[RunState, dict[str, Any]]:
        key = self._key(update)
        for_first, for_scores, for_odds = jax.random.split(key, 3)
        cores = jax.tree_util.tree_map(lambda x: x[:, 0], runs.members.policy)
        book = {f.name: np.array(getattr(runs.notebook, f.name)) for f in dataclasses.fields(Book)}
        if not book["generation"].any() and not book["tries"].any():
            initial = self.options.initial
            book["utility"][:, :initial, :initial] = self._pairs(runs.guests, for_first)
        scores = np.asarray(self._scores(cores, runs.guests, for_scores))
        places, told = self._judged(book, scores, update)

        guests, stats = self._taken(runs, cores, places)
        visits = jnp.sum(stats.episodes, axis=-1)
        odds = self._next_odds(book, visits, for_odds)
        runs = dataclasses.replace(
            runs,
            guests=guests,
            stats=dataclasses.replace(stats, odds=odds),
            notebook=Book(**{name: jnp.asarray(value) for name, value in book.items()}),
        )
        return runs, told

    def _judged(self, book: dict[str, np.ndarray], scores: np.ndarray, update: int) -> tuple[np.ndarray, dict]:
        """Who is taken into which place (-1: not taken), with the book brought up to date."""
        places = np.full(len(scores), -1, np.int32)
        accepted = []
        for run, found in enumerate(scores):
            born, utility = book["born"][run], book["utility"][run]
            order = np.flatnonzero(born >= 0)
            order = order[np.argsort(born[order], kind="stable")]  # the oldest first
            table = np.zeros((len(order) + 1, len(order) + 1), np.float32)
            table[:-1, :-1] = utility[np.ix_(order, order)]
            table[-1] = table[:, -1] = [*found[order], found[-1]]
            full = len(order) == self.options.population
            looser = full if self.options.solver == "rank" else book["generation"][run] >= LOOSER_AFTER
            fits = (outranks if self.options.solver == "rank" else accepts)(table, 0.2 if looser else 0.1)
            accepted.append(bool(fits))
            book["tries"][run] += 1
            if not fits and book["tries"][run] < self.options.tries:
                continue
            generator = np.random.default_rng([self.experiment.seed, self.experiment.first_run + run, update])
            place = int(generator.choice(order[:OLDEST])) if full else int(np.flatnonzero(born < 0)[0])
            utility[place] = utility[:, place] = found[:-1]
            utility[place, place] = found[-1]
            book["generation"][run] += 1
            born[place], book["tries"][run] = book["generation"][run], 0
            places[run] = place
        sizes = np.sum(book["born"] >= 0, axis=1)
        told = {"population": sizes.tolist(), "generation": book["generation"].tolist(), "preferred": accepted}
        return places, told

    def _taken(self, runs: RunState, cores: Any, places: np.ndarray) -> tuple[Any, Stats]:
        """Guests and what is known of them, with the egos in their places."""
        here = jnp.asarray(places)[:, None] == jnp.arange(self.options.population)  # [run, member]

        def put(old: Array, new: Array) -> Array:
            return jnp.where(here.reshape(*here.shape, *[1] * (old.ndim - 2)), new[:, None], old)

        taken = jax.tree_util.tree_map(put, runs.guests.core, cores)
        cleared = jax.tree_util.tree_map(
            lambda x: jnp.where(here[..., None], 0.0, x), (runs.stats.returns, runs.stats.episodes)
        )
        stats = dataclasses.replace(runs.stats, returns=cleared[0], episodes=cleared[1])
        return eqx.tree_at(lambda g: g.core, runs.guests, taken), stats

    def _next_odds(self, book: dict[str, np.ndarray], visits: Array, key: PRNGKeyArray) -> Array:
        """[run, member] partners of the next generation."""
        alive = book["born"] >= 0
        if self.options.solver == "rank":
            odds = np.stack([odds_by_rank(*of_run, self.options.rank_power) for of_run in zip(book["utility"], alive)])
        else:
            odds = np.asarray(self._odds(book["utility"], alive, visits, key))
        newest = np.eye(alive.shape[1], dtype=np.float32)[np.argmax(book["born"], axis=1)]
        early = book["generation"] < self.options.self_play_generations
        return jnp.asarray(np.where(early[:, None], newest, odds), jnp.float32)
