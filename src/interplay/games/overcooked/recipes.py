"""Orders of a kitchen: which soups are ordered, what they pay and how long they cook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interplay.errors import InterplayError
from interplay.games.overcooked.state import soup

MAX_INGREDIENTS = 3
MAX_TIME = 120
Recipe = tuple[int, int]  # onions, tomatoes

ALL_RECIPES: tuple[Recipe, ...] = tuple(
    (o, t) for o in range(MAX_INGREDIENTS + 1) for t in range(MAX_INGREDIENTS + 1) if 1 <= o + t <= MAX_INGREDIENTS
)


@dataclass(frozen=True, kw_only=True)
class Menu:
    """The rules of a kitchen that are not its map.

    Values and times go by precedence: one for all, listed per order, summed per ingredient, or 20.
    """

    orders: tuple[str, ...] = ("OOO",)  # as letters: OOT is two onions and a tomato
    bonus_orders: tuple[str, ...] = ()  # pay `order_bonus` times their value
    order_bonus: float = 2
    delivery_reward: float | None = None  # one value for all
    values: tuple[float, ...] | None = None  # one per order
    onion_value: float | None = None
    tomato_value: float | None = None
    cook_time: int | None = None  # one time for all
    times: tuple[int, ...] | None = None  # one per order
    onion_time: int | None = None
    tomato_time: int | None = None
    unordered: float = 0  # what a soup that nobody ordered pays (ZSC-Eval's fork: -10)
    auto_cook: bool = True  # cooking starts by itself at three ingredients; otherwise an interact starts it

    def __post_init__(self) -> None:
        ordered = [read_recipe(order) for order in self.orders]
        if not ordered:
            raise InterplayError("orders: at least one recipe must be ordered")
        if len(set(ordered)) < len(ordered):
            raise InterplayError(f"orders: {', '.join(self.orders)} lists a recipe twice")
        for order in self.bonus_orders:
            if read_recipe(order) not in ordered:
                raise InterplayError(f"bonus_orders: {order} is not among the orders {', '.join(self.orders)}")
        for field in ("values", "times"):
            listed: Sequence[float] | None = getattr(self, field)
            if listed is not None and len(listed) != len(self.orders):
                raise InterplayError(f"{field}: {len(listed)} given for {len(self.orders)} orders; give one for each")
        for first, second in (("onion_value", "tomato_value"), ("onion_time", "tomato_time")):
            if (getattr(self, first) is None) != (getattr(self, second) is None):
                raise InterplayError(f"{first} and {second} must be given together")
        for recipe in ALL_RECIPES:
            if not 1 <= self.time(recipe) <= MAX_TIME:
                raise InterplayError(f"cooking times lie between 1 and {MAX_TIME} steps, not {self.time(recipe)}")

    def time(self, recipe: Recipe) -> int:
        """Return the steps from the start of cooking until the soup is ready."""
        return int(self._by_precedence(recipe, self.cook_time, self.times, self.onion_time, self.tomato_time))

    def value(self, recipe: Recipe) -> float:
        """Return the points for delivering this soup."""
        if not self.is_ordered(recipe):
            return float(self.unordered)
        base = self._by_precedence(recipe, self.delivery_reward, self.values, self.onion_value, self.tomato_value)
        return float(base * (self.order_bonus if recipe in map(read_recipe, self.bonus_orders) else 1))

    def is_ordered(self, recipe: Recipe) -> bool:
        """Return whether a recipe is ordered."""
        return recipe in map(read_recipe, self.orders)

    def best_value(self, recipe: Recipe) -> float:
        """Return v(soup): the highest value of an ordered recipe that still contains these ingredients, 0 if none."""
        within = [r for r in ALL_RECIPES if r[0] >= recipe[0] and r[1] >= recipe[1] and self.is_ordered(r)]
        return max([self.value(r) for r in within], default=0.0)

    def _by_precedence(self, recipe: Recipe, for_all, listed, onion, tomato) -> float:
        if for_all:
            return for_all
        if listed is not None and self.is_ordered(recipe):
            return listed[[read_recipe(o) for o in self.orders].index(recipe)]
        if onion is not None and tomato is not None:
            return onion * recipe[0] + tomato * recipe[1]
        return 20


def read_recipe(letters: str) -> Recipe:
    """Return (onions, tomatoes) of an order such as OOT."""
    recipe = (letters.count("O"), letters.count("T"))
    if sum(recipe) != len(letters) or not 1 <= len(letters) <= MAX_INGREDIENTS:
        raise InterplayError(
            f"cannot read the recipe {letters!r}: write 1 to {MAX_INGREDIENTS} letters O or T, as in OOT"
        )
    return recipe


SOUPS = {soup(*recipe): recipe for recipe in ALL_RECIPES}  # item code -> recipe
