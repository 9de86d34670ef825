"""Messages in German, French, Spanish and Chinese, put into the English that the request reader knows.

A glossary and a few rules of word order, for the short requests of a kitchen; no translation of anything else. A model
reads more: see `model_reader`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

GLOSSARY = Path(__file__).with_name("glossary.txt")
LEAST = 3  # words of a language by which a message is known to be in it
_ENGLISH = {
    "the", "please", "and", "to", "on", "it", "you", "i", "is", "for", "from", "then", "can", "with", "once", "now",
}  # fmt: skip
_KEPT = {"chef", "assistant", "it", "me"}
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_PRONOUN_ENDING = {"fr": r"-(?:la|le|les|lui)\b", "es": r"(?<=[aeiouáéíóúnr])(?:melas?|melos?|las?|los?)\b"}
_CLAUSE = re.compile(r"([,.;:!?\n]+| and | then | so that | when | while | because | after | before | or )")
_BEFORE_VERB = {
    "please", "can", "you", "should", "will", "i", "to", "and", "then", "NEG", "when", "so", "that", "after", "before",
}  # fmt: skip

_VERBS = {"cut", "put", "cook", "bake", "stir", "bring", "pick", "fill", "deliver"}


class _Language:
    """The words of one language: what they mean, and which are verbs that close a clause."""

    def __init__(self, name: str, entries: Mapping[str, str]):
        self.name = name
        self.words = {word.rstrip("*"): meaning + "*" * word.endswith("*") for word, meaning in entries.items()}
        self.known = {part for word in self.words for part in re.findall(r"[^\W\d_]+", word)}
        choice = "|".join(map(re.escape, sorted(self.words, key=len, reverse=True)))
        plural = r"(?:e?n)?scheiben|(?:e?[ns]|es?)?" if name == "de" else r"(?:e?s)?"
        word = rf"(?<![^\W\d_])(?:({choice})(?:(?<=['-])()|({plural})(?![\w]))|(?![^\W\d_]+[\d_])[^\W\d_]+)"
        self.pattern = re.compile(choice if name == "zh" else word)

    def english(self, text: str) -> str:
        """Replace the words that the glossary knows, the longest first, and leave out all others."""
        if self.name == "zh":
            worded = self.pattern.sub(lambda m: f" {self.words[m[0]]} ", text)
            return _CHINESE.sub(" ", worded)
        return self.pattern.sub(self._meaning, text)

    def _meaning(self, match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0] if match[0] in _KEPT else ""
        slices = " slices" if "scheiben" in (match[3] or "") else ""
        return self.words[match[1]] + slices + (" " if match[2] is not None else "")


@cache
def _languages() -> Mapping[str, _Language]:
    entries: dict[str, dict[str, str]] = {}
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            words = entries.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            meaning, _, forms = line.partition(": ")
            words |= {form.strip(): meaning for form in forms.split(",")}
    return {name: _Language(name, words) for name, words in entries.items()}


def language_of(text: str) -> str | None:
    """Return the language of a message, of those that the glossary has; None for English and all others."""
    if _CHINESE.search(text):
        return "zh"
    words = re.findall(r"[^\W\d_]+", text.lower())
    english = sum(word in _ENGLISH for word in words)
    counts = {n: sum(w in lang.known and w not in _ENGLISH for w in words) for n, lang in _languages().items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= LEAST and counts[best] > 2 * english else None


def in_english(text: str) -> str:
    """Return a message in the English of the rules if it is in a language of the glossary; otherwise as it is."""
    name = language_of(text)
    if name is None:
        return text
    plain = text.lower().translate(str.maketrans("，。；：！？、¿¡’", ",.;:!?,  '"))
    if name in _PRONOUN_ENDING:
        plain = _with_pronouns(plain, name)
    worded = re.sub(r" +", " ", _languages()[name].english(plain))
    return "".join(part if number % 2 else _ordered(part) for number, part in enumerate(_CLAUSE.split(worded)))


def _with_pronouns(text: str, name: str) -> str:
    """Part a pronoun from the verb that it is written with: `ponlo`, `coupe-la`; accents that it brings are dropped."""
    if name == "fr":
        text = re.sub(r"\b(fais|faites)-(?:la|le|les) (cuire au four|cuire|bouillir)", r"\1 \2 it", text)
        return re.sub(_PRONOUN_ENDING[name], " it", text)
    verbs = _languages()["es"].words

    def parted(match: re.Match[str]) -> str:
        stem = re.sub(_PRONOUN_ENDING["es"], "", match[0]).translate(str.maketrans("áéíóú", "aeiou"))
        to_speaker = " me" if re.search(r"mel[ao]s?$", match[0]) else ""
        return f"{stem} it{to_speaker}" if stem != match[0] and stem in verbs else match[0]

    return re.sub(r"[^\W\d_]+", parted, text)


def _ordered(clause: str) -> str:
    """Put a clause into English order: a closing verb first, the object of 把 after its verb, negation in front."""
    words = clause.split()
    negated, polite = "NEG" in words, "please" in words
    words = [word for word in words if word not in ("NEG", "please")]
    for at, (word, following) in enumerate(pairwise(words)):
        if word == "the" and following in _VERBS:  # a pronoun before its verb: "les mettre"
            words[at : at + 2] = [following, "it"]
    if "ba" in words:
        words = _object_after_verb(words)
    closing = next((at for at, word in enumerate(words) if word.endswith("*")), None)
    if closing is not None:
        verb = words.pop(closing).rstrip("*")
        verb = "pick up" if verb == "up" and words[closing - 1 : closing] == ["pick"] else verb
        words = [word for at, word in enumerate(words) if not (verb == "pick up" and at == closing - 1)]
        front = next((at for at, word in enumerate(words) if word not in _BEFORE_VERB), len(words))
        words.insert(front, verb)
    while words and words[-1] == "on":  # of a verb in two parts: "lege sie ab"
        words.pop()
    text = "please " * polite + "don't " * negated + " ".join(words).replace("*", "")
    return " " * clause.startswith(" ") + text + " " * clause.endswith(" ")


def _object_after_verb(words: Sequence[str]) -> list[str]:
    """`ba egg put counter` is `put egg on counter`."""
    at = words.index("ba")
    verb = next((i for i in range(at + 1, len(words)) if words[i] in _VERBS), None)
    if verb is None:
        return [word for word in words if word != "ba"]
    end = verb + (2 if words[verb] == "pick" else 1)
    return [*words[:at], *words[verb:end], *words[at + 1 : verb], *words[end:]]
