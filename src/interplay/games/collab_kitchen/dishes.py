"""Thirty dishes in six levels, as data, and how foods are made of foods."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from interplay.errors import InterplayError, UnknownName

INGREDIENTS = (
    *("apple", "carrot", "onion", "potato", "tofu", "bell_pepper", "sweet_potato", "egg", "mushroom", "pumpkin"),
    *("corn", "green_bean", "lentil", "eggplant", "chickpea", "zucchini", "beef", "peanut", "chicken", "spinach"),
    *("coconut", "broccoli", "bean", "cauliflower", "pea", "romaine_lettuce", "tomato", "taro", "green_pea"),
)

HORIZONS = {1: 100, 2: 133, 3: 180, 4: 180, 5: 260, 6: 300}
PUBLISHED_OPTIMA = {1: 16, 2: 23, 3: 35, 4: 32, 5: 55, 6: 64}  # steps, as the benchmark's authors print them


class Kind(NamedTuple):
    """A kind of utensil: the verb that starts it, and what it makes."""

    name: str
    verb: str
    makes: str
    capacity: int


KINDS = {
    "P": Kind("pot", "cook", "boiled", 3),
    "O": Kind("oven", "bake", "baked", 3),
    "C": Kind("chopping_board", "cut", "slices", 1),
    "B": Kind("blender", "stir", "mashed", 1),
}
BY_RESULT = {kind.makes: kind for kind in KINDS.values()}

# What a dish is made of, level by level. `~` stands for slices.
_TABLE = {
    1: "baked bell_pepper; baked sweet_potato; boiled egg; boiled mushroom; boiled sweet_potato",
    2: "baked potato~; baked pumpkin~; boiled corn~; boiled green_bean~; boiled potato~",
    3: "bell_pepper; carrot; mushroom; potato; pumpkin",
    4: "bell_pepper corn; bell_pepper lentil; eggplant chickpea; pumpkin chickpea; zucchini chickpea",
    5: "broccoli bean; carrot chickpea; cauliflower lentil; potato pea; sweet_potato bean",
    6: "potato carrot onion; romaine_lettuce pea tomato; sweet_potato spinach mushroom; taro bean bell_pepper; "
    "zucchini green_pea onion",
}


class Dish(NamedTuple):
    """A dish that can be ordered."""

    name: str
    level: int
    number: int  # within its level, from 1 on
    food: str
    plated: bool


class Process(NamedTuple):
    """How a food is made: these inputs in a utensil of this kind."""

    kind: Kind
    inputs: tuple[str, ...]


def cooked(makes: str, inputs: tuple[str, ...]) -> str:
    """Return the food that a utensil makes of its contents."""
    if makes == "slices":
        return f"{inputs[0]}~slices"
    return f"{makes}({'+'.join(sorted(inputs))})"


@functools.lru_cache(maxsize=4096)
def process(food: str) -> Process | None:
    """Return how this food is made; None for an ingredient."""
    if food in INGREDIENTS:
        return None
    if food.endswith("~slices") and food.removesuffix("~slices") in INGREDIENTS:
        return Process(BY_RESULT["slices"], (food.removesuffix("~slices"),))
    match = re.fullmatch(r"(boiled|baked|mashed)\((.*)\)", food)
    if not match:
        raise InterplayError(f"{food!r} is no food; write one as in potato~slices or boiled(corn+bell_pepper~slices)")
    return Process(BY_RESULT[match[1]], split_outside(match[2], "+"))


def split_outside(text: str, mark: str) -> tuple[str, ...]:
    """Split at the marks outside of inner brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(parts)


@functools.lru_cache(maxsize=4096)
def is_meal(food: str) -> bool:
    """Return whether a food (soup, stew, patty) is made of several foods or of a cooked one, and so needs a dish."""
    made = process(food)
    if made is None or made.kind.makes not in ("boiled", "baked"):
        return False
    return len(made.inputs) > 1 or any("(" in part for part in made.inputs)


def accepts(kind: Kind, food: str) -> bool:
    """Return whether a utensil takes a food: the board cuts what is whole and raw, the blender mashes nothing twice."""
    if kind.makes == "slices":
        return food in INGREDIENTS
    return not is_meal(food) and not (kind.makes == "mashed" and food.startswith("mashed("))


@functools.lru_cache(maxsize=4096)
def parts(food: str) -> tuple[str, ...]:
    """Return a food and all that it is made of, each as often as it is needed, raw ones first."""
    made = process(food)
    return (food,) if made is None else (*(p for i in made.inputs for p in parts(i)), food)


def raw(food: str) -> tuple[str, ...]:
    """Return the ingredients that a food takes, each as often as it is needed."""
    return tuple(p for p in parts(food) if p in INGREDIENTS)


def _listed() -> dict[str, Dish]:
    dishes = {}
    for level, text in _TABLE.items():
        for number, entry in enumerate(text.split("; "), 1):
            name, food = _meaning(level, entry)
            dishes[name] = Dish(name, level, number, food, plated=is_meal(food))
    return dishes


def _meaning(level: int, entry: str) -> tuple[str, str]:
    words = entry.replace("~", "~slices").split()
    if level <= 2:
        return " ".join(words), cooked(words[0], (words[1],))
    sliced = f"{words[0]}~slices"
    if level == 3:
        return f"{words[0]} soup", cooked("boiled", (cooked("baked", (sliced,)),))
    if level == 4:
        return f"{words[0]} and {words[1]} stew", cooked("boiled", (sliced, words[1]))
    mash = cooked("mashed", (cooked("boiled", (sliced,)),))
    if level == 5:
        return f"{words[0]} and {words[1]} patty", cooked("baked", (mash, words[1]))
    name = f"{words[0]}, {words[1]} and {words[2]} patty"
    return name, cooked("baked", (mash, words[1], f"{words[2]}~slices"))


DISHES = _listed()


def dish(name: str) -> Dish:
    """Return the dish of this name; case, underscores for spaces and a missing `~slices` do not matter.

    Raises:
        UnknownName: There is no such dish.
    """
    wanted = _plain(name)
    for known in DISHES.values():
        if wanted == _plain(known.name):
            return known
    raise UnknownName("dish", name, list(DISHES))


def _plain(name: str) -> str:
    return re.sub(r"[\s_,]+", " ", name.lower().replace("~slices", "")).strip()


def dish_of(level: int, number: int = 1) -> Dish:
    """Return the dish of a level (1 to 6) and a number within it (1 to 5)."""
    for known in DISHES.values():
        if (known.level, known.number) == (level, number):
            return known
    raise InterplayError(f"there is no dish {number!r} of level {level!r}; levels are 1 to 6, with dishes 1 to 5 each")


def recipe_lines(ordered: Dish) -> list[str]:
    """Return the recipe in words, one step a line, in an order in which it can be cooked."""
    lines = []
    for food in dict.fromkeys(parts(ordered.food)):
        made = process(food)
        if made is not None:
            inputs = " and ".join(made.inputs)
            lines.append(f"{made.kind.verb} {inputs} in the {made.kind.name}: gives {food}")
    lines.append("fill a dish with it and deliver it" if ordered.plated else "pick it up and deliver it")
    return lines
