"""Self-play: one policy in all seats; or one policy a seat, trained together."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training.active_seats import Movers
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.method import Method
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.team_assignment import TeamPlan


@dataclass(frozen=True)
class SPOptions:
    """How self-play is gone through."""

    by_turns: bool = False  # in a game by turns, only the seat to move is asked, judged and learnt from


def scheme(experiment: Experiment, *, by_turns: bool = False) -> Method:
    if by_turns:
        network = experiment.network
        if network.critic != "own" or (network.recurrent and not (network.own_turns and network.shared_trunk)):
            raise InterplayError(
                "algorithm.options.by_turns: the critic sees its own view, and a network with memory remembers its own "
                "turns: set network.critic to own, network.own_turns and network.shared_trunk to true"
            )
        return Method(TeamPlan(((0,),)), world=Movers)
    seats = make(experiment.game.name, **experiment.game.options).num_seats
    return Method(TeamPlan(((0,) * seats,)))


def train(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> Trained:
    """max J(π, π)."""
    options = build(SPOptions, experiment.algorithm.options, "algorithm.options")
    return train_stage(experiment, scheme(experiment, by_turns=options.by_turns), stage=stage, quiet=quiet)


@dataclass(frozen=True)
class SeparateOptions:
    """A policy for each seat."""

    rotate: bool = False  # whether the policies change seats from episode to episode


def train_separate(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max J(π_1, ..., π_n): every seat learns a policy of its own."""
    options = build(SeparateOptions, experiment.algorithm.options, "algorithm.options")
    seats = make(experiment.game.name, **experiment.game.options).num_seats
    plan = TeamPlan((tuple(range(seats)),), rotate=options.rotate)
    names = tuple(f"seat{s}" for s in range(seats))
    return train_stage(experiment, Method(plan, names=names), quiet=quiet)
