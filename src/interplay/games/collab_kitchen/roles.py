"""Roles as data: who knows the recipe, and who may do what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from interplay.errors import InterplayError, UnknownName

SHARED_VERBS = ("pickup", "place_obj_on_counter", "put_obj_in_utensil", "fill_dish_with_food", "wait", "request")
OWN_VERBS = ("cook", "bake", "deliver", "cut", "stir")
VERBS = SHARED_VERBS + OWN_VERBS


class KitchenRole(NamedTuple):
    """The role of a cook."""

    name: str
    verbs: tuple[str, ...]  # of VERBS, in that order
    knows_recipe: bool

    @property
    def data(self) -> dict[str, Any]:
        """Return the role as plain JSON values."""
        return {"name": self.name, "verbs": list(self.verbs), "knows_recipe": self.knows_recipe}


CHEF = KitchenRole("chef", (*SHARED_VERBS, "cook", "bake", "deliver"), True)
ASSISTANT = KitchenRole("assistant", (*SHARED_VERBS, "cut", "stir"), False)
ABLE_CHEF = KitchenRole("chef", VERBS, True)
ABLE_ASSISTANT = KitchenRole("assistant", VERBS, False)


def split_roles(seats: int) -> tuple[KitchenRole, ...]:
    """Return a chef who cooks, bakes and delivers, and assistants who cut and stir."""
    return (CHEF, *[ASSISTANT] * (seats - 1))


def able_roles(seats: int) -> tuple[KitchenRole, ...]:
    """Return roles that may all do everything; only the chef knows the recipe."""
    return (ABLE_CHEF, *[ABLE_ASSISTANT] * (seats - 1))


def read_roles(data: Sequence[Mapping[str, Any]], seats: int) -> tuple[KitchenRole, ...]:
    """Read roles from data: [{"name": "chef", "verbs": ["cook", ...] or "all", "knows_recipe": true}, ...].

    Raises:
        InterplayError: The data are wrong, or nobody knows the recipe.
    """
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise InterplayError(f"roles: {data!r}; give a list with one entry for each of the {seats} seats")
    if len(data) != seats:
        raise InterplayError(f"roles: {len(data)} given, but the layout has {seats} starting places")
    roles = tuple(_role(entry, seat) for seat, entry in enumerate(data))
    if not any(role.knows_recipe for role in roles):
        raise InterplayError("roles: nobody knows the recipe; set knows_recipe to true for one role at least")
    return roles


def _role(entry: Mapping[str, Any], seat: int) -> KitchenRole:
    where = f"roles, seat {seat}"
    if not isinstance(entry, Mapping):
        raise InterplayError(f"{where}: {entry!r}; give name, verbs and knows_recipe")
    for key in entry:
        if key not in KitchenRole._fields:
            raise UnknownName(f"field of a role ({where})", str(key), list(KitchenRole._fields))
    name, verbs, knows = entry.get("name"), entry.get("verbs", "all"), entry.get("knows_recipe", False)
    if not isinstance(name, str) or not name:
        raise InterplayError(f"{where}: name is {name!r}; give a word, such as chef")
    if not isinstance(knows, bool):
        raise InterplayError(f"{where}: knows_recipe is {knows!r}; give true or false")
    if verbs != "all" and (isinstance(verbs, str) or not isinstance(verbs, Sequence)):
        raise InterplayError(f"{where}: verbs is {verbs!r}; give a list of verbs, or the word all")
    chosen = VERBS if verbs == "all" else tuple(verbs)
    for verb in chosen:
        if verb not in VERBS:
            raise UnknownName(f"verb ({where})", str(verb), list(VERBS))
    return KitchenRole(name, tuple(v for v in VERBS if v in chosen), knows)
