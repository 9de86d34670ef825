"""What `study example` and `challenge example` have in common: files that come with the package, listed or written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import note
from interplay.errors import InterplayError
from interplay.server.examples import Shelf


@dataclass(frozen=True)
class FromShelf:
    """The options."""

    name: Annotated[str | None, tyro.conf.Positional] = None
    """Which one to write; without it, all are listed."""
    out: Path | None = None
    """Where to; by default NAME.yaml here."""
    json: bool = False
    """Print one JSON object."""

    def wrote(self, shelf: Shelf, then: str) -> bool:
        """Whether one was asked for, which then is written. `then` is the command to try it with."""
        if self.name is not None:
            path = shelf.copied(self.name, self.out)
            note(f"written: {path}; try `{then} {path}`")
            return True
        if self.out is not None:
            raise InterplayError(f"--out: name the {shelf.kind} that is to be written there")
        return False
