"""What is said in the kitchen to those who take part, in their language: acts, foods, places, the picture, the recipe.

Phrases are known by their English. Chinese is here; a study file translates into other languages, or says things
otherwise, under `words:`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from interplay.errors import InterplayError
from interplay.games.collab_kitchen.dishes import Dish, parts, process
from interplay.games.collab_kitchen.draw import Labels
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.macros import ERRORS, Macro
from interplay.games.collab_kitchen.state import KitchenItem, KitchenState
from interplay.study.live.kitchen_phrases import PHRASES, SLOT
from interplay.study.protocol.words import Text

_VERBS = {"cook": "Cook", "bake": "Bake", "cut": "Cut", "stir": "Blend"}
_PLACES = {"ingredient_dispenser": "ingredients", "dish_dispenser": "dishes", "serving_hatch": "hatch"}
SHORT = 8  # letters below a food in the picture


class Speech:
    """One language, with what a study says in its own words."""

    def __init__(self, language: str = "en", own: Mapping[str, Text] | None = None):
        self.language, self._own = language, own or {}

    @cached_property
    def plain(self) -> bool:
        """English as it is, which a study leaves unchanged."""
        own = any(isinstance(said, str) or said.keys() & {self.language, "en"} for said in self._own.values())
        return self.language.partition("-")[0] == "en" and not own

    def say(self, phrase: str, **values: object) -> str:
        """A phrase, by its English, with what stands for its `{names}`."""
        return SLOT.sub(lambda slot: str(values.get(slot[1], slot[0])), self._found(phrase))

    def _found(self, phrase: str) -> str:
        base = self.language.partition("-")[0]
        own = self._own.get(phrase)
        if isinstance(own, str):
            return own
        held = {**PHRASES.get(phrase, {}), **(own or {})}
        return held.get(self.language) or held.get(base) or phrase

    # Things.

    def food(self, name: str | None) -> str:
        """`boiled(egg)` as boiled egg, `tofu~slices` as tofu slices."""
        if not name:
            return ""
        try:
            made = process(name)
        except InterplayError:  # no food: the empty dish, or what a person made up
            made = None
        if made is None:
            return self.say(re.sub(r"\s+", " ", re.sub(r"[()~_]", " ", name)).strip())
        inside = self.several(self.food(part) for part in made.inputs)
        return self.say("{food} slices" if made.kind.makes == "slices" else f"{made.kind.makes} {{food}}", food=inside)

    def several(self, things: Iterable[str]) -> str:
        found = ""
        for thing in things:
            found = self.say("{one} and {other}", one=found, other=thing) if found else thing
        return found

    def place(self, name: str | None) -> str:
        """`pot2` as pot 2, with the coordinates of a counter as they are."""
        bare, rest = re.fullmatch(r"(.*?)(\d*|\(.*\))", name or "", re.DOTALL).groups()  # type: ignore[union-attr]
        return self.say(_PLACES.get(bare, bare.replace("_", " "))) + rest

    def role(self, name: str) -> str:
        """A seat's name: the role and, of several alike, its number."""
        bare, number = re.fullmatch(r"(.*?)( \d+)?", name, re.DOTALL).groups()  # type: ignore[union-attr]
        return self.say(bare) + (number or "")

    def dish(self, dish: Dish) -> str:
        """The name of what was ordered."""
        kind = re.fullmatch(r"(.*) (soup|stew|patty)", dish.name)
        if self.plain or kind is None:
            return dish.name if self.plain else self.food(dish.food)
        named = re.split(r", | and ", kind[1])
        return self.say(f"{{food}} {kind[2]}", food=self.several(self.food(one) for one in named))

    # Sentences.

    def act(self, macro: Macro, holds: str | None) -> str:
        """An act in plain words."""
        place, thing = self.place(macro.place), self.food(holds) if holds else self.say("it")
        match macro.verb:
            case "pickup" if macro.place:
                return self.say("Take {thing} from the {place}", thing=self.food(macro.object), place=place)
            case "pickup":
                return self.say("Take {thing}", thing=self.food(macro.object))
            case "place_obj_on_counter":
                return self.say("Put {thing} on a counter", thing=thing)
            case "put_obj_in_utensil":
                return self.say("Put {thing} into the {place}", thing=thing, place=place)
            case "fill_dish_with_food":
                return self.say("Fill the dish from the {place}", place=place)
            case "deliver":
                return self.say("Serve what you hold" if holds else "Serve it")
            case "wait" if (macro.number or 1) > 1:
                return self.say("Wait {number} steps", number=macro.number)
            case "wait":
                return self.say("Wait")
        verb = _VERBS.get(macro.verb, macro.verb)
        return self.say(f"{verb} what is in the {{place}}", place=place) if macro.place else self.say(verb)

    def recipe(self, dish: Dish) -> list[str]:
        """Step by step, in an order in which it can be cooked."""
        lines = []
        for food in dict.fromkeys(parts(dish.food)):
            made = process(food)
            if made is not None:
                things = self.several(self.food(one) for one in made.inputs)
                told = {"things": things, "place": self.place(made.kind.name), "food": self.food(food)}
                lines.append(self.say(f"{_VERBS[made.kind.verb]} {{things}} in the {{place}}: gives {{food}}", **told))
        last = "Fill a dish with it and serve it" if dish.plated else "Take it and serve it"
        return [*lines, self.say(last)]

    def labels(self, game: Kitchen, seat: int) -> Labels:
        """What is written in the picture."""
        order = self.say("order: {dish}", dish=self.dish(game.dish))
        if not game.roles[seat].knows_recipe:
            who = (self.role(name) for name, role in zip(game.seat_names, game.roles) if role.knows_recipe)
            order = self.say("order: known to the {role}", role=self.several(who))
        return Labels(self.say, self._short, self._left, order)

    def _left(self, steps: int) -> str:
        return self.say("{number} left", number=steps) if steps else self.say("done")

    def _short(self, food: str) -> str:
        """A food below its picture, where there is room for a few letters only."""
        whole = self.food(food)
        root = food.split("(")[-1].split("+")[0].split(")")[0].partition("~")[0]
        return whole if len(whole) <= SHORT else self.food(root)[:SHORT]

    def kitchen(self, game: Kitchen, state: KitchenState, seat: int) -> str:
        """The kitchen in words, for those who do not see the picture."""
        lines = [self.say("Step {number} of {all}.", number=state.time, all=game.horizon)]
        for who, held in enumerate(state.world.hands):
            phrase = "{who} (you) holds {thing}." if who == seat else "{who} holds {thing}."
            thing = self._item(held) if held else self.say("nothing")
            lines.append(self.say(phrase, who=self.role(game.seat_names[who]), thing=thing))
        for station, utensil in zip(game.layout.utensils, state.world.utensils, strict=True):
            inside = self.several(self._item(item) for item in utensil.contents)
            told = {"place": self.place(station.name), "things": inside, "number": utensil.left}
            how = "not started" if utensil.left is None else "{number} steps left" if utensil.left else "done"
            lines.append(self.say(f"{{place}}: {{things}}, {how}." if utensil.contents else "{place}: empty.", **told))
        laid = self.several(self._item(item) for item in state.world.counters if item is not None)
        lines.append(self.say("On counters: {things}.", things=laid or self.say("nothing")))
        return "\n".join(lines)

    def _item(self, item: KitchenItem) -> str:
        name = self.food(item.name)
        return self.say("{food} on a dish", food=name) if item.on_dish and item.food else name

    def refusal(self, error: str, message: str) -> str:
        """What someone is told who chose what cannot be done."""
        return self.say("this cannot be done now: {why}", why=self.why(error, message))

    def why(self, error: str, message: str) -> str:
        """Why an act cannot be done: in English as the kitchen tells models, else by the kind of the reason."""
        return message if self.plain else self.say(ERRORS.get(error, message))
