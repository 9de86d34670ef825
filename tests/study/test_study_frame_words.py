"""Every text of the frame can be said in another language, or otherwise, by the study file."""

import pytest
import yaml

from interplay.errors import InterplayError
from interplay.study.pages.page_type import PageVisit, page_type
from interplay.study.protocol.aliases import LOOKS, draw
from interplay.study.protocol.flow import first_slots, pages
from interplay.study.protocol.reading import parse
from interplay.study.protocol.texts import PHRASES, phrase
from interplay.study.protocol.translations import (
    browser_overrides,
    browser_words,
    check_words,
    frame_phrases,
    skeleton,
    untranslated,
)

BARE = """
name: bare
title: Bare
languages: [de, en]
flow:
  - kind: consent
    id: consent
    title: Consent
    version: "1"
    checkboxes: [{id: agree, label: I agree}]
"""


def marked(language):
    """All phrases in a made-up translation that a test can tell from English."""
    return {english: {language: f"⟦{english}⟧"} for english in frame_phrases()}


def test_a_whole_translation_is_taken_and_nothing_stays_english():
    protocol = parse(BARE + yaml.safe_dump({"words": marked("de")}, allow_unicode=True))
    assert untranslated(protocol.words, "de") == []
    said = browser_overrides(protocol.words, "de")
    assert said.keys() == browser_words().keys()
    assert all(text.startswith("⟦") for text in said.values())
    assert browser_overrides(protocol.words, "en") == {}
    assert all(phrase(name, "de", protocol.words).startswith("⟦") for name in PHRASES)
    labels = {
        alias.record("de")["label"] for alias in draw([str(i) for i in range(len(LOOKS))], 1, protocol.words).values()
    }
    assert all(label.startswith("⟦") for label in labels)


def test_errors_of_the_server_are_in_the_studys_words():
    words = {"You can only take part if you agree.": {"de": "Ohne Zustimmung geht es nicht."}}
    protocol = parse(BARE + yaml.safe_dump({"words": words}, allow_unicode=True))
    page = pages(protocol, first_slots(protocol), 0)[0]
    errors = {
        language: page_type("consent").check(page.item, PageVisit(protocol, page, language, {}), {}).errors["agree"]
        for language in ("de", "en")
    }
    assert errors == {"de": "Ohne Zustimmung geht es nicht.", "en": "You can only take part if you agree."}


def test_one_text_for_all_languages_and_regional_ones():
    words = {"Continue": "Next", "Score": {"de": "Punkte"}}
    assert browser_overrides(words, "en")["continue"] == "Next"
    assert browser_overrides(words, "de-AT") == {"continue": "Next", "score": "Punkte"}


def test_a_slot_that_is_lost_and_a_text_that_is_never_said_are_refused():
    with pytest.raises(ValueError, match="braces"):
        check_words({"Tries left: {0}": {"de": "Noch ein paar"}}, ("de",))
    with pytest.raises(ValueError, match="did you mean 'Continue'"):
        check_words({"Continu": {"de": "Weiter"}}, ("de",))
    with pytest.raises(InterplayError, match="line"):
        parse(BARE + "words: {Continue: {fr: Continuer}}\n")


def test_the_skeleton_fills_in_what_we_have():
    assert skeleton(frame_phrases(), "zh")["Continue"] == {"zh": "继续"}
    assert skeleton(frame_phrases(), "de")["Continue"] == {"de": "Continue"}
    assert untranslated({}, "zh") == []
    assert "Continue" in untranslated({}, "de")
