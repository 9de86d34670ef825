"""The words of the kitchen: verbs, places, and the names of things in every state of preparation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from interplay.metrics.communication.records import VERBS, ObservedAct

COUNTER = "counter"
UTENSILS = ("pot", "oven", "blender", "chopping_board")
PLACES: Mapping[tuple[str, ...], str] = {
    ("chopping", "board"): "chopping_board", ("cutting", "board"): "chopping_board", ("board",): "chopping_board",
    ("pot",): "pot", ("oven",): "oven", ("blender",): "blender", ("counter",): COUNTER, ("countertop",): COUNTER,
    ("ingredient", "dispenser"): "ingredient_dispenser", ("ingredient", "station"): "ingredient_dispenser",
    ("dispenser",): "ingredient_dispenser", ("dish", "dispenser"): "dish_dispenser",
    ("dish", "station"): "dish_dispenser", ("serving", "hatch"): "serving_hatch", ("hatch",): "serving_hatch",
    ("serving", "counter"): "serving_hatch", ("serving", "location"): "serving_hatch",
    ("serving", "loc"): "serving_hatch",
}  # fmt: skip

# Verbs whose meaning hangs on the place, on who shall have the thing, or on the thing.
PUT, BRING, GET, PREPARE, OPERATE = "put", "bring", "get", "prepare", "operate"
PHRASES: Mapping[tuple[str, ...], str] = {
    ("pick", "up"): "pickup", ("pickup",): "pickup", ("grab",): GET, ("fetch",): GET, ("collect",): GET,
    ("retrieve",): GET, ("take",): GET, ("get",): GET, ("remove",): GET, ("prepare",): PREPARE,
    ("bring",): BRING, ("pass",): BRING, ("hand",): BRING, ("give",): BRING, ("send",): BRING, ("supply",): BRING,
    ("provide",): BRING, ("put",): PUT, ("place",): PUT, ("set",): PUT, ("drop",): PUT, ("leave",): PUT,
    ("move",): PUT, ("transfer",): PUT, ("lay",): PUT, ("return",): PUT, ("carry",): PUT, ("deposit",): PUT,
    ("toss",): PUT, ("pop",): PUT, ("stick",): PUT, ("chuck",): PUT, ("tip",): PUT, ("pour",): PUT, ("dump",): PUT,
    ("relocate",): PUT, ("obtain",): GET, ("acquire",): GET, ("gather",): GET, ("mince",): "cut", ("halve",): "cut",
    ("poach",): "cook", ("whisk",): "stir", ("whip",): "stir", ("submit",): "deliver", ("present",): "deliver",
    ("throw",): PUT, ("slide",): PUT, ("position",): PUT, ("operate",): OPERATE,
    ("add",): "put_obj_in_utensil", ("load",): "put_obj_in_utensil", ("insert",): "put_obj_in_utensil",
    ("fill",): "fill_dish_with_food", ("plate",): "fill_dish_with_food", ("dish", "up"): "fill_dish_with_food",
    ("scoop",): "fill_dish_with_food", ("ladle",): "fill_dish_with_food",
    ("cook",): "cook", ("boil",): "cook", ("simmer",): "cook", ("bake",): "bake", ("roast",): "bake",
    ("cut",): "cut", ("slice",): "cut", ("chop",): "cut", ("dice",): "cut",
    ("stir",): "stir", ("blend",): "stir", ("mash",): "stir", ("puree",): "stir", ("mix",): "stir",
    ("deliver",): "deliver", ("serve",): "deliver",
    ("wait",): "wait", ("hold", "on"): "wait", ("stand", "by"): "wait", ("stay",): "wait",
}  # fmt: skip
# Words with many other uses: without a thing beside them they ask for nothing.
WEAK = {
    "take",
    "get",
    "give",
    "set",
    "leave",
    "move",
    "return",
    "send",
    "hand",
    "pass",
    "stay",
    "drop",
    "mix",
    "carry",
    "throw",
    "toss",
    "slide",
    "position",
}
GERUNDS = {
    "picking": "pick", "grabbing": "grab", "fetching": "fetch", "getting": "get", "taking": "take", "bringing": "bring",
    "passing": "pass", "putting": "put", "placing": "place", "adding": "add", "filling": "fill", "plating": "plate",
    "cooking": "cook", "boiling": "boil", "baking": "bake", "cutting": "cut", "slicing": "slice", "simmering": "simmer",
    "chopping": "chop", "dicing": "dice", "stirring": "stir", "blending": "blend", "mashing": "mash", "mixing": "mix",
    "delivering": "deliver", "serving": "serve", "roasting": "roast", "transferring": "transfer", "moving": "move",
    "collecting": "collect", "retrieving": "retrieve", "loading": "load", "inserting": "insert", "dropping": "drop",
    "handing": "hand", "giving": "give", "sending": "send", "leaving": "leave", "setting": "set", "removing": "remove",
    "returning": "return", "scooping": "scoop", "starting": "start", "beginning": "begin", "initiating": "initiate",
    "proceeding": "proceed", "preparing": "prepare", "carrying": "carry", "depositing": "deposit", "tossing": "toss",
    "throwing": "throw", "sliding": "slide", "laying": "lay", "supplying": "supply",
}  # fmt: skip
PARTICIPLES = {
    "picked": "pick up", "grabbed": "grab", "placed": "place", "put": "put", "set": "set", "moved": "move",
    "transferred": "transfer", "added": "add", "brought": "bring", "passed": "pass", "filled": "fill",
    "plated": "plate", "cooked": "cook", "boiled": "boil", "baked": "bake", "cut": "cut", "sliced": "slice",
    "chopped": "chop", "diced": "dice", "stirred": "stir", "blended": "blend", "mashed": "mash",
    "delivered": "deliver", "served": "serve",
}  # fmt: skip

FORMS: Mapping[str, str] = {
    "sliced": "slices", "chopped": "slices", "diced": "slices", "cut": "slices", "boiled": "boiled", "cooked": "cooked",
    "baked": "baked", "roasted": "baked", "mashed": "mashed", "blended": "mashed", "pureed": "mashed", "raw": "raw",
    "whole": "raw", "fresh": "raw", "uncut": "raw", "plated": "plated",
}  # fmt: skip
AFTER = {"slice": "slices", "slices": "slices", "piece": "slices", "pieces": "slices"}
MARKS = {"slices", "boiled", "baked", "mashed"}  # what names in the kitchen's grammar are made with
HEADS = ("soup", "stew", "patty", "order", "meal")  # nouns of what is delivered
DETERMINERS = {
    "the", "a", "an", "of", "your", "my", "some", "any", "that", "this", "these", "those", "one", "another", "its",
    "their", "our", "both", "each", "same",
}  # fmt: skip
PRONOUNS = {"result", "it", "them", "that", "this", "those", "these", "one"}
DISH = "dish"
DISH_WORDS = {"dish", "plate", "bowl"}


MAKES = {"cut": "{}~slices", "cook": "boiled({})", "bake": "baked({})", "stir": "mashed({})"}


def made_by(verb: str, thing: str) -> str:
    """What a thing is after an act: cut makes potato~slices of potato."""
    if verb not in MAKES or (verb == "cut" and thing.endswith("~slices")):
        return thing
    return MAKES[verb].format(thing)


def split_mix(name: str) -> list[str]:
    """The things of a mix, such as corn and bell_pepper~slices of corn+bell_pepper~slices."""
    parts, depth = [""], 0
    for letter in name:
        depth += (letter == "(") - (letter == ")")
        if letter == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def components(name: str) -> list[str]:
    """A thing and all that it is made of."""
    mix = split_mix(name)
    if len(mix) > 1:
        return [name, *(c for part in mix for c in components(part))]
    if name.endswith("~slices"):
        return [name, *components(name.removesuffix("~slices"))]
    inner = re.fullmatch(r"[a-z]+\((.*)\)", name)
    return [name, *components(inner[1])] if inner else [name]


_NUMBERED = "pot|oven|blender|board|counter|dispenser|hatch|station"


def tokens_of(text: str) -> list[str]:
    """Lower-case words; underscores and tildes part words, and the number of a utensil is left out: pot0 is a pot."""
    plain = re.sub(rf"({_NUMBERED})s?\s?#?(?<!\s)\d+\b", r"\1", text.lower().replace("’", "'"))
    return re.findall(r"[a-z0-9§]+(?:'[a-z]+)?", plain)


def singular(word: str) -> str:
    """Good enough for vegetables: potatoes, dishes, patties, slices."""
    for ending, instead in (("ies", "y"), ("toes", "to"), ("shes", "sh"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 1 and not word.endswith("ss"):
            return word[: -len(ending)] + instead
    return word


class Mention(NamedTuple):
    """A thing named in a text, from word `start` up to `end`."""

    start: int
    end: int
    object: str


class PlaceMention(NamedTuple):
    """A place named in a text, from word `start` up to `end`."""

    start: int
    end: int
    place: str


@dataclass(frozen=True)
class NamedThing:
    """A name such as boiled(potato~slices), taken apart."""

    name: str
    bases: tuple[str, ...]  # potato
    forms: frozenset[str]  # boiled, slices

    @classmethod
    def of(cls, name: str) -> NamedThing:
        """Split a name into its ingredients and the marks of its preparation."""
        words = re.findall(r"[a-z_]+", name.lower())
        return cls(name, tuple(w for w in words if w not in MARKS), frozenset(w for w in words if w in MARKS))


@dataclass(frozen=True)
class Vocabulary:
    """The names of things that a transcript may speak of."""

    names: tuple[str, ...]
    product: str | None = None  # what "the soup" and "the order" mean

    @classmethod
    def of(cls, names: Iterable[str], product: str | None = None) -> Vocabulary:
        """Make a vocabulary of names, each once."""
        return cls(tuple(dict.fromkeys(names)), product)

    @cached_property
    def things(self) -> list[NamedThing]:
        """The names, each split into ingredients and forms."""
        return [NamedThing.of(name) for name in self.names]

    @cached_property
    def ingredients(self) -> frozenset[str]:
        """What is raw and whole."""
        return frozenset(base for thing in self.things for base in thing.bases if base != DISH)

    @cached_property
    def bases(self) -> list[tuple[tuple[str, ...], str]]:
        """Words of every ingredient, the longest first, so that sweet potato is not read as potato."""
        ingredients = {base for thing in self.things for base in thing.bases}
        spoken = [(tuple(singular(w) for w in base.split("_")), base) for base in ingredients]
        heads = [base.rsplit("_", 1)[-1] for base in ingredients if "_" in base]  # "the pepper" is the bell pepper
        spoken += [
            ((singular(head),), base)
            for base in ingredients
            if (head := base.rsplit("_", 1)[-1]) not in ingredients and heads.count(head) == 1
        ]
        return sorted(spoken, key=lambda pair: (-len(pair[0]), pair[1]))

    def exact(self, text: str) -> str | None:
        """The name that is written in full, whatever its blanks, underscores and quotes."""
        plain = _squeeze(text)
        return next((name for name in self.names if _squeeze(name) == plain), None)

    def resolve(self, base: str, forms: Sequence[str]) -> str:
        """The thing with this ingredient and these forms, with as few others as can be."""
        wanted = [f for f in forms if f not in ("raw", "cooked")]
        fitting = [
            thing
            for thing in self.things
            if thing.bases == (base,)
            and set(wanted) <= thing.forms
            and ("cooked" not in forms or thing.forms & {"boiled", "baked"})
            and ("raw" not in forms or not thing.forms)
        ]
        if not fitting:
            return _composed(base, forms)  # named, but nothing that this dish needs
        return min(fitting, key=lambda thing: (len(thing.forms), thing.name)).name

    def mentions(self, words: Sequence[str]) -> list[Mention]:
        """Things named in a text, in order: the longest name at each place, forms before and after included."""
        mentions: list[Mention] = []
        at = 0
        while at < len(words):
            mention = self._mention(words, at)
            if mention is None:
                at += 1
                continue
            mentions.append(mention)
            at = mention.end
        return mentions

    def _mention(self, words: Sequence[str], at: int) -> Mention | None:
        start, forms = at, []
        while at < len(words) and words[at] in FORMS and self._is_form(words, at):
            forms.append(FORMS[words[at]])
            at += 1
        if at + 1 < len(words) and words[at] in AFTER and words[at + 1] == "of":
            forms.append(AFTER[words[at]])
            at += 2
            if at < len(words) and words[at] in DETERMINERS:
                at += 1
        base, after = self._base(words, at)
        if base is None:
            head = singular(words[at]) if at < len(words) else ""
            if head in HEADS and self.product:
                return Mention(start, at + 1, self.product)
            return Mention(start, at + 1, DISH) if head in DISH_WORDS else None
        if after < len(words) and words[after] in AFTER:
            forms.append(AFTER[words[after]])
            after += 1
        if after < len(words) and singular(words[after]) in HEADS:
            return Mention(start, after + 1, self.product or words[after])
        return Mention(start, after, self.resolve(base, forms))

    def _base(self, words: Sequence[str], at: int) -> tuple[str | None, int]:
        for spoken, base in self.bases:
            here = tuple(singular(w.removesuffix("'s")) for w in words[at : at + len(spoken)])
            if here == spoken and base != DISH:
                return base, at + len(spoken)
        return None, at

    @staticmethod
    def _is_form(words: Sequence[str], at: int) -> bool:
        """`cut` is a form in `the cut potato`, a verb in `cut potato`."""
        return words[at] != "cut" or (at > 0 and (words[at - 1] in DETERMINERS or words[at - 1] in FORMS))


def _composed(base: str, forms: Sequence[str]) -> str:
    """The name of an ingredient in these forms, in the kitchen's grammar."""
    name = f"{base}~slices" if "slices" in forms else base
    heat = next((f for f in forms if f in ("boiled", "baked", "cooked")), None)
    if heat is not None:
        name = f"{'boiled' if heat == 'cooked' else heat}({name})"
    return f"mashed({name})" if "mashed" in forms else name


def places_in(words: Sequence[str]) -> list[PlaceMention]:
    """Return the places named in a text, in order."""
    places: list[PlaceMention] = []
    at = 0
    while at < len(words):
        for length in (2, 1):
            place = PLACES.get(tuple(singular(w) for w in words[at : at + length]))
            if place is not None and at + length <= len(words):
                places.append(PlaceMention(at, at + length, place))
                at += length - 1
                break
        at += 1
    return places


def place_of(text: str) -> str | None:
    """The place that an argument names: pot, chopping_board0, the counter."""
    words = tokens_of(re.sub(r"\(.*\)|\d+", "", text).replace("_", " "))  # counter(2,1), pot0
    words = [w for w in words if w not in DETERMINERS]
    places = places_in(words)
    return places[0].place if places and places[0].end - places[0].start == len(words) else None


def parse_act(text: str, vocabulary: Vocabulary) -> ObservedAct | None:
    """An act written as a call, such as pickup(egg, ingredient_dispenser); None if it is none."""
    call = re.fullmatch(r"\s*([a-z_]+)\s*\((.*)\)\s*", text.strip().strip("'\""), flags=re.DOTALL)
    if call is None:
        return None
    verb = _verb_of_call(call[1])
    if verb is None:
        return None
    thing, place = None, None
    for argument in _arguments(call[2]):
        where = place_of(argument)
        if where is not None:
            place = place or where
        elif not argument.isdigit():
            named = vocabulary.exact(argument) or _only(vocabulary.mentions(tokens_of(argument.replace("_", " "))))
            thing = thing or named or argument
    return ObservedAct(verb, thing, place)


def _verb_of_call(name: str) -> str | None:
    """The kitchen's verb for the name of a call: boil and start_boiling are cook, deliver_soup is deliver."""
    if name in VERBS:
        return name if name != "request" else None
    for word in name.split("_"):
        meaning = PHRASES.get((GERUNDS.get(word, word),))
        if meaning in VERBS:
            return meaning
    return {"start_oven": "bake", "start_pot": "cook", "start_blender": "stir"}.get(name)


def _only(mentions: Sequence[Mention]) -> str | None:
    return mentions[0].object if len(mentions) == 1 else None


def _arguments(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += letter
    return [p.strip().strip("'\"") for p in [*parts, current] if p.strip().strip("'\"")]


def _squeeze(text: str) -> str:
    return re.sub(r"[\s_'\"]+", "", text.lower())
