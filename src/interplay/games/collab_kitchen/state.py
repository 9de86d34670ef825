"""The state of the kitchen: plain, frozen, hashable records.

What can be moved is a `KitchenItem`. Its food is named with its derivation: `potato`, `potato~slices`,
`boiled(potato~slices)`, `baked(bean+mashed(boiled(taro~slices)))`. Its lineage names what it came from and never
changes with what is done to it: `potato#1`, and once two were cooked together, `potato#1+corn#2`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))  # (dx, dy) of up, down, left, right
WAYS = ("up", "down", "left", "right")
STAY, UP, DOWN, LEFT, RIGHT, TAKE, PUT, START, FILL, DELIVER = range(10)
PRIMITIVES = ("stay", *WAYS, "take", "put", "start", "fill", "deliver")  # then `take X` for each ingredient X
FIRST_INGREDIENT = len(PRIMITIVES)

TAKES = 3  # steps that every utensil works, the one that starts it included


class KitchenItem(NamedTuple):
    """A thing in a hand, on a counter or in a utensil. An empty dish has no food."""

    food: str
    on_dish: bool
    lineage: str

    @property
    def name(self) -> str:
        """The food, or `dish` for an empty one."""
        return self.food or "dish"

    @property
    def text(self) -> str:
        """The name for people: `egg`, `dish`, `boiled(...) on a dish`."""
        return f"{self.food} on a dish" if self.on_dish and self.food else self.name


class Utensil(NamedTuple):
    """The contents of a utensil. `left` is None before it starts, then the steps it still works; 0: it is done."""

    contents: tuple[KitchenItem, ...] = ()
    left: int | None = None

    @property
    def done(self) -> bool:
        """Whether its product is ready."""
        return self.left == 0


class KitchenWorld(NamedTuple):
    """Everything but the cooks' poses and the time."""

    hands: tuple[KitchenItem | None, ...]  # by seat
    counters: tuple[KitchenItem | None, ...]  # in the order of `Layout.counters`
    utensils: tuple[Utensil, ...]  # in the order of `Layout.utensils`
    taken: int  # items that came from dispensers so far: their numbers
    delivered: KitchenItem | None  # the ordered dish, once it is


class Cook(NamedTuple):
    """Where a cook stands, and its facing (an index of WAYS)."""

    x: int
    y: int
    facing: int


class KitchenState(NamedTuple):
    """The state of the game."""

    time: int
    cooks: tuple[Cook, ...]  # by seat
    world: KitchenWorld


RECORDED_NAMES = {KitchenItem: "Item", Utensil: "Utensil", KitchenWorld: "World", Cook: "Cook"}  # in all traces


def canonical_text(value: Any) -> str:
    """A state's value as the text that checksums of traces are made of, whatever its classes are called here."""
    if type(value) in RECORDED_NAMES:
        fields = zip(value._fields, value, strict=True)
        return f"{RECORDED_NAMES[type(value)]}({', '.join(f'{name}={canonical_text(v)}' for name, v in fields)})"
    if isinstance(value, tuple):
        return f"({', '.join(map(canonical_text, value))}{',' if len(value) == 1 else ''})"
    return repr(value)
