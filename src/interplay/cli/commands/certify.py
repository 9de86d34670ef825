"""`interplay certify`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from interplay.cli.show import note, options, show
from interplay.errors import InterplayError


@dataclass(frozen=True)
class Certify:
    """Does a game require cooperation? Decided by search: a plan for each seat alone and for all together, or none.

    Every plan is played on the rules before it is believed. A shortest plan is told apart from a bound.

    Examples:
      interplay certify overcooked/forced_coordination
      interplay certify overcooked/counter_circuit --json
      interplay certify --all
      interplay certify overcooked --options 'layout=XOPX/X1 X/XDSX'
    """

    games: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """Names of `interplay list games`."""
    all: bool = False
    """Every registered game that has a solver, one row each."""
    markdown: bool = False
    """Print the summary as a Markdown table."""
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
