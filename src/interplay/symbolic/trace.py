"""Symbolic traces: the facts at each time, and the operators of each agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interplay.symbolic.grammar import Domain

if TYPE_CHECKING:
    from interplay.symbolic.declare import SymbolicWorld

NATURE = -1  # the seat of what nobody did: a soup that is done, a fire that spreads


@dataclass(frozen=True, slots=True, eq=False)
class Grounded:
    """An operator with its objects. Facts are numbers of the world that grounded it."""

    name: str
    kind: str  # action, move or event
    objects: tuple[str, ...]
    preconditions: tuple[int, ...]
    add_effects: tuple[int, ...]
    delete_effects: tuple[int, ...]
    precondition_set: frozenset[int]
    add_set: frozenset[int]
    delete_set: frozenset[int]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.objects)})"


@dataclass(frozen=True)
class SymbolicTrace:
    """Facts p_t and the agents' grounded operators, in the order in which the game resolved them.

    `actions[n]` was done by `seats[n]` at time `times[n]`, that is, between p_t and p_t+1.
    """

    world: SymbolicWorld
    agents: tuple[str, ...]  # the object that each seat is
    start: frozenset[int]
    final: frozenset[int]
    actions: tuple[Grounded, ...]
    seats: tuple[int, ...]  # NATURE for events
    times: tuple[int, ...]
    length: int
    horizon: int
    game_id: str = ""
    reach: Mapping[str, frozenset[int]] = field(default_factory=dict)  # object -> seats that can use what is there
    partners: Mapping[str, Mapping[int, frozenset[int]]] = field(default_factory=dict)  # channel -> giver -> receivers

    unseen_uses: frozenset[str] = frozenset()  # predicates whose uses the trace cannot show (see `declare.derive`)

    @property
    def domain(self) -> Domain:
        """The domain."""
        return self.world.domain

    @property
    def num_seats(self) -> int:
        """The number of seats."""
        return len(self.agents)

    def states(self) -> Iterator[tuple[int, set[int]]]:
        """Yield (t, facts) for t = 0 .. length. The set is one and the same, rolled forward: copy it to keep it."""
        facts, n = set(self.start), 0
        for t in range(self.length + 1):
            while n < len(self.actions) and self.times[n] < t:
                facts -= self.actions[n].delete_set
                facts |= self.actions[n].add_set
                n += 1
            yield t, facts

    def facts(self, t: int) -> frozenset[int]:
        """Return p_t: the facts true before the joint action of time t."""
        facts = set(self.start)
        for time, action in zip(self.times, self.actions):
            if time >= t:
                break
            facts -= action.delete_set
            facts |= action.add_set
        return frozenset(facts)

    def at(self, t: int) -> list[tuple[int, Grounded]]:
        """Return (seat, operator) of the joint action of time t, in the game's order."""
        return [(self.seats[n], a) for n, a in enumerate(self.actions) if self.times[n] == t]

    def goals(self) -> frozenset[int]:
        """Return the goal facts that are true at the end."""
        names = set(self.domain.goals)
        return frozenset(f for f in self.final if self.world.fact_of(f)[0] in names)

    def show(self) -> str:
        """Return the plan as text, one operator a line."""
        who = {NATURE: "nature", **dict(enumerate(self.agents))}
        return "\n".join(f"{t:5d}  {who[s]:14s} {a}" for t, s, a in zip(self.times, self.seats, self.actions))
