"""Where a graded agent stands among the agents whose results are shipped with a panel."""

from __future__ import annotations

from typing import Any

from interplay.partners.panel import Panel
from interplay.table import Row, Table

SHOWN = ("agent", "br_prox", "br_prox_low", "br_prox_high", "mean", "gives", "gets", "ignored_percent")


def standing(panel: Panel, overall: Row) -> Table | None:
    """The graded agent among the panel's baselines, best first; None without baselines or a ruler."""
    if not panel.baselines or overall.get("br_prox") is None:
        return None
    rows: list[dict[str, Any]] = [{**{c: row.get(c) for c in SHOWN}, "this": None} for row in panel.baselines["rows"]]
    rows.append({**{c: overall.get(c) for c in SHOWN}, "this": True})
    known = [row for row in rows if row["br_prox"] is not None]
    known.sort(key=lambda row: -row["br_prox"])
    placed = [{"place": 1 + sum(r["br_prox"] > row["br_prox"] for r in known), **row} for row in known]
    return Table.of(placed, "Where it stands among known agents, by BR-Prox")
