"""`interplay paper list`: the tables and figures of the papers that can be made."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.cli.show import JsonOption, show
from interplay.papers.index import PAPERS
from interplay.table import Table


@dataclass(frozen=True)
class ListResults(JsonOption):
    """Tables and figures of the papers, each made by `interplay paper PAPER RESULT`, and what each needs.

    Examples:
      interplay paper list
      interplay paper list --json
    """

    def run(self) -> None:
        """Print one row a table or figure."""
        rows = [
            {"paper": name, "result": word, "what": result.what, "needs": result.needs}
            for name, paper in PAPERS.items()
            for word, result in paper.results.items()
        ]
        show(Table.of(rows), json=self.json)
