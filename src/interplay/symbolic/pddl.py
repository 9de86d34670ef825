"""A symbolic trace as PDDL: domain, problem and plan, for any planner library to parse and validate.

Operators are lifted from what happened: one PDDL action per operator, and a numbered variant (`plate-2`) where an
instance depended on more facts than its declaration says, or where operators were derived from facts alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from interplay.symbolic.grammar import DomainError
from interplay.symbolic.trace import Grounded, SymbolicTrace


class Pddl(NamedTuple):
    """The texts of three PDDL files."""

    domain: str
    problem: str
    plan: str


class _Lifted(NamedTuple):
    name: str
    types: tuple[str, ...]
    preconditions: tuple[tuple, ...]  # (predicate, place of its object among the parameters, ...)
    add_effects: tuple[tuple, ...]
    delete_effects: tuple[tuple, ...]


def export(trace: SymbolicTrace, goals: Iterable[tuple[str, ...]] | None = None, name: str = "episode") -> Pddl:
    """Return the trace as PDDL.

    Args:
        trace: The trace.
        goals: Facts (predicate, object, ...) to reach; by default those that were reached.
        name: The problem's name.

    Raises:
        DomainError: A goal is not reached in the trace.
    """
    wanted = sorted(trace.goals()) if goals is None else [_reached(trace, goal) for goal in goals]
    shapes: dict[tuple, _Lifted] = {}
    calls = []
    for action in trace.actions:
        shape, objects = _lift(trace, action)
        if shape not in shapes:
            number = 1 + sum(known[0] == shape[0] for known in shapes)
            title = shape[0] if number == 1 else f"{shape[0]}-{number}"
            shapes[shape] = _Lifted(title, *shape[1:])
        calls.append(f"({' '.join((_safe(shapes[shape].name), *map(_safe, objects)))})")
    plan = "\n".join(calls) + "\n"
    return Pddl(_domain(trace, list(shapes.values())), _problem(trace, wanted, name), plan)


def _reached(trace: SymbolicTrace, goal: tuple[str, ...]) -> int:
    number = trace.world.fact(*goal)
    if number not in trace.final:
        line = trace.world.predicate_of(number).line
        about = f" about {trace.world.about(number)}" if trace.world.about(number) else ""
        raise DomainError(
            f"domain {trace.domain.name!r}, line {line}: the goal {trace.world.show(number)}{about} never appears at "
            f"the end of this trace of {trace.game_id or 'a game'} ({trace.length} steps); "
            f"reached: {', '.join(trace.world.show(f) for f in sorted(trace.goals())) or 'no goal at all'}"
        )
    return number


def _lift(trace: SymbolicTrace, action: Grounded) -> tuple[tuple, tuple[str, ...]]:
    """Return the operator's shape without its objects, and the objects."""
    world, operator = trace.world, trace.domain.operators.get(action.name)
    facts = [
        [world.fact_of(f) for f in part] for part in (action.preconditions, action.add_effects, action.delete_effects)
    ]
    objects = tuple(dict.fromkeys((*action.objects, *(o for part in facts for fact in part for o in fact[1:]))))
    if operator is not None and len(set(action.objects)) == len(action.objects) == len(operator.parameters):
        declared = tuple(kind for _, kind in operator.parameters)
    else:
        declared = tuple(world.types[o] for o in objects[: len(set(action.objects))])
    types = declared + tuple(world.types[o] for o in objects[len(declared) :])
    # A parameter may be declared wider than a fact takes it; the fact's own type is then the right one.
    narrowed = list(types)
    place = {o: k for k, o in enumerate(objects)}
    for part in facts:
        for predicate, *arguments in part:
            for thing, wanted in zip(arguments, trace.domain.predicates[predicate].types):
                if not trace.domain.is_a(narrowed[place[thing]], wanted):
                    narrowed[place[thing]] = wanted
    lifted = [tuple((fact[0], *(place[o] for o in fact[1:])) for fact in part) for part in facts]
    return (action.name, tuple(narrowed), *lifted), objects


def _domain(trace: SymbolicTrace, actions: list[_Lifted]) -> str:
    domain = trace.domain
    lines = [f"(define (domain {_safe(domain.name)})", "  (:requirements :strips :typing)", "  (:types"]
    lines += [f"    {_safe(kind)} - {_safe(parent) if parent else 'object'}" for kind, parent in domain.parents.items()]
    lines += ["  )", "  (:predicates"]
    for predicate in domain.predicates.values():
        lines.append(f"    ({' '.join((_safe(predicate.name), *_parameters(predicate.types)))})")
    lines.append("  )")
    for action in actions:
        delete_effects = [atom for atom in action.delete_effects if atom not in action.add_effects]
        effects = [_atom(a) for a in action.add_effects] + [f"(not {_atom(a)})" for a in delete_effects]
        lines += [
            f"  (:action {_safe(action.name)}",
            f"    :parameters ({' '.join(_parameters(action.types))})",
            f"    :precondition (and {' '.join(_atom(a) for a in dict.fromkeys(action.preconditions))})",
            f"    :effect (and {' '.join(effects)}))",
        ]
    return "\n".join([*lines, ")"]) + "\n"


def _problem(trace: SymbolicTrace, goals: list[int], name: str) -> str:
    world = trace.world
    spoken = [
        *sorted(trace.start),
        *goals,
        *(f for a in trace.actions for f in (*a.preconditions, *a.add_effects, *a.delete_effects)),
    ]
    mentioned = dict.fromkeys((*trace.agents, *(o for f in dict.fromkeys(spoken) for o in world.fact_of(f)[1:])))
    mentioned |= dict.fromkeys(o for a in trace.actions for o in a.objects)
    lines = [f"(define (problem {_safe(name)})", f"  (:domain {_safe(trace.domain.name)})", "  (:objects"]
    lines += [f"    {_safe(thing)} - {_safe(world.types[thing])}" for thing in mentioned]
    lines += ["  )", "  (:init"]
    lines += [f"    {_fact(world.fact_of(f))}" for f in sorted(trace.start)]
    lines += ["  )", f"  (:goal (and {' '.join(_fact(world.fact_of(f)) for f in goals)}))", ")"]
    return "\n".join(lines) + "\n"


def _parameters(types: tuple[str, ...]) -> list[str]:
    return [f"?x{k} - {_safe(kind)}" for k, kind in enumerate(types)]


def _atom(atom: tuple) -> str:
    return f"({' '.join((_safe(atom[0]), *(f'?x{k}' for k in atom[1:])))})"


def _fact(fact: tuple) -> str:
    return f"({' '.join(_safe(part) for part in fact)})"


def _safe(name: str) -> str:
    """Return a name that PDDL can read: lower case, letters, digits, - and _."""
    return re.sub(r"[^a-z0-9_-]", "_", name.lower())
