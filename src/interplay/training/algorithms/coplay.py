"""Co-play: egos that learn with frozen populations, each with its own; of one method, or of several side by side.

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
from interplay.training.algorithms.br import best_response
from interplay.training.config import Algorithm, Experiment
from interplay.training.loader import build
from interplay.training.run import Trained
from interplay.trust import import_object

METHODS = ("fcp", "mep", "trajedi", "hsp")  # each a module beside this one, with `populations`


@dataclass(frozen=True)
class Population:
    """The frozen partners of one ego."""

    agents: Sequence[Agent]
    priority: float = 0.0  # they are drawn by (rank of difficulty) ** priority
    notes: Mapping[str, Any] = field(default_factory=dict)  # plain values about them, for the ego's file


Populations = Callable[..., list[Population]]  # (experiment, stage, quiet) -> one for each run


@dataclass(frozen=True)
class EgoOptions:
    """How egos meet their partners."""

    tables: int = 0  # groups of environments, each with one partner at a time; 0: as many as partners, if envs allow
    met_states: float = 0.0  # share of the groups whose episodes begin in states that partners met without the ego


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
    """Egos of several methods: `runs` of each, the first method's first. Their files say whose they are."""
    options = build(CoplayOptions, experiment.algorithm.options, "algorithm.options")
    found: list[Population] = []
    for name, given in options.methods.items():
        populations = import_object(f"interplay.training.algorithms.{name}:populations")
        own = replace(experiment, algorithm=Algorithm(name, given))
        for number, one in enumerate(populations(own, stage=f"{name}/", quiet=quiet)):
            found.append(replace(one, notes={"algorithm": name + options.suffix, "ego": number, **one.notes}))
    return egos(replace(experiment, runs=len(found)), found, options, quiet=quiet)


def egos(
    experiment: Experiment,
    populations: Sequence[Population],
    options: EgoOptions,
    *,
    redraw: str = "updates",
    quiet: bool = False,
) -> Trained:
    """max E_j J(π, π_j) over each run's own population; a smaller one is filled up by meeting its first ones twice."""
    most = max(len(one.agents) for one in populations)
    agents = [[one.agents[i % len(one.agents)] for i in range(most)] for one in populations]
    return best_response(
        experiment,
        agents,
        tables=options.tables,
        met_states=options.met_states,
        redraw=redraw,
        priority=[one.priority for one in populations],
        notes=[dict(one.notes) for one in populations],
        quiet=quiet,
    )


# --- populations


def dealt(trained: Trained, runs: int, *, shared: bool = False, where: str = "") -> list[list[tuple[int, int]]]:
    """The members of a trained population by (run, learner), dealt to egos: each has as many of its own, in order.

    Dead members, and those whose weights are no numbers, are left out. With `shared`, every ego has all of them.

    Raises:
        InterplayError: if there are fewer members than egos.
    """
    members = sound(trained)
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


def dead_among(trained: Trained, members: Sequence[tuple[int, int]], experiment: Experiment) -> dict[str, int]:
    """How many of these members end below what an ego of the experiment has to score; nothing, if nothing is asked."""
    least = experiment.gate.least_return
    if least is None:
        return {}
    returns = trained.returns()
    return {"dead_members": sum(not returns[member] >= least for member in members)}


def three_skills(trained: Trained, members: Sequence[tuple[int, int]] | None = None) -> list[Agent]:
    """Of members (none named: all): the first policy, the one whose return came nearest to half of the last, the last.

    Raises:
        InterplayError: if the population was trained without snapshots.
    """
    if len(trained.snapshots) < 3:
        raise InterplayError("three skills of a population need its snapshots; train it with snapshots, 1 or more")
    return [
        trained.agent(run, learner, snapshot=which)
        for run, learner in (sound(trained) if members is None else members)
        for which in (0, half_skilled(trained, run, learner), len(trained.snapshots) - 1)
    ]


def taken_at(
    trained: Trained, shares: Sequence[float], members: Sequence[tuple[int, int]] | None = None
) -> list[Agent]:
    """Of members (none named: all): the policies at the snapshots nearest to these shares of its training, which the
    clock may have ended early."""
    if not trained.snapshots:
        raise InterplayError("checkpoints of a population need its snapshots; train it with snapshots, 1 or more")
    updates = np.array([s.update for s in trained.snapshots])
    nearest = [int(np.argmin(np.abs(updates - share * updates[-1]))) for share in shares]
    wanted = sound(trained) if members is None else members
    return [trained.agent(*member, snapshot=which) for member in wanted for which in dict.fromkeys(nearest)]


def sound(trained: Trained) -> list[tuple[int, int]]:
    """The members, by run and learner, that are alive and whose weights are numbers."""
    fine = np.ones(trained.returns().shape, bool)
    fine[list(trained.dead)] = False
    for leaf in jax.tree_util.tree_leaves(trained.members.policy):
        fine &= np.all(np.isfinite(np.asarray(leaf)), axis=tuple(range(2, leaf.ndim)))
    if not fine.any():
        raise InterplayError("the weights of no member of the population are numbers; lower the learning rate")
    return [(int(run), int(learner)) for run, learner in np.argwhere(fine)]


def half_skilled(trained: Trained, run: int, learner: int = 0) -> int:
    """The number of the snapshot whose return is nearest to half of the last; the middle one if none is known."""
    half = trained.returns()[run, learner] / 2
    returns = np.array([s.returns[run][learner] for s in trained.snapshots], float)  # None becomes NaN
    distance = np.abs(returns - half)
    between = slice(1, max(2, len(distance) - 1))  # neither the first nor the last
    if np.all(np.isnan(distance[between])):
        return len(distance) // 2
    return 1 + int(np.nanargmin(distance[between]))
