"""Where a graded agent stands among the agents whose results are shipped with a panel."""

from __future__ import annotations

from typing import Any

from interplay.partners.panel import Panel
from interplay.table import Row, Table

SHOWN = ("agent", "br_prox", "br_prox_low", "br_prox_high", "mean")
HELP = ("gives", "gets", "parked_percent", "ignored_percent")


def standing(panel: Panel, overall: Row, channel: str | None = None) -> Table | None:
    """Return the graded agent among the panel's baselines, best first; None without baselines or a ruler.

    Who helped whom is shown only where the baselines were counted through the same channels as the graded agent: the
    panels shipped with version 1 counted counters alone, and unlike numbers do not stand side by side.

    Args:
        panel: The panel with its baselines.
        overall: The grade's row.
        channel: Through which the graded agent's hand-overs were counted.
    """
    if not panel.baselines or overall.get("br_prox") is None:
        return None
    alike = channel is not None and panel.baselines.get("measured", {}).get("channel") == channel
    shown = (*SHOWN, *(HELP if alike else ()))
    rows: list[dict[str, Any]] = [{**{c: row.get(c) for c in shown}, "this": None} for row in panel.baselines["rows"]]
    rows.append({**{c: overall.get(c) for c in shown}, "this": True})
    known = [row for row in rows if row["br_prox"] is not None]
    known.sort(key=lambda row: -row["br_prox"])
    placed = [{"place": 1 + sum(r["br_prox"] > row["br_prox"] for r in known), **row} for row in known]
    return Table.of(placed, "Where it stands among known agents, by BR-Prox")
