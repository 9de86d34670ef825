"""Messages in other languages: how they are told from English, and their order of words."""

from __future__ import annotations

import pytest

from interplay.metrics.communication.other_languages import in_english, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Please cut the potato and put it on the counter.", None),
        ("Der Chef: please cut the potato.", None),
        ("NOTHING", None),
        ("", None),
        ("Bitte schneide die Kartoffel.", "de"),
        ("Coupe la carotte et pose-la sur le comptoir.", "fr"),
        ("Corta la patata y ponla en la encimera.", "es"),
        ("请切土豆。", "zh"),
        ("Taglia la cipolla, per favore.", None),  # Italian is not known, and is left alone
    ],
)
def test_the_language_is_told(text, language):
    assert language_of(text) == language
    if language is None:
        assert in_english(text) == text


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Kannst du bitte den Mais schneiden?", "can you cut the corn?"),
        ("Schneide die Zwiebel nicht!", "don't cut the onion!"),
        ("Leg die Kürbisscheiben in den Ofen.", "put the pumpkin slices in the oven."),
        ("Ne coupe pas le champignon.", "don't cut the mushroom."),
        ("Mets l'œuf dans pot0 et fais-le cuire.", "put the egg in pot0 and cook it."),
        ("¿Puedes cortar el maíz y pasármelo?", " can you cut the corn and bring it me?"),
        ("请把鸡蛋放到台面上", " please put egg counter "),
    ],
)
def test_words_come_in_english_order(text, english):
    assert " ".join(in_english(text).split()) == " ".join(english.split())
