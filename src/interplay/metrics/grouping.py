"""Who played with whom: what metrics over many episodes group by.

An agent's `config` may name the `algorithm` that made it, such as {"algorithm": "ippo", "seed": 3}. Agents of one
algorithm and the same settings are its independent runs; another setting, such as another weight of a loss, makes
another algorithm (`hdr, hold=0.2`). Without a name an agent is an algorithm of its own.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from interplay.agents.api import Identity
from interplay.rollout.episode import Episode
from interplay.table import Row

SELF, INTRA, INTER, MIXED = "self_play", "intra_xp", "inter_xp", "mixed"

# What tells runs of one algorithm apart, and is no setting of it.
OF_A_RUN = {
    "algorithm", "game", "greedy", "seed", "run", "learner", "steps", "return", "clone", "unstuck", "member",
    "snapshot",
}  # fmt: skip

PAIRING, MEAN, POOLED = "pairing", "mean of pairings", "all games"


class AgentKey(NamedTuple):
    """An agent as tables know it."""

    name: str
    hash: str
    algorithm: str


class TeamGroup(NamedTuple):
    """A game with its options, and who sat where."""

    game: str
    options: str
    seats: tuple[AgentKey, ...]

    def relation(self, seat: int) -> str:
        """What a seat's partners are to it: itself, other runs of its algorithm, or other algorithms."""
        own = self.seats[seat]
        others = [w for s, w in enumerate(self.seats) if s != seat]
        if all(w[:2] == own[:2] for w in others):
            return SELF
        same = [w.algorithm == own.algorithm for w in others]
        return INTRA if all(same) else MIXED if any(same) else INTER

    def partners(self, seat: int) -> str:
        """The others at the table, however they sat."""
        return " & ".join(sorted(w.name for s, w in enumerate(self.seats) if s != seat))


def agent_key(identity: Identity) -> AgentKey:
    """Return an agent as tables know it."""
    algorithm = identity.config.get("algorithm")
    if algorithm is None:
        return AgentKey(identity.name, identity.hash, identity.name)
    settings = [f"{name}={value}" for name, value in sorted(identity.config.items()) if name not in OF_A_RUN]
    return AgentKey(identity.name, identity.hash, ", ".join([str(algorithm), *settings]))


def team(episode: Episode) -> TeamGroup:
    """Return the team that played an episode."""
    options = json.dumps(dict(episode.options), sort_keys=True, default=str)
    return TeamGroup(episode.game_id, options, tuple(agent_key(i) for i in episode.agents))


class Pair(NamedTuple):
    """An agent and those it played with, in whichever seats."""

    game: str
    options: str
    agent: AgentKey
    partner: str
    relation: str

    def about(self) -> Row:
        """Return the columns with which a row of this pair begins; it has no episode, since it is of many."""
        options = None if self.options == "{}" else self.options
        names = {"agent": self.agent.name, "algorithm": self.agent.algorithm, "partner": self.partner}
        return {"game": self.game, "options": options, **names, "relation": self.relation}


def pair(group: TeamGroup, seat: int) -> Pair:
    """Return the agent in a seat together with its partners."""
    return Pair(group.game, group.options, group.seats[seat], group.partners(seat), group.relation(seat))


def by_pair(parts: Iterable[Mapping[TeamGroup, Sequence[Any]]]) -> dict[Pair, list[Any]]:
    """Gather the values of each seat of each team by the agent in that seat and its partners."""
    values: dict[Pair, list[Any]] = {}
    for part in parts:
        for group, seats in part.items():
            for seat, value in enumerate(seats):
                values.setdefault(pair(group, seat), []).append(value)
    return values


def over_partners(values: Mapping[Pair, float | None]) -> list[Row]:
    """An agent's value with each partner, and the mean and standard deviation of these. Null where there is none."""
    rows = [{**p.about(), "over": PAIRING, "value": v} for p, v in values.items()]
    agents: dict[tuple[str, str, AgentKey], list[float | None]] = {}
    for p, value in values.items():
        agents.setdefault((p.game, p.options, p.agent), []).append(value)
    for (game, options, agent), all_of in agents.items():
        present = [v for v in all_of if v is not None]
        about = Pair(game, options, agent, "", "").about() | {"partner": None, "relation": None}
        spread = statistics.stdev(present) if len(present) > 1 else None
        mean = statistics.fmean(present) if present else None
        rows.append({**about, "over": MEAN, "value": mean, "sd": spread, "partners": len(present)})
    return rows
