"""The rules of the kitchen, as pure functions.

A step resolves what cooks do with their hands, seat by seat, on the kitchen as it was before the step: a station serves
one cook a step, the lower seat first. Then all walk at once: two who want one cell, or each other's, stay. Then the
utensils work on.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from interplay.games.collab_kitchen.dishes import INGREDIENTS, KINDS, Dish, accepts, cooked, is_meal
from interplay.games.collab_kitchen.layouts import KitchenLayout, Station
from interplay.games.collab_kitchen.roles import KitchenRole
from interplay.games.collab_kitchen.state import (
    DELIVER,
    FILL,
    FIRST_INGREDIENT,
    MOVES,
    PUT,
    RIGHT,
    START,
    TAKE,
    TAKES,
    UP,
    Cook,
    KitchenItem,
    KitchenState,
    KitchenWorld,
    Utensil,
)

T = TypeVar("T")


class KitchenRules(NamedTuple):
    """The constants of an episode."""

    layout: KitchenLayout
    dish: Dish
    roles: tuple[KitchenRole, ...]
    horizon: int


class CompletedAction(NamedTuple):
    """A completed action of a cook: the verb of the macro action, the thing, where, and whether it was right."""

    seat: int
    verb: str
    object: str
    lineage: str
    station: Station
    right: bool = True  # of a delivery: whether it was what is ordered


class KitchenOutcome(NamedTuple):
    """The kitchen after a completed action."""

    world: KitchenWorld
    act: CompletedAction


def _set(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    return (*values[:index], value, *values[index + 1 :])


def faced(layout: KitchenLayout, cook: Cook) -> Station | None:
    """Return the station in front of a cook."""
    dx, dy = MOVES[cook.facing]
    return layout.by_cell().get((cook.x + dx, cook.y + dy))


def use(rules: KitchenRules, world: KitchenWorld, seat: int, station: Station, action: int) -> KitchenOutcome | None:
    """Return the outcome of an action at a station; None if it has no effect."""
    if action >= FIRST_INGREDIENT:
        kind = INGREDIENTS[action - FIRST_INGREDIENT]
        return _dispense(rules, world, seat, station, kind) if station.letter == "I" else None
    if action == TAKE:
        return _take(rules, world, seat, station)
    if action == PUT:
        return _put(rules, world, seat, station)
    if action == START:
        return _start(rules, world, seat, station)
    if action == FILL:
        return _fill(rules, world, seat, station)
    return _deliver(rules, world, seat, station) if action == DELIVER else None


def _may(rules: KitchenRules, seat: int, verb: str) -> bool:
    return verb in rules.roles[seat].verbs


def _dispense(
    rules: KitchenRules, world: KitchenWorld, seat: int, station: Station, kind: str
) -> KitchenOutcome | None:
    if world.hands[seat] is not None or not _may(rules, seat, "pickup"):
        return None
    item = KitchenItem(kind, not kind, f"{kind or 'dish'}#{world.taken + 1}")
    after = world._replace(hands=_set(world.hands, seat, item), taken=world.taken + 1)
    return KitchenOutcome(after, CompletedAction(seat, "pickup", item.name, item.lineage, station))


def _take(rules: KitchenRules, world: KitchenWorld, seat: int, station: Station) -> KitchenOutcome | None:
    if world.hands[seat] is not None or not _may(rules, seat, "pickup"):
        return None
    if station.letter == "D":
        return _dispense(rules, world, seat, station, "")
    if station.letter == "X":
        item = world.counters[station.index]
        after = world._replace(counters=_set(world.counters, station.index, None))
    elif station.letter in KINDS:
        item, rest = _out_of(world.utensils[station.index])
        after = world._replace(utensils=_set(world.utensils, station.index, rest))
    else:
        return None
    if item is None:
        return None
    after = after._replace(hands=_set(after.hands, seat, item))
    return KitchenOutcome(after, CompletedAction(seat, "pickup", item.name, item.lineage, station))


def _out_of(utensil: Utensil) -> tuple[KitchenItem | None, Utensil]:
    """Return what a bare hand gets: the product if it is no meal; before the start, what was put in last."""
    if not utensil.contents or utensil.left not in (None, 0):
        return None, utensil
    item = utensil.contents[-1]
    if utensil.done and is_meal(item.food):
        return None, utensil
    return item, Utensil() if utensil.done else Utensil(utensil.contents[:-1])


def _put(rules: KitchenRules, world: KitchenWorld, seat: int, station: Station) -> KitchenOutcome | None:
    item = world.hands[seat]
    if item is None:
        return None
    if station.letter == "X":
        if world.counters[station.index] is not None or not _may(rules, seat, "place_obj_on_counter"):
            return None
        after, verb = world._replace(counters=_set(world.counters, station.index, item)), "place_obj_on_counter"
    elif station.letter in KINDS:
        utensil, kind = world.utensils[station.index], KINDS[station.letter]
        full = utensil.left is not None or len(utensil.contents) >= kind.capacity
        if full or item.on_dish or not accepts(kind, item.food) or not _may(rules, seat, "put_obj_in_utensil"):
            return None
        filled = Utensil((*utensil.contents, item))
        after, verb = world._replace(utensils=_set(world.utensils, station.index, filled)), "put_obj_in_utensil"
    else:
        return None
    after = after._replace(hands=_set(after.hands, seat, None))
    return KitchenOutcome(after, CompletedAction(seat, verb, item.name, item.lineage, station))


def _start(rules: KitchenRules, world: KitchenWorld, seat: int, station: Station) -> KitchenOutcome | None:
    if station.letter not in KINDS:
        return None
    utensil, kind = world.utensils[station.index], KINDS[station.letter]
    if not utensil.contents or utensil.left is not None or not _may(rules, seat, kind.verb):
        return None
    running = utensil._replace(left=TAKES)
    after = world._replace(utensils=_set(world.utensils, station.index, running))
    mix = mixed(utensil.contents)
    return KitchenOutcome(after, CompletedAction(seat, kind.verb, mix.food, mix.lineage, station))


def mixed(contents: tuple[KitchenItem, ...]) -> KitchenItem:
    """Return several items as one: their names and lineages joined."""
    food = "+".join(sorted(i.food for i in contents))
    return KitchenItem(food, False, "+".join(sorted("+".join(i.lineage for i in contents).split("+"))))


def _fill(rules: KitchenRules, world: KitchenWorld, seat: int, station: Station) -> KitchenOutcome | None:
    dish = world.hands[seat]
    if dish is None or not dish.on_dish or dish.food or station.letter not in KINDS:
        return None
    utensil = world.utensils[station.index]
    if not utensil.done or not _may(rules, seat, "fill_dish_with_food"):
        return None
    food = utensil.contents[0]
    after = world._replace(
        hands=_set(world.hands, seat, food._replace(on_dish=True)),
        utensils=_set(world.utensils, station.index, Utensil()),
    )
    return KitchenOutcome(after, CompletedAction(seat, "fill_dish_with_food", food.food, food.lineage, station))


def _deliver(rules: KitchenRules, world: KitchenWorld, seat: int, station: Station) -> KitchenOutcome | None:
    item = world.hands[seat]
    if item is None or station.letter != "S" or not _may(rules, seat, "deliver"):
        return None
    right = is_ordered(rules.dish, item)
    after = world._replace(hands=_set(world.hands, seat, None), delivered=item if right else world.delivered)
    return KitchenOutcome(after, CompletedAction(seat, "deliver", item.name, item.lineage, station, right))


def is_ordered(dish: Dish, item: KitchenItem) -> bool:
    """Return whether this is what was ordered, on a dish if it is a meal."""
    return item.food == dish.food and item.on_dish == dish.plated


def tick(layout: KitchenLayout, world: KitchenWorld) -> KitchenWorld:
    """Let the utensils work for a step."""
    if all(u.left is None or u.left == 0 for u in world.utensils):
        return world
    return world._replace(utensils=tuple(_worked(s, u) for s, u in zip(layout.utensils, world.utensils)))


def _worked(station: Station, utensil: Utensil) -> Utensil:
    if utensil.left is None or utensil.left == 0:
        return utensil
    if utensil.left > 1:
        return utensil._replace(left=utensil.left - 1)
    foods = tuple(item.food for item in utensil.contents)
    product = KitchenItem(cooked(KINDS[station.letter].makes, foods), False, mixed(utensil.contents).lineage)
    return Utensil((product,), 0)


def walk(layout: KitchenLayout, cooks: tuple[Cook, ...], actions: tuple[int, ...]) -> tuple[Cook, ...]:
    """Let all turn and walk at once."""
    turned = tuple(
        cook._replace(facing=a - UP) if UP <= a <= RIGHT else cook for cook, a in zip(cooks, actions, strict=True)
    )
    here = [(cook.x, cook.y) for cook in cooks]
    wanted = list(here)
    for seat, action in enumerate(actions):
        if UP <= action <= RIGHT:
            dx, dy = MOVES[action - UP]
            cell = (here[seat][0] + dx, here[seat][1] + dy)
            if layout.is_floor(cell):
                wanted[seat] = cell
    while True:  # who is held up may hold up others in turn
        stuck = [s for s in range(len(cooks)) if wanted[s] != here[s] and _is_blocked(s, here, wanted)]
        if not stuck:
            return tuple(cook._replace(x=x, y=y) for cook, (x, y) in zip(turned, wanted))
        for seat in stuck:
            wanted[seat] = here[seat]


def _is_blocked(seat: int, here: list, wanted: list) -> bool:
    for other in range(len(here)):
        if other == seat:
            continue
        swap = wanted[other] == here[seat] and wanted[seat] == here[other]
        if wanted[other] == wanted[seat] or swap:
            return True
    return False


def advance(
    rules: KitchenRules, state: KitchenState, actions: tuple[int, ...]
) -> tuple[KitchenState, tuple[CompletedAction, ...]]:
    """Play one step: return the state after it, and the completed actions in the order in which they were resolved."""
    layout, world = rules.layout, state.world
    completed, busy = [], set()
    for seat, action in enumerate(actions):
        station = faced(layout, state.cooks[seat]) if action > RIGHT else None
        if station is None or station.cell in busy:
            continue
        outcome = use(rules, world, seat, station, action)
        if outcome is not None:
            world, act = outcome
            completed.append(act)
            if station.letter not in "IDS":
                busy.add(station.cell)
    cooks = walk(layout, state.cooks, actions)
    return KitchenState(state.time + 1, cooks, tick(layout, world)), tuple(completed)
