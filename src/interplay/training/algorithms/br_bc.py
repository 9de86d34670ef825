"""Best response to clones of people: self-play at first, and ever more games with a clone that does not learn.

At the start of each game every seat but one is taken by the clone with odds that rise while the learner learns, so with
three players there are games with no clone, with one and with two. The clone samples. Only the learner's seats are
learnt from, and advantages are normalised over these alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training.algorithms.br import partners_of
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.method import Guests, Method
from interplay.training.partner_substitution import StandIns
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.schedule import Schedule
from interplay.training.team_assignment import TeamPlan


@dataclass(frozen=True)
class BRBCOptions:
    """Who the clones are, and how often they are met."""

    partners: tuple[str, ...]  # checkpoints, or folders of training runs; each is met in as many environments
    odds: Schedule = ((0.0, 0.0), (0.1, 0.0), (0.6, 1.0))  # that a seat is a clone's, by the share of the budget

    def __post_init__(self) -> None:
        if any(not 0 <= value <= 1 for _, value in self.odds):
            raise InterplayError(f"algorithm.options.odds: {self.odds}; odds are from 0 to 1")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max (1 - p) J(π, π) + p J(π, BC), p rising from 0 to 1."""
    options = build(BRBCOptions, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    agents = [a for name in options.partners for a in partners_of(name)]
    guests = Guests.of(game, agents)
    scheme = Method(TeamPlan(((0,) * game.num_seats,), rotate=True), stand_ins=StandIns(options.odds))
    notes = [{"partners": [a.name for a in agents]}] * experiment.runs
    return train_stage(experiment, scheme, guests=guests, notes=notes, quiet=quiet)
