"""A simulated participant in the kitchen of language models.

It follows a short recipe and asks for what it cannot reach, or does what it is asked; otherwise it acts at random.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

from interplay.games.collab_kitchen.action_parser import Macro, parse_macro

SAY = "say "  # prefix of a message in place of an action
ASK_AGAIN = 25  # steps between two requests
PATIENCE = 12  # steps before a request that cannot be followed is given up
CURIOUS = 0.05  # share of choices that are random
WAIT = "wait(1)"
_STEP = re.compile(r"(\w+) (.+) (?:in|on) the (\w+): gives (.+)")
_HOLDS = re.compile(r"\(you\).* holds (.+)")


class CookingPerson:
    """A simulated participant in the kitchen, who sees what a browser shows."""

    def __init__(self, seat: int, chance: random.Random):
        self._seat, self._chance = seat, chance
        self._obeyed, self._since = 0, 0  # requests handled; the step since which the next one is tried
        self._asked = -ASK_AGAIN

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        """Return the macro action or message to send; None if it is not their turn."""
        if not view["your_turn"]:
            return None
        legal = [move["action"] for move in view["legal"]]
        if self._chance.random() < CURIOUS:
            return self._chance.choice(legal)
        return self._cook(t, view, legal) if view["order"] else self._obey(t, view, legal)

    def _obey(self, t: int, view: Mapping[str, Any], legal: list[str]) -> str:
        asked = [request for said in view["messages"] if said["seat"] != self._seat for request in said["asks"]]
        if self._obeyed >= len(asked):
            self._since = t
            return WAIT
        match = next((action for action in legal if _fits(asked[self._obeyed], action)), None)
        if match is not None or t - self._since > PATIENCE:
            self._obeyed, self._since = self._obeyed + 1, t
        return match or WAIT

    def _cook(self, t: int, view: Mapping[str, Any], legal: list[str]) -> str:
        """Put one thing into one utensil and serve the result; longer recipes are played at random."""
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
    """Return whether an action that is offered is the one that was asked for; any counter will do."""
    wanted, offer = parse_macro(asked), parse_macro(offered)
    if not isinstance(wanted, Macro) or not isinstance(offer, Macro) or wanted.verb != offer.verb:
        return False
    place = wanted.place is None or offer.place is None or offer.place.startswith(wanted.place)
    return wanted.object in (None, offer.object) and place
