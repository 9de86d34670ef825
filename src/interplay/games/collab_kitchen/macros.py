"""Macro actions: how each is checked and carried out.

`parse_macro` reads one, `verify` says whether a seat can do it now and if not why not, `next_primitive` gives the next
step of it. Paths are planned at every step, around the other cooks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.games.collab_kitchen import paths
from interplay.games.collab_kitchen.action_parser import (
    LONGEST_WAIT,
    Macro,
    ParseError,
    food_name,
    parse_macro,
    place_name,
)
from interplay.games.collab_kitchen.dishes import INGREDIENTS, KINDS, accepts, is_meal, parts
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.layouts import PLACES, Station
from interplay.games.collab_kitchen.roles import VERBS
from interplay.games.collab_kitchen.state import (
    DELIVER,
    FILL,
    FIRST_INGREDIENT,
    PUT,
    START,
    STAY,
    TAKE,
    KitchenState,
)

__all__ = [
    "ERRORS",
    "Macro",
    "MacroStep",
    "MacroVerdict",
    "ParseError",
    "food_name",
    "legal_macros",
    "next_primitive",
    "parse_macro",
    "place_name",
    "places",
    "rest",
    "verify",
]

PLACE_VERBS = {"cook": "P", "bake": "O", "cut": "C", "stir": "B"}  # the letter of the utensil that a verb starts


class MacroVerdict(NamedTuple):
    """Whether a macro action can be done now. `error` is one of ERRORS, empty if it is ok."""

    ok: bool
    error: str = ""
    message: str = ""


class MacroStep(NamedTuple):
    """The next primitive of a macro action; `done`: it is the last one."""

    action: int
    done: bool


ERRORS = {
    "not_a_call": "the text is not of the form verb(argument, ...)",
    "unknown_verb": "no macro action has this verb",
    "bad_arguments": "too many, too few or unreadable arguments",
    "not_allowed": "the role does not have this verb",
    "unknown_object": "nothing in this kitchen has this name",
    "unknown_place": "no station has this name, or it is of the wrong kind",
    "out_of_reach": "the cook cannot come to stand before the place",
    "hands_full": "the cook holds something already",
    "hands_empty": "the cook holds nothing, or not what it takes",
    "not_there": "the object is not at the place",
    "not_ready": "the utensil is still working, or was not started",
    "needs_dish": "the food can only be filled into a dish",
    "utensil_empty": "there is nothing in the utensil",
    "utensil_full": "the utensil takes no more",
    "utensil_busy": "the utensil works, or holds what it made",
    "wrong_object": "the utensil does not take such a thing",
    "no_free_counter": "every counter in reach is taken",
}
OK = MacroVerdict(True)


def places(game: Kitchen, name: str) -> list[Station]:
    """Return the stations of a name: `pot`, `pot2`, all counters for `counter`, one of them for `counter(2,1)`."""
    stations = game.layout.stations
    spot = re.fullmatch(r"([a-z_]+)\((\d+),(\d+)\)", name)
    if spot:
        cell = (int(spot[2]), int(spot[3]))
        return [s for s in stations if s.cell == cell and PLACES[s.letter] == spot[1]]
    return [s for s in stations if name in (s.name, PLACES[s.letter])]


def verify(game: Kitchen, state: KitchenState, seat: int, macro: Macro) -> MacroVerdict:
    """Check whether this seat can do this now: format, role, reach, hands, and what is where."""
    if macro.verb not in VERBS:
        return MacroVerdict(False, "unknown_verb", f"there is no action {macro.verb!r}; actions are {', '.join(VERBS)}")
    if macro.verb not in game.roles[seat].verbs:
        can = ", ".join(game.roles[seat].verbs)
        return MacroVerdict(False, "not_allowed", f"the {game.seat_names[seat]} cannot {macro.verb}; it can {can}")
    if macro.verb == "request":
        return OK if macro.object else MacroVerdict(False, "bad_arguments", "say what you request")
    if macro.verb == "wait":
        fits = macro.number is not None and 1 <= macro.number <= LONGEST_WAIT
        return OK if fits else MacroVerdict(False, "bad_arguments", f"write wait(n) with n from 1 to {LONGEST_WAIT}")
    stations = targets(game, state, seat, macro)
    return stations if isinstance(stations, MacroVerdict) else OK


def targets(game: Kitchen, state: KitchenState, seat: int, macro: Macro) -> list[Station] | MacroVerdict:
    """Return the stations at which the seat could do this now, or why there are none."""
    named = _named(game, macro)
    if isinstance(named, MacroVerdict):
        return named
    near = [s for s in named if game.layout.reaches(seat, s)]
    if not near:
        where = macro.place or named[0].name
        return MacroVerdict(False, "out_of_reach", f"the {game.seat_names[seat]} cannot reach the {where}")
    hands = _hands(game, state, seat, macro)
    if hands is not None:
        return hands
    verdicts = [(s, _at(state, seat, macro, s)) for s in near]
    if macro.object and macro.verb != "pickup":
        verdicts = [(s, _about_that(state, seat, macro, s) if verdict.ok else verdict) for s, verdict in verdicts]
    good = [s for s, verdict in verdicts if verdict.ok]
    if good:
        return good
    other_food = next((verdict for _, verdict in verdicts if verdict.error == "wrong_object"), None)
    if macro.verb == "place_obj_on_counter":
        return other_food or MacroVerdict(False, "no_free_counter", "every counter in reach is taken")
    return next((v for _, v in verdicts if v.error != "not_there"), verdicts[0][1])


def _named(game: Kitchen, macro: Macro) -> list[Station] | MacroVerdict:
    verb, letters = macro.verb, _letters(macro.verb)
    if verb == "pickup":
        if not macro.object:
            return MacroVerdict(False, "bad_arguments", "write pickup(object, place)")
        if not _known(macro.object):
            return MacroVerdict(False, "unknown_object", f"nothing here is called {macro.object!r}")
    if macro.place is None:
        if verb in ("put_obj_in_utensil", "fill_dish_with_food"):
            return MacroVerdict(False, "bad_arguments", f"write {verb}(utensil)")
        named = [s for s in game.layout.stations if s.letter in letters]
    else:
        named = [s for s in places(game, place_name(macro.place)) if s.letter in letters]
    if named:
        return named
    known = ", ".join(dict.fromkeys(s.name for s in game.layout.stations if s.letter in letters))
    return MacroVerdict(False, "unknown_place", f"{verb} knows no place {macro.place!r}; places are {known}")


def _letters(verb: str) -> str:
    if verb in PLACE_VERBS:
        return PLACE_VERBS[verb]
    every = "".join(KINDS)
    return {"pickup": f"XID{every}", "place_obj_on_counter": "X", "deliver": "S"}.get(verb, every)


def _known(name: str) -> bool:
    """Return whether a thing could have this name."""
    try:
        return name == "dish" or len(parts(name)) > 0
    except InterplayError:
        return False


def _hands(game: Kitchen, state: KitchenState, seat: int, macro: Macro) -> MacroVerdict | None:
    item, who = state.world.hands[seat], game.seat_names[seat]
    if macro.verb == "pickup" and item is not None:
        return MacroVerdict(False, "hands_full", f"the {who} holds {item.text} already; put it down first")
    if macro.verb in ("place_obj_on_counter", "put_obj_in_utensil", "deliver") and item is None:
        return MacroVerdict(False, "hands_empty", f"the {who} holds nothing")
    if macro.verb == "fill_dish_with_food" and (item is None or not item.on_dish or item.food):
        return MacroVerdict(False, "hands_empty", f"the {who} holds no empty dish; pick one up first")
    return None


def _at(state: KitchenState, seat: int, macro: Macro, station: Station) -> MacroVerdict:
    """Check whether it can be done at this station."""
    if macro.verb == "pickup":
        return _pickup_at(state, macro.object or "", station)
    if macro.verb == "place_obj_on_counter":
        taken = state.world.counters[station.index] is not None
        return MacroVerdict(False, "no_free_counter", "the counter is taken") if taken else OK
    if macro.verb == "deliver":
        return OK
    utensil, kind = state.world.utensils[station.index], KINDS[station.letter]
    if macro.verb == "put_obj_in_utensil":
        return _put_at(state, seat, station)
    if macro.verb == "fill_dish_with_food":
        if not utensil.contents:
            return MacroVerdict(False, "utensil_empty", f"the {station.name} is empty")
        return OK if utensil.done else _unready(station, utensil.left)
    if not utensil.contents:
        return MacroVerdict(False, "utensil_empty", f"the {station.name} is empty: put in what you want to {kind.verb}")
    if utensil.left is not None:
        return MacroVerdict(
            False, "utensil_busy", f"the {station.name} {'is done' if utensil.done else 'works already'}"
        )
    return OK


def _about_that(state: KitchenState, seat: int, macro: Macro, station: Station) -> MacroVerdict:
    """Check that the food which an act names beside its place, as in `cook(egg)`, is the one at hand."""
    if macro.verb in ("cook", "bake", "cut", "stir", "fill_dish_with_food"):
        things, where = state.world.utensils[station.index].contents, f"the {station.name} holds"
    else:
        held = state.world.hands[seat]
        things, where = [held] if held else [], "you hold"
    if any(macro.object in (thing.name, *(parts(thing.food) if thing.food else ())) for thing in things):
        return OK
    inside = " and ".join(thing.text for thing in things) or "nothing"
    return MacroVerdict(False, "wrong_object", f"{where} {inside}, not {macro.object}")


def _pickup_at(state: KitchenState, name: str, station: Station) -> MacroVerdict:
    absent = MacroVerdict(False, "not_there", f"there is no {name} at the {station.name}")
    if station.letter == "I":
        return OK if name in INGREDIENTS else absent
    if station.letter == "D":
        return OK if name == "dish" else absent
    if station.letter == "X":
        item = state.world.counters[station.index]
        return OK if item is not None and item.name == name else absent
    utensil = state.world.utensils[station.index]
    if utensil.left not in (None, 0):
        return _unready(station, utensil.left)
    if not utensil.contents or utensil.contents[-1].name != name:
        return absent
    if utensil.done and is_meal(name):
        return MacroVerdict(False, "needs_dish", f"{name} cannot be held by hand: fill a dish with it")
    return OK


def _unready(station: Station, left: int | None) -> MacroVerdict:
    if left is None:
        verb = KINDS[station.letter].verb
        return MacroVerdict(False, "not_ready", f"the {station.name} was not started: {verb} first")
    return MacroVerdict(False, "not_ready", f"the {station.name} works for {left} more steps")


def _put_at(state: KitchenState, seat: int, station: Station) -> MacroVerdict:
    utensil, kind, item = state.world.utensils[station.index], KINDS[station.letter], state.world.hands[seat]
    assert item is not None
    if utensil.left is not None:
        what = "holds what it made" if utensil.done else f"works for {utensil.left} more steps"
        return MacroVerdict(False, "utensil_busy", f"the {station.name} {what}")
    if item.on_dish or not accepts(kind, item.food):
        return MacroVerdict(False, "wrong_object", f"the {station.name} does not take {item.text}")
    if len(utensil.contents) >= kind.capacity:
        return MacroVerdict(False, "utensil_full", f"the {station.name} takes no more than {kind.capacity}")
    return OK


def legal_macros(game: Kitchen, state: KitchenState, seat: int) -> list[Macro]:
    """Return every macro action that this seat can do now, requests aside; waiting is `wait(1)`."""
    tried = [Macro("wait", number=1), Macro("place_obj_on_counter"), Macro("deliver")]
    for station in game.layout.stations:
        if station.letter in KINDS:
            verbs = ("put_obj_in_utensil", "fill_dish_with_food", KINDS[station.letter].verb)
            tried += [Macro(verb, place=station.name) for verb in verbs]
        tried += [Macro("pickup", name, station.name) for name in _offered(state, station)]
    tried = list(dict.fromkeys(tried))
    return [macro for macro in tried if verify(game, state, seat, macro).ok]


def _offered(state: KitchenState, station: Station) -> list[str]:
    if station.letter == "I":
        return list(INGREDIENTS)
    if station.letter == "D":
        return ["dish"]
    if station.letter == "X":
        item = state.world.counters[station.index]
        return [] if item is None else [item.name]
    if station.letter in KINDS:
        contents = state.world.utensils[station.index].contents
        return [contents[-1].name] if contents else []
    return []


def next_primitive(game: Kitchen, state: KitchenState, seat: int, macro: Macro, at: Station | None = None) -> MacroStep:
    """Return the next step of a macro action, and whether it is the last. One that cannot be done now waits.

    A wait is done when its number is down to 1: use `rest`. Whoever waits makes way for others. Should a lower seat use
    the same counter or utensil in the very same step, the last step has no effect: `executions` shows it.

    Args:
        game: The kitchen.
        state: The current state.
        seat: The cook's seat.
        macro: The macro action.
        at: Which of the possible stations to use: the cook goes there, and waits there for what is missing.
    """
    if macro.verb == "request":
        return MacroStep(STAY, True)
    if macro.verb == "wait":
        return MacroStep(paths.make_way(game.layout, state, seat), (macro.number or 1) <= 1)
    stations = [at] if at is not None else targets(game, state, seat, macro)
    if isinstance(stations, MacroVerdict):
        return MacroStep(paths.make_way(game.layout, state, seat), False)
    station = nearest(game, state, seat, stations, passing=macro.verb == "place_obj_on_counter")
    move = paths.towards(game.layout, state, seat, station.cell)
    if move is not None:
        return MacroStep(move, False)
    ready = _at(state, seat, macro, station).ok and _hands(game, state, seat, macro) is None
    if ready:
        return MacroStep(primitive(macro, station), True)
    return MacroStep(paths.make_way(game.layout, state, seat) if state.time % 3 == 1 else STAY, False)


def primitive(macro: Macro, station: Station) -> int:
    """Return the action that the cook takes once it faces the station."""
    if macro.verb == "pickup" and station.letter == "I":
        return FIRST_INGREDIENT + INGREDIENTS.index(macro.object or "")
    same = {"pickup": TAKE, "place_obj_on_counter": PUT, "put_obj_in_utensil": PUT, "fill_dish_with_food": FILL}
    return same.get(macro.verb, DELIVER if macro.verb == "deliver" else START)


def nearest(game: Kitchen, state: KitchenState, seat: int, stations: list[Station], passing: bool = False) -> Station:
    """Return the station to go to; to pass something on, a counter that others reach too, and near to them."""
    layout = game.layout

    def cost(station: Station) -> tuple:
        mine = paths.distance(layout, state, seat, station.cell)
        if not passing:
            return (mine,)
        theirs = [
            len(path)
            for s, cook in enumerate(state.cooks)
            if s != seat and (path := paths.way(layout, cook, station.cell)) is not None
        ]
        return (not theirs, mine + min(theirs, default=0), mine)

    return min(stations, key=cost)


def rest(macro: Macro) -> Macro | None:
    """Return what is left of a wait after one step of it; None: nothing."""
    return macro._replace(number=macro.number - 1) if macro.verb == "wait" and (macro.number or 1) > 1 else None  # type: ignore[operator]
