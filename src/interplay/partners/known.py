"""Agents that are known in a game: scripted ones, those that come with the package, and any that are named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import equinox as eqx

from interplay.agents.api import Agent, Policy
from interplay.agents.basic import Noisy
from interplay.agents.registry import agent
from interplay.agents.shipped import shipped
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import capability
from interplay.partners.evaluate import PolicyStack
from interplay.partners.panel_file import network_of
from interplay.training.algorithms.br import partners_of

CLONES = ("bc",)  # methods whose agents imitate people: partners, and no answer to anybody


def named_agents(name: str) -> list[Agent]:
    """Agents of `NAME=AGENT` or `AGENT`. The folder of a training run gives all its policies, as NAME-1, NAME-2, ...

    What is no network keeps its own name, by which a panel's file finds it again.

    Raises:
        InterplayError: if either side of `=` is missing.
    """
    method, equals, who = name.rpartition("=")
    if equals and not (method and who):
        raise InterplayError(f"{name!r}: write NAME=AGENT, as in sp=runs/sp")
    agents = partners_of(who)
    if not method or network_of(agents[0].policy) is None:
        return agents
    return [replace(a, name=f"{method}-{i}" if len(agents) > 1 else method) for i, a in enumerate(agents, 1)]


def scripted_agents(game: Game) -> list[Agent]:
    """The agents that a game's family declares as its partners: scripted ones."""
    return [agent(name) for name in capability(game, "partners") or ()]


def shipped_agents(game: Game) -> list[Agent]:
    """The trained agents that come with the package for a game, but for clones of people; SP's third is sp-3."""
    names = [name for name in shipped() if name.rpartition("/")[0] == game.id]
    made = {name.rpartition("/")[2]: agent(f"trained/{name}") for name in names}
    return [replace(a, name=short) for short, a in made.items() if short.rpartition("-")[0] not in CLONES]


def policy_stacks(game: Game, agents: Iterable[Agent]) -> list[PolicyStack]:
    """Agents of many kinds, those of one kind together, each name once.

    Raises:
        InterplayError: if one is no policy, or two are called alike.
    """
    groups: list[tuple[Policy, list[Agent]]] = []
    names: set[str] = set()
    for one in agents:
        if not isinstance(one.policy, Policy):
            raise InterplayError(f"{one.name!r} is a player; only policies can be played in a compiled program")
        if one.name in names:
            raise InterplayError(f"two agents are called {one.name!r}; name them apart, as in NAME=AGENT")
        names.add(one.name)
        bound = one.policy.bind(game)
        base = bound.base if isinstance(bound, Noisy) else bound
        for like, group in groups:
            if _one_kind(like, base):
                group.append(one)
                break
        else:
            groups.append((base, [one]))
    return [PolicyStack.of_agents(game, group) for _, group in groups]


def _one_kind(one: Policy, other: Policy) -> bool:
    """Whether two policies differ in the values of their arrays alone."""
    shapes = [eqx.filter_eval_shape(lambda p: p, p) for p in (one, other)]
    return bool(eqx.tree_equal(*shapes))
