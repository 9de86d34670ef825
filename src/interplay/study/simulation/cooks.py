"""A stand-in for a person in the kitchen of language models: it follows a short recipe and asks for what it cannot
reach, or does what it is asked; otherwise it tries things out."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

from interplay.games.collab_kitchen.words import Macro, parse_macro

SAY = "say "  # before words, where an action is expected
ASK_AGAIN = 25  # steps
PATIENCE = 12  # steps before a request that cannot be followed is given up
CURIOUS = 0.05  # share of choices that are not thought about
WAIT = "wait(1)"
_STEP = re.compile(r"(\w+) (.+) (?:in|on) the (\w+): gives (.+)")
_HOLDS = re.compile(r"\(you\).* holds (.+)")


class CookingPerson:
    """Sees what a browser sees."""

    def __init__(self, seat: int, chance: random.Random):
        self._seat, self._chance = seat, chance
        self._obeyed, self._since = 0, 0  # requests done with; the step since which the next one is tried
        self._asked = -ASK_AGAIN

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        if not view["your_turn"]:
            return None
        legal = [move["action"] for move in view["legal"]]
        if self._chance.random() < CURIOUS:
            return self._chance.choice(legal)
        return self._cook(t, view, legal) if view["order"] else self._obey(t, view, legal)

    def _obey(self, t: int, view: Mapping[str, Any], legal: list[str]) -> str:
        asked = [one for said in view["messages"] if said["seat"] != self._seat for one in said["asks"]]
        if self._obeyed >= len(asked):
            self._since = t
            return WAIT
        found = next((action for action in legal if _fits(asked[self._obeyed], action)), None)
        if found is not None or t - self._since > PATIENCE:
            self._obeyed, self._since = self._obeyed + 1, t
        return found or WAIT

    def _cook(self, t: int, view: Mapping[str, Any], legal: list[str]) -> str:
        """One thing into one utensil, and what comes out to the hatch; longer recipes are tried out."""
        step = _STEP.fullmatch(view["order"][1])
        if step is None or len(view["order"]) > 3:
            return self._chance.choice(legal)
        verb, food, utensil, result = step.groups()
        holds = (_HOLDS.search(view["text"]) or ["", ""])[1]
        fetch = next((action for action in legal if action.startswith(f"pickup({food}, ")), None)
        wanted = {
            f"pickup({result}, {utensil})": True,
            "deliver()": holds == result,
            f"put_obj_in_utensil({utensil})": holds == food,
            f"{verb}({utensil})": True,
            "place_obj_on_counter()": holds not in ("nothing", food, result),
        }
        for action, sensible in wanted.items():
            if sensible and action in legal:
                return action
        if re.search(rf"{utensil}: (holds|works)", view["text"]):
            return WAIT
        if fetch is not None:
            return fetch
        if t - self._asked >= ASK_AGAIN:
            self._asked = t
            return f"{SAY}request('pickup({food}, ingredient_dispenser)') request('place_obj_on_counter()')"
        return WAIT


def _fits(asked: str, offered: str) -> bool:
    """Whether what is offered is what was asked for; any counter will do."""
    one, other = parse_macro(asked), parse_macro(offered)
    if not isinstance(one, Macro) or not isinstance(other, Macro) or one.verb != other.verb:
        return False
    place = one.place is None or other.place is None or other.place.startswith(one.place)
    return one.object in (None, other.object) and place
