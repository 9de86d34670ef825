"""What was it worth? A hand-over, and a partner as a whole, in points: play on without it, many times.

From the moment in question the real policies play on, once as it was and once as it might have been, with the same
chance in both. The difference of the teams' points is what the thing was worth: counting becomes causation.

    partner   the seat does nothing in the whole episode
    idle      the giver does nothing from the hand-over on
    kept      the giver does nothing at that one step, and so keeps the thing for now
    removed   what was handed over vanishes as it is put down (games that say how: Overcooked)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

from interplay.agents.api import Agent, as_agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.metrics.api import Metric, Sample
from interplay.metrics.branching import Brancher, Moment, Past
from interplay.metrics.interdependence import Link, count
from interplay.play.episodes import Episode
from interplay.registry import Registry
from interplay.symbolic.read import READERS, read, reader
from interplay.table import Row

PARTNER, IDLE, KEPT, REMOVED = WAYS = ("partner", "idle", "kept", "removed")
EDITS = Registry(
    "way to take a thing away",
    entry_points="interplay.edits",
    table={"overcooked": "interplay.games.overcooked.edits:take_away"},
)
CONFIDENCE = 0.95


def compute(sample: Sample) -> Iterator[Row]:
    options = sample.options
    samples, seed, most = (int(options.get(n, d)) for n, d in (("samples", 32), ("seed", 0), ("most", 20)))
    ways = _ways(options.get("ways", (PARTNER, IDLE, REMOVED)), sample.game)
    if samples < 2:
        raise InterplayError(f"samples: {samples}; an interval needs at least 2 continuations, and better 32")
    for base, episode in zip(sample.about(), sample.episodes, strict=True):
        agents = seated(options["policies"], sample.game, episode)
        brancher = _brancher(sample.game, tuple(agents))
        past = brancher.past(episode)
        stand_ins = [a.name for a, who in zip(agents, episode.agents) if a.identity(sample.game).hash != who.hash]
        told = {"samples": samples, "stand_ins": ", ".join(stand_ins) or None}
        told["agreement"] = round(float(np.mean(np.asarray(past.agreed))), 4)
        branches = list(_branches(sample.game, episode, past, ways, most))
        points = brancher.points([moment for _, *pair in branches for moment in pair], samples, seed)
        for (about, *_), real, without in zip(branches, points[::2], points[1::2], strict=True):
            yield {**base, "seat": None, **about, "metric": "worth", **worth(real, without), **told}


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


def _branches(
    game: Game, episode: Episode, past: Past, ways: Sequence[str], most: int
) -> Iterator[tuple[Row, Moment, Moment]]:
    """What is asked, the moment as it was, and the moment as it might have been."""
    if PARTNER in ways:
        for seat, who in enumerate(episode.agents):
            about = {"way": PARTNER, "giver": seat, "receiver": None, "agent": who.name, "gave_t": 0}
            yield about, past.moment(0), past.moment(0, idle=[seat])
    for link in hand_overs(game, episode, past)[:most] if set(ways) - {PARTNER} else ():
        about = {"agent": episode.agents[link.giver].name, "giver": link.giver, "receiver": link.receiver}
        about |= {"object": link.object, "class": link.kind, "gave_t": link.gave_t, "used_t": link.used_t}
        for way in ways:
            if way != PARTNER:
                yield {"way": way, **about}, *_moments(game, episode, past, link, way)


def _moments(game: Game, episode: Episode, past: Past, link: Link, way: str) -> tuple[Moment, Moment]:
    t, giver = link.gave_t, link.giver
    if way == IDLE:
        return past.moment(t), past.moment(t, idle=[giver])
    before, after = past.moment(t), past.moment(t + 1)
    if way == KEPT:
        from interplay.agents.basic import Stay

        joint = np.asarray(episode.actions[t], np.int32).copy()
        joint[giver] = Stay().bind(game).action  # type: ignore[attr-defined]
        state, _ = game.step(before.state, joint, None)  # type: ignore[arg-type]
    else:
        state = EDITS.load(_family(game))(game, before.state, after.state, giver)
    return after, past.moment(t + 1, state=state)


def hand_overs(game: Game, episode: Episode, past: Past) -> list[Link]:
    """The interdependencies of the episode through the channels that count by default, in order of time."""
    if _family(game) not in READERS.names() and not hasattr(game, "symbolic"):
        raise InterplayError(f"{game.id} has no symbolic domain, so its hand-overs are not known; ask for ways=partner")
    import jax

    states = jax.tree_util.tree_map(lambda x: np.asarray(x)[: episode.length + 1], past.states)
    found = count(read(game, states, episode.actions, _reader(game)))
    return sorted(found.links, key=lambda link: (link.gave_t, link.giver))


def seated(policies: Any, game: Game, episode: Episode) -> list[Agent]:
    """The agents of an episode's seats: by the names that the trace recorded, or one given for each seat.

    Whoever is found by name must be who played; whoever is given for a seat may stand in for another.
    """
    if isinstance(policies, Sequence) and not isinstance(policies, str):
        if len(policies) != game.num_seats:
            raise InterplayError(f"policies: {len(policies)} given; {game.id} has {game.num_seats} seats")
        return [_kept_agent(p) for p in policies]
    if policies != "registered" and not isinstance(policies, Mapping):
        raise InterplayError(f"policies: {policies!r}; {POLICIES}")
    found = []
    for seat, who in enumerate(episode.agents):
        if isinstance(policies, Mapping) and who.name not in policies:
            raise InterplayError(f"policies: none is given for {who.name!r} in seat {seat}")
        agent = _kept_agent(policies[who.name] if isinstance(policies, Mapping) else who.name)
        known = agent.identity(game).hash
        if known != who.hash:
            raise InterplayError(
                f"the agent {who.name!r} here ({known}) is not the one that played in seat {seat} ({who.hash}); "
                f"to let it stand in, give an agent for each seat in place of names"
            )
        found.append(agent)
    return found


@lru_cache(maxsize=64)
def _named(name: str) -> Agent:
    return as_agent(name)


def _kept_agent(thing: Any) -> Agent:
    """Agents by name are made once, so that what is compiled for them serves again."""
    return _named(thing) if isinstance(thing, str) else as_agent(thing)


_branchers: dict[tuple, tuple] = {}


def _brancher(game: Game, agents: tuple[Agent, ...]) -> Brancher:
    key = (id(game), *(id(a.mind) for a in agents))
    if key not in _branchers:
        if len(_branchers) > 16:
            _branchers.clear()
        _branchers[key] = (Brancher(game, agents), game, agents)  # held, so that no id passes to another
    return _branchers[key][0]


@lru_cache(maxsize=16)
def _reader(game: Game) -> Any:
    return reader(game)


def _ways(asked: Any, game: Game) -> tuple[str, ...]:
    ways = (asked,) if isinstance(asked, str) else tuple(asked)
    for way in ways:
        if way not in WAYS:
            raise InterplayError(f"ways: {way!r}; a thing is taken out of an episode by {', '.join(WAYS)}")
    if REMOVED in ways and _family(game) not in EDITS.names():
        ways = tuple(KEPT if way == REMOVED else way for way in ways)
    return tuple(dict.fromkeys(ways))


def _family(game: Game) -> str:
    return game.id.partition("/")[0]


POLICIES = (
    "give policies='registered' to find the agents by the names in the trace, a table from these names to agents, "
    "or a list with an agent for each seat"
)

COUNTERFACTUAL = Metric(
    name="counterfactual",
    doc="what a partner, and each hand-over, was worth in points: the same play with and without it (column `way`)",
    compute=compute,
    direction="higher",
    unit="points, with a 95 % t interval over paired continuations",
    source="interplay; hand-overs as counted by interdependence",
    needs=("traces", "policies"),
    options={
        "policies": POLICIES,
        "samples": "continuations of each moment, 32 by default",
        "seed": "of the continuations, 0 by default",
        "ways": "partner, idle, kept, removed; by default partner, idle and removed",
        "most": "hand-overs of an episode, in order of time, 20 by default",
    },
)
