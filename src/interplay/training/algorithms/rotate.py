"""ROTATE: an ego that learns with partners made to show what it lacks, again and again.

In every iteration a teammate and its best response are trained against the ego as it is: the teammate looks for states
in which its best response would reach much more than the ego. It joins the buffer, and the ego learns with all of it.
The teammate's objective is regret at every state, not at the start alone:

    with the ego       ω V_BR(s) - G_ego   at states that the ego comes to
    with its response  ω G_BR - V_ego(s)   at states that the response comes to
    with its response  G_BR                from states that the ego came to, so that it is good company there

Without the last part a teammate could earn regret by sabotage wherever it recognises the ego.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training.algorithms.brdiv import told_tables, with_envs
from interplay.training.algorithms.comedi import fresh_members
from interplay.training.algorithms.fcp import stage_one
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.method import Guests, Method, Regret
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.team_assignment import GUEST, TeamPlan

TEAMMATE, RESPONSE = 0, 1  # the learners of the teammate's stage
WITH_EGO, WITH_RESPONSE, RESUMED, IDLE = range(4)  # its tables


@dataclass(frozen=True)
class ROTATEOptions:
    """Iterations. `steps` of the experiment are the ego's, in all of them together."""

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


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """The ego after the last iteration."""
    return iterate(experiment, quiet=quiet)[0][-1]


def iterate(experiment: Experiment, *, quiet: bool = False) -> tuple[list[Trained], list[Trained]]:
    """Egos and teammates of all iterations. Each run has an ego and a buffer of its own; two compiled
    programs, of teammates and of egos, serve all iterations."""
    options = build(ROTATEOptions, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    if game.num_seats != 2:
        raise InterplayError(f"{game.id} has {game.num_seats} seats; ROTATE is for two")
    places = options.places or 2 * options.iterations
    against, of_ego = teammate_scheme(options), ego_scheme(experiment, places, options.tables)
    mate_settings = teammate_settings(experiment, options)
    ego_settings = dataclasses.replace(experiment, steps=experiment.steps / options.iterations)
    ego: Any = fresh_members(experiment, game, places, 0)
    egos: list[Trained] = []
    teammates: list[Trained] = []
    mate: Trained | None = None
    trained: Trained | None = None
    for number in range(options.iterations):
        guests = guests_of(experiment, _policies(ego.policy))
        both = [fresh_members(mate_settings, game, 1 + against.plan.kinds, 2 * number + who + 1) for who in (0, 1)]
        mate = train_stage(
            mate_settings,
            against,
            guests=guests,
            members=jax.tree_util.tree_map(lambda *x: jnp.concatenate(x, axis=1), *both),
            stage=f"teammate{number}",
            like=mate,
            quiet=quiet,
        )
        teammates.append(mate)
        last = number == options.iterations - 1
        trained = train_stage(
            ego_settings,
            of_ego,
            guests=buffer(mate_settings, teammates, places),
            members=ego,
            stage="" if last else f"ego{number}",
            like=trained,
            quiet=quiet,
        )
        egos.append(trained)
        ego = trained.members
    return egos, teammates


def teammate_settings(experiment: Experiment, options: ROTATEOptions) -> Experiment:
    smaller = stage_one(experiment, experiment.runs, options.teammate_steps, 0)
    smaller = dataclasses.replace(smaller, first_run=experiment.first_run)
    return told_tables(with_envs(smaller, options.teammate_envs, 4))


def teammate_scheme(options: ROTATEOptions) -> Method:
    """The response sits once more with the ego, and learns nothing there: all learners fill equally many places."""
    omega = options.omega
    plan = TeamPlan(
        ((TEAMMATE, GUEST), (TEAMMATE, RESPONSE), (TEAMMATE, RESPONSE), (RESPONSE, GUEST)),
        weights=((1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (0.0, 0.0)),
        rotate=True,
        streams=(0, 1, 1, 2),
        scored=(False, True, False, False),
    )
    regret = Regret(
        table=(WITH_RESPONSE, WITH_EGO, RESUMED, IDLE),
        own=((-1.0, 1.0), (omega, 1.0), (1.0, 1.0), (1.0, 1.0)),
        other=((omega, 0.0), (-1.0, 0.0), (0.0, 0.0), (0.0, 0.0)),
    )
    origins = (-1, -1, WITH_EGO, -1)
    return Method(plan, regret=regret, origins=origins, names=("teammate", "response"))


def ego_scheme(experiment: Experiment, places: int, tables: int) -> Method:
    tables = tables or max(n for n in range(1, places + 1) if experiment.envs % n == 0)
    return Method(TeamPlan(((0, GUEST),) * tables, rotate=True))


def buffer(experiment: Experiment, teammates: list[Trained], places: int) -> Guests:
    """Every teammate in equally many places, as far as they go; the newest have those that are left over."""
    which = (len(teammates) - 1 - np.arange(places)) % len(teammates)
    each = [jax.tree_util.tree_map(lambda x: x[:, TEAMMATE], teammates[i].members.policy) for i in which]
    return guests_of(experiment, jax.tree_util.tree_map(lambda *x: jnp.stack(x, axis=1), *each))


def guests_of(experiment: Experiment, cores: Any) -> Guests:
    """Guests from networks [run, guest, ...]."""
    one = jax.tree_util.tree_map(lambda x: x[0, 0], cores)
    number = jax.tree_util.tree_leaves(cores)[0].shape[1]
    guests = Guests.repeated(NeuralPolicy(one, experiment.network.encoding), number, experiment.runs)
    return dataclasses.replace(guests, arrays=eqx.tree_at(lambda g: g.core, guests.arrays, cores))


def _policies(cores: Any) -> Any:
    """As JAX arrays: a finished stage that was read again may hold others."""
    return jax.tree_util.tree_map(jnp.asarray, cores)
