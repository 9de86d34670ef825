"""Fictitious co-play (Strouse et al., 2021, Collaborating with Humans without Human Data).

    Stage 1: self-play with several seeds
    Stage 2: max E_j J(π, π_j) over the first, half-skilled and last policies π_j of all seeds

The half-skilled policy is the snapshot whose return is nearest to half of the last one, as in the paper. Every ego has
a population of its own unless `shared`, so that the spread over egos includes that over populations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from interplay.errors import InterplayError
from interplay.training.algorithms import coplay, sp
from interplay.training.algorithms.br import BestResponse, EpisodeBestResponse
from interplay.training.config import Experiment
from interplay.training.loader import method_options
from interplay.training.run import Trained
from interplay.training.saved_stages import load_stage


@dataclass(frozen=True)
class FCPOptions(coplay.EgoOptions):
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
        if self.redraw not in ("updates", "episode"):
            raise InterplayError(f"algorithm.options.redraw: {self.redraw!r}; updates or episode")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train both stages, an ego a run."""
    options = method_options(FCPOptions, experiment)
    method = EpisodeBestResponse if options.redraw == "episode" else BestResponse
    return coplay.train_egos(experiment, populations(experiment, quiet=quiet), options, method=method, quiet=quiet)


def populations(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> list[coplay.Population]:
    """Train or read stage 1, and return the partners of each ego."""
    options = method_options(FCPOptions, experiment)
    if options.population_from is not None:
        trained = load_stage(options.population_from, experiment)
    else:
        runs = options.population * (1 if options.shared else experiment.runs)
        smaller = coplay.population_experiment(experiment, runs, options.population_steps, options.snapshots)
        smaller = replace(smaller, gate=experiment.gate)  # every member is a run, and has to pass
        trained = sp.train(smaller, stage=f"{stage}population", quiet=quiet)
    result = []
    for members in coplay.deal_members(
        trained, experiment.runs, shared=options.shared, where=str(options.population_from)
    ):
        if options.checkpoints:
            agents = coplay.policies_at(trained, options.checkpoints, members)
        else:
            agents = coplay.three_skill_levels(trained, members)
        result.append(coplay.Population(agents, notes={"members": [run for run, _ in members]}))
    return result
