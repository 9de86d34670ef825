"""Partners' aliases: a colour and a shape, drawn for every participant. Agents' names never leave the server."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from interplay.study.protocol.texts import Text

# Colours that can be distinguished with any kind of colour vision, each with a shape of its own.
LOOKS = (
    ("#0072b2", "circle", {"en": "Blue", "zh": "蓝色"}),
    ("#e07b00", "square", {"en": "Orange", "zh": "橙色"}),
    ("#009e73", "triangle", {"en": "Green", "zh": "绿色"}),
    ("#a3478f", "diamond", {"en": "Purple", "zh": "紫色"}),
    ("#56b4e9", "star", {"en": "Sky", "zh": "天蓝色"}),
    ("#8a6d00", "hexagon", {"en": "Brown", "zh": "棕色"}),
    ("#c0392b", "cross", {"en": "Red", "zh": "红色"}),
    ("#4d4d4d", "pentagon", {"en": "Grey", "zh": "灰色"}),
    ("#d4b400", "heart", {"en": "Yellow", "zh": "黄色"}),
    ("#d46a9f", "drop", {"en": "Pink", "zh": "粉色"}),
)


class Alias(NamedTuple):
    """What a partner is called for one participant."""

    id: str
    colour: str
    shape: str
    names: dict[str, str]

    def record(self, language: str) -> dict[str, str]:
        """Return the alias in a language, as the front end reads it."""
        base = language.partition("-")[0]
        label = self.names.get(language) or self.names.get(base) or self.names["en"]
        return {"id": self.id, "label": label, "colour": self.colour, "shape": self.shape}


def draw(partners: Sequence[str], seed: int, words: Mapping[str, Text] | None = None) -> dict[str, Alias]:
    """Draw an alias for each partner; where there are more partners than looks, names are numbered.

    Args:
        partners: The partners' names.
        seed: Of the participant.
        words: The study's own words, for the names of the colours.
    """
    order = sorted(partners)
    random.Random(f"{seed}/aliases").shuffle(order)
    aliases = {}
    for at, partner in enumerate(order):
        colour, shape, known = LOOKS[at % len(LOOKS)]
        own = (words or {}).get(known["en"], {})
        names = {"en": own} if isinstance(own, str) else {**known, **own}
        round_number = at // len(LOOKS) + 1
        labels = (
            names if round_number == 1 else {language: f"{name} {round_number}" for language, name in names.items()}
        )
        aliases[partner] = Alias(f"p{at + 1}", colour, shape, labels)
    return aliases
