"""`interplay paper zsc football`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from interplay.cli.show import note, show
from interplay.errors import InterplayError


@dataclass(frozen=True, kw_only=True)
class FootballResults:
    """BR-Prox of ZSC-Eval's public football results with intervals, beside what the paper prints.

    Three players, the ego in each seat, pairs of partners in the other two. Intervals draw training seeds and partners.

    Examples:
      interplay paper zsc football --data football.csv.gz
      INTERPLAY_DATA=data interplay paper zsc football --json
    """

    data: Path | None = None
    """The table of public results; by default zsc_eval/football.csv.gz below the folder in INTERPLAY_DATA."""
    seed: int = 0
    """Seed of the bootstrap."""
    json: bool = False
    """Print one JSON object, with every cell."""

    def run(self) -> None:
        """Print a row for each method."""
        from interplay.papers import football

        path = self.data
        if path is None:
            folder = os.environ.get("INTERPLAY_DATA")
            if folder is None:
                raise InterplayError("--data: name the public table, or set INTERPLAY_DATA to the folder of the data")
            path = Path(folder) / football.FILE
        result = football.br_prox_of(path, seed=self.seed)
        more = {"cells": result.cells.rows} if self.json else {}
        show(football.comparison(result), json=self.json, **more)
        note("the paper's tables are over 168 combinations of partners, the public files name 108 best responses")
