"""The paper's Figures 1 to 11 as one page, from a pool's games and ratings of its agents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from interplay.metrics.hanabi.agent_pool import measures
from interplay.papers.preference.agent_pool import AGENTS
from interplay.papers.preference.table5 import METRICS, bare, line_of, table5
from interplay.reports.document import Columns, Figure, Report, Section, TableSection, Text
from interplay.reports.figures import Point, heat_map, scatter, strip
from interplay.stats.preference import relations
from interplay.stats.regression import quadratic_fit
from interplay.table import Row, Table
from interplay.traces import TraceSet

AXES = {
    "human_ai_score": "score with people", "self_play": "self-play", "intra_xp": "intra-XP", "inter_xp": "inter-XP",
    "ad_entropy": "AD-entropy (nats)", "ard_entropy": "ARD-entropy (nats)", "ci": "context independence",
    "ic": "IC, corrected (nats)", "g1": "G1, share of turns", "g2": "G2, share of turns", "g3": "G3, share of turns",
}  # fmt: skip
PANELS = {
    "Figure 2: score with people": ("human_ai_score",),
    "Figure 3: scores among agents": ("self_play", "intra_xp", "inter_xp"),
    "Figure 4: information": ("ad_entropy", "ard_entropy", "ci", "ic"),
    "Figure 5: dominated and dominant moves": ("g1", "g2", "g3"),
}


def figures(ratings: Table, pool: Table, traces: TraceSet, *, about: str = "", comparisons: Sequence[Row] = (),
            familiarity: Sequence[int] = (), seed: int = 0) -> Report:  # fmt: skip
    """Return all of the paper's figures on one page, with Table 5.

    Args:
        ratings: person, agent, human_ai_score, rating, in the order in which people met the agents.
        pool: Rows of the metric hanabi/pool.
        traces: The pool's games.
        about: Where the ratings come from.
        comparisons: first, second and value (from minus to plus) of every comparison of two agents.
        familiarity: What people said of how well they knew the game.
        seed: Seed of exchanges in Table 5.
    """
    joined = _joined(ratings, pool)
    sections: list[Section] = [Text(about)] if about else []
    by_agent = {a: [r["rating"] for r in joined if r["agent"] == a] for a in dict.fromkeys(r["agent"] for r in joined)}
    title = "Figure 1: teamwork ratings"
    sections.append(
        Figure(strip(by_agent, title=title, x_title="rating"), title, "Every rating, and the mean.", "fig1")
    )
    for title, metrics in PANELS.items():
        sections.append(Columns([_panel(joined, metric) for metric in metrics if _drawable(joined, metric)], title))
    sections += _comparisons(ratings, comparisons)
    sections.append(Columns(_scores(joined), "Figure 7: scores among agents against scores with people"))
    lengths = _lengths(traces)
    title = "Figure 8: turns in games among agents"
    sections.append(
        Figure(strip(lengths, title=title, x_title="turns"), title, "A sample of each agent's games.", "fig8")
    )
    if familiarity:
        title = "Figure 9: how familiar people were with Hanabi"
        counts = Counter(familiarity)
        rows = [{"answer": value, "people": counts[value]} for value in sorted(counts)]
        sections.append(TableSection(Table.of(rows), title, "", "fig9"))
    sections += _counts(ratings)
    fits = table5(ratings, pool, seed=seed)
    caption = "p over agents and p mixed ask about other agents."
    sections.append(TableSection(fits, fits.title, caption, "table5", hide=["note"]))
    return Report("Objective metrics and human preference in Hanabi", sections, "", {"seed": seed})


def _drawable(joined: Sequence[Row], metric: str) -> bool:
    """Whether a metric has three values: a line through two always fits."""
    return sum(row[metric] is not None for row in joined) >= 3


def _joined(ratings: Table, pool: Table) -> list[Row]:
    own = {agent: name for name, (agent, _) in AGENTS.items()}
    values: dict[str, dict[str, float]] = {}
    for row in measures(pool):
        values.setdefault(own.get(row["agent"], bare(row["agent"])), {})[row["measure"].removeprefix("pool_")] = row[
            "value"
        ]
    return [{**row, **dict.fromkeys(METRICS), **values.get(row["agent"], {})} for row in ratings]


def _panel(rows: Sequence[Row], metric: str, y: str = "rating") -> Figure:
    known = [row for row in rows if row[metric] is not None]
    points = [Point(row[metric], row[y], group=row["agent"]) for row in known]
    note, line = f"n = {len(known)}", line_of([{**row, "rating": row[y]} for row in known], metric)
    relation = relations(Table.of(known), [metric], rating=y, peaked=["ic"] if metric == "ic" else []).rows[0]
    if relation.get("r") is not None:
        note = f"r = {relation['r']:.2f}, {note}"
    parabola = None
    if relation.get("shape") == "parabola":
        curve = quadratic_fit([row[metric] for row in known], [row[y] for row in known])
        note, line, parabola = f"{note}, peak at {curve.vertex:.3f}", None, (curve.a, curve.b, curve.c)
    y_title = y.replace("_", " ")
    drawing = scatter(
        points, title=AXES[metric], x_title=AXES[metric], y_title=y_title, line=line, parabola=parabola, note=note
    )
    return Figure(drawing, AXES[metric], "", f"{y} {metric}")


def _scores(rows: Sequence[Row]) -> list[Section]:
    with_values = [m for m in ("self_play", "intra_xp", "inter_xp") if sum(row[m] is not None for row in rows) > 2]
    return [_panel(rows, metric, "human_ai_score") for metric in with_values]


def _comparisons(ratings: Table, comparisons: Sequence[Row]) -> list[Section]:
    """Figure 6: how the second agent was preferred to the first; without P1 to P7, the difference of their ratings."""
    caption = "Sums of P1 to P7, 0 is neutral."
    pairs = [(row["first"], row["second"], row["value"]) for row in comparisons]
    if not pairs:
        caption = "Rating of the second agent less that of the first, since there are no direct comparisons."
        for rows in _met(ratings).values():
            if len(rows) == 2:
                pairs.append((rows[0]["agent"], rows[1]["agent"], rows[1]["rating"] - rows[0]["rating"]))
    if not pairs:
        return []
    names = sorted({name for pair in pairs for name in pair[:2]})
    cells = [[[v for a, b, v in pairs if (a, b) == (x, y)] for y in names] for x in names]
    values = [[float(np.mean(cell)) if cell else None for cell in row] for row in cells]
    title = "Figure 6: first agent (rows) against second (columns)"
    return [Figure(heat_map(names, names, values, title=title), title, caption, "fig6")]


def _met(ratings: Table) -> dict[str, list[Row]]:
    people: dict[str, list[Row]] = {}
    for row in ratings:
        people.setdefault(row["person"], []).append(row)
    return people


def _counts(ratings: Table) -> list[Section]:
    agents = Counter(row["agent"] for row in ratings)
    title = "Figure 10: people who met each agent"
    rows = [{"agent": name, "people": many} for name, many in agents.most_common()]
    sections: list[Section] = [TableSection(Table.of(rows), title, "", "fig10")]
    orders = Counter((rows[0]["agent"], rows[1]["agent"]) for rows in _met(ratings).values() if len(rows) == 2)
    if orders:
        names = sorted({name for pair in orders for name in pair})
        title = "Figure 11: people by first agent (rows) and second (columns)"
        values = [[float(orders[a, b]) for b in names] for a in names]
        sections.append(Figure(heat_map(names, names, values, title=title), title, "", "fig11"))
    return sections


def _lengths(traces: TraceSet, most: int = 60) -> dict[str, list[float]]:
    """Return numbers of turns by agent, of at most so many games each, spread over all."""
    names = {agent: name for name, (agent, _) in AGENTS.items()}
    lengths: dict[str, list[float]] = {}
    for _, episode in traces.items():
        for name in dict.fromkeys(identity.name for identity in episode.agents):
            lengths.setdefault(names.get(name, bare(name)), []).append(float(episode.length))
    return {name: part[:: max(1, len(part) // most)][:most] for name, part in lengths.items()}
