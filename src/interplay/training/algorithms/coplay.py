"""Egos that learn with frozen populations, each with its own; of one method, or of several side by side.

Stage 2 of FCP, MEP, TrajeDi and HSP is the same training: a best response to a population. So egos of all of them can
be the runs of one compiled program, which uses a GPU better than one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import numpy as np

from interplay.agents.api import Agent
from interplay.errors import InterplayError
from interplay.training.algorithms.br import BestResponse, best_response
from interplay.training.config import Algorithm, Experiment, Gate
from interplay.training.loader import method_options
from interplay.training.run import Trained
from interplay.training.saved_stages import load_stage
from interplay.trust import import_object

METHODS = ("fcp", "mep", "trajedi", "hsp")  # each a module beside this one, with `populations`


@dataclass(frozen=True)
class Population:
    """The frozen partners of one ego."""

    agents: Sequence[Agent]
    priority: float = 0.0  # they are sampled by (rank of difficulty) ** priority
    notes: Mapping[str, Any] = field(default_factory=dict)  # plain values about them, for the ego's file


@dataclass(frozen=True)
class EgoOptions:
    """How egos play with their partners."""

    tables: int = 0  # groups of environments, each with one partner at a time; 0: as many as partners, if envs allow
    met_states: float = 0.0  # share of the groups whose episodes begin in states that partners met without the ego


@dataclass(frozen=True)
class PopulationOptions(EgoOptions):
    """A population whose members are trained side by side (MEP, TrajeDi)."""

    population: int = 4  # members, trained side by side; every ego has a population of its own
    population_steps: float = 1e7  # environment steps of each member
    population_envs: int = 64  # environments of each member
    population_from: str | None = None  # folder of trained populations to take instead; members are dealt to egos
    shared: bool = False  # all egos learn with one population
    snapshots: int = 20  # how many times on the way a half-skilled partner could be taken from


@dataclass(frozen=True)
class CoplayOptions(EgoOptions):
    """Several methods in one program."""

    methods: Mapping[str, Any] = field(default_factory=dict)  # method -> its own options
    suffix: str = ""  # of the methods' names in the egos' files, for a variant: fcp_gru

    def __post_init__(self) -> None:
        unknown = [name for name in self.methods if name not in METHODS]
        if unknown or not self.methods:
            raise InterplayError(f"algorithm.options.methods: {', '.join(unknown) or 'none'}; of {', '.join(METHODS)}")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train egos of several methods: `runs` of each, the first method's first. Their files say whose they are."""
    options = method_options(CoplayOptions, experiment)
    all_populations: list[Population] = []
    for name, settings in options.methods.items():
        populations = import_object(f"interplay.training.algorithms.{name}:populations")
        own = replace(experiment, algorithm=Algorithm(name, settings))
        for number, one in enumerate(populations(own, stage=f"{name}/", quiet=quiet)):
            notes = {"algorithm": name + options.suffix, "ego": number, **one.notes}
            all_populations.append(replace(one, notes=notes))
    return train_egos(replace(experiment, runs=len(all_populations)), all_populations, options, quiet=quiet)


def train_egos(
    experiment: Experiment,
    populations: Sequence[Population],
    options: EgoOptions,
    *,
    method: type[BestResponse] = BestResponse,
    quiet: bool = False,
) -> Trained:
    """Train max E_j J(π, π_j) over each run's own population; smaller ones are filled up by repeating members."""
    most = max(len(one.agents) for one in populations)
    agents = [[one.agents[i % len(one.agents)] for i in range(most)] for one in populations]
    return best_response(
        experiment,
        agents,
        method=method,
        tables=options.tables,
        met_states=options.met_states,
        priority=[one.priority for one in populations],
        notes=[dict(one.notes) for one in populations],
        quiet=quiet,
    )


# Populations


def population_experiment(experiment: Experiment, runs: int, steps: float, snapshots: int) -> Experiment:
    """Return the experiment that trains a population: members without memory, as many runs as members.

    No member has to pass the gate, since some are rewarded for something else than the score.
    """
    return replace(
        experiment,
        runs=runs,
        first_run=0,
        steps=steps,
        network=replace(experiment.network, recurrent=0, critic_knows_partner=False),
        output=replace(experiment.output, snapshots=snapshots),
        algorithm=replace(experiment.algorithm, options={}),
        ppo=replace(experiment.ppo, chunk=0),
        gate=Gate(),
    )


def deal_members(trained: Trained, runs: int, *, shared: bool = False, where: str = "") -> list[list[tuple[int, int]]]:
    """Return the members of a trained population, by (run, learner), that each ego plays with.

    Each has as many of its own, in order. Members that failed the gate, or whose weights are not finite, are left out.

    Args:
        trained: The population.
        runs: Number of egos.
        shared: Whether every ego has all members.
        where: What the population was read from, for errors.

    Raises:
        InterplayError: If there are fewer members than egos.
    """
    members = finite_members(trained)
    if shared:
        return [members] * runs
    share = trained.returns().size // runs
    if not share:
        raise InterplayError(
            f"algorithm.options.population_from: {where or 'it'} has {len(members)} members for {runs} runs, each of "
            f"which learns with members of its own; train more, or set shared to true"
        )
    places = list(np.ndindex(*trained.returns().shape))
    own = [[m for m in places[run * share : (run + 1) * share] if m in members] for run in range(runs)]
    return [mine or members[:share] for mine in own]


def load_or_train(
    experiment: Experiment, options: PopulationOptions, train: Callable[..., Trained], **more: Any
) -> Trained:
    """Return a population for each run (or one for all) from its folder, or train it.

    Args:
        experiment: Of the egos.
        options: Where the population is read from, and whether egos share it.
        train: (experiment, options, runs, stage, quiet) -> populations, one a run.
        more: `stage`, the folder of the population's own below the run's, and `quiet`.
    """
    if options.population_from is not None:
        return load_stage(options.population_from, experiment)
    return train(experiment, options, runs=1 if options.shared else experiment.runs, **more)


def skilled_populations(
    trained: Trained, experiment: Experiment, options: PopulationOptions, priority: float = 0.0
) -> list[Population]:
    """Return the partners of each ego: members of its own at three levels of skill."""
    members = deal_members(trained, experiment.runs, shared=options.shared, where=str(options.population_from))
    return [
        Population(three_skill_levels(trained, own), priority, dead_members(trained, own, experiment))
        for own in members
    ]


def dead_members(trained: Trained, members: Sequence[tuple[int, int]], experiment: Experiment) -> dict[str, int]:
    """Return how many of these members end below the experiment's gate, as a note; nothing without a gate."""
    least = experiment.gate.least_return
    if least is None:
        return {}
    returns = trained.returns()
    return {"dead_members": sum(not returns[member] >= least for member in members)}


def three_skill_levels(trained: Trained, members: Sequence[tuple[int, int]] | None = None) -> list[Agent]:
    """Return of each member the first policy, the one with about half of the last return, and the last.

    Args:
        trained: A population with snapshots.
        members: Some of its members; None: all.

    Raises:
        InterplayError: If the population was trained without snapshots.
    """
    if len(trained.snapshots) < 3:
        raise InterplayError("three skills of a population need its snapshots; train it with snapshots, 1 or more")
    return [
        trained.agent(run, learner, snapshot=which)
        for run, learner in (finite_members(trained) if members is None else members)
        for which in (0, half_skilled(trained, run, learner), len(trained.snapshots) - 1)
    ]


def policies_at(
    trained: Trained, shares: Sequence[float], members: Sequence[tuple[int, int]] | None = None
) -> list[Agent]:
    """Return of each member the policies at the snapshots nearest to these shares of its training.

    Args:
        trained: A population with snapshots. A time limit may have ended its training early.
        shares: From 0 to 1.
        members: Some of its members; None: all.

    Raises:
        InterplayError: If the population was trained without snapshots.
    """
    if not trained.snapshots:
        raise InterplayError("checkpoints of a population need its snapshots; train it with snapshots, 1 or more")
    updates = np.array([s.update for s in trained.snapshots])
    nearest = [int(np.argmin(np.abs(updates - share * updates[-1]))) for share in shares]
    wanted = finite_members(trained) if members is None else members
    return [trained.agent(*member, snapshot=which) for member in wanted for which in dict.fromkeys(nearest)]


def finite_members(trained: Trained) -> list[tuple[int, int]]:
    """Return the members, by run and learner, that passed the gate and whose weights are finite.

    Raises:
        InterplayError: If there are none.
    """
    fine = np.ones(trained.returns().shape, bool)
    fine[list(trained.dead)] = False
    for leaf in jax.tree.leaves(trained.members.policy):
        fine &= np.all(np.isfinite(np.asarray(leaf)), axis=tuple(range(2, leaf.ndim)))
    if not fine.any():
        raise InterplayError("the weights of no member of the population are numbers; lower the learning rate")
    return [(int(run), int(learner)) for run, learner in np.argwhere(fine)]


def half_skilled(trained: Trained, run: int, learner: int = 0) -> int:
    """Return the number of the snapshot whose return is nearest to half of the last; the middle if none is known."""
    half = trained.returns()[run, learner] / 2
    returns = np.array([s.returns[run][learner] for s in trained.snapshots], float)  # None becomes NaN
    distance = np.abs(returns - half)
    between = slice(1, max(2, len(distance) - 1))  # neither the first nor the last
    if np.all(np.isnan(distance[between])):
        return len(distance) // 2
    return 1 + int(np.nanargmin(distance[between]))
