"""Fictitious co-play: a best response to self-play agents of several seeds and three levels of skill."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from interplay.errors import InterplayError
from interplay.training.algorithms import sp
from interplay.training.algorithms.coplay import EgoOptions, Population, dealt, egos, taken_at, three_skills
from interplay.training.config import Experiment, Gate, Output
from interplay.training.loader import build
from interplay.training.run import Trained
from interplay.training.saved_stages import reopened


@dataclass(frozen=True)
class FCPOptions(EgoOptions):
    """The population that an ego learns with."""

    population: int = 4  # seeds of self-play for each ego, which give three partners each
    population_steps: float = 1e7  # environment steps of each
    population_from: str | None = None  # folder of a trained population to take instead; its members are dealt to egos
    shared: bool = False  # all egos learn with all members; the spread of seeds is then without that of populations
    snapshots: int = 20  # how many times on the way a half-skilled partner could be taken from
    redraw: str = "updates"  # or episode: every environment and seat has a new partner in every episode
    checkpoints: tuple[float, ...] = ()  # shares of the population's training that give partners; none: 3 skills

    def __post_init__(self) -> None:
        if any(not 0 <= share <= 1 for share in self.checkpoints):
            raise InterplayError(f"algorithm.options.checkpoints: {self.checkpoints}; shares are from 0 to 1")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Stage 1: seeds of self-play. Stage 2: max E_j J(π, π_j) over their first, half-skilled and last policies."""
    options = build(FCPOptions, experiment.algorithm.options, "algorithm.options")
    return egos(experiment, populations(experiment, quiet=quiet), options, redraw=options.redraw, quiet=quiet)


def populations(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> list[Population]:
    """The partners of each ego."""
    options = build(FCPOptions, experiment.algorithm.options, "algorithm.options")
    runs = experiment.runs
    if options.population_from is not None:
        trained = reopened(options.population_from, experiment)
    else:
        many = options.population * (1 if options.shared else runs)
        smaller = stage_one(experiment, many, options.population_steps, options.snapshots)
        smaller = dataclasses.replace(smaller, gate=experiment.gate)  # every member is a run, and has to be alive
        trained = sp.train(smaller, stage=f"{stage}population", quiet=quiet)
    found = []
    for members in dealt(trained, runs, shared=options.shared, where=str(options.population_from)):
        taken = taken_at(trained, options.checkpoints, members) if options.checkpoints else None
        found.append(Population(taken or three_skills(trained, members), notes={"members": [r for r, _ in members]}))
    return found


def stage_one(experiment: Experiment, runs: int, steps: float, snapshots: int) -> Experiment:
    """The experiment that trains the population: members without memory, told of nobody, as many runs as members. None
    has to score: what a member is paid for may be something else."""
    network = dataclasses.replace(experiment.network, recurrent=0, critic_knows_partner=False)
    output: Output = dataclasses.replace(experiment.output, snapshots=snapshots)
    algorithm = dataclasses.replace(experiment.algorithm, options={})
    ppo = dataclasses.replace(experiment.ppo, chunk=0)
    return dataclasses.replace(
        experiment,
        runs=runs,
        first_run=0,
        steps=steps,
        network=network,
        output=output,
        algorithm=algorithm,
        ppo=ppo,
        gate=Gate(),
    )
