"""Hidden-utility self-play: partners with preferences, and an ego that learns with the most different of them.

Pairs of a biased player and its best response: the biased player maximises w_task r + φ.w over the game's events, the
other one plain r; both are trained together, and change seats. A run is a pair; all pairs train at once. The ego is a
best response to a choice of the biased players and to a maximum-entropy population.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.training.algorithms import mep
from interplay.training.algorithms.br import best_response
from interplay.training.algorithms.fcp import sound, stage_one, three_skills
from interplay.training.config import Experiment
from interplay.training.kept import reopened
from interplay.training.loader import build
from interplay.training.meet import Met, meet
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.scheme import Scheme, Traits, event_weights
from interplay.training.seating import Plan

TASK = "task"  # the name under which a preference weighs the game's points
BIASED, RESPONSE = 0, 1  # the learners of a pair
SHARED = ("population", "population_steps", "population_envs", "entropy_weight", "snapshots")  # with mep.Options


@dataclass(frozen=True)
class Options:
    """What the biased players may prefer. Either a list of preferences, or sets of weights to draw them from."""

    preferences: tuple[Any, ...] = ()  # of each run: event -> weight; `task` weighs the points (1 if not named)
    choices: Mapping[str, Any] = field(default_factory=dict)  # event -> weights that it may have
    at_most: int = 3  # events with a weight other than 0 in a draw
    biased_shaping: bool = False  # whether the biased player is paid the shaped reward too


@dataclass(frozen=True)
class EgoOptions(Options):
    """The partners of the ego: biased players, and a maximum-entropy population at three levels of skill."""

    pairs: int = 36  # that are drawn, where no preferences are given
    pairs_steps: float = 1e7  # environment steps of each pair
    pairs_from: str | None = None  # folder of trained pairs to take instead
    biased: int = 18  # players that are chosen of them
    least_return: float = 0.1  # pairs that do not score more together are left out
    events_of: str = "biased"  # or response: whose events tell how different two pairs are
    rounds: int = 10  # episodes of each rotation of seats in which events are counted
    population: int = 6  # members of the population
    population_steps: float = 1e7  # environment steps of each member
    population_envs: int = 64  # environments of each member
    population_from: str | None = None  # folder of a trained population to take instead
    entropy_weight: float = 0.01  # alpha of the population
    snapshots: int = 20  # how many times on the way a half-skilled partner could be taken from
    tables: int = 0  # groups of environments, each with one partner at a time; 0: as many as partners, if envs allow

    def __post_init__(self) -> None:
        if self.events_of not in ("biased", "response"):
            raise InterplayError(f"algorithm.options.events_of: {self.events_of!r}; biased or response")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Stage 1: pairs, and a population. Stage 2: max E_j J(π, π_j) over both, each partner as often as the next."""
    options = build(EgoOptions, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    if options.pairs_from is not None:
        trained = reopened(options.pairs_from, experiment, stage="pairs")
    else:
        preferences = list(options.preferences) or draw(game, options, options.pairs, experiment.seed)
        smaller = stage_one(experiment, len(preferences), options.pairs_steps, 0)
        trained = pairs(smaller, game, preferences, options.biased_shaping, stage="pairs", quiet=quiet)
    if options.population_from is not None:
        population = reopened(options.population_from, experiment)
    else:
        of_population = {f.name: getattr(options, f.name) for f in dataclasses.fields(mep.Options) if f.name in SHARED}
        population = mep.population_stage(experiment, mep.Options(**of_population), stage="population", quiet=quiet)
    chosen = most_different(trained, options, experiment.seed)
    agents = [trained.agent(run, BIASED) for run in chosen] + three_skills(population)
    notes = [{"biased_partners": chosen}] * experiment.runs
    return best_response(experiment, agents, tables=options.tables, notes=notes, quiet=quiet)


def most_different(trained: Trained, options: EgoOptions, seed: int) -> list[int]:
    """The pairs, by number, whose biased players are chosen: they score, and act unlike each other."""
    met = counted(trained, options.rounds, seed)
    runs = [r for r, learner in sound(trained) if learner == BIASED and met.score[r] > options.least_return]
    if not runs:
        raise InterplayError(f"no pair scores more than {options.least_return:g} together, so none can be a partner")
    events = np.asarray(met.events)[runs, BIASED if options.events_of == "biased" else RESPONSE]
    return [runs[i] for i in greedy_selection(events, options.biased, np.random.default_rng(seed))]


def counted(trained: Trained, rounds: int, seed: int) -> Met:
    """[pair, ...] the scores and events of all pairs, each biased player with its response."""

    def one(biased: Any, response: Any, key: Any) -> Met:
        policies = [NeuralPolicy(core, trained.experiment.network.encoding) for core in (biased, response)]
        return meet(trained.game, *policies, key, rounds)  # type: ignore[arg-type]

    cores = [jax.tree_util.tree_map(lambda x, i=i: jnp.asarray(x)[:, i], trained.members.policy) for i in (0, 1)]
    keys = jax.random.split(jax.random.key(seed), trained.experiment.runs)
    return jax.tree_util.tree_map(np.asarray, jax.jit(jax.vmap(one))(*cores, keys))


def greedy_selection(events: np.ndarray, many: int, generator: np.random.Generator) -> list[int]:
    """One at random, then always the one farthest from those chosen: the sum of L1 distances, each event by its
    largest count. All, if there are not more."""
    if len(events) <= many:
        return list(range(len(events)))
    largest = np.abs(events).max(axis=0)
    scaled = events / np.where(largest > 0, largest, 1.0)
    distance = np.abs(scaled[:, None] - scaled).sum(axis=-1)
    chosen = [int(generator.integers(len(events)))]
    while len(chosen) < many:
        far = distance[:, chosen].sum(axis=1)
        far[chosen] = -np.inf
        chosen.append(int(np.argmax(far)))
    return chosen


def train_pairs(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Run r trains the pair of preference r."""
    options = build(Options, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    preferences = list(options.preferences) or draw(game, options, experiment.runs, experiment.seed)
    return pairs(experiment, game, preferences, options.biased_shaping, quiet=quiet)


def pairs(
    experiment: Experiment,
    game: Game,
    preferences: list[dict[str, float]],
    biased_shaping: bool = False,
    *,
    stage: str = "",
    quiet: bool = False,
) -> Trained:
    """Train these pairs, a run each."""
    if len(preferences) != experiment.runs:
        raise InterplayError(f"runs: {experiment.runs}, but {len(preferences)} preferences; each run trains one pair")
    if game.num_seats != 2:
        raise InterplayError(f"{game.id} has {game.num_seats} seats; a pair is for two")
    plan = Plan(((BIASED, RESPONSE),), rotate=True)
    scheme = Scheme(plan, names=("biased", "response"))
    traits = traits_of(game, experiment, preferences, biased_shaping)
    notes = [{"preference": p} for p in preferences]
    return train_stage(experiment, scheme, traits=traits, stage=stage, notes=notes, quiet=quiet)


def traits_of(game: Game, experiment: Experiment, preferences: list[dict[str, float]], biased_shaping: bool) -> Traits:
    """[run, (biased, response), ...]"""
    runs, rewards = len(preferences), experiment.rewards
    events = np.zeros((runs, 2, len(game.event_names)), np.float32)
    events[:, :] = event_weights(game, rewards.events)
    task = np.full((runs, 2), rewards.task, np.float32)
    for run, preference in enumerate(preferences):
        named = {k: v for k, v in preference.items() if k != TASK}
        events[run, BIASED] += event_weights(game, named)
        task[run, BIASED] = preference.get(TASK, 1.0) * rewards.task
    shaping = np.ones((runs, 2), np.float32)
    shaping[:, BIASED] = float(biased_shaping)
    return Traits(task=jnp.asarray(task), shaping=jnp.asarray(shaping), events=jnp.asarray(events))


def draw(game: Game, options: Options, many: int, seed: int) -> list[dict[str, float]]:
    """Different preferences, each a weight for every event from its choices, at most so many of them not 0."""
    if not options.choices:
        raise InterplayError("algorithm.options: give preferences, or choices to draw them from")
    event_weights(game, {k: 0.0 for k in options.choices if k != TASK})
    generator = np.random.default_rng(seed)
    found: list[dict[str, float]] = []
    for _ in range(1000 * many):
        weights = {event: float(generator.choice(values)) for event, values in options.choices.items()}
        preference = {e: w for e, w in weights.items() if w or e == TASK}
        if sum(e != TASK for e in preference) <= options.at_most and preference not in found:
            found.append(preference)
            if len(found) == many:
                return found
    raise InterplayError(f"algorithm.options.choices: they allow only {len(found)} different preferences of {many}")
