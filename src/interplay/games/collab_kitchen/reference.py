"""Reference plans of a dish for the two roles, and their closure, derived from the recipe alone.

The plans are for the original two rooms: the chef has pot, oven and hatch, assistants have the rest, and what passes
between them goes over a counter. Where several foods meet in the last utensil they may come in any order, so a dish has
as many reference plans as there are orders: 1, 1, 1, 2, 2 and 6 by level.
"""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import NamedTuple

from interplay.games.collab_kitchen.dishes import Dish, Kind, dish, process

CHEF, ASSISTANT = "chef", "assistant"
_OWNER = {"cook": CHEF, "bake": CHEF, "cut": ASSISTANT, "stir": ASSISTANT}


class ReferenceAct(NamedTuple):
    """One act of a reference plan; verb and object as in executions."""

    role: str
    verb: str
    object: str
    place: str


def reference_plans(ordered: Dish | str) -> list[tuple[ReferenceAct, ...]]:
    """Return one plan for each order in which the last utensil can be filled."""
    wanted = dish(ordered) if isinstance(ordered, str) else ordered
    last = process(wanted.food)
    assert last is not None, "no dish is a raw ingredient"
    return [(*_make(wanted.food, order), *_serve(wanted, last.kind)) for order in permutations(last.inputs)]


def _make(food: str, order: tuple[str, ...] | None = None) -> list[ReferenceAct]:
    """Return the acts until the food's utensil is started."""
    made = process(food)
    assert made is not None
    owner, kind = _OWNER[made.kind.verb], made.kind
    acts = []
    for part in order or made.inputs:
        acts += _bring(part, owner)
        acts.append(ReferenceAct(owner, "put_obj_in_utensil", part, kind.name))
    return [*acts, ReferenceAct(owner, kind.verb, "+".join(sorted(made.inputs)), kind.name)]


def _bring(food: str, to: str) -> list[ReferenceAct]:
    """Return the acts until the food is in the hands of a role."""
    made = process(food)
    if made is None:
        holder, acts, place = ASSISTANT, [], "ingredient_dispenser"
    else:
        holder, acts, place = _OWNER[made.kind.verb], _make(food), made.kind.name
    return [*acts, ReferenceAct(holder, "pickup", food, place), *_pass(food, holder, to)]


def _pass(thing: str, holder: str, to: str) -> list[ReferenceAct]:
    if holder == to:
        return []
    return [
        ReferenceAct(holder, "place_obj_on_counter", thing, "counter"),
        ReferenceAct(to, "pickup", thing, "counter"),
    ]


def _serve(wanted: Dish, kind: Kind) -> list[ReferenceAct]:
    if not wanted.plated:
        return [
            ReferenceAct(CHEF, "pickup", wanted.food, kind.name),
            ReferenceAct(CHEF, "deliver", wanted.food, "serving_hatch"),
        ]
    return [
        ReferenceAct(ASSISTANT, "pickup", "dish", "dish_dispenser"),
        *_pass("dish", ASSISTANT, CHEF),
        ReferenceAct(CHEF, "fill_dish_with_food", wanted.food, kind.name),
        ReferenceAct(CHEF, "deliver", wanted.food, "serving_hatch"),
    ]


def recipe_closure(ordered: Dish | str) -> dict[tuple[str, str], int]:
    """Return everything that a dish needs done, as (verb, object), with how often."""
    return dict(Counter((act.verb, act.object) for act in reference_plans(ordered)[0]))
