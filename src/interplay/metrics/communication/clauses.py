"""A text cut into clauses, each with its mood: who is to act, if anybody.

A clause asks if it is in the second person, names a partner's role, or is an imperative. What the speaker will do
is a commitment; what was done, or what a recipe says, is a report; what shall not be done is a prohibition. Only the
first asks for anything. A verb without a subject goes on with the mood of the clause that it is joined to, which is
the subordinate one in `put it down so I can pick it up and cook it`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from interplay.metrics.communication.idioms import in_known_words, with_its_verb
from interplay.metrics.communication.kitchen_words import (
    COUNTER,
    DETERMINERS,
    FORMS,
    GERUNDS,
    PARTICIPLES,
    PHRASES,
    PRONOUNS,
    PUT,
    UTENSILS,
    places_in,
    tokens_of,
)
from interplay.metrics.communication.request_phrasings import act_told_of, as_imperative, with_its_antecedent

ASK, COMMIT, NOBODY, TELL, PROHIBIT, DESCRIBE = "ask", "commit", "nobody", "tell", "prohibit", "describe"
PROHIBIT_DOING = (
    "prohibit doing"  # by a gerund: `stop cutting and place it` asks to place it, `don't cut and bake` does not
)

_FILLERS = {
    "ok", "okay", "great", "good", "perfect", "sure", "yes", "yeah", "alright", "right", "now", "then", "next", "first",
    "second", "third", "finally", "lastly", "also", "just", "and", "but", "or", "so", "hi", "hello", "hey", "well",
    "meanwhile", "afterwards", "again", "instead", "otherwise", "once", "more", "kindly", "quickly", "immediately",
    "simply", "directly", "carefully", "therefore", "plus", "no", "oh", "perhaps", "maybe", "either",
}  # fmt: skip
_SUBORDINATE = {
    "if", "when", "once", "after", "before", "until", "unless", "while", "because", "since", "whenever", "as",
    "whether", "although", "though", "which", "who", "where", "till",
}  # fmt: skip
_INTERROGATIVES = {
    "did", "do", "does", "have", "has", "had", "are", "is", "was", "were", "am", "what", "where", "which", "why", "how",
    "who", "whose",
}  # fmt: skip
_TELLING = {
    "have", "'ve", "already", "just", "did", "were", "are", "had", "was", "didn't", "haven't", "'re", "seem", "see",
    "mentioned", "said", "placed", "picked", "put", "made", "finished", "forgot", "know", "asked", "wanted",
}  # fmt: skip
_MUST = {"have", "need", "must", "should", "had", "better", "could"}
_DONE_ALREADY = {"already", "earlier", "previously", "before"}
_CIRCUMSTANCES = {"in", "at", "for", "during", "by", "with", "this", "on", "from", "under", "as", "within"}
_NO_WISH = {
    "not", "never", "no", "without", "don't", "didn't", "haven't", "isn't", "aren't", "won't", "can't", "cannot",
    "nothing", "see", "saw", "know", "knew", "thought", "said", "told", "asked", "thanks", "thank", "wait", "waiting",
    "ready", "able", "noticed", "have", "had", "did", "was", "were", "been", "already", "want", "wants", "when", "once",
    "if", "after", "before", "while", "until", "whether", "how", "why", "great", "good", "nice", "perfect", "allow",
    "allows", "let", "help", "helps", "seem", "seems", "understand", "sooner", "hear", "glad", "sorry", "plan",
    "planned", "planning",
}  # fmt: skip
_ANYBODY = {"let's", "lets", "someone", "somebody", "anybody", "anyone"}
_STARTERS = {
    "to", "go", "start", "begin", "help", "try", "make", "use", "continue", "proceed", "ensure", "remember", "keep",
    "prepare", "initiate", "finish", "complete", "resume", "perform", "execute", "commence", "trigger",
    "empty", "clear", "run", "consider", "handle", "prioritize", "come",
}  # fmt: skip
_STARTING = {
    "start", "begin", "keep", "continue", "by", "try", "mind", "with", "proceed", "finish", "initiate", "resume",
    "complete", "commence", "trigger", "handle", "consider", "started", "perform", "execute", "do", "prioritize",
    "be", "run",
}  # fmt: skip
_BETWEEN = DETERMINERS | {"3", "2", "timestep", "timesteps", "step", "steps", "actual", "right", "full", "to", "first"}
_LABELS = {"step", "steps", "task", "tasks", "job", "jobs", "part", "side", "turn", "duties", "role", "plan", "list"}
_ACT_NOUNS = {"action", "command", "process", "cycle", "operation", "step", "function"}
_PROCESSES = {"boil", "bake", "simmer", "roast"}  # "start the boil" names an act, "the cook" a person
_FIRST_PERSON = {
    "i", "i'll", "i'm", "i've", "i'd", "ill", "im", "we", "we'll", "we're", "we've", "we'd",
}  # fmt: skip
_SECOND_PERSON = {"you", "you'll", "you're", "you've", "you'd"}
_PARTNER_WORDS = {"partner", "teammate"}
_FINITE = {
    "goes", "is", "are", "was", "were", "will", "has", "have", "should", "needs", "need", "isn't", "aren't", "it's",
}  # fmt: skip
_NOUN_TOO = {"plate", "hand", "mix", "supply", "dish"}  # a verb only where a verb must stand
_VERB_FOLLOWS = {
    "to", "and", "then", "please", "you", "can", "should", "will", "also", "now", "just", "must", "could", "me", "us",
}  # fmt: skip

# Ways to ask that are not about an act of the kitchen.
_INFORMS = re.compile(
    r"(?:(?:to )?(?:let (?:me|us) know|"
    r"(?:inform|tell|notify|guide|update|keep|remind|alert|advise|ask|show|give) (?:me|us))\b"
    r"(?! (?:a|an|the|some)\b)"
    r"|confirm|clarify|explain|advise|verify|check|ignore|disregard|forget|focus|share"
    r"|(?:provide|give|send|share)(?: me| us)?(?: \w+){0,4} (?:recipe|instructions?|guidance|steps?|updates?|details?"
    r"|information|feedback|confirmation|clarification)"
    r"|be ready(?! to)|stay ready|get ready|keep (?:an eye|track|monitoring|holding|watching)"
    r"|continue (?:holding|waiting|with)"
    r"|help me (?:understand|figure|keep)|double check|note that|see if|proceed with the next)\b"
)
_PROHIBITS = re.compile(
    r"(?:(?:do|does|must|should|could|can|will|need) not|don't|dont|never|no need|no(?: more)? (?=\w+ing\b)|"
    r"stop|avoid|not|mustn't|shouldn't|"
    r"neither|by no means|under no circumstances|on no account|at no point|can't|cannot|won't|needn't|refrain|"
    r"hold off|put off|postpone|skip|cease|quit|instead of|rather than|without|no longer|"
    r"(?:try|be careful|take care) not|"
    r"(?:should|must|can|may) (?:never|avoid|stop|skip|no longer|put off|postpone)|"
    r"(?:it is|it's|there is|there's) (?:not|no longer|no|unnecessary|pointless|forbidden)(?= (?:\w+ )?to)|"
    r"unnecessary to|i(?:'d| would) rather (?:you|not))\b"
)
_RECIPE = re.compile(
    r"\brecipe\b[^.!?:]*\b(?:is|requires|goes|involves)\b[^.!?]*?(?::| - )|\brecipe(?: \w+){0,4}:"
    r"|\b(?:here are|these are) (?:all )?the steps\b[^.!?]*:|\bsteps (?:are|to make|needed|for(?! you\b))\b[^.!?]*:"
)
_BREAKS = (
    "and then|then|and|but|so that|so|because|before|after|until|while|once|when|whenever|if|unless|since|as soon as|"
    "now that|"
    "for me to|for us to|for you to|instead of|rather than|without|please|which|or i|or should|or we|or you"
)
_QUOTES = (
    "said|says|say|saying|wrote|writes|told (?:me|us|you|them)|tells (?:me|us|you)|asked|asks|reads?|mentioned|"
    "suggested|replied|answered|heard|quote|message|instruction|note"
)
_ACTS = "|".join(sorted({phrase[0] for phrase in PHRASES} - {"wait", "hold", "stay", "stand"}))
_RETRACTS = re.compile(
    r"(?<=[\w.,;!)–—-] )(?:(?:no|oh|oops|sorry|ah|hmm|actually),? )*(?:wait,? no|no,? wait|scratch that|strike that|"
    r"hold that thought|"
    r"on second thoughts?|correction|or rather(?! than)|i mean(?! it\b)|(?:sorry|wait),? i meant|make that|"
    r"(?:no,? )?not yet|"
    r"never ?mind(?: that| the [\w ]+?(?=[,.;]))?|(?:forget|ignore|disregard)"
    r" (?:that|it|what i (?:just )?said|my last (?:message|request))|i take (?:that|it) back)"
    rf"\b[,:.!]?|(?:(?<=[,;–—-] )|(?<=\.\. ))(?:no|sorry|oops),? (?=(?:just |please )?(?:{_ACTS}|on|in|into|onto) "
    r"|(?:an?|the) (?:\w+ )?\w+(?: first| instead)?(?:[.,!]|$))",
    re.IGNORECASE,
)
_VERB_WORDS = r"(?:please |now |then |could you |can you |assistant, |chef, )*(?:pick(?: up)?|\w+)(?: me| us| up)?\b"
_WHO = {"you": "you should", "me": "I will", "i": "I will", "we": "we will"}  # "cut it (you), bake it (me)"
_ITEM = "\x01"  # stands for the number of an item
_BEFORE_ITEM = r"(?:(?<=\s)|^|(?<=[:,;]))"


class Clause(NamedTuple):
    """A clause of a message with its mood."""

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
        """Return whether a word names a partner or a role."""
        return word in _PARTNER_WORDS or word in self.roles


class _Sentence(NamedTuple):
    text: str
    question: bool
    item: bool  # a further item of a numbered list


class _Piece(NamedTuple):
    text: str
    comma: bool  # whether a comma or a colon parts it from the piece before
    colon: bool = False  # whether a colon does


def clauses(text: str, names: Names, to: int | None = None) -> list[Clause]:
    """The clauses of a message. `to` is whom the channel addresses, if it tells."""
    for role in names.roles:
        if " " in role:  # "assistant 2" is one name, hence one word
            text = re.sub(rf"\b{re.escape(role)}\b", role.replace(" ", ""), text, flags=re.IGNORECASE)
    names = Names(tuple(role.replace(" ", "") for role in names.roles), names.speaker)
    partner = to if to is not None else names.partner
    parsed_clauses: list[Clause] = []
    mood, told = "", None
    asked_from = 0  # where the clauses of the last sentence begin, if it was a question
    for sentence in _sentences(_without_retracted(_without_quoted(text))):
        plain = sentence.text.lower()
        if re.match(r"(?:no|nope|nah)\b(?! (?:need|more|other|one|problem))", plain):
            parsed_clauses[asked_from:] = [c._replace(mood=TELL, to=None) for c in parsed_clauses[asked_from:]]
        sentence = sentence._replace(text=with_its_antecedent(plain, told))
        told = act_told_of(plain) or (told if sentence.text == plain else None)
        start = mood if sentence.item and mood in (COMMIT, DESCRIBE, NOBODY) else ""
        start = ASK if mood == ASK and _is_addition(tokens_of(plain)) else start
        parsed, mood = _of_sentence(sentence, names, partner, start, first=not parsed_clauses)
        parsed_clauses += parsed
        asked_from = len(parsed_clauses) - (len(parsed) if sentence.question else 0)
    return parsed_clauses


def _without_quoted(text: str) -> str:
    """The text without what somebody is quoted with: `you wrote "cut it"`."""
    text = text.replace("“", '"').replace("”", '"').replace("‘", "'")
    quoted = rf"(\b(?:{_QUOTES})\b[^.!?;\"]{{0,30}}?[:,]? ?)(\"[^\"]+\"|(?<![a-z])'[^']{{6,}}'(?![a-z]))"
    return re.sub(quoted, lambda m: m[1] + " ".join(w for w in tokens_of(m[2]) if not _is_verb(w)), text, flags=re.I)


def _is_verb(word: str) -> bool:
    return word in GERUNDS or word in PARTICIPLES or word == "pick" or (word,) in PHRASES


def _without_retracted(text: str) -> str:
    """The text without what its writer takes back in the next words: `cut the potato, no wait, cut the corn`."""
    while (found := _RETRACTS.search(text)) is not None:
        before, after = text[: found.start()].rstrip(" ,;:-.!–—"), text[found.end() :].lstrip(" ,;:-.!–—")
        start = max((m.end() for m in re.finditer(r"[.!?;:\n]\s|, (?:and |then |and then )?", before)), default=0)
        words = [w for w in tokens_of(re.split(r"[.!?;]", after)[0]) if w not in _FILLERS | {"please"}]
        if words and words[0] in ("on", "onto", "in", "into", "to", "at") and not verbs_in(words):  # another place
            text = f"{re.sub(r' (?:on|onto|in|into|to|at) [^,]*$', '', before)} {after}"
            continue
        if words and not verbs_in(words) and (verb := re.match(_VERB_WORDS, before[start:], flags=re.I)):
            before = f"{before[:start]}{verb[0]}"  # another thing for the same verb: "bring me an egg, I mean a dish"
        else:
            thing = re.search(r"\b(?:the|an?) [\w ]+?(?= (?:on|in|into|onto|to|from)\b|$)", before[start:])
            it = thing is not None and {"it", "them"} & set(words[1:3])
            before = f"{before[:start]}{thing[0]}." if thing and it else before[:start]
        text = f"{before} {after}"
    return text


def _sentences(text: str) -> list[_Sentence]:
    text = re.sub(r"\[\w+\]|\*\*|`", " ", text.replace("’", "'").replace("“", '"').replace("”", '"'))
    text = re.sub(r"\b\w+_and_\w+_(patty|stew|soup)\b", r"\1", text)  # the name of a dish is one thing
    text = re.sub(r":\s*\n\s*(?:[-*•]\s+)?", ": ", text)
    lines = [re.sub(r"^\s*[-*•]\s*", "", line) for line in text.splitlines()]
    text = "\n".join(lines)
    text = re.sub(rf"{_BEFORE_ITEM}\(?(?:step )?\d{{1,2}}[.):/](?=\s*[A-Za-z])", _ITEM, text, flags=re.I | re.M)
    text = re.sub(
        rf"{_BEFORE_ITEM}(?:\(?(?:[a-f]|i{{1,3}}|iv|vi{{0,3}}|first|second|third|fourth|fifth|last)\)|#\d{{1,2}}:?)(?=\s*[A-Za-z])",
        _ITEM,
        text,
        flags=re.I | re.M,
    )
    text = re.sub(
        r"([^.!?;\n\x01]*)\((you|me|i|we)\)", lambda m: f"{_WHO[m[2].lower()]} {m[1].strip()}", text, flags=re.I
    )
    text = re.sub(r"[①-⑳]", _ITEM, text)
    asides = re.findall(r"(?:^|(?<=\s))\(([^()]*)\)", text)
    text = re.sub(r"(?:^|(?<=\s))\([^()]*\)", " ", text)
    sentences: list[_Sentence] = []
    for line in text.splitlines():
        recipe = _RECIPE.search(line.lower())
        # A dash parts sentences, save where it introduces a recipe.
        marked = line if recipe and " - " in recipe[0] else re.sub(r"\s[-–—]+\s|—|–", "; ", line)
        for body, mark in re.findall(r"([^.!?;]+)([.!?;]*)", marked):
            item = body.strip().startswith(_ITEM)
            body = re.sub(rf"[:,]?\s*{_ITEM}\s*", lambda m: ": " if ":" in m[0] else ", ", body).strip(" ,:\t")
            if body:
                sentences.append(_Sentence(body, "?" in mark, item))
    sentences += [_Sentence(aside.strip(), False, False) for aside in asides if aside.strip()]
    return sentences


def _pieces(sentence: str) -> list[_Piece]:
    marked = re.sub(rf"\b({_BREAKS})\b", r"|\1", sentence)
    pieces: list[_Piece] = []
    comma = colon = False
    for part in re.split(r"([,:|])", marked):
        if part in (",", ":", "|"):
            comma, colon = comma or part != "|", colon or part == ":"
        elif part.strip():
            pieces.append(_Piece(part.strip(), comma, colon))
            comma = colon = False
    return pieces


def _of_sentence(
    sentence: _Sentence, names: Names, partner: int | None, start: str, first: bool
) -> tuple[list[Clause], str]:
    """The clauses of a sentence, and the mood in which it ends."""
    text = as_imperative(with_its_verb(sentence.text), question=sentence.question)
    text = in_known_words(text)
    parsed_clauses: list[Clause] = []
    recipe = start == DESCRIBE or _RECIPE.search(text) is not None
    mood, to = DESCRIBE if recipe else start, partner
    if sentence.question and _asks_for_facts([w for w in tokens_of(text) if not names.is_name(w)]):
        return [Clause(tuple(tokens_of(text)), TELL, None, text)], TELL
    puts_off = False  # whether that clause only says until when: "hold it until I'm done, then put it down"
    aside = ""  # the subordinate clause with which bare verbs go on: "leading" until a comma, "own" until a subject
    main, waits = False, "wait" in tokens_of(text)
    for piece in _pieces(text):
        words = tokens_of(piece.text)
        if not words:
            continue
        if len(words) == 1 and names.is_name(words[0]):  # "Assistant, ..."; the own name is a label: "Chef: ..."
            seat = names.seat(words[0])
            own = seat == names.speaker
            mood, to = COMMIT if own and not first else "", partner if own else seat
            continue
        whose = _whose_acts(words, names)
        if whose is not None:  # "Your job: ...; mine: ...", "to do for the chef: ..."
            mood = COMMIT if whose == names.speaker else ""
            continue
        if (
            mood == COMMIT
            and words[0] in ("while", "whilst")
            and words[1:2] == ["you"]
            and verbs_in(words)
            and not waits
        ):
            words = words[1:]  # "I'll bake it while you fetch a dish": both acts are a plan
        if _is_subordinate(words, names) or (not main and (words[0] == "to" or words[:2] == ["in", "order"])):
            parsed_clauses.append(Clause(tuple(words), TELL, None, piece.text))
            until_comma = not main or words[0] in ("without", "instead", "rather")
            aside = "leading" if until_comma else "own" if _is_sticky(words) else ""
            puts_off = words[0] in ("until", "till")
            continue
        orders = words[0] == "so" and starts_with_verb(words[1:])  # "before I can bake it, so hand it over"
        if piece.colon or orders or (puts_off and piece.comma and words[0] == "then"):
            aside = ""
        if aside and _is_bare(words) and (aside == "own" or not piece.comma) and "me" not in words:
            parsed_clauses.append(Clause(tuple(words), TELL, None, piece.text))
            continue
        aside, main = "own" if _asks_whether(words) else "", main or words != ["please"]
        mood = DESCRIBE if recipe and mood == TELL else mood
        mood, to, rest = _mood(words, mood, to, names, partner, piece.comma)
        if mood == ASK and (cut := _relative(rest)) is not None:
            aside = "own" if rest[cut] in _FIRST_PERSON else aside
            rest = rest[:cut]
        shown = PROHIBIT if mood == PROHIBIT_DOING else mood
        parsed_clauses.append(Clause(tuple(rest), shown, to if mood == ASK else None, piece.text))
    return parsed_clauses, DESCRIBE if recipe else mood


def _is_addition(words: Sequence[str]) -> bool:
    """Whether a sentence only adds a thing to what was asked for, as `And the egg` does."""
    return (
        len(words) <= 6
        and words[:1] in (["and"], ["also"], ["plus"])
        and not verbs_in(words)
        and not _FINITE & set(words)
    )


def _asks_for_facts(words: Sequence[str]) -> bool:
    words = [w for w in words if w not in _FILLERS]
    if not words or "please" in words:
        return False
    modal = words[0] in ("should", "shall", "can", "could", "may", "must", "would")
    about_us = modal and words[1:2] in (["i"], ["we"])
    asks_opinion = words[:2] == ["should", "you"]
    mild = words[:3] in (
        ["do", "you", "mind"],
        ["why", "don't", "you"],
        ["are", "you", "able"],
        ["how", "about", "you"],
    )
    mild = mild or words[:2] in (["why", "not"], ["how", "about"], ["what", "about"])
    chooses = starts_with_verb(words) and "or" in words  # "bake or boil it?"
    return not mild and (words[0] in _INTERROGATIVES or about_us or asks_opinion or chooses)


def _asks_whether(words: Sequence[str]) -> bool:
    """Whether a clause asks for words about acts, `confirm that you will cut it`, and not for the acts."""
    said = [at for at, word in enumerate(words) if word in ("confirm", "verify", "check", "tell", "clarify", "know")]
    after = set(words[said[0] + 1 :]) if said else set()
    return bool({"that", "whether", "if", "which", "what"} & after) and bool((_FIRST_PERSON | _SECOND_PERSON) & after)


def _is_subordinate(words: Sequence[str], names: Names) -> bool:
    rest = [w for w in words if w not in ("and", "but", "then", "or")]
    if rest[:2] == ["now", "that"]:
        return True
    if rest[:1] == ["so"] and rest[1:2] and rest[1] in _SECOND_PERSON and _MUST & set(rest[2:5]):
        return False  # "I cannot reach it, so you have to put it there"
    if rest[:1] == ["so"]:
        actors = {"that", "they", "the", "it", "everything", "he", "she", *_FIRST_PERSON, *_SECOND_PERSON}
        return len(rest) > 1 and (rest[1] in actors or names.is_name(rest[1]))
    if rest[:1] == ["for"] and rest[2:3] == ["to"]:
        return True
    if rest[:2] in (["instead", "of"], ["rather", "than"]) or rest[:1] == ["without"]:
        return True
    return bool(rest) and rest[0] in _SUBORDINATE


def _whose_acts(words: Sequence[str], names: Names) -> int | None:
    """The seat whose acts follow, in a clause that says no more: `my steps: ...`, `tasks for the assistant: ...`."""
    last = words[-1].removesuffix("'s")
    if words in (["mine"], ["me"]) or (len(words) <= 3 and words[0] == "my" and words[-1] in _LABELS):
        return names.speaker
    if len(words) <= 3 and words[0] == "your" and words[-1] in _LABELS:
        return names.partner
    if 1 < len(words) <= 6 and words[-2] in ("for", "the", "of") and (_LABELS | {"do", "next"}) & set(words):
        return {"me": names.speaker, "you": names.partner}.get(last, names.seat(last))
    if len(words) <= 3 and words[-1] in _LABELS and words[-2:-1]:  # "the chef's steps: ..."
        return names.seat(words[-2].removesuffix("'s"))
    return None


def _is_sticky(words: Sequence[str]) -> bool:
    """Whether verbs joined to a subordinate clause belong to it: to a purpose, and to what the speaker does."""
    rest = [w for w in words if w not in ("and", "but", "then", "or")]
    others_act = rest[0] in ("who", "which") and bool({"will", "can", "should", "would"} & set(rest))
    return (
        others_act
        or rest[0] in ("so", "for", "instead", "rather", "without")
        or bool(_FIRST_PERSON & set(rest))
        or "me" in rest
    )


def _is_bare(words: Sequence[str]) -> bool:
    """Whether a clause begins with its verb: it has no subject of its own."""
    rest = [w for w in words if w not in _FILLERS]
    return bool(rest) and "please" not in words and (starts_with_verb(rest) or rest[0] in _STARTERS | {*GERUNDS})


def _relative(words: Sequence[str]) -> int | None:
    """Where, in a clause that asks, a relative clause with a subject of its own begins: `the egg | I put there`."""
    for at in range(1, len(words)):
        if words[at] in _FIRST_PERSON | _SECOND_PERSON:
            return at
    return None


def _mood(
    words: list[str], mood: str, to: int | None, names: Names, partner: int | None, comma: bool
) -> tuple[str, int | None, list[str]]:
    """The mood of a clause, given that of the clause before it in the sentence, and its words without the subject."""
    polite = "please" in words
    rest = [w for w in words if w != "please"]
    while rest and rest[0] in _FILLERS:
        rest = rest[1:]
    if not rest:
        return (ASK if polite else mood), to, rest
    rest = rest[_adverbial(rest) :]
    joined = " ".join(rest)
    somebody = to if to is not None else partner
    asking = _asking(joined, names, somebody)
    if asking is not None:
        return asking
    if _PROHIBITS.match(joined):
        return _prohibited(rest, somebody)
    if _INFORMS.match(joined):
        return ASK, somebody, []
    subject = _subject(rest, names, somebody)
    if subject is not None:
        return subject
    gerund = _leading_gerund(rest)
    if gerund is not None:
        if polite or mood == ASK:
            return ASK, somebody, gerund
        return (mood or COMMIT), to, rest
    on_its_own = words[0] not in ("and", "or") and (
        mood in ("", ASK) or (mood == TELL and comma and rest[0] not in ("into", "onto", "out"))
    )
    if on_its_own and (verbless := _verbless(rest, mood == ASK)) is not None:
        return ASK, somebody, verbless
    passive = _passive(rest)
    if passive is not None:
        return ASK, somebody, passive
    if starts_with_verb(rest) or rest[0] in _STARTERS or rest[:3] == ["do", "the", "same"]:
        others = polite or "me" in rest  # who says "bring me" speaks of another's act
        joined_on = words[0] in ("and", "or", "then")
        # "I will cut it, bake it" goes on in its mood; "the pot is free, cook it" does not, "you did it and left" does.
        goes_on = mood in (COMMIT, NOBODY, DESCRIBE) or (mood == TELL and joined_on)
        goes_on = goes_on and not (comma and words[0] == "just" and mood == COMMIT)  # "I'll bake it, just hand it over"
        goes_on = goes_on or (mood == PROHIBIT and words[0] in ("and", "or") and not comma)
        if goes_on and not others and words[0] != "so":
            return mood, to, rest
        return ASK, somebody, rest
    if polite:
        return ASK, to, rest
    if rest[0] in PARTICIPLES:  # "confirm that you picked it up and placed it there"
        return TELL, to, rest
    if (act := _act_of_yours(rest)) is not None:
        return ASK, somebody, act
    return (mood if mood in (ASK, COMMIT) and not _FINITE & set(rest) else TELL), to, rest


def _act_of_yours(words: list[str]) -> list[str] | None:
    """What a clause of no known form has the partner do: a verb after `you`, if it is neither done nor denied."""
    you = next((at for at, word in enumerate(words) if word in _SECOND_PERSON | {"your", "yours"}), None)
    verb = next((v for v in verbs_in(words) if you is not None and v.start > you), None)
    if (
        you is None
        or verb is None
        or _NO_WISH & set(words[: verb.start])
        or _FIRST_PERSON & set(words[you : verb.start])
    ):
        return None
    return words[verb.start :]


def _adverbial(words: Sequence[str]) -> int:
    """How many words before the subject only say when or where: `in three steps | I'll take it`."""
    if words[0] not in _CIRCUMSTANCES and words[:2] != ["that", "way"]:
        return 0
    subject = next((at for at, w in enumerate(words[:7]) if w in _FIRST_PERSON | _SECOND_PERSON), 0)
    return 0 if verbs_in(words[:subject]) or "no" in words else subject


def _asking(joined: str, names: Names, partner: int | None) -> tuple[str, int | None, list[str]] | None:
    """Requests in the first person or about a task: `I need you to cut`, `your task is to cut`."""
    who = "|".join(["you", *(re.escape(name) for name in {*names.roles, *_PARTNER_WORDS})])
    if re.match(
        r"(?:i'll|i will|i can|i'd|i would|i could|i may|i might) (?:then |now |later )?(?:ask|request|tell)\b", joined
    ):
        return COMMIT, None, []
    if re.match(r"i (?:was|were|had been) (?:going|about|meaning) to (?:ask|tell)\b", joined):
        return TELL, None, tokens_of(joined)
    wish = re.search(
        rf"\b(?:need|want|like|ask|asking|request|requesting|rely on|leave it to|trust|expect) "
        rf"(?:the )?({who}) to\b ?(.*)",
        joined,
    )
    if wish is None:
        wish = re.search(
            rf"^(?:i|it)\b.*\b(?:suggest|recommend|propose|think|believe|insist|great if|good if|nice if|helpful if|"
            rf"best if|appreciate it if) (?:that )?(?:the )?({who}) "
            rf"(?:should |could |can |would |must |need to |have to )?(.*)",
            joined,
        )
    if wish is not None and re.search(r"\b(?:don't|do not|no longer|never|didn't|not)\b", joined[: wish.start(1)]):
        return PROHIBIT, None, tokens_of(wish[2])
    if wish is not None:
        seat = partner if wish[1] == "you" else names.seat(wish[1])
        return (COMMIT, None, []) if seat == names.speaker else (ASK, seat, tokens_of(wish[2]))
    task = re.search(
        r"\byour (?:next |first )?(?:task|job|step|turn|action) (?:is|will be|should be) to (.*)|\byour turn to (.*)",
        joined,
    )
    return (ASK, partner, tokens_of(task[1] or task[2])) if task is not None else None


def _subject(rest: list[str], names: Names, partner: int | None) -> tuple[str, int | None, list[str]] | None:
    first = rest[0]
    if first in ("i", "i'll", "i'm", "i've", "i'd", "ill", "im", "am") or rest[:2] in (["let", "me"], ["allow", "me"]):
        state = first in ("i'm", "i've", "im", "let") or rest[1:2] in (["am"], ["have"])
        acts = verbs_in(rest) or {*GERUNDS, *PARTICIPLES, "going", "to", "about", "on"} & set(rest)
        return (TELL if state and not acts else COMMIT), None, rest
    if first in _ANYBODY or rest[:2] == ["let", "us"] or rest[:3] == ["one", "of", "us"]:
        return NOBODY, None, rest[1:]
    if first in ("we", "we'll", "we're", "we've", "we'd"):
        return (NOBODY if first == "we" and _is_proposal(rest[1:]) else TELL), None, rest[1:]
    if rest[:2] == ["thank", "you"] or first == "thanks":
        return TELL, None, rest
    if first in ("can", "could", "would", "will", "should", "shall", "may", "must") and len(rest) > 1:
        if rest[1] == "you" and first not in ("should", "shall", "may", "must"):
            return _addressed(rest[2:], partner)
        if names.is_name(rest[1]):
            return _named(rest[1], rest[2:], names)
        return TELL, None, rest
    if first in ("you", "you'll", "you'd"):
        while rest[1:2] and rest[1] in ("then", "now", "also", "just", "only") and rest[2:4] == ["have", "to"]:
            rest = [first, *rest[2:]]
        telling = rest[1:2] and rest[1] in _TELLING and not (rest[1] == "have" and rest[2:3] == ["to"])
        telling = telling and not (rest[1] == "just" and rest[2:3] and rest[2] not in PARTICIPLES)
        able = rest[1:2] and rest[1] in ("can", "could", "may", "might", "should")
        if telling or (_DONE_ALREADY & set(rest) and not able) or " me to " in f" {' '.join(rest)} ":
            return TELL, None, rest
        return _addressed(rest[1:], partner)
    if first in ("you've", "you're"):
        return TELL, None, rest
    if first == "the" and len(rest) > 1 and names.is_name(rest[1]):
        return _named(rest[1], rest[2:], names)
    return _named(first, rest[1:], names) if names.is_name(first) else None


def _addressed(rest: list[str], seat: int | None) -> tuple[str, int | None, list[str]]:
    """What follows `you`: a request, unless it asks for words or forbids."""
    joined = " ".join(rest)
    if _PROHIBITS.match(joined):
        return _prohibited(rest, seat)
    return ASK, seat, [] if _INFORMS.match(joined) else rest


def _prohibited(rest: list[str], seat: int | None) -> tuple[str, int | None, list[str]]:
    """A prohibition; what forbids no act of the kitchen, `stop your task and get a dish`, lets imperatives follow."""
    acts = [w for w in rest if w in GERUNDS or (w,) in PHRASES or w == "pick"]
    if not acts and rest[0] in ("stop", "cease", "quit"):
        return ASK, seat, []
    return PROHIBIT_DOING if acts and acts[0] in GERUNDS else PROHIBIT, None, rest


def _named(name: str, rest: list[str], names: Names) -> tuple[str, int | None, list[str]]:
    seat = names.seat(name)
    if rest[:2] in (["can", "you"], ["could", "you"], ["would", "you"], ["will", "you"]):
        rest = rest[2:]
    if rest and (rest[0] in _FIRST_PERSON or rest[:2] == ["let", "me"]):
        return COMMIT, None, rest
    if rest and rest[0] in {*_TELLING, "has", "is"}:
        return TELL, None, rest
    return (COMMIT, None, rest) if seat == names.speaker else _addressed(rest, seat)


def _is_proposal(words: Sequence[str]) -> bool:
    """Whether `we ...` proposes an act: we need to cut, we should cut; not we can, we will, we need a dish."""
    return words[:1] in (["should"], ["must"], ["shall"]) or list(words[:2]) in (["need", "to"], ["have", "to"])


def _leading_gerund(words: list[str]) -> list[str] | None:
    """The clause with its leading gerund as a plain verb; None if it begins with none."""
    nouns = {"board", "station", "hatch", "counter", "location", "process", "time", "step", "steps", "is", "will"}
    if words[0] not in GERUNDS or (words[1:2] and words[1] in nouns):
        return None
    return [GERUNDS[words[0]], *words[1:]]


def _passive(words: list[str]) -> list[str] | None:
    """`Ensure the potato is cut on the board` as `cut the potato on the board`; None where it is no such clause."""
    if words[0] == "ensure":
        rest = words[1:]
    elif words[:2] in (["make", "sure"], ["be", "sure"]):
        rest = words[2:]
    else:
        return None
    rest = rest[1:] if rest[:1] == ["that"] else rest
    be = next((i for i, w in enumerate(rest) if w in ("is", "are", "gets", "get", "end", "ends")), None)
    if be is None:
        return []
    after = rest[be + 1 :]
    while after and after[0] in ("being", "been", "properly", "all", "then", "also"):
        after = after[1:]
    verb = PARTICIPLES.get(after[0]) if after else None
    where = after[1:] if after[:1] == ["up"] else after
    if verb is None and where[:1] and where[0] in ("in", "into", "on", "onto") and places_in(where[:4]):
        return ["put", *rest[:be], *where]
    if verb is None:
        return []
    tail = after[2:] if after[0] == "picked" and after[1:2] == ["up"] else after[1:]
    return [*verb.split(), *rest[:be], *tail]


def _verbless(words: list[str], listed: bool) -> list[str] | None:
    """`The slices into the oven` as `put the slices into the oven`, `out of the oven` as `take out of the oven`.

    In a list of what to do also `counter` as `put it on the counter`, and `a carrot from the dispenser`.
    """
    goals = [p for p in places_in(words) if p.place in (*UTENSILS, COUNTER)]
    if listed and goals and all(w in DETERMINERS for w in words[: goals[0].start]) and goals[0].end == len(words):
        return ["put", "it", "on", *words]
    if verbs_in(words) or (_FINITE | _FIRST_PERSON | _SECOND_PERSON | {"go", "goes", *GERUNDS, *PARTICIPLES}) & set(
        words
    ):
        return None
    if "from" in words[1:5] and any(p.place.endswith("dispenser") for p in places_in(words)) and len(words) <= 7:
        return ["get", *words]
    if listed and words[-2:] == ["to", "me"] and len(words) <= 5:
        return ["bring", *words[:-2]]
    places = [p.start for p in places_in(words)]
    to_counter = words[0] in ("one", "a", "an") or words[-2:] == ["to", "counter"]
    ways = ("into", "onto", "out", "to") if to_counter else ("into", "onto", "out")
    if listed and words[-3:] == ["on", "the", "counter"] and len(words) <= 7:
        ways = (*ways, "on")
    way = next((at for at, word in enumerate(words) if word in ways), None)
    if way is None or not any(way < place <= way + 3 for place in places) or way > 5:
        return None
    return [*(["take"] if words[way] == "out" else ["put"]), *(words[:way] or ["it"]), *words[way:]]


def starts_with_verb(words: Sequence[str]) -> bool:
    """Return whether the first word is a verb of the kitchen."""
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
    if word in ("move", "carry") and words[at + 1 : at + 2] == ["on"] and words[at + 2 : at + 3] != ["the"]:
        return None
    if word in GERUNDS:  # "start cutting" and "start the baking process" ask to cut, to bake; "after cutting" does not
        if not _opened(words, at, _STARTING):
            return None
        word = GERUNDS[word]
    elif before in DETERMINERS or (before in FORMS and before != "cut"):
        named = (
            words[at + 1 : at + 2] and words[at + 1] in _ACT_NOUNS
        )  # "use the bake action", not "the cut", "a plate"
        named = named or word in _PROCESSES
        if not (named and _opened(words, at, {"use", "perform", "execute", "start", "do", "run", "trigger", "begin"})):
            return None
    elif word in _NOUN_TOO and at and before not in _VERB_FOLLOWS:
        return None
    if word == "pick":
        up = next((i for i in range(at + 1, min(at + 9, len(words))) if words[i] == "up"), None)
        return Verb(at, at + 2 if up == at + 1 else at + 1, "pickup", "pick up") if up is not None else None
    for length in (2, 1):
        meaning = PHRASES.get((word, *words[at + 1 : at + length]))
        if meaning is not None and at + length <= len(words):
            end = at + length
            while end < len(words) and words[end] in _ACT_NOUNS:
                end += 1
            return Verb(at, end, meaning, word)
    return _unknown_verb(words, at)


def _unknown_verb(words: Sequence[str], at: int) -> Verb | None:
    """A verb that the list does not have, where only putting can be meant: `shove it into the oven`."""
    before, after = words[at - 1] if at else "", words[at + 1 : at + 2]
    begins = not at or before in ("and", "then", "please", "to")
    known = (
        words[at] in _FILLERS | _STARTERS | DETERMINERS | PRONOUNS | FORMS.keys() | GERUNDS.keys() | PARTICIPLES.keys()
    )
    if not begins or known or not after or after[0] not in DETERMINERS | {"it", "them"}:
        return None
    way = next((i for i in range(at + 2, min(at + 8, len(words))) if words[i] in ("into", "onto")), None)
    if way is None or not any(way < place.start <= way + 3 for place in places_in(words)):
        return None
    return Verb(at, at + 1, PUT, words[at])


def _opened(words: Sequence[str], at: int, openers: set[str]) -> bool:
    """Whether a word is governed by one of these, articles aside: `start | the | baking`."""
    at -= 1
    while at >= 0 and words[at] in _BETWEEN:
        at -= 1
    return at >= 0 and words[at] in openers


def verbs_in(words: Sequence[str]) -> list[Verb]:
    """The verbs of a clause; what is waited for is nobody's act."""
    verbs: list[Verb] = []
    at = 0
    while at < len(words):
        verb = verb_at(words, at)
        if verb is not None:
            verbs.append(verb)
            at = verb.end
            if verb.meaning == "wait":
                break
        else:
            at += 1
    return verbs
