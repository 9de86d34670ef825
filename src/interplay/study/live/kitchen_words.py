"""The kitchen's texts in the participants' language: actions, foods, places, the picture, the recipe.

Phrases are known by their English. Chinese comes with the package; a study file translates into other languages, or
replaces phrases, under `words:`.
"""

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
from interplay.study.live.kitchen_translations import PHRASES, SLOT
from interplay.study.protocol.texts import Text, own_words

_VERBS = {"cook": "Cook", "bake": "Bake", "cut": "Cut", "stir": "Blend"}
_PLACES = {"ingredient_dispenser": "ingredients", "dish_dispenser": "dishes", "serving_hatch": "hatch"}
SHORT = 8  # letters below a food in the picture


class Speech:
    """One language, with the phrases that a study replaces.

    Args:
        language: The language's code.
        own: The study's own phrases, by the English ones.
    """

    def __init__(self, language: str = "en", own: Mapping[str, Text] | None = None):
        self.language, self._own = language, own or {}

    @cached_property
    def plain(self) -> bool:
        """Whether this is English without phrases of the study's own."""
        own = any(isinstance(said, str) or said.keys() & {self.language, "en"} for said in self._own.values())
        return self.language.partition("-")[0] == "en" and not own

    def say(self, phrase: str, **values: object) -> str:
        """Return a phrase, known by its English, with values for its `{names}`."""
        return SLOT.sub(lambda slot: str(values.get(slot[1], slot[0])), self._translation(phrase))

    def _translation(self, phrase: str) -> str:
        return own_words(phrase, PHRASES.get(phrase, {}), self.language, self._own)

    # Things.

    def food(self, name: str | None) -> str:
        """Return a food's name: `boiled(egg)` as boiled egg, `tofu~slices` as tofu slices."""
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
        """Join things by "and"."""
        joined = ""
        for thing in things:
            joined = self.say("{one} and {other}", one=joined, other=thing) if joined else thing
        return joined

    def place(self, name: str | None) -> str:
        """Return a place's name: `pot2` as pot 2; a counter keeps its coordinates."""
        bare, rest = re.fullmatch(r"(.*?)(\d*|\(.*\))", name or "", re.DOTALL).groups()  # type: ignore[union-attr]
        return self.say(_PLACES.get(bare, bare.replace("_", " "))) + rest

    def role(self, name: str) -> str:
        """Return a seat's name: the role and, of several alike, its number."""
        bare, number = re.fullmatch(r"(.*?)( \d+)?", name, re.DOTALL).groups()  # type: ignore[union-attr]
        return self.say(bare) + (number or "")

    def dish(self, dish: Dish) -> str:
        """Return the name of the dish that was ordered."""
        kind = re.fullmatch(r"(.*) (soup|stew|patty)", dish.name)
        if self.plain or kind is None:
            return dish.name.replace("_", " ") if self.plain else self.food(dish.food)
        named = re.split(r", | and ", kind[1])
        return self.say(f"{{food}} {kind[2]}", food=self.several(self.food(food) for food in named))

    # Sentences.

    def act(self, macro: Macro, holds: str | None) -> str:
        """Return a macro action in plain words; `holds` is what the cook holds, None if not known."""
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
        """Return the recipe step by step, in an order in which it can be cooked."""
        lines = []
        for food in dict.fromkeys(parts(dish.food)):
            made = process(food)
            if made is not None:
                things = self.several(self.food(part) for part in made.inputs)
                values = {"things": things, "place": self.place(made.kind.name), "food": self.food(food)}
                lines.append(
                    self.say(f"{_VERBS[made.kind.verb]} {{things}} in the {{place}}: gives {{food}}", **values)
                )
        last = "Fill a dish with it and serve it" if dish.plated else "Take it and serve it"
        return [*lines, self.say(last)]

    def labels(self, game: Kitchen, seat: int) -> Labels:
        """Return the texts in the picture."""
        order = self.say("order: {dish}", dish=self.dish(game.dish))
        if not game.roles[seat].knows_recipe:
            who = (self.role(name) for name, role in zip(game.seat_names, game.roles) if role.knows_recipe)
            order = self.say("order: known to the {role}", role=self.several(who))
        return Labels(self.say, self._short, self._left, order)

    def _left(self, steps: int) -> str:
        return self.say("{number} left", number=steps) if steps else self.say("done")

    def _short(self, food: str) -> str:
        """Return a food's name cut to the few letters that fit below its picture."""
        whole = self.food(food)
        root = food.split("(")[-1].split("+")[0].split(")")[0].partition("~")[0]
        return whole if len(whole) <= SHORT else self.food(root)[:SHORT]

    def kitchen(self, game: Kitchen, state: KitchenState, seat: int) -> str:
        """Return the kitchen in words, for those who do not see the picture."""
        lines = [self.say("Step {number} of {all}.", number=state.time, all=game.horizon)]
        for who, item in enumerate(state.world.hands):
            phrase = "{who} (you) holds {thing}." if who == seat else "{who} holds {thing}."
            thing = self._item(item) if item else self.say("nothing")
            lines.append(self.say(phrase, who=self.role(game.seat_names[who]), thing=thing))
        for station, utensil in zip(game.layout.utensils, state.world.utensils, strict=True):
            inside = self.several(self._item(content) for content in utensil.contents)
            values = {"place": self.place(station.name), "things": inside, "number": utensil.left}
            how = "not started" if utensil.left is None else "{number} steps left" if utensil.left else "done"
            lines.append(
                self.say(f"{{place}}: {{things}}, {how}." if utensil.contents else "{place}: empty.", **values)
            )
        laid = self.several(self._item(item) for item in state.world.counters if item is not None)
        lines.append(self.say("On counters: {things}.", things=laid or self.say("nothing")))
        return "\n".join(lines)

    def _item(self, item: KitchenItem) -> str:
        name = self.food(item.name)
        return self.say("{food} on a dish", food=name) if item.on_dish and item.food else name

    def refusal(self, error: str, message: str) -> str:
        """Return what a participant is told who chose what cannot be done."""
        return self.say("this cannot be done now: {why}", why=self.why(error, message))

    def why(self, error: str, message: str) -> str:
        """Return why an action cannot be done: in English as language models are told, else by the kind of reason."""
        return message if self.plain else self.say(ERRORS.get(error, message))
