"""What a coordination method may decide. Everything else is the one PPO.

    plan      who sits where: learners and guests at tables                      (a)
    assign    which frozen partner sits in each guest's place, and in which seat (a)
    priority  per run: how much more often partners are met who are hard         (a)
    redraw    whether they change after so many updates or with every episode    (a)
    stand_ins frozen partners in the learner's own places, for whole episodes    (a)
    traits    per run and learner: weights of task, shaping and events           (b)
    bonus     reward from the members' own probabilities                         (b)
    loss      a term over all members of a run, with gradients                   (c)
    material  of a rollout, what that term is computed from                      (c)
    between   what becomes of members and guests, every so many updates          (d)
    start     the states in which episodes begin                                 (e)
    world     the game as it is played in training                               (e)
    imagine   what would have followed in another state that looks the same      (e)
    origins   tables whose episodes begin where another table's have come to     (e)
    weights   of the plan's tables: a negative one turns the advantage there     (f)
    weigh     the same, decided update by update                                 (f)
    streams   of the plan: kinds of tables that values are told apart            (f)
    regret    advantages that also count what another table's value says         (f)
    follow    guests that follow the members, update by update                   (g)
    teach     a network beside the policy, with an optimiser of its own          (g)
    anchored  learners that are held near the policies with which they began     (h)
    look_on   a network that follows the play, learns from it and pays for it    (g)

What happens between stages (d), to add, freeze or replace members, is plain Python: `run.train` is called once a
stage. See `algorithms/` for examples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.agents.api import Agent, Policy
from interplay.agents.basic import Noisy
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game
from interplay.games.records import record
from interplay.training.config import Rewards
from interplay.training.partner_substitution import StandIns
from interplay.training.team_assignment import TeamPlan


@record
class Traits:
    """What the learners of a run are paid for. In a run [learner, ...]; in all runs [run, learner, ...]."""

    task: Float[Array, " learner"]  # weight of the game's points
    shaping: Float[Array, " learner"]  # weight of the shaped reward, on top of its schedule
    events: Float[Array, "learner event"]  # price of each event
    seen: Any = None  # [learner, kind] price of what the witness sees; None: as `rewards` says
    entropies: Any = None  # [learner, term] weights of `entropies.NAMES`; None: as `rewards` says
    hold: Any = None  # [learner] where the scheme is anchored: weight of staying near the first policy, from 0 to 1


@record
class Stats:
    """How a run's learners have done with each guest, by the seat rotation of the table."""

    returns: Float[Array, "guest rotation"]  # running mean of the score of finished episodes
    episodes: Float[Array, "guest rotation"]  # how many were finished
    odds: Any = None  # [guest] how often each is to be met, where `between` sets it
    priority: Any = None  # power of the rank of difficulty by which partners are drawn, where `assign` goes by it


class Assignment(NamedTuple):
    """Who sits in the guests' places. A rotation of -1 is drawn anew in every episode."""

    guests: Int[Array, " guest_slot"]
    rotation: Int[Array, " table"]


class MethodView(NamedTuple):
    """What `weigh` goes by."""

    score: Float[Array, " table"]  # summed over the episodes that ended in this rollout
    episodes: Float[Array, " table"]
    guests: Int[Array, " guest_slot"]
    stats: Stats  # as they were before this rollout


@dataclass(frozen=True)
class Regret:
    """Advantages that weigh the play at hand against what the values of another table say of the same states."""

    table: tuple[int, ...]  # [table] whose value is asked
    own: tuple[tuple[float, ...], ...]  # [table][role] weight of the advantage as played
    other: tuple[tuple[float, ...], ...]  # [table][role] weight of how the other table's value changes


@record
class Imagined:
    """One step from another state that looks the same. In a scheme's hands [env, seat], in a rollout by slot."""

    reward: Float[Array, "*place"]
    goes_on: Float[Array, "*place"]  # 0 where the game would end there; between 0 and 1 if several states were tried
    value: Float[Array, "*place"]  # of what would be seen next if it goes on, on the value network's scale
    sound: Bool[Array, "*place"]  # False: no such state was found, so that the step teaches nothing


Assign = Callable[[TeamPlan, PRNGKeyArray, Stats], Assignment]


@dataclass(frozen=True)
class Method:
    """A stage of a coordination method."""

    plan: TeamPlan
    assign: Assign | None = None  # None: each guest as often as the next
    priority: tuple[float, ...] = ()  # [run] for `assign` (Stats.priority); 0: all partners alike
    bonus: Callable[..., Array] | None = None  # (members, rollout) -> [step, learner, slot]
    material: Callable[..., Any] | None = None  # (members, rollout) -> tree [minibatch, ...], a part for each step
    loss: Callable[..., tuple[Array, dict[str, Array]]] | None = None  # (members, material) -> scalar, what is logged
    redraw: str = "updates"  # or episode: each guest's place has one environment, and a new guest in every episode
    stand_ins: StandIns | None = None
    start: Callable[[PRNGKeyArray], Any] | None = None  # key -> state; None: game.init
    world: Callable[[Game], Game] | None = None  # the game as it is played here; policies are still for the game
    imagine: Callable[..., Imagined] | None = None  # (setting, members, states, actions, keys) -> [env, seat]
    origins: tuple[int, ...] | None = None  # [table] in whose states, met at random times, it begins; -1: in fresh ones
    weigh: Callable[..., Any] | None = None  # (notebook, Seen) -> notebook, weights [table, role], what is logged
    regret: Regret | None = None
    member: Callable[[PRNGKeyArray], Any] | None = None  # a fresh member; None: as `network` says
    ship: Callable[[Any], Any] | None = None  # a policy as its file keeps it; None: as it was trained
    follow: Callable[..., Any] | None = None  # (members, guests, first: bool) -> guests, after every update of a run
    notebook: Callable[..., Any] | None = (
        None  # members -> arrays that a run carries for `teach`, `look_on`, `weigh` and `between`
    )
    teach: Callable[..., Any] | None = None  # (members, notebook, rollout) -> members, notebook, what is logged
    look_on: Callable[..., Any] | None = None  # (notebook, rollout) -> notebook, [step, learner, slot], what is logged
    anchored: bool = False  # (1 - hold) of PPO's loss and hold of the distance to the policy that was given at first
    between: Callable[..., Any] | None = None  # (all runs, update) -> all runs, what is logged; on the host
    every: int = 0  # updates from one `between` to the next
    names: tuple[str, ...] = ("",)  # of the learners, for the files of their policies
    stats_decay: float = 0.95  # of the running mean in Stats, per update with a finished episode

    @property
    def moving(self) -> bool:
        """Guests change while training goes on, so that every run carries its own."""
        return self.follow is not None or self.between is not None


@dataclass(frozen=True)
class Guests:
    """Frozen partners of one kind: policies that differ in their arrays only."""

    arrays: Any  # [guest, ...], or [run, guest, ...] if each run has its own
    static: Any  # the policy without its arrays
    number: int
    per_run: bool = False

    def policy(self, arrays: Any) -> Policy:
        return eqx.combine(arrays, self.static)

    @classmethod
    def repeated(cls, policy: Policy, number: int, runs: int) -> Guests:
        """Places for guests of a kind, in each run as many, to be filled while training goes on."""
        arrays, static = eqx.partition(policy, eqx.is_array)
        many = jax.tree_util.tree_map(lambda x: jnp.broadcast_to(x, (runs, number, *x.shape)), arrays)
        return cls(many, static, number, per_run=True)

    @classmethod
    def of(cls, game: Game, agents: Sequence[Agent]) -> Guests:
        """Frozen partners from agents, the same for all runs.

        Raises:
            InterplayError: if there are none, or if they differ in more than their arrays.
        """
        policies = []
        for agent in agents:
            if not isinstance(agent.policy, Policy):
                raise InterplayError(f"{agent.name!r} is a player; only policies can be partners in training")
            policies.append(agent.policy.bind(game))
        if not policies:
            raise InterplayError("no partners were given")
        if any(isinstance(p, Noisy) for p in policies):  # without noise is with a noise of 0
            policies = [p if isinstance(p, Noisy) else Noisy(p, 0.0) for p in policies]
        parts = [eqx.partition(p, eqx.is_array) for p in policies]
        arrays, static = parts[0]
        for agent, (other, its_static) in zip(agents, parts, strict=True):
            if not _alike(arrays, other) or not eqx.tree_equal(static, its_static):
                names = f"{agents[0].name!r} and {agent.name!r}"
                raise InterplayError(f"partners in one training run must be of one kind; {names} are not")
        return cls(jax.tree_util.tree_map(lambda *a: jnp.stack(a), *(a for a, _ in parts)), static, len(parts))

    @classmethod
    def by_run(cls, game: Game, populations: Sequence[Sequence[Agent]]) -> Guests:
        """Frozen partners of which each run has its own: run r has `populations[r]`, all of one size."""
        sizes = sorted({len(population) for population in populations})
        if len(sizes) != 1:
            raise InterplayError(f"every run needs equally many partners; here they are {', '.join(map(str, sizes))}")
        together = cls.of(game, [agent for population in populations for agent in population])
        split = (len(populations), sizes[0])
        arrays = jax.tree_util.tree_map(lambda x: x.reshape(*split, *x.shape[1:]), together.arrays)
        return cls(arrays, together.static, sizes[0], per_run=True)

    def of_runs(self, runs: Sequence[int]) -> Guests:
        """Those of some of the runs, in this order."""
        if not self.per_run:
            return self
        rows = jax.tree_util.tree_map(lambda x: x[np.asarray(runs)], self.arrays)
        return Guests(rows, self.static, self.number, per_run=True)


def _alike(one: Any, other: Any) -> bool:
    """Whether two trees hold arrays of the same names, shapes and types."""
    shapes = [[(x.shape, x.dtype) for x in jax.tree_util.tree_leaves(tree)] for tree in (one, other)]
    return jax.tree_util.tree_structure(one) == jax.tree_util.tree_structure(other) and shapes[0] == shapes[1]


def uniform(plan: TeamPlan, key: PRNGKeyArray, stats: Stats) -> Assignment:
    """Every guest equally often."""
    number = stats.returns.shape[0]
    return drawn(plan, key, jnp.full(number, 1.0 / number))


def drawn(plan: TeamPlan, key: PRNGKeyArray, odds: Float[Array, " guest"]) -> Assignment:
    """Guests by these odds, as evenly as the number of places allows; seats at random."""
    chosen = evenly(key, odds, len(plan.guests))
    return Assignment(chosen, jnp.full(len(plan.tables), -1, jnp.int32))


def evenly(key: PRNGKeyArray, odds: Float[Array, " item"], places: int) -> Int[Array, " place"]:
    """Items by these odds (of any sum), as evenly as the number of places allows: systematic sampling."""
    for_offset, for_order = jax.random.split(key)
    points = (jnp.arange(places) + jax.random.uniform(for_offset)) / places
    chosen = jnp.searchsorted(jnp.cumsum(odds / jnp.sum(odds)), points)
    chosen = jnp.clip(chosen, 0, odds.shape[0] - 1)
    return chosen[jax.random.permutation(for_order, places)].astype(jnp.int32)


def by_difficulty(plan: TeamPlan, key: PRNGKeyArray, stats: Stats) -> Assignment:
    """Partner and seat by (rank of difficulty) ** `stats.priority`: the lower the running mean return with a partner in
    a seat, the more often they are met.

    A table takes one entry (partner, rotation), so that a partner may be hard in one seat and easy in the other.
    """
    for_entries, for_rest = jax.random.split(key)
    guests, rotations = stats.returns.shape
    flat = stats.returns.reshape(-1)
    rank = jnp.argsort(jnp.argsort(-flat)) + 1  # 1: the easiest
    odds = rank.astype(jnp.float32) ** stats.priority
    odds = jnp.where(jnp.min(stats.episodes) > 0, odds, jnp.ones_like(odds))  # nobody is judged before all were met
    tables = len(plan.tables)
    entry = evenly(for_entries, odds, tables)
    first = {int(place) // plan.roles: i for i, place in reversed(list(enumerate(plan.guests)))}
    others = drawn(plan, for_rest, odds.reshape(guests, rotations).sum(axis=1)).guests
    where = jnp.array([first[t] for t in range(tables)])
    return Assignment(others.at[where].set(entry // rotations), entry % rotations)


def event_weights(game: Game, weights: Any) -> np.ndarray:
    """[event] from names to weights; an unknown name is an error."""
    found = np.zeros(len(game.event_names), np.float32)
    for name, weight in dict(weights).items():
        if name not in game.event_names:
            raise UnknownName(f"event of {game.id}", name, list(game.event_names))
        found[game.event_names.index(name)] = weight
    return found


def plain_traits(game: Game, rewards: Rewards, learners: int, runs: int) -> Traits:
    """All learners of all runs are paid alike."""
    events = np.broadcast_to(event_weights(game, rewards.events), (runs, learners, len(game.event_names)))
    return Traits(
        task=jnp.full((runs, learners), rewards.task, jnp.float32),
        shaping=jnp.ones((runs, learners), jnp.float32),
        events=jnp.asarray(events, jnp.float32),
    )
