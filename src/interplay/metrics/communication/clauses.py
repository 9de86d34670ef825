"""A text cut into clauses, each with its mood: who is to act, if anybody.

A clause asks if it is in the second person, names a partner's role, or is an imperative. What the speaker will do
is a commitment; what was done is a report; neither asks for anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from interplay.metrics.communication.words import DETERMINERS, FORMS, GERUNDS, PHRASES, tokens_of

ASK, COMMIT, NOBODY, TELL = "ask", "commit", "nobody", "tell"

_FILLERS = {
    "ok", "okay", "great", "good", "perfect", "sure", "yes", "yeah", "alright", "right", "now", "then", "next", "first",
    "second", "third", "finally", "lastly", "also", "just", "and", "but", "or", "so", "hi", "hello", "hey", "well",
    "meanwhile", "afterwards", "again", "instead", "otherwise", "once", "more", "kindly", "quickly", "immediately",
}  # fmt: skip
_SUBORDINATE = {
    "if", "when", "once", "after", "before", "until", "unless", "while", "because", "since", "whenever", "as",
    "whether", "although", "though",
}  # fmt: skip
_INTERROGATIVES = {
    "did", "do", "does", "have", "has", "had", "are", "is", "was", "were", "am", "what", "where", "which", "why", "how",
    "who", "whose",
}  # fmt: skip
_TELLING = {"have", "'ve", "already", "just", "did", "were", "are", "had", "was", "didn't", "haven't", "'re", "seem"}
_ANYBODY = {"we", "we'll", "let's", "lets", "someone", "somebody", "anybody", "anyone"}
_STARTERS = {
    "to", "go", "start", "begin", "help", "try", "make", "use", "continue", "proceed", "ensure", "remember", "keep",
}  # fmt: skip
_PARTNER_WORDS = {"partner", "teammate"}


class Clause(NamedTuple):
    words: tuple[str, ...]
    mood: str
    to: int | None  # the seat that is asked; None: it cannot be told, or nobody is
    text: str


class Names(NamedTuple):
    """What the seats are called, and who speaks."""

    roles: tuple[str, ...]
    speaker: int

    @property
    def partner(self) -> int | None:
        """The only other seat, if there is only one."""
        others = [seat for seat in range(len(self.roles)) if seat != self.speaker]
        return others[0] if len(others) == 1 else None

    def seat(self, word: str) -> int | None:
        """The seat of a role's name; None if it is no role, or one of several."""
        if word in _PARTNER_WORDS:
            return self.partner
        seats = [seat for seat, role in enumerate(self.roles) if role == word]
        return seats[0] if len(seats) == 1 else None

    def is_name(self, word: str) -> bool:
        return word in _PARTNER_WORDS or word in self.roles


def clauses(text: str, names: Names, to: int | None = None) -> list[Clause]:
    """The clauses of a message. `to` is whom the channel addresses, if it tells."""
    for role in names.roles:
        if " " in role:  # "assistant 2" is one name, hence one word
            text = re.sub(rf"\b{re.escape(role)}\b", role.replace(" ", ""), text, flags=re.IGNORECASE)
    names = Names(tuple(role.replace(" ", "") for role in names.roles), names.speaker)
    found: list[Clause] = []
    for sentence, question in _sentences(text):
        found += _of_sentence(sentence, question, names, to if to is not None else names.partner)
    return found


def _sentences(text: str) -> list[tuple[str, bool]]:
    lines = (re.sub(r"^\s*(?:[-*•]|\d+[.)])\s*", "", line) for line in text.splitlines())
    pieces = [m for line in lines for m in re.findall(r"([^.!?;]+)([.!?;]*)", line)]
    return [(body.strip(), "?" in mark) for body, mark in pieces if body.strip()]


def _pieces(sentence: str) -> list[str]:
    sentence = re.sub(r"\bafter (that|this|which)\b", "then", sentence)
    breaks = "and then|then|and|but|so that|so|because|before|after|until|while|once|for me to|for us to"
    marked = re.sub(rf"\b({breaks})\b", r"|\1", sentence)
    return [piece.strip() for piece in re.split(r"[,:|]", marked, flags=re.IGNORECASE) if piece.strip()]


def _of_sentence(sentence: str, question: bool, names: Names, partner: int | None) -> list[Clause]:
    found: list[Clause] = []
    mood, to = "", partner
    if question and _asks_for_facts(tokens_of(sentence)):
        return [Clause(tuple(tokens_of(sentence)), TELL, None, sentence)]
    for piece in _pieces(sentence.lower().replace("’", "'")):
        words = tokens_of(piece)
        if len(words) == 1 and names.is_name(words[0]):  # "Assistant, ..."; the own name is a label: "Chef: ..."
            seat = names.seat(words[0])
            mood, to = "", partner if seat == names.speaker else seat
            continue
        if _is_subordinate(words):
            found.append(Clause(tuple(words), TELL, None, piece))
            continue
        mood, to, rest = _mood(words, mood, to, names, partner)
        found.append(Clause(tuple(rest), mood, to if mood == ASK else None, piece))
    return found


def _asks_for_facts(words: Sequence[str]) -> bool:
    words = [w for w in words if w not in _FILLERS]
    if not words or "please" in words:
        return False
    first_person = words[0] in ("should", "shall", "can", "could", "may") and words[1:2] in (["i"], ["we"])
    return words[0] in _INTERROGATIVES or first_person


def _is_subordinate(words: Sequence[str]) -> bool:
    rest = [w for w in words if w not in ("and", "but", "then", "please")]
    if rest[:1] == ["so"]:
        return len(rest) > 1 and rest[1] in ("that", "i", "we", "i'll", "we'll", "you", "it")
    if rest[:1] == ["for"] and rest[2:3] == ["to"]:
        return True
    # "once more" and "as" are fillers unless somebody or something follows.
    return bool(rest) and rest[0] in _SUBORDINATE and rest[1:2] not in (["more"], ["again"])


def _mood(
    words: list[str], mood: str, to: int | None, names: Names, partner: int | None
) -> tuple[str, int | None, list[str]]:
    """The mood of a clause, given that of the clause before it in the sentence, and its words without the subject."""
    polite = "please" in words
    rest = [w for w in words if w != "please"]
    while rest and rest[0] in _FILLERS:
        rest = rest[1:]
    if not rest:
        return mood, to, rest
    joined = " ".join(rest)
    asking = _asking(joined, names, to if to is not None else partner)
    if asking is not None:
        return asking
    if re.match(r"(don't|do not|never|no need|stop|avoid|not)\b", joined):
        return TELL, None, rest
    subject = _subject(rest, names, to if to is not None else partner)
    if subject is not None:
        return subject
    if starts_with_verb(rest) or rest[0] in _STARTERS:
        others = polite or "me" in rest  # who says "bring me" speaks of another's act
        # "I will cut it, bake it" goes on in its mood; "the pot is free, cook it" does not, "you did it and left" does.
        goes_on = mood in (COMMIT, NOBODY) or (mood == TELL and words[0] in ("and", "or"))
        if goes_on and not others:
            return mood, to, rest
        return ASK, to if to is not None else partner, rest
    return (ASK, to, rest) if polite else (mood if mood == ASK else TELL, to, rest)


def _asking(joined: str, names: Names, partner: int | None) -> tuple[str, int | None, list[str]] | None:
    """Requests in the first person or about a task: `I need you to cut`, `your task is to cut`."""
    who = "|".join(["you", *(re.escape(name) for name in {*names.roles, *_PARTNER_WORDS})])
    wish = re.search(rf"\b(?:need|want|like|ask|asking|rely on|leave it to) (?:the )?({who}) to (.*)", joined)
    if wish is not None:
        seat = partner if wish[1] == "you" else names.seat(wish[1])
        return (COMMIT, None, []) if seat == names.speaker else (ASK, seat, tokens_of(wish[2]))
    task = re.search(
        r"\byour (?:next )?(?:task|job|step|turn|action) (?:is|will be) to (.*)|\byour turn to (.*)", joined
    )
    return (ASK, partner, tokens_of(task[1] or task[2])) if task is not None else None


def _subject(rest: list[str], names: Names, partner: int | None) -> tuple[str, int | None, list[str]] | None:
    first = rest[0]
    if first in ("i", "i'll", "i'm", "i've", "i'd", "ill", "im") or rest[:2] == ["let", "me"]:
        return COMMIT, None, rest
    if first in _ANYBODY or rest[:2] == ["let", "us"] or rest[:3] == ["one", "of", "us"]:
        return NOBODY if first not in ("we",) or _modal(rest[1:2]) else TELL, None, rest[1:]
    if rest[:2] == ["thank", "you"] or first == "thanks":
        return TELL, None, rest
    if first in ("can", "could", "would", "will") and len(rest) > 1:
        if rest[1] == "you":
            return ASK, partner, rest[2:]
        if names.is_name(rest[1]):
            return _named(rest[1], rest[2:], names)
        return TELL, None, rest
    if first in ("you", "you'll", "you'd"):
        telling = rest[1:2] and rest[1] in _TELLING
        return (TELL, None, rest) if telling else (ASK, partner, rest[1:])
    if first in ("you've", "you're"):
        return TELL, None, rest
    if first == "the" and len(rest) > 1 and names.is_name(rest[1]):
        return _named(rest[1], rest[2:], names)
    return _named(first, rest[1:], names) if names.is_name(first) else None


def _named(name: str, rest: list[str], names: Names) -> tuple[str, int | None, list[str]]:
    seat = names.seat(name)
    if rest and rest[0] in {*_TELLING, "has", "is"}:
        return TELL, None, rest
    return (COMMIT, None, rest) if seat == names.speaker else (ASK, seat, rest)


def _modal(words: list[str]) -> bool:
    return bool(words) and words[0] in ("should", "must", "can", "could", "need", "will", "have", "shall")


def starts_with_verb(words: Sequence[str]) -> bool:
    return verb_at(words, 0) is not None


class Verb(NamedTuple):
    """A verb found in a clause."""

    start: int
    end: int
    meaning: str
    word: str


def verb_at(words: Sequence[str], at: int) -> Verb | None:
    """The verb that begins at this word, if one does."""
    if at >= len(words):
        return None
    word, before = words[at], words[at - 1] if at else ""
    if word in GERUNDS:  # "start cutting" asks to cut; "after cutting" does not
        if before not in ("start", "begin", "keep", "continue", "by", "try", "mind", "with"):
            return None
        word = GERUNDS[word]
    if before in DETERMINERS or (before in FORMS and before != "cut"):
        return None  # "the cut", "a plate"
    if word == "pick":
        up = next((i for i in range(at + 1, min(at + 6, len(words))) if words[i] == "up"), None)
        return Verb(at, at + 2 if up == at + 1 else at + 1, "pickup", "pick up") if up is not None else None
    for length in (2, 1):
        meaning = PHRASES.get((word, *words[at + 1 : at + length]))
        if meaning is not None and at + length <= len(words):
            return Verb(at, at + length, meaning, word)
    return None


def verbs_in(words: Sequence[str]) -> list[Verb]:
    found: list[Verb] = []
    at = 0
    while at < len(words):
        verb = verb_at(words, at)
        if verb is not None:
            found.append(verb)
            at = verb.end
        else:
            at += 1
    return found
