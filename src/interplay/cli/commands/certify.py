"""`interplay certify`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import note, show
from interplay.config import options
from interplay.errors import InterplayError
from interplay.games.registry import capability


@dataclass(frozen=True)
class Certify:
    """Does a game require cooperation? Decided by search: a plan for each seat alone and for all together, or none.

    Every plan is played on the rules before it is believed. A shortest plan is told apart from a bound.

    Examples:
      interplay certify overcooked/forced_coordination
      interplay certify overcooked/counter_circuit --json
      interplay certify --all
      interplay certify overcooked --options 'layout=XOPX/X1 X/XDSX'
      interplay certify rescue/rubble --planner
      interplay certify overcooked/cramped_room --pddl cramped_room
    """

    games: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Names of `interplay list games`."""
    all: bool = False
    """Every registered game that has a solver, one row each."""
    markdown: bool = False
    """Print the summary as a Markdown table."""
    planner: bool = False
    """Cross-check with Fast Downward (needs the extra `planning`): its plan lengths beside ours."""
    seconds: int = 45
    """Time limit of each of the planner's searches."""
    pddl: Path | None = None
    """Write the game as PDDL (domain.pddl, problem.pddl) into this folder, and search nothing."""
    options: tuple[str, ...] = ()
    """Options of the game as name=value."""
    json: bool = False
    """Print one JSON object: a row per question, with the plans."""

    def run(self) -> None:
        """Search every game and print the certificates."""
        from interplay.games.registry import family_of, make, names
        from interplay.symbolic.certify import certify, table
        from interplay.table import Table

        chosen = [n for n in names() if family_of(n).solver] if self.all else list(self.games)
        if not chosen:
            raise InterplayError("name a game, as in `interplay certify overcooked/cramped_room`, or give --all")
        if self.pddl is not None or self.planner:
            self._planning([make(name, **options(self.options)) for name in chosen])
            return
        certificates = []
        for name in chosen:
            note(f"searching {name}")
            certificates.append(certify(make(name, **options(self.options))))
        summary = table(certificates)
        if self.markdown:
            print(_markdown(summary))
            return
        if self.json or len(certificates) == 1:
            rows = Table.of([row for certificate in certificates for row in certificate.rows()], "Plans to the goal")
            if self.json:
                show(rows, json=True, certificates=summary.rows, goal=certificates[0].goal)
                return
            plan_rows = [{k: v for k, v in row.items() if k not in ("plan", "game")} for row in rows]
            show(Table.of(plan_rows, f"{certificates[0].game_id}: {certificates[0].goal}"), json=False)
            print(f"cooperation: {certificates[0].verdict}")
            return
        show(summary, json=False)

    def _planning(self, games: list) -> None:
        from interplay.symbolic import planning
        from interplay.table import Table

        games = [game for game in games if not self.all or capability(game, "planning_model")]
        if self.pddl is not None:
            if len(games) != 1:
                raise InterplayError("--pddl writes one game: name it")
            for path in planning.write_pddl(games[0], self.pddl):
                note(f"written: {path}")
            return
        rows = []
        for game in games:
            note(f"planning {game.id}")
            rows += planning.cross_check(game, seconds=self.seconds)
        checked = Table.of(rows, "Certificates beside Fast Downward")
        if self.markdown:
            print(_markdown(checked))
            return
        show(checked, json=self.json)


def _markdown(table) -> str:
    """The rows of a table as Markdown."""
    head = [c.replace("_", " ") for c in table.columns]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in table:
        cells = [_cell(row[c]) for c in table.columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value).replace(" | ", ", ")
