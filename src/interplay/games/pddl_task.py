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


def complete_domain(domain: str, constants: dict[str, str], operators: Iterable[PlanningOperator]) -> str:
    """Return the text of a domain with constants and further actions.

    Args:
        domain: The text, with an empty block of constants.
        constants: Object to type, of objects that actions name.
        operators: The further actions.
    """
    named = "".join(f"    {thing} - {kind}\n" for thing, kind in constants.items())
    actions = "".join(f"{operator.pddl()}\n" for operator in operators)
    return domain.removesuffix(")\n").replace("  (:constants\n", f"  (:constants\n{named}") + actions + ")\n"


def write_problem(name: str, objects: dict[str, str], facts: Iterable[str], goal: str) -> str:
    """Return the text of a problem.

    Args:
        name: Of the domain.
        objects: Object to type.
        facts: What is true at the start, such as `(at nurse_1 cell_1_2)`.
        goal: A formula.
    """
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
