"""The figures of each analysis, as sections of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from interplay.reports.document import Columns, Figure, Section
from interplay.reports.figures import FigureEstimate, Point, interval_plot, scatter
from interplay.stats import linear_fit
from interplay.study.analysis.charts import Box, DrawnLine, answer_bars, boxes, lines, preference_map
from interplay.study.analysis.data import Data
from interplay.table import Row, Table

MOST_SCATTERS = 8
WIDEST_SCALE = 11  # points; a scale with more is drawn as boxes


def rating_figures(data: Data, summary: Table, names: Sequence[str]) -> list[Section]:
    """Draw how answers on scales spread by partner; sums with many points as boxes."""
    figures: list[Section] = []
    for name in names:
        rows = [row for row in summary if row["rating"] == name and row["game"] is None]
        ends = data.bounds(name)
        if not rows or ends is None:
            continue
        ratings = data.ratings(name)
        values = {r["partner"]: [v["value"] for v in ratings if v["partner"] == r["partner"]] for r in rows}
        rows = sorted(rows, key=lambda r: -(r["mean"] or 0))
        title, about = f"{name}: {data.label(name)}" if name not in data.sums else data.label(name), f"rating {name}"
        if ends[1] - ends[0] < WIDEST_SCALE:
            points = list(range(int(ends[0]), int(ends[1]) + 1))
            bars = [(r["partner"], {p: values[r["partner"]].count(p) for p in points}) for r in rows]
            drawing = answer_bars(bars, points, title=title, ends=_ends(data, name))
        else:
            drawn = [
                Box(r["partner"], values[r["partner"]], r["mean"], r["mean_low"], r["mean_high"],
                    data.colours.get(r["partner"]))
                for r in rows
            ]  # fmt: skip
            pad = (ends[1] - ends[0]) * 0.02
            limits = (ends[0] - pad, ends[1] + pad)
            drawing = boxes(
                drawn, title=title, x_title=f"{data.label(name)}, {ends[0]:g} to {ends[1]:g}", bounds=limits
            )
        figures.append(Figure(drawing, title, "", about))
    return in_pairs(figures)


def in_pairs(figures: Sequence[Section]) -> list[Section]:
    """Put figures side by side in pairs, where the page is wide enough."""
    pairs = [figures[i : i + 2] for i in range(0, len(figures), 2)]
    return [Columns(pair) if len(pair) > 1 else pair[0] for pair in pairs]


def _ends(data: Data, name: str) -> tuple[str, str]:
    if name in data.sums:
        return "low", "high"
    scale = data.protocol.scales[data.questions[name].scale or ""]
    left, right = (t if isinstance(t, str) else t.get("en", "") for t in (scale.left, scale.right))
    return left, right


def rank_figures(
    table: Table | None, shares: Mapping[str, tuple[list[str], np.ndarray]], colours: Mapping[str, int]
) -> list[Section]:
    """Draw mean ranks with intervals, and how often each partner took each rank."""
    if table is None:
        return []
    several = len({row["game"] for row in table}) > 1
    estimates = [
        FigureEstimate(row["partner"], row["mean_rank"], row["mean_rank_low"], row["mean_rank_high"],
                 str(row["game"]) if several else "", f"{row['people']} people", colour=colours.get(row["partner"]))
        for row in table
    ]  # fmt: skip
    title = "Mean ranks that people gave"
    figures: list[Section] = [
        Figure(interval_plot(estimates, title=title, x_title="mean rank (1 is best)"), title, "", "mean ranks")
    ]
    for game, (names, rank_share) in shares.items():
        people = next(row["people"] for row in table if str(row["game"]) == game)
        points = list(range(1, len(names) + 1))
        rows = [(n, {p: round(float(rank_share[i, p - 1]) * people, 6) for p in points}) for i, n in enumerate(names)]
        game_title = f"How often each rank was given{f' in {game}' if several else ''}"
        drawing = answer_bars(rows, points, title=game_title, ends=("best", "worst"), what="people", low_is_good=True)
        figures.append(Figure(drawing, game_title, "", f"ranks {game}"))
    return [figures[0], *in_pairs(figures[1:])]


def rating_scatter(
    table: Table, names: Sequence[str], measures: Sequence[str], colours: Mapping[str, int]
) -> list[Section]:
    """Draw ratings against measures, a dot each, shifted a little where dots would hide one another."""
    drawn: list[Section] = []
    for name in names:
        for measure in measures:
            rows = [r for r in table if r["rating"] == name and r[measure] is not None]
            x, y = [r[measure] for r in rows], [r["value"] for r in rows]
            if len(rows) < 5 or len(set(x)) < 2 or len(set(y)) < 2 or len(drawn) == MOST_SCATTERS:
                continue
            fit = linear_fit(x, y)
            step = 0.03 * (max(y) - min(y))
            points = [Point(a, b + ((k * 7) % 11 - 5) * step / 5, "", r["partner"])
                      for k, (a, b, r) in enumerate(zip(x, y, rows, strict=True))]  # fmt: skip
            title = f"{name} against {measure.replace('_', ' ')}"
            note = f"r = {fit.r:.2f}, {len(rows)} ratings"
            drawing = scatter(points, title=title, x_title=measure.replace("_", " "), y_title=name,
                              line=(fit.slope, fit.intercept), colours=colours)  # fmt: skip
            drawn.append(Figure(drawing, title, note, f"scatter {name} {measure}"))
    return in_pairs(drawn)


def click_figures(table: Table) -> list[Section]:
    """Draw how often each kind of a partner's moves made people press."""
    rows = [
        FigureEstimate(
            f"{row['move']}, {row['dominated'].upper()}" if row["dominated"] != "no" else f"other {row['move']}",
            _percent(row["pressed"]), _percent(row["pressed_low"]), _percent(row["pressed_high"]), "",
            f"{row['moves']} moves",
        )
        for row in table if row["moves"]
    ]  # fmt: skip
    title = "How often a partner's move made people press"
    return [Figure(interval_plot(rows, title=title, x_title="per cent of such moves", zero=True), title, "", "presses")]


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def preference_figures(
    rows: Sequence[Row], names: Sequence[str], strength: Table, colours: Mapping[str, int]
) -> list[Section]:
    """Draw the matrix of preferences, and the partners' strengths."""
    for_row: list[list[list[float]]] = [[[] for _ in names] for _ in names]
    place = {name: i for i, name in enumerate(names)}
    for row in rows:
        a, b = place[row["first"]], place[row["second"]]
        for_row[b][a].append(row["sum"])
        for_row[a][b].append(-row["sum"])
    if "strength" in strength.columns:
        ranked = [row["what"] for row in strength if row["what"] in place]
        order = [place[name] for name in ranked]
    else:
        order = list(range(len(names)))
    values = [[float(np.mean(for_row[i][j])) if for_row[i][j] else None for j in order] for i in order]
    counts = [[len(for_row[i][j]) for j in order] for i in order]
    most = max([abs(v) for line in values for v in line if v is not None], default=1.0) or 1.0
    title = "Who is preferred to whom"
    drawing = preference_map(
        [names[i] for i in order], values, counts, title=title, most=most, row_title="preferred", column_title="to"
    )
    caption = "Mean of the summed answers, both orders together: blue where the row is preferred, orange the column."
    figures: list[Section] = [Figure(drawing, title, caption, "preferences")]
    if "strength" in strength.columns:
        estimates = [
            FigureEstimate(r["what"], r["strength"], r["strength_low"], r["strength_high"],
                           colour=colours.get(r["what"]))
            for r in strength
        ]  # fmt: skip
        title = "Strength of each partner"
        plot = interval_plot(estimates, title=title, x_title="preferred to the average partner by", reference=0.0)
        figures.append(Figure(plot, title, "", "strengths"))
    return figures


def group_figures(table: Table, by: str, colours: Mapping[str, int]) -> list[Section]:
    """Draw the mean ratings of each group, partner by partner."""
    figures: list[Section] = []
    for (rating,), part in table.groups("rating").items():
        rows = [FigureEstimate(str(r["group"]), r["mean"], r["mean_low"], r["mean_high"], str(r["partner"]),
                         f"{r['people']} people", colour=colours.get(r["partner"])) for r in part]  # fmt: skip
        title = f"{rating} by {by}"
        figures.append(
            Figure(interval_plot(rows, title=title, x_title=f"mean {rating}"), title, "", f"{rating} by {by}")
        )
    return figures


def team_figures(table: Table, colours: Mapping[str, int]) -> list[Section]:
    """Draw the hand-overs, and how many of the person's offers were accepted, by partner."""
    several = len({row["game"] for row in table}) > 1
    drawn: list[Section] = []
    for name, title in (
        ("constructive", "Constructive hand-overs a game"),
        ("partner_accepted", "Of the person's offers, per cent that the partner accepted"),
    ):
        rows = [FigureEstimate(r["partner"], r[name], r[f"{name}_low"], r[f"{name}_high"], r["game"] if several else "",
                         f"{r['people']} people", colour=colours.get(r["partner"]))
                for r in table if r[name] is not None]  # fmt: skip
        if rows:
            drawn.append(Figure(interval_plot(rows, title=title, zero=True), title, "", f"teams {name}"))
    return in_pairs(drawn)


def session_figures(table: Table) -> list[Section]:
    """Draw who offered and who accepted, over the session."""
    drawn: list[Section] = []
    for title, y_title, names in (
        ("Offers over the session", "offers, % of own actions",
         {"person": "person_triggered", "partner": "partner_triggered"}),
        ("Acceptance over the session", "accepted, % of offers",
         {"person accepts": "person_accepted", "partner accepts": "partner_accepted"}),
        ("Constructive hand-overs over the session", "hand-overs a game", {"constructive": "constructive"}),
        ("Score over the session", "score", {"score": "score"}),
    ):  # fmt: skip
        series = []
        for label, name in names.items():
            rows = [row for row in table if row[name] is not None]
            if rows:
                series.append(DrawnLine(label, *([row[column] for row in rows] for column in
                                            ("turn", name, f"{name}_low", f"{name}_high"))))  # fmt: skip
        if series and any(len(line.x) > 1 for line in series):
            drawing = lines(series, title=title, x_title="game of the session", y_title=y_title)
            drawn.append(Figure(drawing, title, "", title))
    return in_pairs(drawn)
