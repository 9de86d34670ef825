"""Where a graded agent stands among the agents whose results are shipped with a panel."""

from __future__ import annotations

from typing import Any

from interplay.partners.panel import Panel
from interplay.table import Row, Table

SHOWN = ("agent", "seeds", "dead", "br_prox", "br_prox_low", "br_prox_high", "mean")
HANDOVERS = ("gives", "gets", "parked_percent", "ignored_percent")


def standing(panel: Panel, overall: Row, channels: str | None = None) -> Table | None:
    """The graded agent among the panel's baselines, best first.

    Args:
        panel: A panel, with or without baselines.
        overall: The agent's grade.
        channels: The ways of handing over that the grade counts, joined by +. Hand-overs are shown only if the
            baselines were counted in the same ways.

    Returns:
        A row for each agent; None without baselines or best responses. Methods of which no seed is alive have no place.
    """
    if not panel.baselines or overall.get("br_prox") is None:
        return None
    alike = channels is not None and panel.baselines.get("measured", {}).get("channels") == channels
    columns = (*SHOWN, *(HANDOVERS if alike else ()))
    rows: list[dict[str, Any]] = [{**{c: row.get(c) for c in columns}, "this": None} for row in panel.baselines["rows"]]
    rows.append({**{c: overall.get(c) for c in columns}, "this": True})
    known = [row for row in rows if row["br_prox"] is not None]
    known.sort(key=lambda row: -row["br_prox"])
    placed = [{"place": 1 + sum(r["br_prox"] > row["br_prox"] for r in known), **row} for row in known]
    return Table.of(placed, "Where it stands among known agents, by BR-Prox")
