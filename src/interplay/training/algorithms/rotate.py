"""ROTATE (Wang et al., 2025, ROTATE: Regret-driven Open-ended Training for Ad Hoc Teamwork).

In every iteration a teammate and its best response are trained against the ego as it is: the teammate looks for states
in which its best response would reach much more than the ego. It joins the buffer, and the ego learns with all of it.
The teammate's objective is regret at every state, not at the start alone:

    with the ego       ω V_BR(s) - G_ego   at states that the ego comes to
    with its response  ω G_BR - V_ego(s)   at states that the response comes to
    with its response  G_BR                from states that the ego came to

Without the last part a teammate could earn regret by sabotage wherever it recognises the ego. V_BR and V_ego are values
of the teammate's own network with the label of another table; only their change from step to step counts, less its
mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from interplay.errors import InterplayError
from interplay.training.algorithms.brdiv import with_envs, with_table_labels
from interplay.training.algorithms.comedi import fresh_members
from interplay.training.algorithms.coplay import population_experiment
from interplay.training.config import Experiment
from interplay.training.frozen_partners import FrozenPartners
from interplay.training.loader import make_game, method_options
from interplay.training.method import Method
from interplay.training.run import Trained, train_stage
from interplay.training.team_assignment import PARTNER, TeamPlan
from interplay.training.update import LearningSignal, ValueEstimates

TEAMMATE, RESPONSE = 0, 1  # the learners of the teammate's stage
WITH_EGO, WITH_RESPONSE, RESUMED, IDLE = range(4)  # its tables


@dataclass(frozen=True)
class ROTATEOptions:
    """Options of ROTATE. `steps` of the experiment are the ego's, in all iterations together."""

    iterations: int = 20
    teammate_steps: float = 1.6e7  # environment steps of each teammate
    teammate_envs: int = 0  # environments of each teammate; 0: as many as the ego has
    omega: float = 2.0  # weight of what the best response would reach against what the ego does
    places: int = 0  # of the buffer, shared evenly by the teammates there are; 0: twice the iterations
    tables: int = 0  # of the ego: groups of environments, each with one partner at a time

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise InterplayError(f"algorithm.options.iterations: {self.iterations}; at least 1")
        if self.places and self.places < self.iterations:
            raise InterplayError(f"algorithm.options.places: {self.places}, for {self.iterations} teammates")


TEAMMATE_PLAN = TeamPlan(
    ((TEAMMATE, PARTNER), (TEAMMATE, RESPONSE), (TEAMMATE, RESPONSE), (RESPONSE, PARTNER)),
    weights=((1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (0.0, 0.0)),
    rotate=True,
    table_kinds=(0, 1, 1, 2),
    scored=(False, True, False, False),
    start_from=(-1, -1, WITH_EGO, -1),
)


@dataclass(frozen=True, kw_only=True)
class RegretTeammate(Method):
    """A teammate and its best response, against a frozen ego.

    The response plays once more with the ego, and learns nothing there: all learners fill equally many places.
    """

    plan: TeamPlan = TEAMMATE_PLAN
    omega: float

    def learner_name(self, learner: int) -> str:
        """Return `teammate` or `response`."""
        return ("teammate", "response")[learner]

    def advantages(self, estimates: ValueEstimates) -> LearningSignal:
        """Return the teammate's regret, and plain advantages for its response."""
        signal, setup = super().advantages(estimates), estimates.setup
        other_table = (WITH_RESPONSE, WITH_EGO, RESUMED, IDLE)
        own_weight = setup.per_slot(np.array([(-1, 1), (self.omega, 1), (1, 1), (1, 1)], np.float32))
        other_weight = setup.per_slot(np.array([(self.omega, 0), (-1, 0), (0, 0), (0, 0)], np.float32))
        # Without the step's reward: it was earned with who plays here, not with whom the value is of.
        no_reward = jnp.zeros_like(estimates.rollout.reward)
        change = estimates.advantages(estimates.values_as_at(other_table), no_reward, 0.0)[1]
        centred = self._centred(change, signal.counted)
        return signal._replace(advantage=own_weight * signal.advantage + other_weight * centred)

    def _centred(self, x: Array, counted: Array) -> Array:
        """Subtract the mean at each place from [step, learner, slot]: what all actions share says nothing."""
        steps, learners, slots = x.shape
        places = (steps, learners, self.plan.slots.shape[1], slots // self.plan.slots.shape[1])
        x, counted = x.reshape(places), counted.reshape(places)
        total = jnp.maximum(jnp.sum(counted, axis=(0, 3), keepdims=True), 1.0)
        return (x - jnp.sum(x * counted, axis=(0, 3), keepdims=True) / total).reshape(steps, learners, slots)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train all iterations and return the last ego."""
    return iterate(experiment, quiet=quiet)[0][-1]


def iterate(experiment: Experiment, *, quiet: bool = False) -> tuple[list[Trained], list[Trained]]:
    """Return the egos and the teammates of all iterations.

    Each run has an ego and a buffer of its own. Two compiled programs, of teammates and of egos, serve all iterations.

    Raises:
        InterplayError: If the game is not for two.
    """
    options = method_options(ROTATEOptions, experiment)
    game = make_game(experiment)
    if game.num_seats != 2:
        raise InterplayError(f"{game.id} has {game.num_seats} seats; ROTATE is for two")
    places = options.places or 2 * options.iterations
    teammate_method = RegretTeammate(omega=options.omega)
    tables = options.tables or max(n for n in range(1, places + 1) if experiment.envs % n == 0)
    ego_method = Method(TeamPlan(((0, PARTNER),) * tables, rotate=True))
    mate_settings = teammate_settings(experiment, options)
    ego_settings = replace(experiment, steps=experiment.steps / options.iterations)
    ego: Any = fresh_members(experiment, game, places, 0)
    egos: list[Trained] = []
    teammates: list[Trained] = []
    mate: Trained | None = None
    trained: Trained | None = None
    for number in range(options.iterations):
        as_partner = FrozenPartners.from_networks(jax.tree.map(jnp.asarray, ego.policy), experiment.network.encoding)
        labels = 1 + teammate_method.plan.num_kinds
        both = [fresh_members(mate_settings, game, labels, 2 * number + who + 1) for who in (TEAMMATE, RESPONSE)]
        mate = train_stage(
            mate_settings,
            teammate_method,
            partners=as_partner,
            members=jax.tree.map(lambda *x: jnp.concatenate(x, axis=1), *both),
            stage=f"teammate{number}",
            like=mate,
            quiet=quiet,
        )
        teammates.append(mate)
        last = number == options.iterations - 1
        trained = train_stage(
            ego_settings,
            ego_method,
            partners=buffer(mate_settings, teammates, places),
            members=ego,
            stage="" if last else f"ego{number}",
            like=trained,
            quiet=quiet,
        )
        egos.append(trained)
        ego = trained.members
    return egos, teammates


def teammate_settings(experiment: Experiment, options: ROTATEOptions) -> Experiment:
    """Return the experiment that trains a teammate."""
    smaller = population_experiment(experiment, experiment.runs, options.teammate_steps, 0)
    smaller = replace(smaller, first_run=experiment.first_run)
    return with_table_labels(with_envs(smaller, options.teammate_envs, 4))


def buffer(experiment: Experiment, teammates: list[Trained], places: int) -> FrozenPartners:
    """Return every teammate equally often, as far as the places go; the newest have those that are left over."""
    which = (len(teammates) - 1 - np.arange(places)) % len(teammates)
    each = [jax.tree.map(lambda x: x[:, TEAMMATE], teammates[i].members.policy) for i in which]
    networks = jax.tree.map(lambda *x: jnp.stack(x, axis=1), *each)
    return FrozenPartners.from_networks(networks, experiment.network.encoding)
