"""Hidden-utility self-play (Yu et al., 2023, Learning Zero-Shot Cooperation with Humans, Assuming Humans Are Biased).

    Stage 1: pairs of a biased player, max w_task r + φ.w over the game's events, and its best response, max r
    Stage 2: a best response to biased players that act unlike each other, and to a maximum-entropy population

A run of stage 1 is a pair, whose players are trained together and change seats; all pairs train at once. In games of
more than two seats they share the seats in every proportion (`pair_plan`). Biased players
are chosen by greedy selection on the counts of events, as in the paper. Preferences are drawn from one half of the
reward space, so that evaluation partners from the other half are new to the ego.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import capability
from interplay.training.algorithms import coplay, mep
from interplay.training.algorithms.br import load_partners
from interplay.training.config import Experiment, Gate
from interplay.training.evaluation_pairs import PairResult, play_pair
from interplay.training.loader import make_game, method_options
from interplay.training.method import Method
from interplay.training.reward_weights import RewardWeights, event_weights
from interplay.training.run import Trained, train_stage
from interplay.training.saved_stages import load_stage
from interplay.training.team_assignment import TeamPlan
from interplay.training.warm_start import warm_members

TASK = "task"  # the name under which a preference weighs the game's points
BIASED, RESPONSE = 0, 1  # the learners of a pair
SPLITS = ("training", "evaluation")  # halves of the space of preferences


@dataclass(frozen=True)
class HSPOptions:
    """The preferences of the biased players: a list of them, or sets of weights to draw them from."""

    preferences: tuple[Any, ...] = ()  # of each run: event -> weight; `task` weighs the points (1 if not named)
    choices: Mapping[str, Any] = field(default_factory=dict)  # event -> weights it may have; none: as the game says
    at_most: int = 3  # events with a weight other than 0 in a draw
    split: str = "training"  # half of all preferences that draws are from: training, evaluation; all: both
    biased_shaping: bool = False  # whether the biased player is paid the shaped reward too
    start_from: tuple[str, ...] = ()  # agents, one for each run, that both players of a pair begin as; values are fresh


@dataclass(frozen=True)
class PoolOptions(HSPOptions, coplay.PopulationOptions):
    """The partners of an ego: biased players, and a maximum-entropy population at three levels of skill.

    As published half of them are biased: 6 biased players, and 2 members at three skills.
    """

    pairs: int = 12  # that are drawn for each ego, where no preferences are given
    pairs_steps: float = 1e7  # environment steps of each pair
    pairs_from: str | None = None  # folder of trained pairs to take instead; those that score are dealt to egos
    biased: int = 6  # players that an ego chooses of its pairs
    least_return: float = 0.1  # pairs that do not score more together are left out
    events_of: str = "biased"  # or response: whose events tell how different two pairs are
    rounds: int = 10  # episodes of each rotation of seats in which events are counted
    population: int = 2  # members of the population that an ego meets
    entropy_weight: float = 0.01  # alpha of the population

    def __post_init__(self) -> None:
        if self.events_of not in ("biased", "response"):
            raise InterplayError(f"algorithm.options.events_of: {self.events_of!r}; biased or response")


def pair_plan(seats: int) -> TeamPlan:
    """Return the teams of a pair: one seat to all but one are the biased player's, the others its best response's.

    With two seats that is one team. With more, each of the two fills as many seats over all teams, and the best
    response meets every number of biased players.
    """
    teams = tuple((BIASED,) * biased + (RESPONSE,) * (seats - biased) for biased in range(1, seats))
    return TeamPlan(teams, rotate=True)


@dataclass(frozen=True, kw_only=True)
class HiddenUtilitySelfPlay(Method):
    """Stage 1: a biased player and its best response, which differ in what they are rewarded for."""

    preferences: tuple[Mapping[str, float], ...]  # [run] event -> weight
    biased_shaping: bool  # whether the biased player is paid the shaped reward too

    def learner_name(self, learner: int) -> str:
        """Return `biased` or `response`."""
        return ("biased", "response")[learner]

    def reward_weights(self, game: Game, experiment: Experiment) -> RewardWeights:
        """Return the preference for the biased player of each run, and the configuration's rewards for the other."""
        runs, rewards = len(self.preferences), experiment.rewards
        events = np.zeros((runs, 2, len(game.event_names)), np.float32)
        events[:, :] = event_weights(game, rewards.events)
        task = np.full((runs, 2), rewards.task, np.float32)
        for run, preference in enumerate(self.preferences):
            events[run, BIASED] += event_weights(game, {k: v for k, v in preference.items() if k != TASK})
            task[run, BIASED] = preference.get(TASK, 1.0) * rewards.task
        shaping = np.ones((runs, 2), np.float32)
        shaping[:, BIASED] = float(self.biased_shaping)
        return RewardWeights(task=jnp.asarray(task), shaping=jnp.asarray(shaping), events=jnp.asarray(events))


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train both stages, an ego a run."""
    options = method_options(PoolOptions, experiment)
    return coplay.train_egos(experiment, populations(experiment, quiet=quiet), options, quiet=quiet)


def populations(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> list[coplay.Population]:
    """Train or read stage 1, and return the partners of each ego, chosen among pairs of its own."""
    options = method_options(PoolOptions, experiment)
    game = make_game(experiment)
    if options.pairs_from is not None:
        trained = load_stage(options.pairs_from, experiment, stage="pairs")
    else:
        many = options.pairs * (1 if options.shared else experiment.runs)
        preferences = list(options.preferences) or draw(game, options, many, experiment.seed)
        smaller = coplay.population_experiment(experiment, len(preferences), options.pairs_steps, 0)
        trained = pairs(smaller, game, preferences, options.biased_shaping, stage=f"{stage}pairs", quiet=quiet)
    same = {f.name: getattr(options, f.name) for f in fields(coplay.PopulationOptions)}
    of_population = mep.MEPOptions(**same | {"shared": False, "entropy_weight": options.entropy_weight})
    stage = f"{stage}population"
    population = coplay.load_or_train(experiment, of_population, mep.population_stage, stage=stage, quiet=quiet)
    where = str(options.population_from)
    members = coplay.deal_members(population, experiment.runs, shared=options.shared, where=where)
    result = []
    for chosen, able, own in zip(*choose(trained, options, experiment.runs, experiment.seed), members, strict=True):
        biased = [trained.agent(run, BIASED) for run in chosen]
        agents = biased + coplay.three_skill_levels(population, own[: options.population])
        result.append(coplay.Population(agents, notes={"biased_partners": chosen, "chosen_from": len(able)}))
    return result


def choose(trained: Trained, options: PoolOptions, runs: int, seed: int) -> tuple[list[list[int]], list[list[int]]]:
    """Choose the biased players of each ego among pairs that score; those that act unlike each other.

    Returns:
        For each ego the numbers of the pairs that it plays with, and of those that it could choose from.

    Raises:
        InterplayError: If fewer pairs score than there are egos.
    """
    results = play_all_pairs(trained, options.rounds, seed)
    able = [
        r
        for r, learner in coplay.finite_members(trained)
        if learner == BIASED and results.score[r] > options.least_return
    ]
    if len(able) < (1 if options.shared else runs):
        raise InterplayError(
            f"{len(able)} of {trained.experiment.runs} pairs score more than {options.least_return:g} together; each "
            f"of {runs} egos needs one as a partner: train more of them, or longer"
        )
    own = [able if options.shared else able[run::runs] for run in range(runs)]
    events = np.asarray(results.events)[:, BIASED if options.events_of == "biased" else RESPONSE]
    chosen = [
        [mine[i] for i in greedy_selection(events[mine], options.biased, np.random.default_rng([seed, run]))]
        for run, mine in enumerate(own)
    ]
    return chosen, own


def play_all_pairs(trained: Trained, rounds: int, seed: int) -> PairResult:
    """Return the scores and events of all pairs, each biased player with its response, [pair, ...]."""

    def one(biased: PyTree, response: PyTree, key: Any) -> PairResult:
        policies = [NeuralPolicy(core, trained.experiment.network.encoding) for core in (biased, response)]
        return play_pair(trained.game, *policies, key, rounds)  # type: ignore[arg-type]

    cores = [jax.tree.map(lambda x, i=i: jnp.asarray(x)[:, i], trained.members.policy) for i in (0, 1)]
    keys = jax.random.split(jax.random.key(seed), trained.experiment.runs)
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(one))(*cores, keys))


def greedy_selection(events: np.ndarray, many: int, generator: np.random.Generator) -> list[int]:
    """Choose rows that differ: one at random, then always the one farthest from those chosen.

    Args:
        events: Counts [row, event]; distances are L1, with each event divided by its largest count.
        many: How many to choose; if there are not more rows, all.
        generator: For the first one.
    """
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
    """Train stage 1 alone: run r is the pair of preference r."""
    options = method_options(HSPOptions, experiment)
    game = make_game(experiment)
    preferences = list(options.preferences) or draw(game, options, experiment.runs, experiment.seed)
    starts = [one for name in options.start_from for one in load_partners(name)]
    if starts and len(starts) != experiment.runs:
        raise InterplayError(f"algorithm.options.start_from: {len(starts)} agents for {experiment.runs} runs")
    members = warm_members(experiment, game, [[one] for one in starts], learners=2) if starts else None
    return pairs(experiment, game, preferences, options.biased_shaping, members=members, quiet=quiet)


def pairs(
    experiment: Experiment,
    game: Game,
    preferences: list[dict[str, float]],
    biased_shaping: bool = False,
    *,
    members: PyTree = None,
    stage: str = "",
    quiet: bool = False,
) -> Trained:
    """Train these pairs, a run each, from fresh networks or from `members` [run, 2, ...].

    Raises:
        InterplayError: If there are not as many runs, or only one seat.
    """
    if len(preferences) != experiment.runs:
        raise InterplayError(f"runs: {experiment.runs}, but {len(preferences)} preferences; each run trains one pair")
    if game.num_seats < 2:
        raise InterplayError(f"{game.id} has one seat; a pair is for two and more")
    plan = pair_plan(game.num_seats)
    method = HiddenUtilitySelfPlay(plan=plan, preferences=tuple(preferences), biased_shaping=biased_shaping)
    notes = [{"preference": p} for p in preferences]
    experiment = replace(experiment, gate=Gate())  # some preferences allow no points
    return train_stage(experiment, method, members=members, stage=stage, notes=notes, quiet=quiet)


def draw(game: Game, options: HSPOptions, many: int, seed: int) -> list[dict[str, float]]:
    """Draw different preferences, each a weight for every event, of one half of the reward space (`split_of`).

    Raises:
        InterplayError: If there are no choices, or if they allow fewer preferences.
    """
    declared = capability(game, "reward_space")
    choices = options.choices or (declared(game)["choices"] if declared is not None else {})
    if not choices:
        raise InterplayError(
            f"{game.id} comes without a reward space: give algorithm.options.preferences, or choices to draw them from"
        )
    if options.split not in (*SPLITS, "all"):
        raise InterplayError(f"algorithm.options.split: {options.split!r}; {', '.join(SPLITS)} or all")
    event_weights(game, {k: 0.0 for k in choices if k != TASK})
    generator = np.random.default_rng(seed)
    preferences: list[dict[str, float]] = []
    for _ in range(2000 * many):
        weights = {event: float(generator.choice(values)) for event, values in choices.items()}
        preference = {e: w for e, w in weights.items() if w or e == TASK}
        few = sum(e != TASK for e in preference) <= options.at_most
        if few and preference not in preferences and options.split in ("all", split_of(preference)):
            preferences.append(preference)
            if len(preferences) == many:
                return preferences
    raise InterplayError(
        f"algorithm.options.choices: they allow only {len(preferences)} different preferences of {many} (split: "
        f"{options.split})"
    )


def split_of(preference: Mapping[str, float]) -> str:
    """Return the half that a preference belongs to: `training` or `evaluation`.

    It goes by the signs of the events' weights alone, not by their size nor by the weight of the points.
    """
    weights = {event: w for event, w in preference.items() if w and event != TASK}
    signs = sorted(f"{event} {'+' if w > 0 else '-'}" for event, w in weights.items())
    return SPLITS[hashlib.sha256("|".join(signs).encode()).digest()[0] % 2]
