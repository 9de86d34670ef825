"""Do measures rank the same agents alike? A matrix of rank correlations, a bump chart, and the ranks with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from interplay.reports import svg
from interplay.reports.document import Columns, Figure, Report, Section, TableSection, Text
from interplay.reports.figures import heat_map
from interplay.reports.svg import INK, PAPER, RULE, element, hover, text
from interplay.stats.measure_agreement import Agreement
from interplay.table import Table

EXPLAINED = (
    "Rank correlations between measures over the same agents: 1 where both put the agents in the same order, 0 where "
    "they have nothing to do with each other, −1 where one reverses the other. Intervals come from drawing what was "
    "sampled again (each agent's training seeds, the partners that all met), with these agents; drawing again adds "
    "noise to both orders, so an interval may lie mostly below its estimate. p asks whether another order of the "
    "agents would agree as well."
)
INTERVALS = {"spearman": ("spearman_low", "spearman_high"), "kendall": ("kendall_low", "kendall_high")}
LABELS = {"spearman": "Spearman", "kendall": "Kendall", "spearman_p": "p", "kendall_p": "p (Kendall)"}


def ranking_report(
    ranked: Agreement, *, title: str, intro: str = "", provenance: Mapping[str, Any] | None = None
) -> Report:
    """Return a page about the agreement of rankings."""
    return Report(title, [*([Text(intro)] if intro else []), *ranking_sections(ranked)], "", provenance or {})


def ranking_sections(ranked: Agreement, name: str = "rankings") -> list[Section]:
    """The page's parts, to stand in any report. `name` keeps the files of several apart."""
    whole = all(float(row["rank"]).is_integer() for row in ranked.ranks)
    matrices = [_matrix(ranked, kind, name) for kind in ("spearman", "kendall")]
    return [
        Text(EXPLAINED),
        Figure(bump_chart(ranked), "Ranks under each measure", BUMP, f"{name}-bump"),
        Columns(matrices, "Agreement of the measures"),
        TableSection(ranked.pairs, "Pairs of measures", "", f"{name}-pairs", INTERVALS, LABELS),
        TableSection(
            ranked.ranks, "Ranks of the agents",
            "First: share of resamples in which the agent is alone in the first place", f"{name}-ranks",
            {"rank": ("rank_low", "rank_high")}, {"first_share": "first"},
            digits={"value": 3, "rank": 0 if whole else 1},
        ),
    ]  # fmt: skip


BUMP = "Every line is an agent, its height its rank under each measure; a dot's hover tells the value and the interval."


def bump_chart(ranked: Agreement) -> str:
    """Agents as lines across the measures, the best on top. Agents that a measure has no value of have a gap."""
    rank = {(r["measure"], r["agent"]): r for r in ranked.ranks}
    first = ranked.measures[0]
    agents = sorted(ranked.agents, key=lambda a: rank.get((first, a), {"rank": 1e9})["rank"])
    names = {a: svg.shorten(str(a), 24) for a in agents}
    left = max(svg.text_width(n) for n in names.values()) + 40
    step, row, top = max(130.0, max(svg.text_width(m) for m in ranked.measures) + 24), 26.0, 44.0
    width = 2 * left + step * (len(ranked.measures) - 1)
    height = top + row * len(agents) + 6

    def at(measure: str, agent: Any) -> tuple[float, float] | None:
        r = rank.get((measure, agent))
        return (left + step * ranked.measures.index(measure), top + row * (r["rank"] - 0.5)) if r else None

    body = "".join(
        text(left + step * i, 18, measure, 12, INK, text_anchor="middle", font_weight=600)
        + element("line", x1=left + step * i, x2=left + step * i, y1=28.0, y2=height - 6, stroke=RULE)
        for i, measure in enumerate(ranked.measures)
    )
    for index, agent in enumerate(agents):
        places = [at(measure, agent) for measure in ranked.measures]
        body += element("g", _line(places, index) + _dots(agent, places, ranked.measures, rank, index))
        for place, shift, anchor in ((places[0], -14, "end"), (places[-1], 14, "start")):
            if place:
                where = (place[0] + shift, place[1])
                body += text(*where, names[agent], text_anchor=anchor, dominant_baseline="central")
    return svg.picture(width, height, body, "Ranks under each measure")


def _line(places: Sequence[tuple[float, float] | None], index: int) -> str:
    drawn = ""
    for a, b in pairwise(places):
        if a and b:
            # Colours repeat after a few agents; dashes tell those apart.
            dash = None if index < len(svg.SEAT_COLOURS) else "5 3" if index < 2 * len(svg.SEAT_COLOURS) else "2 3"
            drawn += element("line", x1=a[0], y1=a[1], x2=b[0], y2=b[1], stroke=svg.seat_colour(index),
                             stroke_width=2.5, stroke_opacity=0.8, stroke_dasharray=dash)  # fmt: skip
    return drawn


def _dots(agent: Any, places: Sequence, measures: Sequence[str], rank: Mapping, index: int) -> str:
    drawn = ""
    for measure, place in zip(measures, places, strict=True):
        if place:
            row = rank[measure, agent]
            interval = f" [{row['rank_low']:g}, {row['rank_high']:g}]" if row["rank_low"] is not None else ""
            tip = f"{agent}, {measure}: {row['value']:.3g}, rank {row['rank']:g}{interval}"
            drawn += element("circle", hover(tip), cx=place[0], cy=place[1], r=6, fill=svg.seat_colour(index),
                             stroke=PAPER, stroke_width=1.5)  # fmt: skip
    return drawn


def _matrix(ranked: Agreement, kind: str, name: str) -> Figure:
    by_pair = {(r["measure"], r["other"]): r for r in ranked.pairs}
    by_pair |= {(b, a): r for (a, b), r in by_pair.items()}
    values = [[1.0 if a == b else by_pair[a, b][kind] for b in ranked.measures] for a in ranked.measures]
    limits = [
        [None if a == b else (by_pair[a, b][f"{kind}_low"], by_pair[a, b][f"{kind}_high"]) for b in ranked.measures]
        for a in ranked.measures
    ]
    title = f"{LABELS[kind]} between measures"
    drawing = heat_map(
        ranked.measures, ranked.measures, values, title=title, intervals=limits,
        row_title="measure", column_title="measure", bounds=(-1.0, 1.0),
    )  # fmt: skip
    return Figure(drawing, title, "", f"{name}-{kind}")


def wide(ranks: Table) -> Table:
    """A row per agent (and layout) with its rank under each measure and the rank's interval, for people."""
    rows: dict[tuple[Any, Any], dict[str, Any]] = {}
    for row in ranks:
        layout = row.get("layout")
        line = rows.setdefault((layout, row["agent"]), {"layout": layout, "agent": row["agent"]})
        interval = f" [{row['rank_low']:g}, {row['rank_high']:g}]" if row["rank_low"] is not None else ""
        line[f"by {row['measure']}"] = f"{row['rank']:g}{interval}"
    first = {key: float(line[next(k for k in line if k.startswith("by "))].split()[0]) for key, line in rows.items()}
    return Table.of([rows[k] for k in sorted(rows, key=lambda k: (str(k[0]), first[k]))], "Ranks")
