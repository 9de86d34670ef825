"""Best response to frozen partners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training import checkpoint
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.method import Guests, Method, by_difficulty
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.saved_stages import chosen_runs
from interplay.training.team_assignment import GUEST, TeamPlan


@dataclass(frozen=True)
class BROptions:
    """Who the partners are."""

    partners: tuple[str, ...]  # checkpoints, folders of training runs (all their policies), or names of agents
    only: str | None = None  # of folders, only the policies of this learner, such as biased
    each: bool = False  # run r is the best response to partner r alone; otherwise each run learns with all of them
    tables: int = 0  # groups of environments, each with one partner at a time; 0: as many as partners, if envs allow
    met_states: float = 0.0  # share of the groups whose episodes begin in states that partners met without the learner


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max E_j J(π, π_j), the partners frozen."""
    options = build(BROptions, experiment.algorithm.options, "algorithm.options")
    agents = [a for name in options.partners for a in partners_of(name, options.only)]
    if options.each and len(agents) != experiment.runs:
        raise InterplayError(f"algorithm.options.each: {len(agents)} partners need as many runs, not {experiment.runs}")
    own = [[a] for a in agents] if options.each else None
    notes = [{"partner": a.name} for a in agents] if options.each else None
    return best_response(
        experiment, own or agents, tables=options.tables, met_states=options.met_states, notes=notes, quiet=quiet
    )


def best_response(
    experiment: Experiment,
    partners: Sequence[Agent] | Sequence[Sequence[Agent]],
    *,
    tables: int = 0,
    redraw: str = "updates",
    priority: Sequence[float] = (),
    met_states: float = 0.0,
    members: Any = None,
    stage: str = "",
    notes: Sequence[Mapping[str, Any]] | None = None,
    quiet: bool = False,
) -> Trained:
    """Train against partners who stay as they are. The learner takes every seat in turn.

    Args:
        experiment: The training run; its `runs` are learners.
        partners: Agents that all runs learn with, or for each run a list of its own.
        tables: Groups of environments with one partner at a time; 0: as many as partners, if `envs` allows.
        redraw: When partners change: after some `updates`, or with every `episode`.
        priority: For each run the power of the rank of difficulty by which partners are drawn; none: all alike.
        met_states: Share of the groups whose episodes begin in states that partners have met among themselves, in
            groups of environments that are added for it; 0: every episode begins as the game does.
        members: Networks to begin with, [run, 1, ...].
        stage: Folder below the run's own, for methods of several stages.
        notes: Plain values about each run, for its policy's file.
        quiet: No progress on standard error.
    """
    game = make(experiment.game.name, **experiment.game.options)
    own = bool(partners) and not isinstance(partners[0], Agent)
    guests = Guests.by_run(game, partners) if own else Guests.of(game, partners)  # type: ignore[arg-type]
    if redraw == "episode":  # a table for each environment, so that each has partners of its own
        tables = experiment.envs
    fitting = [n for n in range(1, guests.number + 1) if experiment.envs % (n + round(met_states * n)) == 0]
    plan, origins = seating(game.num_seats, tables or max(fitting, default=1), met_states)
    scheme = Method(
        plan,
        assign=by_difficulty if any(priority) else None,
        priority=tuple(map(float, priority)),
        redraw=redraw,
        origins=origins,
    )
    return train_stage(experiment, scheme, guests=guests, members=members, stage=stage, notes=notes, quiet=quiet)


def seating(seats: int, tables: int, met_states: float = 0.0) -> tuple[TeamPlan, tuple[int, ...] | None]:
    """Tables of the learner with partners, and where their episodes begin.

    With `met_states` this share of the tables begins in states of further tables, at which partners play without the
    learner. What is logged are whole episodes.
    """
    if not 0 <= met_states <= 1:
        raise InterplayError(f"met_states: {met_states}; a share of the tables, from 0 to 1")
    company, others = (0, *[GUEST] * (seats - 1)), (GUEST,) * seats
    resumed = round(met_states * tables)
    if not resumed:
        return TeamPlan((company,) * tables, rotate=True), None
    if resumed == tables:
        raise InterplayError(f"met_states: {met_states} of {tables} tables leaves none that begins as the game does")
    plan = TeamPlan(
        (company,) * tables + (others,) * resumed,
        rotate=True,
        scored=(True,) * (tables - resumed) + (False,) * 2 * resumed,
    )
    return plan, (-1,) * (tables - resumed) + tuple(range(tables, tables + resumed)) + (-1,) * resumed


def partners_of(name: str, only: str | None = None) -> list[Agent]:
    """The agent of a name, or the policies of a training run's folder.

    Args:
        name: Of an agent; or a folder, of which `FOLDER#3-7` are the runs 3 to 7 alone.
        only: Of folders, only the policies of this learner.
    """
    folder, runs = chosen_runs(name)
    if (folder / checkpoint.MANIFEST).is_file():
        manifest = checkpoint.read_manifest(folder) or {}
        if not manifest.get("policies"):
            raise InterplayError(f"{folder} holds no policies yet: its training has not come to an end")
        found = [one for one in manifest["policies"] if only in (None, one["learner"])]
        if not found:
            names = ", ".join(sorted({repr(one["learner"]) for one in manifest["policies"]}))
            raise InterplayError(f"algorithm.options.only: {folder} has no {only!r}; its learners are {names}")
        found = [one for one in found if runs is None or one["run"] in runs]
        if not found:
            raise InterplayError(f"{name}: none of these runs has a policy")
        return [_from_run(folder, one) for one in found]
    return [agent(name)]


def _from_run(folder: Path, one: Mapping[str, Any]) -> Agent:
    """A policy of a run. If several methods were trained in it, it is called by its own, such as fcp-1."""
    found = agent(str(folder / one["file"]))
    return replace(found, name=f"{one['algorithm']}-{one['ego'] + 1}") if "ego" in one else found
