"""All that the frame around a study says to participants, by its English, and how a study file says it otherwise.

The browser's words are read from the shipped build (`static/words.json`, written by `make front`), so that the front
end (`frontend/src/words.ts`) is their only source. The kitchen's are in `live/kitchen_translations.py`.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Mapping
from pathlib import Path

from interplay.study.live import kitchen_translations
from interplay.study.live.kitchen_translations import SLOT
from interplay.study.protocol.aliases import LOOKS
from interplay.study.protocol.texts import PHRASES, Text, own_words
from interplay.study.protocol.validation import Misplaced

BROWSER = Path(__file__).parents[1] / "static" / "words.json"
Translations = Mapping[str, Mapping[str, str]]  # by English, then by language


@functools.cache
def browser_words() -> dict[str, dict[str, str]]:
    """Return the words of the browser by their key, each in the languages that we have."""
    return json.loads(BROWSER.read_text(encoding="utf-8"))


@functools.cache
def frame_phrases() -> Translations:
    """Return what the pages, their errors and the partners' aliases say, by its English."""
    phrases: dict[str, dict[str, str]] = {}
    for texts in (*browser_words().values(), *PHRASES.values(), *(names for _, _, names in LOOKS)):
        phrases.setdefault(texts["en"], {}).update({name: text for name, text in texts.items() if name != "en"})
    return phrases


def all_phrases() -> Translations:
    """Return everything that can be translated in a study file, by its English."""
    return {**kitchen_translations.PHRASES, **frame_phrases()}


def check_words(words: Mapping[str, Text], languages: tuple[str, ...]) -> None:
    """Raise `Misplaced` if a study translates a phrase that is never said, or loses one of its `{names}`."""
    known = all_phrases() if words else {}
    for phrase, text in words.items():
        if phrase not in known:
            near = difflib.get_close_matches(phrase, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise Misplaced(f"words: {phrase!r} is never said here; `interplay study words` lists all{hint}", phrase)
        for language, said in {"": text}.items() if isinstance(text, str) else text.items():
            if language and language not in languages:
                raise Misplaced(f"words: {phrase!r}: {language!r} is not one of this study's languages", phrase)
            if sorted(SLOT.findall(said)) != sorted(SLOT.findall(phrase)) or not said.strip():
                raise Misplaced(f"words: {phrase!r}: {said!r} needs the same names in braces", phrase)


def skeleton(phrases: Translations, language: str) -> dict[str, dict[str, str]]:
    """Return `words:` of a study file with every phrase as it is said now, to be translated.

    Args:
        phrases: What is to be translated, such as `all_phrases()`.
        language: The language.
    """
    return {phrase: {language: own_words(phrase, known, language, {})} for phrase, known in phrases.items()}


def browser_overrides(words: Mapping[str, Text], language: str) -> dict[str, str]:
    """Return the words of the browser that a study says in its own way, by their key.

    Args:
        words: The study's own words.
        language: The participant's language.
    """
    said = {key: texts["en"] for key, texts in browser_words().items() if _is_own(words.get(texts["en"], {}), language)}
    return {key: own_words(english, {}, language, words) for key, english in said.items()}


def untranslated(words: Mapping[str, Text], language: str) -> list[str]:
    """Return the English of what participants with this language would read in English."""
    if language.partition("-")[0] == "en":
        return []
    return [
        english
        for english, known in frame_phrases().items()
        if not _is_own(known, language) and not _is_own(words.get(english, {}), language)
    ]


def _is_own(text: Text | Mapping[str, str], language: str) -> bool:
    return isinstance(text, str) or language in text or language.partition("-")[0] in text
