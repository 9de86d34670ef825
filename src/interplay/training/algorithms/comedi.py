"""CoMeDi (Sarkar et al., 2023, Diverse Conventions for Human-AI Collaboration).

    max J(π, π) - α J(π, π*) + β J_mixed,   π* the earlier member that fits best

Members are trained one after the other, each to do well with itself and badly with those before it. A member that plays
with others only in cross-play could learn to recognise them and sabotage. Mixed play prevents it: the partner acts as
the member itself or as π*, by a coin in every step, until a random time; from there self-play has to go on well. Here
the three terms are tables of one run, and π* is chosen by the running mean of cross-play returns. The ego is a best
response to the members, in a second stage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from interplay.agents.api import Info, Memory, Observation, Policy
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.training import checkpoint
from interplay.training.actor_critic import new_member
from interplay.training.algorithms import sp
from interplay.training.algorithms.br import best_response, load_partners
from interplay.training.algorithms.brdiv import with_envs, with_table_labels
from interplay.training.algorithms.coplay import finite_members, population_experiment
from interplay.training.config import Experiment, Network
from interplay.training.frozen_partners import FrozenPartners, PartnerAssignment, PartnerStats
from interplay.training.loader import make_game, method_options
from interplay.training.method import Logs, Method, TableScores
from interplay.training.run import PolicyMembers, Trained, train_stage
from interplay.training.team_assignment import PARTNER, TeamPlan

SELF, CROSS, MIX, MIXED = range(4)  # the tables of a group; MIXED is self-play from states of MIX


@dataclass(frozen=True)
class CoMeDiOptions:
    """The members and what each is rewarded for."""

    population: int = 8
    population_steps: float = 1.2e7  # environment steps of each member
    population_envs: int = 0  # environments of each member; 0: as many as the ego has
    population_from: str | None = None  # folder of a trained population to take instead
    alpha: float = 0.25  # weight of doing badly with the earlier member that fits best
    beta: float = 1.0  # weight of self-play from the states of mixed play
    groups: int = 2  # of tables: in half of them cross-play is with the best fit, in the others anyone is tried
    tables: int = 0  # of the ego

    def __post_init__(self) -> None:
        if self.population < 2 or self.groups < 1:
            raise InterplayError("algorithm.options: a population of two at least, and one group of tables")


@dataclass(frozen=True, kw_only=True)
class CoMeDi(Method):
    """A further member, with the earlier ones as partners: the first half as they are, then each mixed with it."""

    options: CoMeDiOptions
    changes_partners = True
    can_continue = False

    @classmethod
    def create(cls, options: CoMeDiOptions) -> CoMeDi:
        """Return CoMeDi with its tables."""
        starts = [4 * g + MIX if kind == MIXED else -1 for g in range(options.groups) for kind in range(4)]
        plan = TeamPlan(
            ((0, 0), (0, PARTNER), (0, PARTNER), (0, 0)) * options.groups,
            rotate=True,
            table_kinds=(SELF, CROSS, MIX, MIXED) * options.groups,
            scored=(True, False, False, False) * options.groups,
            start_from=tuple(starts),
        )
        return cls(plan, options=options)

    def best_fit(self, stats: PartnerStats) -> Array:
        """Return the earlier member with the highest cross-play return; those not yet played with come first."""
        earlier = self.options.population - 1
        returns = jnp.sum(stats.returns[:earlier] * stats.episodes[:earlier], axis=1)
        episodes = jnp.sum(stats.episodes[:earlier], axis=1)
        return jnp.argmax(jnp.where(episodes > 0, returns / jnp.maximum(episodes, 1.0), jnp.inf))

    def assign_partners(self, key: PRNGKeyArray, stats: PartnerStats) -> PartnerAssignment:
        """Return for cross-play the best fit in every second group, anyone in the others; π* in mixed play."""
        groups, earlier = self.options.groups, self.options.population - 1
        best = self.best_fit(stats)
        anyone = jax.random.randint(key, (groups,), 0, earlier)
        cross = jnp.where(jnp.arange(groups) % 2 == 0, best, anyone)
        partners = jnp.stack([cross, jnp.full(groups, earlier) + best], axis=1).reshape(-1)
        return PartnerAssignment(partners.astype(jnp.int32), jnp.full(len(self.plan.tables), -1, jnp.int32))

    def table_weights(self, state: PyTree, scores: TableScores) -> tuple[Any, Array, Logs]:
        """Return 1 for self-play, -α for cross-play with the best fit, β for self-play from mixed states.

        Cross-play with others than the best fit has weight 0, and the rest of it more accordingly.
        """
        options, groups = self.options, self.options.groups
        cross = scores.partners.reshape(groups, 2)[:, 0]
        is_best = (cross == self.best_fit(scores.stats)).astype(jnp.float32)
        scale = groups / jnp.maximum(jnp.sum(is_best), 1.0)
        ones = jnp.ones(groups)
        by_group = jnp.stack([ones, -options.alpha * is_best * scale, 0 * ones, options.beta * ones], axis=1)
        by_table = (scores.score / jnp.maximum(scores.episodes, 1.0)).reshape(groups, 4)
        logs = {"crossed_return": jnp.mean(by_table[:, CROSS])}
        return state, jnp.repeat(by_group.reshape(-1, 1), 2, axis=1), logs

    def init_partners(self, members: PyTree, partners: PyTree) -> PyTree:
        """Return partners whose own part acts as the member."""
        return self.update_partners(members, partners)

    def update_partners(self, members: PyTree, partners: PyTree) -> PyTree:
        """Return partners whose own part acts as the member does now."""
        core = jax.tree.map(lambda m, p: jnp.broadcast_to(m[:1], p.shape), members.policy, partners.own.core)
        return eqx.tree_at(lambda p: p.own.core, partners, core)


class Mixed(Policy):
    """Acts as one policy or as another, by a coin in every step; both see all."""

    own: NeuralPolicy
    other: NeuralPolicy
    share: Float[Array, ""]  # how often as the other

    @property
    def encoding(self) -> str:
        """What both read."""
        return self.other.encoding

    def init(self, key: PRNGKeyArray, seat: Array) -> Any:
        """Return the memories of both."""
        return self.own.init(key, seat), self.other.init(key, seat)

    def act(self, memory: Memory, obs: Observation, legal: Array, key: PRNGKeyArray) -> tuple[Memory, Array, Info]:
        """Return the memories of both, and the action of one of them."""
        for_own, for_other, for_coin = jax.random.split(key, 3)
        own, action, _ = self.own.act(memory[0], obs, legal, for_own)
        other, its_action, info = self.other.act(memory[1], obs, legal, for_other)
        return (own, other), jnp.where(jax.random.bernoulli(for_coin, self.share), its_action, action), info


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train the population, then a best response to its members."""
    options = method_options(CoMeDiOptions, experiment)
    if options.population_from is not None:
        folder = Path(options.population_from)
        agents = load_partners(str(folder / "population" if (folder / "population").is_dir() else folder))
    else:
        population = population_stages(experiment, options, stage="population", quiet=quiet)
        agents = [population.agent(run, member) for run, member in finite_members(population)]
    return best_response(experiment, agents, tables=options.tables, quiet=quiet)


def train_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train the population alone, one a run."""
    return population_stages(experiment, method_options(CoMeDiOptions, experiment), runs=experiment.runs, quiet=quiet)


def population_stages(
    experiment: Experiment, options: CoMeDiOptions, *, stage: str = "", runs: int = 1, quiet: bool = False
) -> Trained:
    """Train member after member. The first is self-play; all others are trained by one compiled program.

    Raises:
        InterplayError: If the game is not for two.
    """
    game = make_game(experiment)
    if game.num_seats != 2:
        raise InterplayError(f"{game.id} has {game.num_seats} seats; CoMeDi is for two")
    plain = with_envs(
        population_experiment(experiment, runs, options.population_steps, 0),
        options.population_envs,
        4 * options.groups,
    )
    name = partial("{}/member{}".format, stage) if stage else "member{}".format
    labelled, method, like = with_table_labels(plain), CoMeDi.create(options), None
    stages = [sp.train(plain, stage=name(0), quiet=quiet)]
    for number in range(1, options.population):
        partners = earlier_members(labelled, stages, options)
        members = fresh_members(labelled, game, partners.number + method.plan.num_kinds, number)
        like = train_stage(
            labelled, method, partners=partners, members=members, stage=name(number), like=like, quiet=quiet
        )
        stages.append(like)
    return _gather(plain, game, stages, stage)


def earlier_members(experiment: Experiment, stages: list[Trained], options: CoMeDiOptions) -> FrozenPartners:
    """Return the earlier members as partners: first each as itself, then each mixed with whoever is trained.

    While there are fewer than later, some are there several times, so that one program serves all stages.
    """
    places = options.population - 1
    which = np.arange(places) % len(stages)
    cores = _stacked([stages[i].members.policy for i in which])  # [run, place, ...]
    one = jax.tree.map(lambda x: x[0, 0], cores)
    policy = NeuralPolicy(one, experiment.network.encoding)
    partners = FrozenPartners.repeat(Mixed(policy, policy, jnp.float32(1.0)), 2 * places, experiment.runs)
    twice = jax.tree.map(lambda x: jnp.concatenate([x, x], axis=1), cores)
    share = jnp.broadcast_to(jnp.where(jnp.arange(2 * places) < places, 1.0, 0.5), (experiment.runs, 2 * places))
    arrays = eqx.tree_at(lambda p: (p.other.core, p.share), partners.arrays, (twice, share))
    return replace(partners, arrays=arrays)


def fresh_members(experiment: Experiment, game: Game, labels: int, number: int) -> PyTree:
    """Return random networks for member `number` of every run, [run, 1, ...]."""
    key = jax.random.fold_in(jax.random.key(experiment.seed), 1000 + number)
    runs = jnp.arange(experiment.runs) + experiment.first_run
    keys = jax.vmap(lambda run: jax.random.fold_in(key, run)[None])(runs)
    return _new_members(game, experiment.network, labels, keys)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _new_members(game: Game, network: Network, labels: int, keys: Array) -> PyTree:
    return jax.vmap(jax.vmap(lambda key: new_member(game, network, labels, key)))(keys)  # type: ignore[arg-type]


def _stacked(policies: list[Any]) -> PyTree:
    """Join networks [run, 1, ...] to [run, member, ...]."""
    return jax.tree.map(lambda *x: jnp.concatenate([jnp.asarray(p) for p in x], axis=1), *policies)


def _gather(experiment: Experiment, game: Game, stages: list[Trained], stage: str) -> Trained:
    """Return the population as one result, and write one manifest over its members' folders."""
    policies = []
    for number, one in enumerate(stages):
        for about in one.policies:
            policies.append({**about, "file": f"member{number}/{about['file']}", "learner": f"member{number}"})
    if experiment.output.folder is not None:
        folder = Path(experiment.output.folder) / stage
        if checkpoint.read_manifest(folder) is None:
            identity = checkpoint.identity(experiment, game, {}, stage)
            checkpoint.write_manifest(folder, identity | {"policies": policies})
    members = PolicyMembers(_stacked([one.members.policy for one in stages]))
    last = [{**line, "member_returns": _all_returns(stages, line)} for line in stages[-1].curve]
    return Trained(experiment, game, last, members, [], policies)


def _all_returns(stages: list[Trained], line: dict[str, Any]) -> list[list[float | None]]:
    """Return [run][member] the last returns of those before, and those of the last member."""
    before = [one.curve[-1]["member_returns"] for one in stages[:-1]]
    return [[b[run][0] for b in before] + [own[0]] for run, own in enumerate(line["member_returns"])]
