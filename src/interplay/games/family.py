"""What a family of games declares of itself: how its games are made, and what can be done with them.

Everything is a reference `module:Thing` that is imported when used, so that a game may name what lies to its right in
the flow of the package (its symbolic domain, its prompts for language models) without importing it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from interplay import trust
from interplay.errors import InterplayError
from interplay.games.api import Game

LARGEST_MAP = 4096  # characters of a map that is given as text
LONGEST = 1_000_000  # steps of an episode


@dataclass(frozen=True, kw_only=True)
class GameFamily:
    """A family of games, such as all kitchens of Overcooked, registered under one name."""

    name: str
    build: str  # function (variant, options) -> Game, which checks the options by the record below
    options: str  # dataclass of the family's options; fields with metadata {"local": True} name files of this machine
    variants: str | None = None  # function () -> names of the variants; None: they are not listed

    def make(self, variant: str = "", **options: Any) -> Game:
        """Make a game of this family.

        Raises:
            InterplayError: An option is unknown or of another type than the family declares.
        """
        return trust.import_object(self.build)(variant, options)

    def names(self) -> list[str]:
        """The names of the variants."""
        return [] if self.variants is None else list(trust.import_object(self.variants)())

    def options_type(self) -> type:
        """The dataclass that says what options there are."""
        return trust.import_object(self.options)

    def local_options(self) -> list[str]:
        """Options that name files of this machine, which data may not do."""
        return [f.name for f in dataclasses.fields(self.options_type()) if f.metadata.get("local")]


def check_size(text: str, what: str) -> None:
    """Refuse a map that is larger than any game here can use."""
    if len(text) > LARGEST_MAP:
        raise InterplayError(f"{what}: a map of {len(text)} characters; at most {LARGEST_MAP} are read")
