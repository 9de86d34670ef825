"""The worth of a hand-over, and of a partner as a whole, in points: play on without it, many times.

From the moment in question the real policies play on, once as it was and once as it might have been, with the same
chance in both. The difference of the team's points is what the thing was worth. The column `about` says what a row
measures:

    hand_over  kept      the giver does nothing at that one step, and so keeps the thing for now
               removed   what was handed over vanishes as it is put down (games that say how), and with it the work of
                         fetching it: removed is worth more than kept by what the thing itself was worth
    partner    partner   the seat does nothing in the whole episode
               idle      the giver of a hand-over does nothing from then on: what it was worth as a partner from there
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from interplay.agents.api import Agent, as_agent
from interplay.agents.basic import Stay
from interplay.agents.registry import recorded_agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import capability
from interplay.metrics.api import Metric, Sample
from interplay.metrics.counterfactual.rollout import CounterfactualRollout, PastEpisode, Snapshot
from interplay.metrics.interdependence import Link, count
from interplay.metrics.interdependence.metric import readable
from interplay.rollout.episode import Episode
from interplay.symbolic.read import read
from interplay.table import Row

PARTNER, IDLE, KEPT, REMOVED = WAYS = ("partner", "idle", "kept", "removed")
DEFAULT_WAYS = (PARTNER, KEPT, REMOVED)
ABOUT_PARTNER = (PARTNER, IDLE)  # the other ways are about a hand-over
CONFIDENCE = 0.95
SAMPLES, EPISODES, HAND_OVERS = 4, 2, 6  # defaults of the options


class _Branch(NamedTuple):
    """A question: what a row says of it, the moment as it was, and as it might have been."""

    about: Row
    real: Snapshot
    without: Snapshot


def compute(sample: Sample) -> Iterator[Row]:
    """Rows of one sample; episodes whose number within their team is beyond `episodes` are passed over."""
    options = sample.options
    samples, seed, most = (int(options.get(n, d)) for n, d in (("samples", SAMPLES), ("seed", 0), ("most", HAND_OVERS)))
    episodes = int(options.get("episodes", EPISODES))
    ways = _ways(options.get("ways", DEFAULT_WAYS), sample.game)
    if samples < 2:
        raise InterplayError(f"samples: {samples}; an interval needs at least 2 continuations, and better 16")
    branches: dict[int, tuple[CounterfactualRollout, list[_Branch]]] = {}
    for base, episode in zip(sample.about(), sample.episodes, strict=True):
        if episodes and episode.index >= episodes:
            continue
        agents = seated(options["policies"], sample.game, episode)
        rollout = _rollout(sample.game, tuple(agents))
        past = rollout.pasts([episode])[0]
        substitutes = [a.name for a, who in zip(agents, episode.agents) if a.identity(sample.game).hash != who.hash]
        about = {"samples": samples, "stand_ins": ", ".join(substitutes) or None}
        about["agreement"] = round(float(np.mean(np.asarray(past.agreement))), 4)
        team_branches = branches.setdefault(rollout.program, (rollout, []))[1]
        for branch in _branches(sample.game, episode, past, ways, most):
            team_branches.append(
                branch._replace(about={**base, "seat": None, **branch.about, "metric": "worth", **about})
            )
    for rollout, team_branches in branches.values():
        points = rollout.points([moment for branch in team_branches for moment in branch[1:]], samples, seed)
        for branch, real, without in zip(team_branches, points[::2], points[1::2], strict=True):
            yield branch.about | worth(real, without)


def worth(real: np.ndarray, without: np.ndarray) -> Row:
    """The mean difference of pairs with its t interval. Both means stand beside it."""
    difference = np.asarray(real, np.float64) - np.asarray(without, np.float64)
    n, mean = len(difference), float(difference.mean())
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * difference.std(ddof=1) / np.sqrt(n)) if n > 1 else None
    low, high = (None, None) if half is None else (mean - half, mean + half)
    return {
        "value": mean,
        "low": low,
        "high": high,
        "points_real": float(np.mean(real)),
        "points_without": float(np.mean(without)),
    }


def _branches(game: Game, episode: Episode, past: PastEpisode, ways: Sequence[str], most: int) -> Iterator[_Branch]:
    if PARTNER in ways:
        for seat, who in enumerate(episode.agents):
            about = {
                "about": "partner",
                "way": PARTNER,
                "giver": seat,
                "receiver": None,
                "agent": who.name,
                "gave_t": 0,
            }
            yield _Branch(about, past.snapshot(0), past.snapshot(0, idle=[seat]))
    if not set(ways) - {PARTNER}:
        return
    for link in _spread(hand_overs(game, episode, past), most):
        about = {"agent": episode.agents[link.giver].name, "giver": link.giver, "receiver": link.receiver}
        about |= {"object": link.object, "class": link.kind, "gave_t": link.gave_t, "used_t": link.used_t}
        for way in ways:
            if way != PARTNER:
                measured = {"about": "partner" if way in ABOUT_PARTNER else "hand_over", "way": way}
                yield _Branch({**measured, **about}, *_moments(game, episode, past, link, way))


def _spread(links: list[Link], most: int) -> list[Link]:
    """At most so many, evenly over the episode."""
    if len(links) <= most:
        return links
    return [links[i] for i in np.linspace(0, len(links) - 1, most).round().astype(int)]


def _moments(game: Game, episode: Episode, past: PastEpisode, link: Link, way: str) -> tuple[Snapshot, Snapshot]:
    t, giver = link.gave_t, link.giver
    if way == IDLE:
        return past.snapshot(t), past.snapshot(t, idle=[giver])
    before, after = past.snapshot(t), past.snapshot(t + 1)
    if way == KEPT:
        joint = np.asarray(episode.actions[t], np.int32).copy()
        joint[giver] = Stay().bind(game).action  # type: ignore[attr-defined]
        state, _ = game.step(before.state, jnp.asarray(joint), jax.random.key(0))
    else:
        state = capability(game, "remove_object")(game, before.state, after.state, giver)
    return after, past.snapshot(t + 1, state=state)


def hand_overs(game: Game, episode: Episode, past: PastEpisode) -> list[Link]:
    """The interdependencies of the episode through the channels that count by default, in order of time."""
    if not readable(game):
        raise InterplayError(f"{game.id} has no symbolic domain, so its hand-overs are not known; ask for ways=partner")
    states = jax.tree.map(lambda x: np.asarray(x)[: episode.length + 1], past.states)
    links = count(read(game, states, episode.actions)).links
    return sorted(links, key=lambda link: (link.gave_t, link.giver))


def seated(policies: Any, game: Game, episode: Episode) -> list[Agent]:
    """The agents of an episode's seats: by the names that the trace recorded, or one given for each seat.

    Whoever is looked up by name must be who played; whoever is given for a seat may stand in for another.
    """
    if isinstance(policies, Sequence) and not isinstance(policies, str):
        if len(policies) != game.num_seats:
            raise InterplayError(f"policies: {len(policies)} given; {game.id} has {game.num_seats} seats")
        return [_agent(p) for p in policies]
    if policies != "registered" and not isinstance(policies, Mapping):
        raise InterplayError(f"policies: {policies!r}; {POLICIES}")
    agents = []
    for seat, who in enumerate(episode.agents):
        if isinstance(policies, Mapping) and who.name not in policies:
            raise InterplayError(f"policies: none is given for {who.name!r} in seat {seat}")
        agent = _agent(policies[who.name]) if isinstance(policies, Mapping) else _recorded(who.name)
        known = agent.identity(game).hash
        if known != who.hash:
            raise InterplayError(
                f"the agent {who.name!r} here ({known}) is not the one that played in seat {seat} ({who.hash}); "
                f"to let it stand in, give an agent for each seat in place of names"
            )
        agents.append(agent)
    return agents


_recorded = lru_cache(maxsize=64)(recorded_agent)
_named = lru_cache(maxsize=64)(as_agent)


def _agent(thing: Any) -> Agent:
    """Agents by name are made once, so that what is compiled for them serves again."""
    return _named(thing) if isinstance(thing, str) else as_agent(thing)


_rollouts: dict[tuple, tuple] = {}


def _rollout(game: Game, agents: tuple[Agent, ...]) -> CounterfactualRollout:
    key = (id(game), *(id(a.policy) for a in agents))
    if key not in _rollouts:
        if len(_rollouts) > 64:
            _rollouts.clear()
        _rollouts[key] = (CounterfactualRollout(game, agents), game, agents)  # kept, so that no id passes to another
    return _rollouts[key][0]


def _ways(requested: Any, game: Game) -> tuple[str, ...]:
    ways = (requested,) if isinstance(requested, str) else tuple(requested)
    for way in ways:
        if way not in WAYS:
            raise InterplayError(f"ways: {way!r}; a thing is taken out of an episode by {', '.join(WAYS)}")
    if REMOVED in ways and capability(game, "remove_object") is None:
        ways = tuple(dict.fromkeys(KEPT if way == REMOVED else way for way in ways))
    if set(ways) == {PARTNER, KEPT} and not readable(game):
        return (PARTNER,)  # without a symbolic domain nobody knows the hand-overs
    return tuple(sorted(dict.fromkeys(ways), key=(PARTNER, IDLE, KEPT, REMOVED).index))


POLICIES = (
    "give policies='registered' to find the agents by the names in the trace, a table from these names to agents, "
    "or a list with an agent for each seat"
)

COUNTERFACTUAL = Metric(
    name="counterfactual",
    doc="what a partner, and each hand-over, was worth in points: the same play with and without it (column `about`)",
    compute=compute,
    describing=(
        "low",
        "high",
        "points_real",
        "points_without",
        "samples",
        "stand_ins",
        "agreement",
        "gave_t",
        "used_t",
        "object",
    ),
    direction="higher",
    unit="points, with a 95 % t interval over paired continuations",
    source="interplay; hand-overs as counted by interdependence",
    needs=("traces", "policies"),
    options={
        "policies": POLICIES,
        "samples": f"continuations of each moment, {SAMPLES} by default",
        "seed": "of the continuations, 0 by default",
        "ways": "kept, removed (of a hand-over), partner, idle (of a partner); by default kept, removed and partner",
        "most": f"hand-overs of an episode, evenly over its time, {HAND_OVERS} by default",
        "episodes": f"episodes of each team that are asked about, {EPISODES} by default; 0: all",
    },
)
