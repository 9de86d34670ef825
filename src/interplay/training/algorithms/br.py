"""Best response to frozen partners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray, PyTree

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.training import checkpoint
from interplay.training.config import Experiment
from interplay.training.frozen_partners import FrozenPartners, PartnerAssignment, PartnerStats, sample_by_difficulty
from interplay.training.loader import make_game, method_options
from interplay.training.method import Method
from interplay.training.run import Trained, train_stage
from interplay.training.saved_stages import parse_run_range
from interplay.training.stage_state import RolloutWorld, TrainingSetup
from interplay.training.team_assignment import PARTNER, TeamPlan


@dataclass(frozen=True)
class BROptions:
    """Options of a best response."""

    partners: tuple[str, ...]  # checkpoints, folders of training runs (all their policies), or names of agents
    only: str | None = None  # of folders, only the policies of this learner, such as biased
    each: bool = False  # run r is the best response to partner r alone; otherwise each run learns with all of them
    tables: int = 0  # groups of environments, each with one partner at a time; 0: as many as partners, if envs allow
    met_states: float = 0.0  # share of the groups whose episodes begin in states that partners met without the learner


@dataclass(frozen=True, kw_only=True)
class BestResponse(Method):
    """max E_j J(π, π_j) over frozen partners π_j; the learner takes every seat in turn.

    Partners change after an episode's length of updates. With `priority` those with a low return are more frequent.
    """

    priority: tuple[float, ...] = ()  # [run] power of the rank of difficulty; none: all partners alike

    def select_runs(self, runs: Sequence[int]) -> Self:
        """Return the method with the priorities of these runs."""
        return replace(self, priority=tuple(self.priority[run] for run in runs) if self.priority else ())

    def new_stats(self, setup: TrainingSetup, run: Array) -> PartnerStats:
        """Return empty statistics with the run's priority."""
        stats = super().new_stats(setup, run)
        return replace(stats, priority=jnp.asarray(self.priority, jnp.float32)[run]) if self.priority else stats

    def assign_partners(self, key: PRNGKeyArray, stats: PartnerStats) -> PartnerAssignment:
        """Sample partners by difficulty if there are priorities, else alike."""
        return sample_by_difficulty(self.plan, key, stats) if self.priority else super().assign_partners(key, stats)


class EpisodeBestResponse(BestResponse):
    """A best response whose partners change with every episode; each table is one environment."""

    redraws_partners = False  # type: ignore[assignment] - a constant

    def check(self, setup: TrainingSetup) -> None:
        """Check that each table is one environment, and that values do not read the partner's number."""
        per_table = self.plan.envs_per_table(setup.experiment.envs)
        if per_table != 1 or setup.experiment.network.critic_knows_partner:
            raise InterplayError(
                f"partners can change with every episode only at tables of one environment (here {per_table}), and "
                f"values cannot be told who they are: leave network.critic_knows_partner at false"
            )

    def draw_randomness(self, setup: TrainingSetup, key: PRNGKeyArray, steps: int, progress: Array) -> dict[str, Array]:
        """Draw the partners of the episodes that may begin at each step."""
        assert setup.partners is not None
        places = (steps, len(self.plan.partner_slots))
        return {"partners": jax.random.randint(jax.random.fold_in(key, 3), places, 0, setup.partners.number)}

    def on_episode_end(self, world: RolloutWorld, done: Array, randomness: dict[str, Array]) -> dict[str, Any]:
        """Replace the partners where an episode ended."""
        ended = done[self.plan.partner_slots // self.plan.roles]  # a table is one environment
        return {"partners": jnp.where(ended, randomness["partners"], world.partners)}

    def update_stats(self, setup: TrainingSetup, stats: PartnerStats, partners: Array, finished: Any) -> PartnerStats:
        """Return the statistics as they are: a rollout does not say which partner finished an episode."""
        return stats


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train best responses to the partners of the options."""
    options = method_options(BROptions, experiment)
    agents = [a for name in options.partners for a in load_partners(name, options.only)]
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
    method: type[BestResponse] = BestResponse,
    tables: int = 0,
    priority: Sequence[float] = (),
    met_states: float = 0.0,
    members: PyTree = None,
    notes: Sequence[Mapping[str, Any]] | None = None,
    quiet: bool = False,
) -> Trained:
    """Train against partners who stay as they are.

    Args:
        experiment: The training run; its `runs` are learners.
        partners: Agents that all runs learn with, or for each run a list of its own.
        method: When partners change.
        tables: Groups of environments with one partner at a time; 0: as many as partners, if `envs` allows.
        priority: For each run the power of the rank of difficulty by which partners are drawn; none: all alike.
        met_states: Share of the groups whose episodes begin in states that partners have met among themselves, in
            groups of environments that are added for it; 0: every episode begins as the game does.
        members: Networks to begin with, [run, 1, ...].
        notes: Plain values about each run, for its policy's file.
        quiet: No progress on standard error.
    """
    game = make_game(experiment)
    if partners and not isinstance(partners[0], Agent):
        frozen = FrozenPartners.from_populations(game, partners)  # type: ignore[arg-type]
    else:
        frozen = FrozenPartners.from_agents(game, partners)  # type: ignore[arg-type]
    if issubclass(method, EpisodeBestResponse):
        tables = experiment.envs
    fitting = [n for n in range(1, frozen.number + 1) if experiment.envs % (n + round(met_states * n)) == 0]
    plan = best_response_plan(game.num_seats, tables or max(fitting, default=1), met_states)
    priorities = tuple(map(float, priority)) if any(priority) else ()
    chosen = method(plan, priority=priorities)
    return train_stage(experiment, chosen, partners=frozen, members=members, notes=notes, quiet=quiet)


def best_response_plan(seats: int, tables: int, met_states: float = 0.0) -> TeamPlan:
    """Return tables of the learner with partners.

    Args:
        seats: Of the game.
        tables: At which the learner plays.
        met_states: Share of them whose episodes begin in states of further tables, at which partners play without the
            learner. What is logged are whole episodes.

    Raises:
        InterplayError: If no table would begin as the game does.
    """
    if not 0 <= met_states <= 1:
        raise InterplayError(f"met_states: {met_states}; a share of the tables, from 0 to 1")
    team, others = (0, *[PARTNER] * (seats - 1)), (PARTNER,) * seats
    resumed = round(met_states * tables)
    if not resumed:
        return TeamPlan((team,) * tables, rotate=True)
    if resumed == tables:
        raise InterplayError(f"met_states: {met_states} of {tables} tables leaves none that begins as the game does")
    return TeamPlan(
        (team,) * tables + (others,) * resumed,
        rotate=True,
        scored=(True,) * (tables - resumed) + (False,) * 2 * resumed,
        start_from=(-1,) * (tables - resumed) + tuple(range(tables, tables + resumed)) + (-1,) * resumed,
    )


def load_partners(name: str, only: str | None = None) -> list[Agent]:
    """Return the agent of a name, or the policies of a training run's folder.

    Args:
        name: Of an agent; or a folder, of which `FOLDER#3-7` are the runs 3 to 7 alone.
        only: Of folders, only the policies of this learner.

    Raises:
        InterplayError: If the folder has no such policies.
    """
    folder, runs = parse_run_range(name)
    if not (folder / checkpoint.MANIFEST).is_file():
        return [agent(name)]
    manifest = checkpoint.read_manifest(folder) or {}
    if not manifest.get("policies"):
        raise InterplayError(f"{folder} holds no policies yet: its training has not come to an end")
    policies = [one for one in manifest["policies"] if only in (None, one["learner"])]
    if not policies:
        names = ", ".join(sorted({repr(one["learner"]) for one in manifest["policies"]}))
        raise InterplayError(f"algorithm.options.only: {folder} has no {only!r}; its learners are {names}")
    policies = [one for one in policies if runs is None or one["run"] in runs]
    if not policies:
        raise InterplayError(f"{name}: none of these runs has a policy")
    return [_policy_of_run(folder, one) for one in policies]


def _policy_of_run(folder: Path, one: Mapping[str, Any]) -> Agent:
    """Return a policy of a run; if several methods were trained in it, it is named after its own, such as fcp-1."""
    policy = agent(str(folder / one["file"]))
    return replace(policy, name=f"{one['algorithm']}-{one['ego'] + 1}") if "ego" in one else policy
