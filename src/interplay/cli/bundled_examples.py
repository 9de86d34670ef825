"""The options and steps that `study example` and `challenge example` share: list bundled files, or write one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import JsonOption, note
from interplay.errors import InterplayError
from interplay.server.examples import ExampleFiles


@dataclass(frozen=True)
class ExampleCommand(JsonOption):
    """The options of `study example` and `challenge example`."""

    name: Annotated[str | None, tyro.conf.Positional] = None
    """Which one to write; without it, all are listed."""
    out: Path | None = None
    """Where to; by default NAME.yaml here."""

    def write_named(self, examples: ExampleFiles, then: str) -> bool:
        """Write the example that is named, if one is.

        Args:
            examples: The examples.
            then: The command to try it with, for the message.

        Returns:
            Whether one was named.

        Raises:
            InterplayError: There is no such example, or --out is given without a name.
        """
        if self.name is not None:
            path = examples.copy(self.name, self.out)
            note(f"written: {path}; try `{then} {path}`")
            return True
        if self.out is not None:
            raise InterplayError(f"--out: name the {examples.kind} that is to be written there")
        return False
