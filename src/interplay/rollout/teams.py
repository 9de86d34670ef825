"""Who sits where. A team fixes an agent for each seat; its number seeds its episodes."""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interplay.agents.api import Agent, Identity, as_agent
from interplay.errors import InterplayError
from interplay.games.api import Game

MOST_TEAMS = 100_000


@dataclass(frozen=True)
class Team:
    """An agent for each seat of a game."""

    agents: tuple[Agent, ...]
    identities: tuple[Identity, ...]
    number: int  # depends on the game and on who sits where, on nothing else: so results do not depend on batching

    @classmethod
    def of(cls, game: Game, agents: Sequence[Any]) -> Team:
        """Seat agents (names, policies, players), one for each seat.

        Raises:
            InterplayError: There are more or fewer agents than seats, or one cannot read any encoding of the game.
        """
        seated = tuple(_agents(game, agents))
        if len(seated) != game.num_seats:
            names = ", ".join(a.name for a in seated)
            raise InterplayError(f"{game.id} has {game.num_seats} seats, but {len(seated)} agents were given: {names}")
        identities = tuple(agent.identity(game) for agent in seated)
        content = json.dumps([game.id, dict(game.options), [[i.name, i.hash] for i in identities]], sort_keys=True)
        return cls(seated, identities, zlib.crc32(content.encode()))


def _agents(game: Game, agents: Sequence[Any]) -> list[Agent]:
    if isinstance(agents, str):
        raise InterplayError(f"agents: {agents!r:.80}; give a list of agents, also if there is only one")
    return [as_agent(agent, game=game) for agent in agents]


def all_teams(game: Game, agents: Sequence[Any]) -> list[Team]:
    """Every way to fill the seats with these agents, self-play included."""
    seated = _agents(game, agents)
    names = [agent.name for agent in seated]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InterplayError(f"two agents are called {', '.join(sorted(twice))}; give each its own name")
    count = len(seated) ** game.num_seats
    if count > MOST_TEAMS:
        raise InterplayError(
            f"{len(seated)} agents on {game.num_seats} seats make {count:,} teams; choose fewer agents"
        )
    return [Team.of(game, choice) for choice in itertools.product(seated, repeat=game.num_seats)]


def ego_teams(game: Game, agent: Any, partners: Sequence[Any]) -> list[Team]:
    """Return the agent in each seat in turn with each partner.

    Args:
        game: The game.
        agent: Who is in one seat.
        partners: Agents that take all other seats, or tuples of agents, one for each other seat in their order.

    Raises:
        InterplayError: A tuple has more or fewer agents than there are other seats.
    """
    ego, others = as_agent(agent, game=game), game.num_seats - 1
    made = []
    for partner in partners:
        several = partner if isinstance(partner, tuple) else (partner,) * others
        beside = tuple(as_agent(one, game=game) for one in several)
        if len(beside) != others:
            names = ", ".join(a.name for a in beside)
            raise InterplayError(f"{game.id} has {others} seats beside the agent; the set has {len(beside)}: {names}")
        made += [Team.of(game, [*beside[:seat], ego, *beside[seat:]]) for seat in range(game.num_seats)]
    return made
