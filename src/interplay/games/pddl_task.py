"""PDDL tasks as games write them for planners; `symbolic.planning` solves and plays them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple


class PlanningTask(NamedTuple):
    """A domain and a problem as PDDL."""

    domain: str
    problem: str


class PlanAction(NamedTuple):
    """An action of a plan in the game: who does which primitive actions."""

    seat: int
    actions: tuple[int, ...]
    wait: Any = None  # function of the state: whether to stand still before it


@dataclass(frozen=True)
class PlanningOperator:
    """An action of a task, as text."""

    name: str
    parameters: str
    preconditions: str
    effects: str
    cost: int = 1

    def pddl(self) -> str:
        """Return the action as PDDL."""
        return (
            f"  (:action {self.name}\n    :parameters ({self.parameters})\n"
            f"    :precondition (and {self.preconditions})\n"
            f"    :effect (and {self.effects} (increase (total-cost) {self.cost})))"
        )


def write_task(
    name: str,
    types: Iterable[str],
    predicates: Iterable[str],
    operators: Iterable[PlanningOperator],
    objects: dict[str, str],
    facts: Iterable[str],
    goal: str,
    constants: dict[str, str] | None = None,
) -> PlanningTask:
    """Return the texts of a task.

    Args:
        name: Of the domain.
        types: Lines such as `floor station - place`.
        predicates: Such as `(at ?a - agent ?c - cell)`.
        operators: The actions.
        objects: Object to type.
        facts: What is true at the start, such as `(at nurse_1 cell_1_2)`.
        goal: A formula.
        constants: Objects that actions name.
    """
    domain = [f"(define (domain {name})", "  (:requirements :strips :typing :action-costs)"]
    domain += _block("types", types)
    domain += _block("constants", (f"{thing} - {kind}" for thing, kind in (constants or {}).items()))
    domain += [*_block("predicates", predicates), "  (:functions (total-cost) - number)"]
    domain += [operator.pddl() for operator in operators]
    return PlanningTask("\n".join([*domain, ")"]) + "\n", write_problem(name, objects, facts, goal))


def write_problem(name: str, objects: dict[str, str], facts: Iterable[str], goal: str) -> str:
    """Return the text of a problem, as `write_task` takes its parts."""
    problem = [f"(define (problem {name}-1)", f"  (:domain {name})"]
    problem += _block("objects", (f"{thing} - {kind}" for thing, kind in objects.items()))
    problem += _block("init", [*facts, "(= (total-cost) 0)"])
    problem += [f"  (:goal {goal})", "  (:metric minimize (total-cost))"]
    return "\n".join([*problem, ")"]) + "\n"


def without_action(domain: str, name: str) -> str:
    """Return the text of a domain without one of its actions."""
    return re.sub(rf"  \(:action {name}\n(    .*\n)+", "", domain)


def _block(word: str, lines: Iterable[str]) -> list[str]:
    return [f"  (:{word}", *(f"    {line}" for line in lines), "  )"]
