"""Declare a domain beside its game. Games may import this module, but no other of this package.

A domain is text (see `grammar`). A `SymbolicWorld` knows the objects of one game and numbers its facts, so that facts
are integers and grounded operators are made once and looked up afterwards. A `Recorder` takes the operators of an
episode in the game's own order, rolls the facts forward and raises an error when a precondition does not hold. Where
only facts are known, `derive` finds the operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from interplay.symbolic.grammar import Domain, DomainError, Predicate, parse
from interplay.symbolic.trace import NATURE, Grounded, SymbolicTrace

__all__ = [
    "NATURE",
    "Domain",
    "DomainError",
    "DomainReader",
    "Grounded",
    "Recorder",
    "SymbolicTrace",
    "SymbolicWorld",
    "declare",
    "declare_beside",
    "derive",
]

Fact = tuple[Any, ...]  # (predicate, object, ...)


def declare(name: str, text: str) -> Domain:
    """Return the domain that this text declares."""
    return parse(name, text)


def declare_beside(module: str, name: str) -> Domain:
    """Return the domain that the file `domain.strips` beside a module declares.

    Args:
        module: The module's `__file__`.
        name: Of the domain.
    """
    return parse(name, Path(module).with_name("domain.strips").read_text(encoding="utf-8"))


class DomainReader(Protocol):
    """Reads whole episodes of a game; a game's domain module offers it as `Reader(game)`."""

    domain: Domain

    def read(self, states: Any, actions: Any) -> SymbolicTrace:
        """Return the symbolic trace of an episode.

        Args:
            states: The game's record with a leading [step + 1] axis.
            actions: [step, seat].
        """
        ...


def show(fact: Fact) -> str:
    """Return a fact as text."""
    return f"{fact[0]}({', '.join(fact[1:])})"


class SymbolicWorld:
    """The objects of one game with all facts and operators that were used. Shared by its episodes."""

    def __init__(self, domain: Domain, objects: Mapping[str, str] | None = None):
        self.domain = domain
        self.types: dict[str, str] = {}
        self._ids: dict[Fact, int] = {}
        self._facts: list[Fact] = []
        self._predicates: list[Predicate] = []
        self._about: list[str | None] = []
        self._grounded: dict[Any, Grounded] = {}
        for name, kind in (objects or {}).items():
            self.add(name, kind)

    def add(self, name: str, kind: str) -> str:
        """Add an object unless it exists, and return its name.

        Raises:
            DomainError: The name is taken, or the type is not declared.
        """
        known = self.types.get(name)
        if known == kind:
            return name
        if known is not None:
            raise DomainError(f"domain {self.domain.name!r}: the object {name} is a {known}, so it cannot be a {kind}")
        if name in self.domain.parents or name in self.domain.predicates or name in self.domain.operators:
            raise DomainError(f"domain {self.domain.name!r}: call the object {name!r} otherwise; the name is taken")
        if kind not in self.domain.parents:
            raise DomainError(f"domain {self.domain.name!r}: the object {name} is of the undeclared type {kind!r}")
        self.types[name] = kind
        return name

    def fact(self, predicate: str, *objects: str) -> int:
        """Return the number of a fact.

        Raises:
            DomainError: The domain has no such fact.
        """
        key = (predicate, *objects)
        number = self._ids.get(key)
        return self._intern(key) if number is None else number

    def _intern(self, key: Fact) -> int:
        predicate = self.domain.predicates.get(key[0])
        if predicate is None:
            known = ", ".join(self.domain.predicates)
            raise DomainError(f"domain {self.domain.name!r}: the fact {show(key)} is not declared; declared: {known}")
        if len(key) - 1 != len(predicate.types):
            declared = f"{predicate.name}({', '.join(predicate.types)})"
            raise DomainError(
                f"domain {self.domain.name!r}: {show(key)} has {len(key) - 1} objects, but line {predicate.line} "
                f"declares {declared}"
            )
        for thing, wanted in zip(key[1:], predicate.types):
            self._check(thing, wanted, show(key))
        self._ids[key] = number = len(self._facts)
        self._facts.append(key)
        self._predicates.append(predicate)
        self._about.append(None if predicate.about is None else key[1 + predicate.about])
        return number

    def _check(self, thing: str, wanted: str, where: str) -> None:
        kind = self.types.get(thing)
        if kind is None:
            raise DomainError(f"domain {self.domain.name!r}: {where} speaks of {thing!r}, an object that nobody added")
        if not self.domain.is_a(kind, wanted):
            raise DomainError(f"domain {self.domain.name!r}: {where}: {thing!r} is a {kind}, not a {wanted}")

    def facts(self, facts: Iterable[Fact]) -> frozenset[int]:
        """Return the numbers of facts."""
        return frozenset(self.fact(*f) for f in facts)

    def fact_of(self, number: int) -> Fact:
        """Return the fact of a number."""
        return self._facts[number]

    def predicate_of(self, number: int) -> Predicate:
        """Return the predicate of a fact's number."""
        return self._predicates[number]

    def about(self, number: int) -> str | None:
        """Return the object that a fact is about; None for a circumstance."""
        return self._about[number]

    def show(self, number: int) -> str:
        """Return a fact's number as text."""
        return show(self._facts[number])

    def ground(self, operator: str, *objects: str, preconditions: Sequence[int] = ()) -> Grounded:
        """Return an operator with its objects.

        Args:
            operator: The operator's name.
            *objects: Its objects.
            preconditions: Further facts that this instance depended on.

        Raises:
            DomainError: The domain has no such operator, or it takes other objects.
        """
        key = (operator, objects, tuple(preconditions))
        grounded = self._grounded.get(key)
        if grounded is None:
            grounded = self._grounded[key] = self._ground(operator, objects, tuple(preconditions))
        return grounded

    def _ground(self, name: str, objects: tuple[str, ...], also: tuple[int, ...]) -> Grounded:
        operator = self.domain.operators.get(name)
        if operator is None:
            known = ", ".join(self.domain.operators)
            raise DomainError(f"domain {self.domain.name!r} has no operator {name!r}; it has {known}")
        call = f"{name}({', '.join(objects)})"
        if len(objects) != len(operator.parameters):
            raise DomainError(
                f"domain {self.domain.name!r}: {call} has {len(objects)} objects, but line {operator.line} "
                f"declares {len(operator.parameters)}"
            )
        bound = {}
        for (variable, kind), thing in zip(operator.parameters, objects):
            self._check(thing, kind, call)
            bound[variable] = thing
        preconditions, add_effects, delete_effects = (
            tuple(self.fact(a.predicate, *(bound[v] for v in a.variables)) for a in atoms)
            for atoms in (operator.preconditions, operator.add_effects, operator.delete_effects)
        )
        return _grounded(name, operator.kind, objects, (*preconditions, *also), add_effects, delete_effects)

    def derived(
        self,
        name: str,
        kind: str,
        preconditions: Iterable[int],
        add_effects: Iterable[int],
        delete_effects: Iterable[int],
    ) -> Grounded:
        """Return an operator known only by its facts; its objects are those that its facts mention."""
        preconditions, add_effects, delete_effects = (
            tuple(sorted(preconditions)),
            tuple(sorted(add_effects)),
            tuple(sorted(delete_effects)),
        )
        key = (name, kind, preconditions, add_effects, delete_effects)
        grounded = self._grounded.get(key)
        if grounded is None:
            mentioned = dict.fromkeys(
                o for f in (*preconditions, *add_effects, *delete_effects) for o in self._facts[f][1:]
            )
            grounded = self._grounded[key] = _grounded(
                name, kind, tuple(mentioned), preconditions, add_effects, delete_effects
            )
        return grounded


def _grounded(name, kind, objects, preconditions, add_effects, delete_effects) -> Grounded:
    # What an operator both deletes and adds stays true: STRIPS adds last.
    return Grounded(
        name,
        kind,
        objects,
        preconditions,
        add_effects,
        delete_effects,
        frozenset(preconditions),
        frozenset(add_effects),
        frozenset(delete_effects),
    )


class Recorder:
    """Takes an episode's operators in order; `t` never falls."""

    def __init__(self, world: SymbolicWorld, agents: Sequence[str], start: Iterable[int]):
        self.world, self.agents = world, tuple(agents)
        for agent in self.agents:
            kind = world.types.get(agent)
            if not any(world.domain.is_a(kind, a) for a in world.domain.agents):
                raise DomainError(f"domain {world.domain.name!r}: {agent!r} is a {kind}, and no agent")
        self.start = frozenset(start)
        self.now = set(self.start)
        self._actions: list[Grounded] = []
        self._seats: list[int] = []
        self._times: list[int] = []

    def do(self, t: int, seat: int, operator: str, *objects: str, preconditions: Sequence[int] = ()) -> None:
        """Record a seat's operator at time t (seat NATURE: an event).

        Args:
            t: The time step.
            seat: Who acts.
            operator: The operator's name.
            *objects: Its objects.
            preconditions: Further facts that this instance depended on.

        Raises:
            DomainError: The operator does not fit the domain, or a precondition does not hold.
        """
        try:
            action = self.world.ground(operator, *objects, preconditions=preconditions)
        except DomainError as error:
            raise DomainError(f"time step {t}, seat {seat}: {error}") from None
        self.take(t, seat, action)

    def take(self, t: int, seat: int, action: Grounded) -> None:
        """Record an operator that was grounded before."""
        if not action.precondition_set <= self.now:
            missing = self.world.show(min(action.precondition_set - self.now))
            raise DomainError(
                f"time step {t}, seat {seat}: {action} needs {missing}, which is not true then; either the trace is "
                f"of another game or the domain {self.world.domain.name!r} misses an operator before it"
            )
        self.now -= action.delete_set
        self.now |= action.add_set
        self._actions.append(action)
        self._seats.append(seat)
        self._times.append(t)

    def finish(self, length: int, horizon: int | None = None, **more: Any) -> SymbolicTrace:
        """Return the trace of `length` time steps.

        Args:
            length: Steps played.
            horizon: Steps that an episode may have; by default `length`.
            **more: `game_id`; `reach`, object -> seats that can use what is there; `partners`, channel -> giver ->
                possible receivers.
        """
        if "reach" in more:
            more["reach"] = {thing: frozenset(seats) for thing, seats in more["reach"].items()}
        if "partners" in more:
            more["partners"] = {
                channel: {giver: frozenset(seats) for giver, seats in of.items()}
                for channel, of in more["partners"].items()
            }
        return SymbolicTrace(
            self.world,
            self.agents,
            self.start,
            frozenset(self.now),
            tuple(self._actions),
            tuple(self._seats),
            tuple(self._times),
            length,
            horizon or length,
            **more,
        )


def derive(
    world: SymbolicWorld,
    agents: Sequence[str],
    facts: Sequence[Iterable[int]],
    names: Sequence[Sequence[str | None]],
    *,
    used_up: Iterable[str] = (),
    **more: Any,
) -> SymbolicTrace:
    """Return a symbolic trace from facts alone.

    A changed fact is attributed to the agent that it names, or to the agent whose changed facts name one of its
    objects, or to nature; to the only one who acted, if there is only one. An operator's preconditions are what it
    deleted and what was true before of the objects it changed. A use that changes nothing of a fact cannot be seen:
    channels with facts that are never deleted in the trace are marked, and counting hand-overs through them is refused.

    Args:
        world: The objects of the game.
        agents: The object that each seat is.
        facts: `facts[t]` is p_t.
        names: `names[t][seat]` is what each seat's action is called; None: the seat did nothing.
        used_up: Predicates whose facts are deleted by whoever uses them, though nobody may do so in this trace.
        **more: As for `Recorder.finish`.

    Raises:
        DomainError: A change could be the doing of several seats, which facts alone cannot tell.
    """
    sets = [frozenset(f) for f in facts]
    recorder = Recorder(world, agents, sets[0])
    for t, (before, after) in enumerate(pairwise(sets)):
        if before == after:
            continue
        acting = [seat for seat, name in enumerate(names[t]) if name is not None]
        blame = _blame(world, recorder.agents, before ^ after, acting, t)
        for seat in (*range(len(recorder.agents)), NATURE):
            mine = blame.get(seat)
            if not mine:
                continue
            delete_effects, add_effects = mine - after, mine & after
            changed = {world.about(f) for f in mine} - {None}
            context = {f for f in before & recorder.now if world.about(f) in changed}
            called = "nature" if seat == NATURE else str(names[t][seat])
            kind = "event" if seat == NATURE else "action"
            recorder.take(t, seat, world.derived(called, kind, delete_effects | context, add_effects, delete_effects))
    return recorder.finish(len(sets) - 1, unseen_uses=_unseen(world, sets, frozenset(used_up)), **more)


def _unseen(world: SymbolicWorld, sets: Sequence[frozenset[int]], used_up: frozenset[str]) -> frozenset[str]:
    """Return the channel predicates that were added and never deleted: who used them cannot be seen."""
    added, deleted = set(), set(used_up)
    for before, after in pairwise(sets):
        added |= {world.predicate_of(f).name for f in after - before}
        deleted |= {world.predicate_of(f).name for f in before - after}
    return frozenset(name for name in added - deleted if world.domain.predicates[name].channel is not None)


def _blame(
    world: SymbolicWorld, agents: tuple[str, ...], changed: Iterable[int], acting: Sequence[int], t: int
) -> dict[int, set[int]]:
    """Return which seat brought about which of the changed facts."""
    seat_of = {agent: seat for seat, agent in enumerate(agents) if seat in acting}
    if len(seat_of) == 1 and any(set(world.fact_of(f)[1:]) & seat_of.keys() for f in changed):
        return {next(iter(seat_of.values())): set(changed)}
    blamed: dict[int, set[int]] = {}
    owners: dict[str, int] = {}  # objects of facts that are attributed already
    rest: list[int] = []

    def attribute(fact: int, seats: set[int]) -> None:
        if len(seats) > 1:
            who = " or ".join(agents[s] for s in sorted(seats))
            raise DomainError(
                f"time step {t}: {world.show(fact)} changed by the doing of {who}; facts alone cannot tell whose. "
                "Record the operators (Recorder.do), or name None for whoever did nothing"
            )
        (seat,) = seats
        blamed.setdefault(seat, set()).add(fact)
        for thing in world.fact_of(fact)[1:]:
            if owners.setdefault(thing, seat) != seat and world.about(fact) == thing:
                attribute(fact, {seat, owners[thing]})

    for fact in sorted(changed):
        named = {seat_of[o] for o in world.fact_of(fact)[1:] if o in seat_of}
        if named:
            attribute(fact, named)
        else:
            rest.append(fact)
    while rest:  # what shares an object with an attributed fact goes to the same seat
        near = next((f for f in rest if any(o in owners for o in world.fact_of(f)[1:])), None)
        if near is None:
            blamed[NATURE] = set(rest)
            break
        rest.remove(near)
        attribute(near, {owners[o] for o in world.fact_of(near)[1:] if o in owners})
    return blamed
