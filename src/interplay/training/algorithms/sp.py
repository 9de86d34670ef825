"""Self-play: one policy in all seats; or one policy a seat, trained together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.training.active_seat_game import ActiveSeatGame
from interplay.training.behaviour_rewards import HandoverRecorder, event_recorder_for
from interplay.training.config import Experiment
from interplay.training.loader import make_game, method_options
from interplay.training.method import Method
from interplay.training.reward_weights import RewardWeights
from interplay.training.run import Trained, train_stage
from interplay.training.team_assignment import TeamPlan


@dataclass(frozen=True)
class SPOptions:
    """Options of self-play."""

    by_turns: bool = False  # in a game by turns, only the seat to move is asked, judged and learnt from
    teaming: tuple[float, ...] = ()  # weight of hand-overs of each run (Overcooked); none: rewards.teaming in all


@dataclass(frozen=True, kw_only=True)
class SelfPlay(Method):
    """max J(π, π): one learner plays all seats, with PPO.

    With `by_turns`, a turn-based game has a single seat in training, that of whoever is to move.
    """

    by_turns: bool = False
    teaming: tuple[float, ...] = ()  # [run]; none: as the configuration says

    @classmethod
    def create(cls, experiment: Experiment, *, by_turns: bool = False, **fields: Any) -> Self:
        """Return self-play in the experiment's game; `fields` are those of a subclass.

        Raises:
            InterplayError: If the network cannot be trained by turns.
        """
        if not by_turns:
            return cls(plan=TeamPlan(((0,) * make_game(experiment).num_seats,)), **fields)
        network = experiment.network
        if network.critic != "own" or (network.recurrent and not (network.own_turns and network.shared_trunk)):
            raise InterplayError(
                "algorithm.options.by_turns: the critic sees its own view, and a network with memory remembers its own "
                "turns: set network.critic to own, network.own_turns and network.shared_trunk to true"
            )
        return cls(plan=TeamPlan(((0,),)), by_turns=True, **fields)

    def wrap_game(self, game: Game) -> Game:
        """Return the game, with `by_turns` as the seat to move plays it."""
        return ActiveSeatGame(game) if self.by_turns else game  # type: ignore[return-value] - by delegation

    def reward_weights(self, game: Game, experiment: Experiment) -> RewardWeights:
        """Return the weights of the configuration, with each run's own weight of hand-overs where there is one.

        Raises:
            InterplayError: If there are not as many weights as runs, or hand-overs are not recorded.
        """
        weights = super().reward_weights(game, experiment)
        if not self.teaming:
            return weights
        recorder = event_recorder_for(game, experiment.rewards)
        if not isinstance(recorder, HandoverRecorder):
            raise InterplayError("algorithm.options.teaming: set rewards.watch_teaming, so that hand-overs are seen")
        if len(self.teaming) != experiment.runs:
            raise InterplayError(f"algorithm.options.teaming: {len(self.teaming)} weights for {experiment.runs} runs")
        recorded = np.zeros((experiment.runs, 1, len(recorder.kinds)), np.float32)
        recorded[:, 0, recorder.kinds.index("teaming")] = self.teaming
        return replace(weights, recorded=jnp.asarray(recorded))

    def select_runs(self, runs: Sequence[int]) -> Self:
        """Return self-play for some of the runs, with their own weights of hand-overs."""
        return replace(self, teaming=tuple(self.teaming[run] for run in runs)) if self.teaming else self


def train(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> Trained:
    """Train self-play, one policy a run."""
    options = method_options(SPOptions, experiment)
    method = SelfPlay.create(experiment, by_turns=options.by_turns, teaming=tuple(options.teaming))
    notes = [{"teaming": price} for price in options.teaming] or None
    return train_stage(experiment, method, stage=stage, notes=notes, quiet=quiet)


@dataclass(frozen=True)
class SeparateOptions:
    """Options of separate policies."""

    rotate: bool = False  # whether the policies change seats from episode to episode


class SeparatePolicies(Method):
    """max J(π_1, ..., π_n): every seat has a learner of its own."""

    def learner_name(self, learner: int) -> str:
        """Return `seat0`, `seat1`, ..."""
        return f"seat{learner}"


def train_separate(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train one policy for each seat."""
    options = method_options(SeparateOptions, experiment)
    seats = make_game(experiment).num_seats
    plan = TeamPlan((tuple(range(seats)),), rotate=options.rotate)
    return train_stage(experiment, SeparatePolicies(plan), quiet=quiet)
