"""What partners are called: a colour and a shape, drawn anew for every person. Agents' names never leave the server."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

# Colours that are told apart with any kind of colour vision, each with a shape of its own for those who see none.
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
    id: str
    colour: str
    shape: str
    names: dict[str, str]

    def record(self, language: str) -> dict[str, str]:
        label = self.names.get(language, self.names["en"])
        return {"id": self.id, "label": label, "colour": self.colour, "shape": self.shape}


def draw(partners: Sequence[str], seed: int) -> dict[str, Alias]:
    """An alias for each partner. More partners than looks get numbers too."""
    order = sorted(partners)
    random.Random(f"{seed}/aliases").shuffle(order)
    found = {}
    for at, partner in enumerate(order):
        colour, shape, names = LOOKS[at % len(LOOKS)]
        again = at // len(LOOKS) + 1
        told = names if again == 1 else {language: f"{name} {again}" for language, name in names.items()}
        found[partner] = Alias(f"p{at + 1}", colour, shape, told)
    return found
