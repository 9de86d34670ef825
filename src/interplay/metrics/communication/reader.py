"""The request reader: from a message to request units, by rules alone, so that the same words always read the same.

Explicit request('...') comes first, then what is said in words. A verb without an object is about the last thing
that was asked for, else about what the partner holds, else about what is in the utensil.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from interplay.metrics.communication.clauses import ASK, NOBODY, Clause, Names, Verb, clauses, verbs_in
from interplay.metrics.communication.records import ObservedAct, TranscriptEvent, TranscriptUnit
from interplay.metrics.communication.scene import AT, Held, KitchenScene
from interplay.metrics.communication.words import (
    BRING,
    COUNTER,
    DETERMINERS,
    DISH,
    GET,
    MAKES,
    PRONOUNS,
    PUT,
    UTENSILS,
    WEAK,
    PlaceMention,
    Vocabulary,
    made_by,
    parse_act,
    places_in,
)

_SMALL = DETERMINERS | PRONOUNS | {
    "please", "to", "on", "in", "into", "onto", "at", "from", "for", "with", "me", "us", "you", "it", "up", "down",
    "over", "out", "off", "now", "then", "next", "first", "here", "there", "and", "or", "so", "when", "ready", "done",
    "again", "too", "also", "right", "away", "quickly", "immediately", "soon", "possible", "as", "is", "be", "chef",
    "assistant", "shared", "inside", "time", "step", "steps", "after", "that's", "thanks", "i", "can", "use",
    "2", "3", "once", "more", "will", "go", "ahead", "start", "make", "sure", "back", "by", "using", "food",
}  # fmt: skip


@dataclass(frozen=True)
class RequestedAct:
    """The last thing that a speaker asked a partner about, and with which act."""

    held: Held
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
        self._asked: RequestedAct | None = None
        self._named: Held | None = None  # the last thing spoken of, asked for or not: what "it" means

    def read(self) -> MessageReading:
        text = self._explicit()
        found = clauses(text, self.names, self.message.to)
        before: tuple[Verb, Clause] | None = None
        for clause in found:
            before = self._clause(clause, before)
        return MessageReading(tuple(self._units), self._waits, self._asked)

    # ------------------------------------------------------------ explicit requests
    def _explicit(self) -> str:
        """Take the explicit requests; what is left of the text."""
        partner = self.message.to if self.message.to is not None else self.names.partner
        for act in self.message.acts:
            self._add(act, partner, str(act), "explicit")
        left = ""
        rest = self.message.text
        while (start := re.search(r"\brequest\s*\(", rest)) is not None:
            inside, end = _bracketed(rest, start.end())
            left += rest[: start.start()] + ". "
            rest = rest[end:]
            act = parse_act(inside, self.vocabulary)
            if act is not None:
                self._add(act, partner, f"request({inside})", "explicit")
            else:
                left += f"{inside.strip(chr(39) + chr(34))}. "
        left += rest
        return self._calls(left, partner)

    def _calls(self, text: str, partner: int | None) -> str:
        """Acts written as calls outside of request(...), such as `please do cut(chopping_board)`."""

        others = "|".join(re.escape(r) for seat, r in enumerate(self.names.roles) if seat != self.names.speaker)

        def take(match: re.Match[str]) -> str:
            act = parse_act(match[0], self.vocabulary)
            if act is None:
                return match[0]
            said_before = text[: match.start()].lower()
            sentence = re.split(r"[.!?;\n]", said_before)[-1]
            subjects = re.findall(rf"\b(i|i'll|i'm|i've|we|let me|you|please|{others})\b", sentence)
            if subjects and subjects[-1] in ("i", "i'll", "i'm", "i've", "we", "let me"):
                return " "
            self._add(act, partner, match[0], "explicit")
            return " "

        return re.sub(r"\b[a-z_]+\((?:[^()]|\([^()]*\))*\)", take, text)

    # ------------------------------------------------------------ what is said
    def _clause(self, clause: Clause, before: tuple[Verb, Clause] | None) -> tuple[Verb, Clause] | None:
        words = list(clause.words)
        if clause.mood not in (ASK, NOBODY):
            spoken_of = self.vocabulary.mentions(words)
            self._named = Held(spoken_of[-1].object, None) if spoken_of else self._named
            return None
        verbs = verbs_in(words)
        if not verbs:  # "bring me the egg and a potato"
            if before is not None and before[1].mood == clause.mood and self.vocabulary.mentions(words):
                self._segment(before[0], words, clause, 0)
                return before
            return None
        for number, verb in enumerate(verbs):
            end = verbs[number + 1].start if number + 1 < len(verbs) else len(words)
            self._segment(verb, words[verb.end : end], clause, verb.end)
        return verbs[-1], clause

    def _segment(self, verb: Verb, words: list[str], clause: Clause, start: int) -> None:
        if verb.meaning == "wait":
            self._waits += 1
            return
        mentions = self.vocabulary.mentions(words)
        places = [p for p in places_in(words) if not any(m.start < p.end and p.start < m.end for m in mentions)]
        places = [p for p in places_in(words) if p in places or p.end - p.start > 1]  # "dish dispenser" is no dish
        mentions = [m for m in mentions if not any(m.start < p.end and p.start < m.end for p in places)]
        name, place = _meaning(verb, words, places)
        things = [m.object for m in mentions]
        if name == "fill_dish_with_food":
            things = [thing for thing in things if thing != DISH]
        to = clause.to if clause.mood == ASK else None
        if things:
            for thing in dict.fromkeys(things):
                self._add(ObservedAct(name, thing, place), to, clause.text, "speech")
            return
        pronoun = any(word in PRONOUNS for word in words)
        covered = {i for p in places for i in range(p.start, p.end)}
        covered |= {i for m in mentions for i in range(m.start, m.end)}  # the dish of "fill the dish"
        rest = [w for i, w in enumerate(words) if i not in covered and w not in _SMALL]
        if pronoun or (not rest and (verb.word not in WEAK or (places and verb.meaning == PUT))):
            self._add(ObservedAct(name, None, place), to, clause.text, "speech", pronoun=pronoun)
        elif rest and verb.word not in WEAK and not places:
            self._add(ObservedAct(name, None, place), to, clause.text, "speech", bind=False)  # of something unheard of

    # ------------------------------------------------------------ binding
    def _add(
        self, act: ObservedAct, to: int | None, text: str, source: str, bind: bool = True, pronoun: bool = False
    ) -> None:
        if act.verb == "wait":
            self._waits += 1
            return
        lineage = None
        if act.object is None and bind:
            held = self._referent(act, to, pronoun)
            if held is not None:
                act, lineage = replace(act, object=held.object), held.lineage
        unit = TranscriptUnit(act=act, to=to, lineage=lineage, source=source, words=text)
        if act.object is not None:
            made = made_by(act.verb, act.object)
            self._named = Held(made, lineage)
            self._asked = RequestedAct(self._named, act, self.message.when)
        if not any(_same(unit, other) for other in self._units):
            self._units.append(unit)

    def _referent(self, act: ObservedAct, to: int | None, pronoun: bool) -> Held | None:
        """The last requested item, then what the partner holds, then what is in the utensil.

        A pronoun first means the last thing named in the message, whoever it was said of."""
        earlier = self.last(to) if to is not None else None
        place = act.place if act.place in UTENSILS else AT.get(act.verb)
        candidates = [
            self._named if pronoun else None,
            self._asked.held if self._asked else None,
            earlier.held if earlier else None,
            self.scene.hands.get(to) if to is not None else None,
            self.scene.contents(place) if place else None,
        ]
        no_dish = act.verb in MAKES or act.verb in ("fill_dish_with_food", "put_obj_in_utensil")
        for held in candidates:
            if held is not None and not (no_dish and held.object == DISH):
                return held
        if act.verb == "deliver" and self.vocabulary.product:  # only one dish is ordered
            return Held(self.vocabulary.product, None)
        return None


def _meaning(verb: Verb, words: Sequence[str], places: Sequence[PlaceMention]) -> tuple[str, str | None]:
    """The act's name and place, where the verb alone does not say them."""
    origin = [p.place for p in places if _before(words, p.start) == "from"]
    goal = [p.place for p in places if p.place not in origin]
    utensil = next((p for p in goal if p in UTENSILS), None)
    if verb.meaning == GET:
        given = "me" in words or (COUNTER in goal)
        return ("place_obj_on_counter", COUNTER) if given else ("pickup", next(iter([*origin, *goal]), None))
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


def _bracketed(text: str, start: int) -> tuple[str, int]:
    """What stands between the bracket that was opened before `start` and its partner, and where that ends."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[start:at], at + 1
    return text[start:], len(text)
