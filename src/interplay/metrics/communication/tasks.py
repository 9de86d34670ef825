"""What a dish of the kitchen needs, as the audit wants to know it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from interplay.games.collab_kitchen.dishes import INGREDIENTS, Dish, dish, parts, process
from interplay.games.collab_kitchen.reference import recipe_closure, reference_plans
from interplay.metrics.communication.kitchen_words import DISH
from interplay.metrics.communication.records import ObservedAct, TranscriptRole, TranscriptTask


def task_of(ordered: Dish | str, roles: Sequence[TranscriptRole]) -> TranscriptTask:
    """The task of a dish. Needs count things, not executed: an egg that two cooks pick up in turn is one egg."""
    wanted = dish(ordered) if isinstance(ordered, str) else ordered
    things = Counter(parts(wanted.food))
    things[DISH] = int(wanted.plated)
    needs = {key: min(times, things[key[1]] or times) for key, times in recipe_closure(wanted).items()}
    for thing in things:  # where cooks may share the work in more than one way, more may have to be passed on
        if things[thing] and _passable(thing, wanted, roles):
            needs.setdefault(("place_obj_on_counter", thing), things[thing])
            needs.setdefault(("pickup", thing), things[thing])
    return TranscriptTask(
        dish=wanted.name,
        level=wanted.level,
        needs=needs,
        product=wanted.food,
        objects=(*INGREDIENTS, DISH, *things),
        references=tuple(_by_seat(plan, roles) for plan in reference_plans(wanted)) if len(roles) == 2 else (),
    )


def _passable(thing: str, wanted: Dish, roles: Sequence[TranscriptRole]) -> bool:
    """Whether one cook can come by a thing that another can use; False where reach is not told."""
    if any(role.places is None for role in roles):
        return False
    gives = [seat for seat, role in enumerate(roles) if role.can(_source(thing))]
    takes = [seat for seat, role in enumerate(roles) if any(role.can(use) for use in _uses(thing, wanted))]
    return any(one != other for one in gives for other in takes)


def _source(thing: str) -> ObservedAct:
    if thing == DISH:
        return ObservedAct("pickup", thing, "dish_dispenser")
    made = process(thing)
    return (
        ObservedAct("pickup", thing, "ingredient_dispenser")
        if made is None
        else ObservedAct(made.kind.verb, None, made.kind.name)
    )


def _uses(thing: str, wanted: Dish) -> list[ObservedAct]:
    last = process(wanted.food)
    if thing == DISH:
        return [ObservedAct("fill_dish_with_food", None, last.kind.name)] if last else []
    if thing == wanted.food:
        return [ObservedAct("deliver", thing, "serving_hatch")]
    made = (process(food) for food in parts(wanted.food))
    return [ObservedAct(m.kind.verb, None, m.kind.name) for m in made if m is not None and thing in m.inputs]


def _by_seat(plan: Sequence, roles: Sequence[TranscriptRole]) -> dict[int, tuple[ObservedAct, ...]]:
    seats = {role.name: seat for seat, role in reversed(list(enumerate(roles)))}
    acts_by_seat: dict[int, list[ObservedAct]] = {seat: [] for seat in range(len(roles))}
    for act in plan:
        if act.role in seats:
            acts_by_seat[seats[act.role]].append(ObservedAct(act.verb, act.object, act.place))
    return {seat: tuple(acts) for seat, acts in acts_by_seat.items()}
