"""The causal-link count over any symbolic trace: who made true what whom needed, and whether it led anywhere.

A link: an action of seat j adds a fact about an object, the fact stays true, nobody else re-establishes it, and
an action of seat i needs it. What nature brings about (a soup is done) is credited to the last agent whose action
set it going. Goal-reaching: the receiver's action lies on a causal chain back from a goal fact that is true at the
end; chains follow facts that are about an object, not circumstances such as a free hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.metrics.interdependence import authors_rule
from interplay.metrics.interdependence.object_history import Possessions
from interplay.metrics.interdependence.records import (
    CONSTRUCTIVE,
    Interdependence,
    InterdependenceOptions,
    Link,
    Trigger,
)
from interplay.symbolic.trace import NATURE, Grounded, SymbolicTrace


class _Facts(NamedTuple):
    """The part of an operator that the count looks at."""

    needs: tuple[int, ...]  # about an object
    adds: tuple[int, ...]
    drops: tuple[int, ...]
    offers: tuple[int, ...]  # added facts that are handed over through a channel that counts


class _Edge(NamedTuple):
    """A candidate link between two operators, by their places in the trace."""

    source: int
    target: int
    object: str
    fact: int


@dataclass
class _Chains:
    """What one pass over the trace finds."""

    edges: list[_Edge] = field(default_factory=list)
    parents: dict[int, tuple[int, ...]] = field(default_factory=dict)  # operator -> operators that enabled it
    offers: dict[int, int] = field(default_factory=dict)  # operator of an agent -> the fact it offers
    taken_back: dict[int, int] = field(default_factory=dict)  # operator of an agent -> its own first use of that
    producer: dict[int, int] = field(default_factory=dict)  # at the end: fact -> operator


def count(trace: SymbolicTrace, options: InterdependenceOptions = InterdependenceOptions()) -> Interdependence:  # noqa: B008
    """All interdependencies, triggers and sub-tasks of an episode."""
    channels = _channels(trace, options)
    blind = sorted(p for p in trace.unseen_uses if trace.domain.predicates[p].channel in channels)
    if blind:
        raise InterplayError(
            f"hand-overs through {', '.join(channels)} cannot be counted from facts alone: {', '.join(blind)} is never "
            "deleted in this trace, so nobody's use of it is seen; record the operators, or tell derive what is used_up"
        )
    possessions = Possessions(trace, options.states)
    chains = _follow(trace, frozenset(channels), possessions)
    reached = _backward(chains, trace)
    authors = options.rule == "authors"
    if authors:
        uses = authors_rule.links(trace, channels)
    else:
        uses = [_link(trace, edge, possessions, reached) for edge in chains.edges if _counts(trace, edge, options)]
    return Interdependence(
        game_id=trace.game_id,
        num_seats=trace.num_seats,
        length=trace.length,
        horizon=trace.horizon,
        channels=channels,
        links=_with_reciprocity(_once(uses)),
        triggers=tuple(_triggers(trace, chains, [k for k in uses if not authors or k.kind == CONSTRUCTIVE])),
        subtasks=_subtasks(trace),
        goals=len(trace.goals()),
        partners=_partners(trace, channels),
    )


def _channels(trace: SymbolicTrace, options: InterdependenceOptions) -> tuple[str, ...]:
    known = trace.domain.channels
    if options.channels is None:
        return trace.domain.default_channels
    for name in options.channels:
        if name not in known:
            raise InterplayError(
                f"domain {trace.domain.name!r} has no channel {name!r}; it has {', '.join(known) or 'none'}"
            )
    return tuple(name for name in known if name in options.channels)


def _facts(trace: SymbolicTrace, action: Grounded, channels: frozenset[str]) -> _Facts | None:
    world = trace.world

    def about_objects(facts: Iterable[int]) -> tuple[int, ...]:
        return tuple(f for f in facts if world.about(f) is not None)

    adds = about_objects(action.add_effects)
    facts = _Facts(
        about_objects(dict.fromkeys(action.preconditions)),
        adds,
        about_objects(action.delete_set - action.add_set),
        tuple(f for f in adds if world.predicate_of(f).channel in channels),
    )
    return facts if any(facts) else None


def _follow(trace: SymbolicTrace, channels: frozenset[str], possessions: Possessions) -> _Chains:
    chains = _Chains()
    known: dict[Grounded, _Facts | None] = {}
    world, producer, sources = trace.world, chains.producer, {}
    for n, (action, seat) in enumerate(zip(trace.actions, trace.seats)):
        if action not in known:
            known[action] = _facts(trace, action, channels)
        facts = known[action]
        if facts is None:
            continue
        parents, objects = [], set()
        for fact in facts.needs:
            parent = producer.get(fact)
            if parent is None:
                continue
            parents.append(parent)
            source = sources.get(parent)
            if seat == NATURE or source is None:
                continue
            if trace.seats[source] == seat:
                if world.predicate_of(fact).channel in channels:
                    chains.taken_back.setdefault(source, n)
                continue
            thing = world.about(fact)
            if world.predicate_of(fact).channel in channels and (source, thing) not in objects:
                objects.add((source, thing))
                chains.edges.append(_Edge(source, n, str(thing), fact))
        if parents:
            chains.parents[n] = tuple(parents)
        if seat == NATURE:
            sources[n] = max((s for p in parents if (s := sources.get(p)) is not None), default=None)
        else:
            sources[n] = n
        for fact in facts.drops:
            producer.pop(fact, None)
        for fact in facts.adds:
            producer[fact] = n
        for fact in facts.offers:
            if sources[n] is not None and _usable(trace, fact, trace.seats[sources[n]]):
                chains.offers.setdefault(sources[n], fact)
        possessions.note(n, facts.drops, facts.adds)
    return chains


def _usable(trace: SymbolicTrace, fact: int, giver: int) -> bool:
    """Whether some teammate could use the fact: one whom it names, or who can reach what it names."""
    seats = set(range(trace.num_seats))
    objects = trace.world.fact_of(fact)[1:]
    named = {trace.agents.index(o) for o in objects if o in trace.agents}
    if named:
        seats &= named
    for thing in objects:
        if thing in trace.reach:
            seats &= trace.reach[thing]
    return bool(seats - {giver})


def _backward(chains: _Chains, trace: SymbolicTrace) -> set[int]:
    """The operators on causal chains to the goals that are true at the end."""
    queue = [chains.producer[g] for g in trace.goals() if g in chains.producer]
    reached = set(queue)
    while queue:
        for parent in chains.parents.get(queue.pop(), ()):
            if parent not in reached:
                reached.add(parent)
                queue.append(parent)
    return reached


def _counts(trace: SymbolicTrace, edge: _Edge, options: InterdependenceOptions) -> bool:
    return (
        options.rule == "overlap" or trace.actions[edge.source].add_set <= trace.actions[edge.target].precondition_set
    )


def _link(trace: SymbolicTrace, edge: _Edge, possessions: Possessions, reached: set[int]) -> Link:
    giver, receiver = trace.seats[edge.source], trace.seats[edge.target]
    return Link(
        giver=giver,
        receiver=receiver,
        object=edge.object,
        fact=trace.world.show(edge.fact),
        channel=str(trace.world.predicate_of(edge.fact).channel),
        gave=str(trace.actions[edge.source]),
        used=str(trace.actions[edge.target]),
        gave_t=trace.times[edge.source],
        used_t=trace.times[edge.target],
        goal_reaching=edge.target in reached,
        looping=possessions.loops(edge.object, giver, edge.source, receiver, edge.target),
    )


def _once(uses: list[Link]) -> list[Link]:
    """A receiver who repeats the very same operator on the same gift (walks there twice) used it once."""
    unique: dict[tuple, Link] = {}
    for link in uses:
        key = (link.giver, link.gave_t, link.gave, link.object, link.receiver, link.used)
        if key not in unique or (link.goal_reaching and not unique[key].goal_reaching):
            unique[key] = link
    return list(unique.values())


def _with_reciprocity(links: list[Link]) -> tuple[Link, ...]:
    ways = {(k.giver, k.receiver) for k in links if k.kind == CONSTRUCTIVE}
    both = {(g, r) for g, r in ways if (r, g) in ways}
    return tuple(replace(k, reciprocal=True) if (k.giver, k.receiver) in both else k for k in links)


def _triggers(trace: SymbolicTrace, chains: _Chains, uses: list[Link]) -> Iterable[Trigger]:
    first: dict[tuple[int, int, str], Link] = {}
    for link in uses:
        first.setdefault((link.giver, link.gave_t, link.gave), link)
    for n, fact in sorted(chains.offers.items()):
        seat, t, action = trace.seats[n], trace.times[n], str(trace.actions[n])
        link = first.get((seat, t, action))
        yield Trigger(
            seat=seat,
            t=t,
            object=str(trace.world.about(fact)),
            fact=trace.world.show(fact),
            action=action,
            accepted_by=link.receiver if link else None,
            accepted_t=link.used_t if link else None,
            taken_back_t=trace.times[chains.taken_back[n]] if n in chains.taken_back else None,
        )


def _subtasks(trace: SymbolicTrace) -> tuple[int, ...]:
    counts = [0] * trace.num_seats
    for action, seat in zip(trace.actions, trace.seats):
        if seat != NATURE and action.kind == "action":
            counts[seat] += 1
    return tuple(counts)


def _partners(trace: SymbolicTrace, channels: tuple[str, ...]) -> dict[int, frozenset[int]]:
    """Whom each seat can give to through these channels; everybody, unless the trace knows better."""
    everyone = {s: frozenset(range(trace.num_seats)) - {s} for s in range(trace.num_seats)}
    receivers = {seat: frozenset() for seat in everyone}
    for channel in channels:
        open_to = trace.partners.get(channel, everyone)
        receivers = {seat: receivers[seat] | open_to.get(seat, frozenset()) for seat in receivers}
    return receivers
