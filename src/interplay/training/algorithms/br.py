"""Best response to frozen partners."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training import checkpoint
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.scheme import Guests, Scheme
from interplay.training.seating import GUEST, Plan


@dataclass(frozen=True)
class Options:
    """Who the partners are."""

    partners: tuple[str, ...]  # checkpoints, folders of training runs (all their policies), or names of agents
    only: str | None = None  # of folders, only the policies of this learner, such as biased
    each: bool = False  # run r is the best response to partner r alone; otherwise each run learns with all of them
    tables: int = 0  # groups of environments, each with one partner at a time; 0: as many as partners, if envs allow


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max E_j J(π, π_j), the partners frozen."""
    options = build(Options, experiment.algorithm.options, "algorithm.options")
    agents = [a for name in options.partners for a in partners_of(name, options.only)]
    if options.each and len(agents) != experiment.runs:
        raise InterplayError(f"algorithm.options.each: {len(agents)} partners need as many runs, not {experiment.runs}")
    notes: list[dict[str, Any]] = [{} for _ in range(experiment.runs)]
    if options.each:
        notes = [{"partner": a.name} for a in agents]
    return best_response(experiment, agents, each=options.each, tables=options.tables, notes=notes, quiet=quiet)


def best_response(
    experiment: Experiment,
    agents: list[Agent],
    *,
    each: bool = False,
    tables: int = 0,
    redraw: str = "updates",
    assign: Any = None,
    stage: str = "",
    notes: Any = None,
    quiet: bool = False,
) -> Trained:
    """Train against these agents, who stay as they are. The learner takes every seat in turn."""
    game = make(experiment.game.name, **experiment.game.options)
    guests = Guests.of(game, agents, per_run=each)
    if redraw == "episode":  # a table for each environment, so that each has partners of its own
        tables = experiment.envs
    tables = tables or max(n for n in range(1, guests.number + 1) if experiment.envs % n == 0)
    plan = Plan(((0, *[GUEST] * (game.num_seats - 1)),) * tables, rotate=True)
    scheme = Scheme(plan, assign=assign, redraw=redraw)
    return train_stage(experiment, scheme, guests=guests, stage=stage, notes=notes, quiet=quiet)


def partners_of(name: str, only: str | None = None) -> list[Agent]:
    """The agent of a name, or the policies of a training run's folder: all, or those of one of its learners."""
    folder = Path(name)
    if (folder / checkpoint.MANIFEST).is_file():
        manifest = checkpoint.read_manifest(folder) or {}
        if not manifest.get("policies"):
            raise InterplayError(f"{folder} holds no policies yet: its training has not come to an end")
        found = [one for one in manifest["policies"] if only in (None, one["learner"])]
        if not found:
            names = ", ".join(sorted({repr(one["learner"]) for one in manifest["policies"]}))
            raise InterplayError(f"algorithm.options.only: {folder} has no {only!r}; its learners are {names}")
        return [agent(str(folder / one["file"])) for one in found]
    return [agent(name)]
