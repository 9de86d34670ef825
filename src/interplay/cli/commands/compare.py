"""`interplay compare`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import PlayOptions, note, show
from interplay.config import options


@dataclass(frozen=True)
class Compare(PlayOptions):
    """Compare agents on one panel: the same partners, seats, episodes and chance for all of them.

    Examples:
      interplay compare overcooked/greedy overcooked/onion_passer --game overcooked/counter_circuit
      interplay compare trained/overcooked/coordination_ring/hsp-1 trained/overcooked/coordination_ring/fcp-1
        overcooked/greedy --game overcooked/coordination_ring --out compared
    """

    agents: Annotated[tuple[str, ...], tyro.conf.Positional]
    """Two or more agents: names of `interplay list agents`, checkpoints, or module:Thing."""
    game: str = ""
    """The game: a name of `interplay list games`, or module:Thing."""
    panel: str | None = None
    """The panel: a name of `interplay list panels`, or a folder; by default the game's own."""
    partners: tuple[str, ...] = ()
    """Partners of your own choice in place of a panel."""
    episodes: int = 20
    """Episodes for each agent, partner and seat."""
    seed: int = 0
    """Results depend on the seed, the agents and the partners alone."""
    out: Path | None = None
    """Folder for a report and the traces."""

    def run(self) -> None:
        """Play, print the tables, and say where the report is."""
        from interplay import api
        from interplay.errors import InterplayError

        if not self.game:
            raise InterplayError("name the game: --game overcooked/counter_circuit")
        compared = api.compare(
            self.agents,
            api.make(self.game, **options(self.options)),
            panel=self.panel,
            partners=self.partners,
            episodes=self.episodes,
            seed=self.seed,
            out=self.out,
            engine=self.engine,
            progress=True,
        )
        extra = {"agents": compared.agents.rows, "partners": compared.by_partner.rows}
        if self.json:
            show(compared.differences, json=True, **extra)
        else:
            for table in (compared.agents, compared.differences, compared.by_partner):
                show(table, json=False)
        if self.out:
            note(f"report: {self.out / 'report.html'}")
