"""CoMeDi: members trained one after the other, each to do well with itself and badly with those before it.

    max J(π, π) - α J(π, π*) + β J_mixed,   π* the earlier member that fits best

A member that meets strangers only in cross-play could learn to tell them apart and sabotage. Mixed play forbids it: the
partner acts now as the member itself, now as π*, until a random time; from there self-play has to go on well.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from interplay.agents.api import Info, Policy
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.training import checkpoint
from interplay.training.actor_critic import new_member
from interplay.training.algorithms import sp
from interplay.training.algorithms.br import best_response, partners_of
from interplay.training.algorithms.brdiv import told_tables, with_envs
from interplay.training.algorithms.coplay import sound
from interplay.training.algorithms.fcp import stage_one
from interplay.training.config import Experiment, Network
from interplay.training.loader import as_json, build
from interplay.training.method import Assignment, Guests, Method, MethodView, Stats
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.team_assignment import GUEST, TeamPlan

SELF, CROSS, MIX, MIXED = range(4)  # the tables of a group: SELF and MIXED are self-play, MIXED from states met in MIX


@dataclass(frozen=True)
class CoMeDiOptions:
    """The members and what each is paid for."""

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


class Members(NamedTuple):
    """Networks [run, member, ...], where a stage's members would be."""

    policy: Any


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """The population, then a best response to its members."""
    options = build(CoMeDiOptions, experiment.algorithm.options, "algorithm.options")
    if options.population_from is not None:
        folder = Path(options.population_from)
        agents = partners_of(str(folder / "population" if (folder / "population").is_dir() else folder))
    else:
        population = population_stages(experiment, options, stage="population", quiet=quiet)
        agents = [population.agent(run, member) for run, member in sound(population)]
    return best_response(experiment, agents, tables=options.tables, quiet=quiet)


def train_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """The population alone, one a run."""
    options = build(CoMeDiOptions, experiment.algorithm.options, "algorithm.options")
    return population_stages(experiment, options, runs=experiment.runs, quiet=quiet)


def population_stages(
    experiment: Experiment, options: CoMeDiOptions, *, stage: str = "", runs: int = 1, quiet: bool = False
) -> Trained:
    """Member after member. The first is plain self-play; all others are served by one compiled program."""
    game = make(experiment.game.name, **experiment.game.options)
    if game.num_seats != 2:
        raise InterplayError(f"{game.id} has {game.num_seats} seats; CoMeDi is for two")
    given = with_envs(
        stage_one(experiment, runs, options.population_steps, 0), options.population_envs, 4 * options.groups
    )
    name = partial("{}/member{}".format, stage) if stage else "member{}".format
    told, scheme, like = told_tables(given), scheme_of(options), None
    stages = [sp.train(given, stage=name(0), quiet=quiet)]
    for number in range(1, options.population):
        guests = earlier(told, game, stages, options)
        fresh = fresh_members(told, game, guests.number + scheme.plan.kinds, number)
        like = train_stage(told, scheme, guests=guests, members=fresh, stage=name(number), like=like, quiet=quiet)
        stages.append(like)
    return _gathered(given, game, stages, stage)


def scheme_of(options: CoMeDiOptions) -> Method:
    places = options.population - 1
    group = ((0, 0), (0, GUEST), (0, GUEST), (0, 0))
    plan = TeamPlan(
        group * options.groups,
        rotate=True,
        streams=(SELF, CROSS, MIX, MIXED) * options.groups,
        scored=(True, False, False, False) * options.groups,
    )
    return Method(
        plan,
        assign=partial(by_fit, places=places),
        follow=follow,
        origins=tuple(4 * g + MIX if kind == MIXED else -1 for g in range(options.groups) for kind in range(4)),
        weigh=partial(weigh, options=options),
        notebook=lambda members: (),
    )


class Mixed(Policy):
    """Acts as one policy or as another, anew in every step; both see all."""

    own: NeuralPolicy
    other: NeuralPolicy
    share: Float[Array, ""]  # how often as the other

    @property
    def encoding(self) -> str:
        return self.other.encoding

    def init(self, key: Any, seat: Any) -> Any:
        return self.own.init(key, seat), self.other.init(key, seat)

    def act(self, memory: Any, obs: Any, legal: Any, key: Any) -> tuple[Any, Array, Info]:
        for_own, for_other, for_coin = jax.random.split(key, 3)
        own, action, _ = self.own.act(memory[0], obs, legal, for_own)
        other, its_action, info = self.other.act(memory[1], obs, legal, for_other)
        return (own, other), jnp.where(jax.random.bernoulli(for_coin, self.share), its_action, action), info


def earlier(experiment: Experiment, game: Game, stages: list[Trained], options: CoMeDiOptions) -> Guests:
    """Places for all earlier members: first each as itself, then each mixed with whoever is trained. While there are
    fewer, some are there several times: the best of them is the same."""
    places = options.population - 1
    which = np.arange(places) % len(stages)
    cores = _stacked([stages[i].members.policy for i in which])  # [run, place, ...]
    one = jax.tree_util.tree_map(lambda x: x[0, 0], cores)
    policy = NeuralPolicy(one, experiment.network.encoding)
    guests = Guests.repeated(Mixed(policy, policy, jnp.float32(1.0)), 2 * places, experiment.runs)
    twice = jax.tree_util.tree_map(lambda x: jnp.concatenate([x, x], axis=1), cores)
    share = jnp.broadcast_to(jnp.where(jnp.arange(2 * places) < places, 1.0, 0.5), (experiment.runs, 2 * places))
    arrays = eqx.tree_at(lambda g: (g.other.core, g.share), guests.arrays, (twice, share))
    return dataclasses.replace(guests, arrays=arrays)


def fresh_members(experiment: Experiment, game: Game, labels: int, number: int) -> Any:
    """[run, 1, ...] new weights for member `number` of every run."""
    key = jax.random.fold_in(jax.random.key(experiment.seed), 1000 + number)
    runs = jnp.arange(experiment.runs) + experiment.first_run
    keys = jax.vmap(lambda run: jax.random.fold_in(key, run)[None])(runs)
    return _new_members(game, experiment.network, labels, keys)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _new_members(game: Game, network: Network, labels: int, keys: Array) -> Any:
    return jax.vmap(jax.vmap(lambda key: new_member(game, network, labels, key)))(keys)  # type: ignore[arg-type]


def follow(members: Any, guests: Any, first: bool) -> Any:
    """Guests that act as the member itself act as it is now."""
    core = jax.tree_util.tree_map(lambda m, g: jnp.broadcast_to(m[:1], g.shape), members.policy, guests.own.core)
    return eqx.tree_at(lambda g: g.own.core, guests, core)


def best_fit(stats: Stats, places: int) -> Array:
    """The earlier member with the highest cross-play, as far as is known; who was never met goes first."""
    returns = jnp.sum(stats.returns[:places] * stats.episodes[:places], axis=1)
    episodes = jnp.sum(stats.episodes[:places], axis=1)
    return jnp.argmax(jnp.where(episodes > 0, returns / jnp.maximum(episodes, 1.0), jnp.inf))


def by_fit(plan: TeamPlan, key: PRNGKeyArray, stats: Stats, *, places: int) -> Assignment:
    """The best fit in every second group, anyone in the others, so that all are judged by fresh play; π* in the mix."""
    groups = len(plan.tables) // 4
    best = best_fit(stats, places)
    anyone = jax.random.randint(key, (groups,), 0, places)
    cross = jnp.where(jnp.arange(groups) % 2 == 0, best, anyone)
    guests = jnp.stack([cross, jnp.full(groups, places) + best], axis=1).reshape(-1)
    return Assignment(guests.astype(jnp.int32), jnp.full(len(plan.tables), -1, jnp.int32))


def weigh(notebook: Any, seen: MethodView, *, options: CoMeDiOptions) -> tuple[Any, Array, dict[str, Array]]:
    """1 for self-play, -α for cross-play with the best fit, β for self-play from mixed states; a stream each, so that
    fewer tables weigh more."""
    cross = seen.guests.reshape(options.groups, 2)[:, 0]
    best = best_fit(seen.stats, options.population - 1)
    here = (cross == best).astype(jnp.float32)
    met = options.groups / jnp.maximum(jnp.sum(here), 1.0)
    ones = jnp.ones(options.groups)
    of_group = jnp.stack([ones, -options.alpha * here * met, 0 * ones, options.beta * ones], axis=1)
    by_table = (seen.score / jnp.maximum(seen.episodes, 1.0)).reshape(options.groups, 4)
    told = {"crossed_return": jnp.mean(by_table[:, CROSS])}
    return notebook, jnp.repeat(of_group.reshape(-1, 1), 2, axis=1), told


def _stacked(policies: list[Any]) -> Any:
    """[run, 1, ...] each -> [run, member, ...]"""
    return jax.tree_util.tree_map(lambda *x: jnp.concatenate([jnp.asarray(p) for p in x], axis=1), *policies)


def _gathered(experiment: Experiment, game: Game, stages: list[Trained], stage: str) -> Trained:
    """The population as one result, and as one manifest over its members' folders."""
    policies = []
    for number, one in enumerate(stages):
        for about in one.policies:
            policies.append({**about, "file": f"member{number}/{about['file']}", "learner": f"member{number}"})
    if experiment.output.folder is not None:
        folder = Path(experiment.output.folder) / stage
        if checkpoint.read_manifest(folder) is None:
            key = {"id": game.id, "options": dict(game.options), "rules_version": game.rules_version}
            told = {"experiment": as_json(experiment), "stage": stage, "game": key, "inputs": {}, "policies": policies}
            checkpoint.write_manifest(folder, told)
    members = Members(_stacked([one.members.policy for one in stages]))
    last = [{**line, "member_returns": _beside(stages, line)} for line in stages[-1].curve]
    return Trained(experiment, game, last, members, [], policies)


def _beside(stages: list[Trained], line: dict[str, Any]) -> list[list[float | None]]:
    """[run][member] the last returns of those before, and those of the last member."""
    before = [one.curve[-1]["member_returns"] for one in stages[:-1]]
    return [[b[run][0] for b in before] + [own[0]] for run, own in enumerate(line["member_returns"])]
