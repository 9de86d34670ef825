"""The request reader: from a message to request units, by rules alone, so that the same words always read the same.

Explicit request('...') comes first, then what is said in words. A verb without an object is about the last thing
that was asked for, else about what the partner holds, else about what is in the utensil.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from interplay.metrics.communication.clauses import ASK, NOBODY, PROHIBIT, TELL, Clause, Names, Verb, clauses, verbs_in
from interplay.metrics.communication.kitchen_words import (
    AFTER,
    BRING,
    COUNTER,
    DETERMINERS,
    DISH,
    GERUNDS,
    GET,
    MAKES,
    OPERATE,
    PARTICIPLES,
    PHRASES,
    PREPARE,
    PRONOUNS,
    PUT,
    UTENSILS,
    WEAK,
    Mention,
    PlaceMention,
    Vocabulary,
    made_by,
    parse_act,
    places_in,
)
from interplay.metrics.communication.other_languages import in_english
from interplay.metrics.communication.records import ObservedAct, TranscriptEvent, TranscriptUnit
from interplay.metrics.communication.scene import AT, KitchenScene, SceneObject

_SMALL = DETERMINERS | PRONOUNS | {
    "please", "to", "on", "in", "into", "onto", "at", "from", "for", "with", "me", "us", "you", "it", "up", "down",
    "over", "out", "off", "now", "then", "next", "first", "here", "there", "and", "or", "so", "when", "ready", "done",
    "again", "too", "also", "right", "away", "quickly", "immediately", "soon", "possible", "as", "is", "be", "chef",
    "assistant", "shared", "inside", "time", "step", "steps", "after", "that's", "thanks", "i", "can", "use",
    "once", "more", "will", "go", "ahead", "start", "make", "sure", "back", "by", "using", "food", "timestep",
    "timesteps", "minutes", "turns", "seconds", "directly", "properly", "process", "action", "carefully", "just",
    "planned",
    "requested", "needed", "begin", "proceed", "let", "know", "earlier", "near", "order", "complete",
    "new", "available", "empty", "convenience", "pace", "earliest", "straight", "already", "both", "all",
    "whole", "slices", "slice", "pieces", "our", "its", "recipe",
}  # fmt: skip


@dataclass(frozen=True)
class RequestedAct:
    """The last thing that a speaker asked a partner about, and with which act."""

    thing: SceneObject
    act: ObservedAct
    when: tuple[int, int]


@dataclass(frozen=True)
class MessageReading:
    """What was found in a message."""

    units: tuple[TranscriptUnit, ...]
    waits: int  # requests to wait, which are dropped
    last: RequestedAct | None  # of the last unit that was addressed


@dataclass
class MessageReader:
    """Reads one message, unit by unit."""

    message: TranscriptEvent
    vocabulary: Vocabulary
    names: Names
    scene: KitchenScene
    last: Callable[[int], RequestedAct | None]  # the open request about which "it" may speak, by addressee

    def __post_init__(self):
        self._units: list[TranscriptUnit] = []
        self._waits = 0
        self._last_request: RequestedAct | None = None
        self._named: SceneObject | None = None  # the last thing spoken of, asked for or not: what "it" means
        self._made: set[tuple[str, str]] = set()  # (verb, what it makes) of acts that were asked for or spoken of
        self._utensil: str | None = None  # the last one named: what "put the corn in it" means
        self._postponed: list[tuple[ObservedAct, int | None, str]] = []  # explicit requests that name no object
        self._several: list[str] = []  # the things of the last request: what "them" means, if they are several
        self._unnamed: set[str] = set()  # the words of requests whose object the message had not told by then
        self._waiting: list[tuple[str, Clause]] = []  # "pick up and cook the egg": acts on what comes next

    def read(self) -> MessageReading:
        """Read the message: explicit requests first, then what its clauses ask for."""
        text = self._explicit()
        parsed = clauses(in_english(text), self.names, self.message.to) if not self.message.acts_only else []
        before: tuple[Verb, Clause] | None = None
        parsed = self._with_all_objects(parsed)
        for clause, following in zip(parsed, [*parsed[1:], None], strict=False):
            if following is not None and clause.mood == ASK and "it" in clause.words:
                self._changed_first(clause, following)
            before = self._clause(clause, before)
        for meaning, clause in self._waiting:  # nothing came after them
            if meaning in MAKES:
                self._add(ObservedAct(meaning, None), clause.to, clause.text, "speech", pronoun=True)
        self._name_what_is_made()
        for act, to, words in self._postponed:
            if not any(_names_object_of(unit, act, to) for unit in self._units):
                self._add(act, to, words, "explicit")
        return MessageReading(tuple(self._units), self._waits, self._last_request)

    def _changed_first(self, clause: Clause, following: Clause) -> None:
        """`Hand it over once it's sliced`: what is asked for is about the slices."""
        words = following.words
        if following.mood != TELL or words[:1] not in (("once",), ("when",), ("after",)) or self._named is None:
            return
        state = next((w for at, w in enumerate(words) if w in PARTICIPLES and _before(words, at) in _IS), None)
        act = _plain_verb(state) if state and {"it", "it's"} & set(words) else None
        asked = {verb.meaning for verb in verbs_in(clause.words)}
        if act in MAKES and act not in asked and self._named.object not in (DISH, self.vocabulary.product):
            self._named = SceneObject(made_by(act, _made_from(act, self._named.object)), None)

    def _name_what_is_made(self) -> None:
        """`Start the baking process once I put the carrot in` names its object after the act."""
        if self._named is None or self._named.object in (DISH, self.vocabulary.product) or not self._units:
            return
        last = self._units[-1]
        if last.act.object is None and last.act.verb in MAKES and last.words in self._unnamed:
            thing = _made_from(last.act.verb, self._named.object)
            self._units[-1] = replace(last, act=replace(last.act, object=thing))

    # ------------------------------------------------------------ explicit requests
    def _explicit(self) -> str:
        """Take the explicit requests; what is left of the text."""
        partner = self.message.to if self.message.to is not None else self.names.partner
        for act in self.message.acts:
            self._call(act, partner, str(act))
        left = ""
        rest = self.message.text if not self.message.acts_only else ""
        while (start := re.search(r"\brequest\s*\(", rest)) is not None:
            inside, end = _bracketed(rest, start.end())
            left += rest[: start.start()] + ". "
            rest = rest[end:]
            act = parse_act(inside, self.vocabulary)
            if act is not None:
                self._call(act, partner, f"request({inside})")
            else:
                left += f"{inside.strip(chr(39) + chr(34))}. "
        left += rest
        return self._calls(left, partner)

    def _call(self, act: ObservedAct, to: int | None, words: str) -> None:
        """Take an explicit request; one whose object nothing tells yet waits for what is said in words."""
        if act.object is None and self._last_request is None and act.verb != "wait":
            self._postponed.append((act, to, words))
        else:
            self._add(act, to, words, "explicit")

    def _calls(self, text: str, partner: int | None) -> str:
        """Acts written as calls outside of request(...), such as `please do cut(chopping_board)`."""
        others = "|".join(re.escape(r) for seat, r in enumerate(self.names.roles) if seat != self.names.speaker)

        def take(match: re.Match[str]) -> str:
            act = parse_act(match[0], self.vocabulary)
            if act is None:
                return match[0]
            said_before = text[: match.start()].lower()
            sentence = re.split(r"[.!?\n]|(?<!\));", said_before)[-1]
            subjects = re.findall(rf"\b(i|i'll|i'm|i've|we|let me|me(?=:)|you|please|{others})\b", sentence)
            if subjects and subjects[-1] in ("i", "i'll", "i'm", "i've", "we", "let me", "me"):
                return " "
            self._call(act, partner, match[0])
            return " "

        return re.sub(r"\b[a-z_]+\((?:[^()]|\([^()]*\))*\)", take, text)

    # ------------------------------------------------------------ what is said
    def _with_all_objects(self, parsed: Sequence[Clause]) -> list[Clause]:
        """Join the things of one verb that go to one place: `put the pea | and the onion slices into the oven`."""
        joined: list[Clause] = []
        for clause in parsed:
            words = clause.words
            verbs = verbs_in(joined[-1].words) if joined and joined[-1].mood == clause.mood == ASK else []
            goes_on = verbs and clause.text.startswith("and ") and not verbs_in(words)
            if goes_on and verbs[-1].meaning == PUT and self._objects(words):
                before = joined[-1].words[verbs[-1].end :]
                if self._objects(before) and not places_in(before):
                    joined[-1] = joined[-1]._replace(words=(*joined[-1].words, *words))
                    continue
                if places_in(before) and not places_in(words):  # "put it in the oven and the pea"
                    goal = places_in(before)[-1]
                    clause = clause._replace(words=(*words, "into", *before[goal.start : goal.end]))
            joined.append(clause)
        return joined

    def _clause(self, clause: Clause, before: tuple[Verb, Clause] | None) -> tuple[Verb, Clause] | None:
        words = list(clause.words)
        if not words:
            return before
        if clause.mood not in (ASK, NOBODY):
            self._waiting = [one for one in self._waiting if one[0] in MAKES]  # "you fetch, I cook"
            self._spoken_of(words, clause.mood)
            return None
        verbs = verbs_in(words)
        if words[:3] == ["do", "the", "same"]:
            self._same_again(words[3:], clause)
            return None
        if not verbs:  # "bring me the egg and a potato"
            if before is not None and before[1].mood == clause.mood and self._objects(words):
                several = self._several
                self._segment(before[0], words, clause)
                self._several = [*several, *self._several]
                return before
            self._spoken_of(words, clause.mood)
            return None
        for number, verb in enumerate(verbs):
            end = verbs[number + 1].start if number + 1 < len(verbs) else len(words)
            segment = words[verb.end : end]
            if number and verb.meaning in MAKES and _is_means(words, verbs[number - 1], verb) and self._last_request:
                self._named = SceneObject(self._last_request.act.object or self._last_request.thing.object, None)
                self._last_request = replace(self._last_request, thing=self._named)
            if not segment and number + 1 == len(verbs) and self._object_follows(verb):
                self._waiting.append((verb.meaning, clause))
            else:
                self._segment(verb, segment, clause)
        last = verbs[-1]
        to_speaker = last.meaning == GET and "me" in words[last.end :]  # "get me an egg and a dish"
        return last._replace(meaning=BRING) if to_speaker else last, clause

    def _object_follows(self, verb: Verb) -> bool:
        """Whether a verb that stands alone shares the object of the next one: `pick up and cut a mushroom`."""
        if verb.meaning in ("pickup", GET):
            return True
        return verb.meaning in MAKES and self._named is None and self._last_request is None

    def _same_again(self, words: list[str], clause: Clause) -> None:
        """`Do the same with a dish`: every act asked for so far, with another thing."""
        earlier = list(self._units)
        for mention in self._objects([word for word in words if word != "for"]):
            first = next((unit.act.object for unit in earlier if unit.act.object), None)
            for unit in earlier:
                if first is not None and unit.act.object is not None and clause.to == unit.to:
                    thing = unit.act.object.replace(first, mention.object)
                    self._add(replace(unit.act, object=thing), unit.to, f"{clause.text} ({unit.words})", "speech")

    def _spoken_of(self, words: list[str], mood: str) -> None:
        """Note what a clause that asks for nothing speaks of: what "it" means from here on."""
        started = next(
            (AT.get(PHRASES.get((GERUNDS[w],), "")) for w in words if w in GERUNDS), None
        )  # "the baking process"
        self._utensil = next((p.place for p in places_in(words) if p.place in UTENSILS), started or self._utensil)
        product = self.vocabulary.product
        mentions = self._objects(words) or [m for m in self.vocabulary.mentions(words) if m.object != product]
        if mentions:
            self._named = SceneObject(mentions[-1].object, None)
            acts = any(_plain_verb(word) for word in words)
            listed = [m.object for m in mentions] if not acts else []  # "first the onion, then the tomato:"
            self._several = list(dict.fromkeys([*self._several, *listed])) if listed else []
        cuts = [i for i, word in enumerate(words) if _plain_verb(word) == "cut" and words[i + 1 : i + 2] != ["board"]]
        is_whole = self._named is not None and self._named.object in self.vocabulary.ingredients
        undone = bool(_NOT_DONE & set(words[:1])) or mood == PROHIBIT or bool(_NEGATIONS & set(words))
        undone = undone or (mood == TELL and bool({"about", "supposed", "going", "wanted"} & set(words)))
        if cuts and is_whole and not undone and self._named is not None:
            self._named = SceneObject(made_by("cut", self._named.object), None)
            self._made.add(("cut", self._named.object))
        told = {*_IS, "i", "you", "we"}  # "once the slices are baked", "the slices that you baked"
        done = [_plain_verb(w) for at, w in enumerate(words) if w in PARTICIPLES and _before(words, at) in told]
        ended = [at for at, w in enumerate(words) if w in GERUNDS and _before(words, at) in _ENDED]
        done += [_plain_verb(w) for at, w in enumerate(words) if w in GERUNDS and (at in ended or words[0] == "after")]
        if done and done[-1] in MAKES and done[-1] != "cut" and self._named is not None and not undone:
            self._named = SceneObject(made_by(done[-1], _made_from(done[-1], self._named.object)), None)

    def _objects(self, words: Sequence[str]) -> list[Mention]:
        """The things that a clause is about: not what it is for, nor what comes out of it."""
        mentions = [(m, _before(words, m.start)) for m in self.vocabulary.mentions(words)]
        return [m for m, before in mentions if before not in _RESULT and before not in GERUNDS]

    def _segment(self, verb: Verb, words: list[str], clause: Clause) -> None:
        """Read one verb with the words that belong to it."""
        if verb.meaning == "wait":
            self._waits += 1
            self._spoken_of(words, clause.mood)
            return
        to = clause.to if clause.mood == ASK else None
        mentions, places = self._mentions_and_places(verb, words)
        if verb.meaning == OPERATE:
            if self._utensil is None:
                return
            verb = verb._replace(meaning=WORKS[self._utensil])
            places = [PlaceMention(0, 0, self._utensil)]
        if verb.meaning == PREPARE:
            self._prepare([m.object for m in mentions], to, clause)
            return
        name, place = _meaning(verb, words, places)
        end = len(words)
        while end and words[end - 1] in _LAST_ADVERBS:
            end -= 1
        into_it = words[max(0, end - 2) : end] in _INTO_IT or words[end - 1 : end] in (["in"], ["inside"], ["there"])
        named = mentions or bool({"it", "them", *AFTER} & set(words[:3]))
        if verb.meaning == PUT and named and not places and self._utensil and into_it:
            name, place = "put_obj_in_utensil", self._utensil
        self._utensil = place if place in UTENSILS else self._utensil
        things = self._things(name, words, mentions)
        self._several = [made_by(name, thing) for thing in things]
        waiting, self._waiting = self._waiting, []
        if waiting and not things and self._named is not None:  # "the corn is cut: pick up, put in the pot"
            things = [self._named.object]
        for meaning, earlier in waiting:
            origin = next((p.place for p in places if _before(words, p.start) in _FROM), None)
            for at, thing in enumerate(things):
                picks = meaning in ("pickup", GET)
                if meaning == name:
                    continue
                self._add(
                    ObservedAct("pickup" if picks else meaning, thing, origin if picks else None),
                    to,
                    earlier.text,
                    "speech",
                )
                things[at] = made_by(meaning, thing) if not picks else thing
        for thing in things:
            self._add(ObservedAct(name, thing, place), to, clause.text, "speech")
        if things:
            return
        pronoun = any(word in PRONOUNS for word in words)
        covered = {i for p in places for i in range(p.start, p.end)}
        covered |= {i for m in self.vocabulary.mentions(words) for i in range(m.start, m.end)}  # of "fill the dish"
        rest = [w for i, w in enumerate(words) if i not in covered and w not in _SMALL and not w.isdigit()]
        if (
            pronoun
            or AFTER.keys() & set(words[:2])
            or (not rest and (verb.word not in WEAK or (places and verb.meaning == PUT)))
        ):
            self._add(ObservedAct(name, None, place), to, clause.text, "speech", pronoun=pronoun)
        elif rest and verb.word not in WEAK and not places:
            self._add(ObservedAct(name, None, place), to, clause.text, "speech", bind=False)  # of something unheard of

    def _mentions_and_places(self, verb: Verb, words: Sequence[str]) -> tuple[list[Mention], list[PlaceMention]]:
        """The things and the places that a verb's words name; a dish dispenser is no dish."""
        mentions = self._objects(words)
        if verb.meaning in (PUT, BRING):  # "put it in the oven with the pea"
            alone = [m for m in mentions if _before(words, m.start) != "with"]
            mentions = alone if alone or any(word in PRONOUNS for word in words) else mentions
        places = [p for p in places_in(words) if _before(words, p.start) not in _NO_GOAL]
        places = [p for p in places if p.end - p.start > 1 or not any(_overlap(m, p) for m in mentions)]
        return [m for m in mentions if not any(_overlap(m, p) for p in places)], places

    def _things(self, name: str, words: Sequence[str], mentions: Sequence[Mention]) -> list[str]:
        """The things that an act is about, where the message names them."""
        things = [m.object for m in mentions]
        if name in MAKES and not things and not any(word in PRONOUNS for word in words):  # "the cooking process for X"
            of = [m for m in self.vocabulary.mentions(words) if _before(words, m.start) in ("for", "of", "on")]
            things = [m.object for m in of if m.object != self.vocabulary.product]
        if name == "fill_dish_with_food":
            things = [thing for thing in things if thing != DISH]
        elif name in MAKES:
            things = [_made_from(name, thing) for thing in things]
        if not things and len(self._several) > 1 and {"them", "these", "those", "both"} & set(words):
            things = self._several
        slices = self._slices(words) if not things else None
        return [slices] if slices is not None else list(dict.fromkeys(things))

    def _prepare(self, things: Sequence[str], to: int | None, clause: Clause) -> None:
        """To prepare slices is to cut, to prepare a dish is to fetch one; other preparations are no act."""
        for thing in dict.fromkeys(things):
            if thing == DISH:
                self._add(ObservedAct("pickup", DISH, None), to, clause.text, "speech")
            elif thing.endswith("~slices"):
                self._add(ObservedAct("cut", thing.removesuffix("~slices"), None), to, clause.text, "speech")
            else:  # "prepare the potato by cutting it"
                self._named = SceneObject(thing, None)

    def _slices(self, words: Sequence[str]) -> str | None:
        """What "the slices" are of: the last thing named."""
        covered = {i for m in self.vocabulary.mentions(words) for i in range(m.start, m.end)}
        bare = any(w in AFTER and i not in covered and _before(words, i) not in _RESULT for i, w in enumerate(words))
        last = self._named or (self._last_request.thing if self._last_request else None)
        if not bare or last is None or last.object == DISH:
            return None
        return last.object if "~slices" in last.object else f"{last.object}~slices"

    # ------------------------------------------------------------ binding
    def _add(
        self, act: ObservedAct, to: int | None, text: str, source: str, bind: bool = True, pronoun: bool = False
    ) -> None:
        if act.verb == "wait":
            self._waits += 1
            return
        lineage = None
        if act.object is None and bind:
            referent = self._referent(act, to, pronoun)
            if referent is not None:
                act, lineage = replace(act, object=referent.object), referent.lineage
            else:
                self._unnamed.add(text)
        unit = TranscriptUnit(act=act, to=to, lineage=lineage, source=source, words=text)
        if act.object is not None:
            made = made_by(act.verb, act.object) if act.object != self.vocabulary.product else act.object
            if act.verb in MAKES:
                self._made.add((act.verb, made))
            self._named = SceneObject(made, lineage)
            self._last_request = RequestedAct(self._named, act, self.message.when)
        if not any(_same(unit, other) for other in self._units):
            self._units.append(unit)

    def _referent(self, act: ObservedAct, to: int | None, pronoun: bool) -> SceneObject | None:
        """The last requested item, then what the partner holds, then what is in the utensil.

        A pronoun first means the last thing named in the message, whoever it was said of.
        """
        earlier = self.last(to) if to is not None else None
        place = act.place if act.place in UTENSILS else AT.get(act.verb)
        candidates = [
            self._named if pronoun else None,
            self._last_request.thing if self._last_request else None,
            self._named if act.verb in MAKES or act.verb == "fill_dish_with_food" else None,
            earlier.thing if earlier else None,
            self.scene.hands.get(to) if to is not None else None,
            self.scene.contents(place) if place else None,
        ]
        no_dish = act.verb in MAKES or act.verb in ("fill_dish_with_food", "put_obj_in_utensil", "deliver")
        for candidate in candidates:
            if candidate is not None and not (no_dish and candidate.object == DISH):
                # "it is ready to cut, so cut it", "use the bake action to start baking it"
                same = (act.verb, candidate.object) in self._made
                return candidate._replace(object=_made_from(act.verb, candidate.object)) if same else candidate
        if act.verb == "deliver" and self.vocabulary.product:  # only one dish is ordered
            return SceneObject(self.vocabulary.product, None)
        return None


_IS = ("is", "are", "been", "it's", "they're", "fully")  # "once the slices are baked"
_ENDED = ("done", "finished", "finish", "through", "stopped")  # "when you are done boiling the slices"
_NO_GOAL = ("near", "beside", "by", "clear", "free", "empty", "clean")  # "to clear the board"
_FROM = ("from", "out", "off")  # "out of the oven"
_NOT_DONE = {
    "so",
    "rather",
    "instead",
    "without",
    "before",
    "until",
}  # begin clauses whose acts leave things as they are
_NEGATIONS = {
    "whether",
    "asked",
    "neither",
    "nor",
    "not",
    "never",
    "don't",
    "didn't",
    "forgot",
    "forget",
    "failed",
    "isn't",
    "aren't",
    "haven't",
    "no",
    "without",
}
_LAST_ADVERBS = {
    "first",
    "now",
    "then",
    "please",
    "next",
    "too",
    "already",
    "again",
    "immediately",
    "and",
    "right",
    "away",
}
_INTO_IT = (["in", "it"], ["into", "it"], ["in", "there"], ["into", "there"], ["inside", "it"])
WORKS = {place: verb for verb, place in AT.items() if verb in MAKES}  # the act that a utensil does

# What follows these words is what an act is for, or what it makes: no object of it.
_RESULT = {
    "into",
    "for",
    "make",
    "prepare",
    "create",
    "become",
    "form",
    "not",
    "recipe",
    "complete",
    "finish",
    "produce",
}


def _is_means(words: Sequence[str], first: Verb, second: Verb) -> bool:
    """Whether two acts are one, done to the same thing: `start baking by stirring the oven`, `stir to bake`."""
    return first.meaning in MAKES and bool({"by", "to"} & set(words[first.end : second.start]))


def _plain_verb(word: str) -> str | None:
    """The kitchen's act for a verb in any form, of those that one word tells."""
    word = GERUNDS.get(word) or PARTICIPLES.get(word) or word
    return PHRASES.get((word,))


def _overlap(one: Mention, other: PlaceMention) -> bool:
    return one.start < other.end and other.start < one.end


def _made_from(verb: str, thing: str) -> str:
    """Who asks to cook the boiled egg asks to cook the egg."""
    before, after = MAKES[verb].split("{}")
    if thing.startswith(before) and thing.endswith(after):
        return thing[len(before) : len(thing) - len(after)]
    return thing


def _meaning(verb: Verb, words: Sequence[str], places: Sequence[PlaceMention]) -> tuple[str, str | None]:
    """The act's name and place, where the verb alone does not say them."""
    origin = [p.place for p in places if _before(words, p.start) in _FROM]
    goal = [p.place for p in places if p.place not in origin]
    utensil = next((p for p in goal if p in UTENSILS), None)
    carried = [p.place for p in places if p.place in UTENSILS and _before(words, p.start) in ("to", "into", "onto")]
    if verb.meaning == GET and carried:  # "take it to the oven"
        return "put_obj_in_utensil", carried[0]
    if verb.meaning == GET:
        to_speaker = "me" in words or (COUNTER in goal) or words[-1:] == ["there"]
        return ("place_obj_on_counter", COUNTER) if to_speaker else ("pickup", next(iter([*origin, *goal]), None))
    if verb.meaning in (PUT, BRING) and "serving_hatch" in goal:
        return "deliver", None
    if verb.meaning in (PUT, BRING):
        return ("put_obj_in_utensil", utensil) if utensil else ("place_obj_on_counter", COUNTER)
    if verb.meaning == "deliver" and ("me" in words or COUNTER in goal):
        return "place_obj_on_counter", COUNTER
    if verb.meaning == "pickup":
        return "pickup", next(iter([*origin, *goal]), None)
    return verb.meaning, next((p for p in [*goal, *origin] if p in UTENSILS), None)


def _before(words: Sequence[str], at: int) -> str:
    """The word before, articles left out."""
    at -= 1
    while at >= 0 and words[at] in DETERMINERS | {"shared"}:
        at -= 1
    return words[at] if at >= 0 else ""


def _same(one: TranscriptUnit, other: TranscriptUnit) -> bool:
    """Plan and speech of one message often say the same: it is one request."""
    near = one.act.place is None or other.act.place is None or one.act.place == other.act.place
    return (one.act.verb, one.act.object, one.to) == (other.act.verb, other.act.object, other.to) and near


def _names_object_of(unit: TranscriptUnit, act: ObservedAct, to: int | None) -> bool:
    """Whether a unit is an act that was also written as a call without its object."""
    near = unit.act.place is None or act.place is None or unit.act.place == act.place
    return (unit.act.verb, unit.to) == (act.verb, to) and unit.act.object is not None and near


def _bracketed(text: str, start: int) -> tuple[str, int]:
    """What stands between the bracket that was opened before `start` and its partner, and where that ends."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[start:at], at + 1
    return text[start:], len(text)
