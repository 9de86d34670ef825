"""Macro actions as text: writing and parsing."""

from __future__ import annotations

import re
from typing import NamedTuple

from interplay.games.collab_kitchen.dishes import INGREDIENTS, split_outside
from interplay.games.collab_kitchen.roles import VERBS

LONGEST_WAIT = 20

ALIASES = {
    "board": "chopping_board",
    "cutting_board": "chopping_board",
    "ingredients": "ingredient_dispenser",
    "ingredient": "ingredient_dispenser",
    "dishes": "dish_dispenser",
    "dish": "dish_dispenser",
    "serve": "serving_hatch",
    "serving": "serving_hatch",
    "hatch": "serving_hatch",
    "serving_counter": "serving_hatch",
}

OTHER_VERBS = {
    "pick_up": "pickup",
    "put_obj_on_counter": "place_obj_on_counter",
    "place_on_counter": "place_obj_on_counter",
}


class Macro(NamedTuple):
    """A planned act. `object` is a food's name (for a request, its words), `place` a station's, `number` a wait's.

    Only pickup needs an object. Others may name the food that they are about, `cook(egg)`, and are refused where it is
    another one.
    """

    verb: str
    object: str | None = None
    place: str | None = None
    number: int | None = None

    def __str__(self) -> str:
        if self.verb == "request":
            return f"request({self.object!r})"
        return f"{self.verb}({', '.join(str(a) for a in (self.object, self.place, self.number) if a is not None)})"


class ParseError(NamedTuple):
    """Text that is no macro action: why, and what would be."""

    error: str
    message: str
    text: str


def parse_macro(text: str) -> Macro | ParseError:
    """Parse a macro action such as `pickup(egg, ingredient_dispenser)`; a ParseError says what is wrong."""
    match = re.fullmatch(r"\s*([A-Za-z_]+)\s*\((.*)\)\s*[.;:,]?\s*", text, flags=re.DOTALL)
    if not match:
        return ParseError("not_a_call", f"{text.strip()!r} is no action; write verb(argument, ...)", text)
    verb, inside = OTHER_VERBS.get(match[1].lower(), match[1].lower()), match[2]
    if verb not in VERBS:
        return ParseError("unknown_verb", f"there is no action {verb!r}; actions are {', '.join(VERBS)}", text)
    if verb == "request":
        words = inside.strip().strip("'\"").strip()
        return Macro(verb, words) if words else ParseError("bad_arguments", "say what you request", text)
    arguments = [_bare(a) for a in split_outside(inside, ",") if _bare(a)]
    return _built(verb, arguments, text)


def _built(verb: str, arguments: list[str], text: str) -> Macro | ParseError:
    def wrong(usage: str) -> ParseError:
        return ParseError("bad_arguments", f"{text.strip()!r}: write {usage}", text)

    if verb == "wait":
        number = arguments[0] if arguments else "1"
        if len(arguments) > 1 or not number.isdigit() or not 1 <= int(number) <= LONGEST_WAIT:
            return wrong(f"wait(n) with n from 1 to {LONGEST_WAIT}")
        return Macro(verb, number=int(number))
    if verb == "pickup":
        if len(arguments) not in (1, 2):
            return wrong("pickup(object, place)")
        return Macro(verb, food_name(arguments[0]), place_name(arguments[1]) if arguments[1:] else None)
    food = food_name(arguments[0]) if arguments and _is_food(arguments[0]) else None
    rest = arguments[1:] if food else arguments
    if verb in ("put_obj_in_utensil", "fill_dish_with_food") and len(rest) != 1:
        return wrong(f"{verb}(utensil)")
    if len(rest) > 1:
        return wrong(f"{verb}() or {verb}(place)")
    return Macro(verb, food, place_name(rest[0]) if rest else None)


def _is_food(text: str) -> bool:
    """Return whether an argument names something to eat rather than a place."""
    return any(word in INGREDIENTS for word in re.findall(r"[a-z_]+", food_name(text)))


def _bare(argument: str) -> str:
    word = argument.strip().strip("'\"").strip()
    return word.partition("=")[2].strip().strip("'\"") if re.match(r"[a-z_]+\s*=", word) else word


def food_name(text: str) -> str:
    """Return a food's canonical name: `Boiled egg` is boiled(egg), `sliced potato` potato~slices."""
    name = re.sub(r"\s+", "_", text.strip().lower())
    sliced = re.fullmatch(r"(?:sliced|chopped|cut)_(\w+)|(\w+?)[_~]slices?", name)
    if sliced and (sliced[1] or sliced[2]) in INGREDIENTS:
        return f"{sliced[1] or sliced[2]}~slices"
    cooked = re.fullmatch(r"(boiled|baked|mashed)_(.+)", name)
    return f"{cooked[1]}({food_name(cooked[2])})" if cooked else name


def place_name(text: str) -> str:
    """Return a station's canonical name: `pot0` is pot, `board` chopping_board."""
    name = re.sub(r"\s+", "_", text.strip().lower())
    name = name.removesuffix("0") if not name.endswith(("10", "20")) and "(" not in name else name
    return ALIASES.get(name, name).replace(",_", ",")
