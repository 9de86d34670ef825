"""Reports from tables: cross-play, grades, and any set of tidy tables.

The caller summarises; this module only arranges, so that every number in a report is a number of a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from interplay.errors import InterplayError
from interplay.reports import diagrams, figures
from interplay.reports.document import (
    Columns,
    Figure,
    Group,
    KeyNumber,
    KeyNumbers,
    Report,
    ReportReplay,
    Section,
    TableSection,
    Text,
)
from interplay.reports.figures import FigureEstimate
from interplay.reports.formatting import privileged_in
from interplay.reports.svg import bracket, digits_for, label, shorten
from interplay.table import Row, Table, mean

CENTRES = ("estimate", "iqm", "mean", "value")  # columns that hold a summary, best first
WORDS = {"iqm": "Inter-quartile mean", "mean": "Mean", "estimate": "Estimate", "value": "Value"}
MOST_FIGURES = 8  # of one kind in a section; the table holds the rest
MOST_ROWS = 40  # of an interval plot


def build_report(
    tables: Mapping[str, Table],
    replays: Sequence[Mapping[str, Any]] = (),
    *,
    title: str,
    subtitle: str = "",
    intro: str = "",
    provenance: Mapping[str, Any] | None = None,
    first: Sequence[Section] = (),
) -> Report:
    """A report of any tables. Each is shown in the figures that its columns allow, and as a table.

    Args:
        tables: The tables by name.
        replays: Episodes to watch, as `replay_data` gives them.
        title: The title.
        subtitle: A line below it.
        intro: Text before the tables.
        provenance: What the page says of its origin.
        first: Sections before those of the tables.
    """
    head = [Text(intro)] if intro else []
    shown = [section for name, table in tables.items() for section in table_sections(name, table)]
    return Report(title, [*head, *first, *shown, *replay_sections(replays)], subtitle, provenance or {})


def crossplay_report(
    cells: Table,
    *,
    title: str = "Cross-play",
    subtitle: str = "",
    intro: str = "",
    tables: Mapping[str, Table] | None = None,
    replays: Sequence[Mapping[str, Any]] = (),
    provenance: Mapping[str, Any] | None = None,
    value: str | None = None,
    unit: str = "points",
) -> Report:
    """Return the report of a cross-play: everybody with everybody.

    Args:
        cells: A row per pair with agent, partner and an estimate (with low and high); it may have game, seat_of_agent,
            episodes, privileged and replay (a link `#replay-0@0`).
        title: The title.
        subtitle: A line below it.
        intro: Text before the tables.
        tables: Further tables by name.
        replays: Episodes to watch, as `replay_data` gives them.
        provenance: What the page says of its origin.
        value: The column with the estimate; by default the first of those that are known.
        unit: The unit of the estimate.

    Raises:
        InterplayError: A column is missing, or there are no rows.
    """
    require(cells, "agent", "partner")
    centre = centre_of(cells, value)
    sections: list[Section] = [KeyNumbers(_crossplay_numbers(cells, centre, unit))]
    for (game,), part in by_game(cells).items():
        where = f" in {game}" if game else ""
        sections.append(Columns(heat_maps(part, centre, unit), f"Who does well with whom{where}"))
        if len(part) <= MOST_ROWS:
            sections.append(intervals_figure(part, centre, f"Every pair{where}", unit))
    sections.append(TableSection(cells, "Pairs", name="pairs"))
    return build_report(
        tables or {}, replays, title=title, subtitle=subtitle, intro=intro, provenance=provenance, first=sections
    )


def grade_report(
    overall: Table,
    partners: Table,
    *,
    title: str = "Grade",
    subtitle: str = "",
    intro: str = "",
    tables: Mapping[str, Table] | None = None,
    replays: Sequence[Mapping[str, Any]] = (),
    provenance: Mapping[str, Any] | None = None,
    value: str | None = None,
    unit: str = "points",
) -> Report:
    """Return the report of one or several agents graded with a panel.

    Args:
        overall: One row per agent (and game) with its estimate and interval.
        partners: One row per agent, partner and seat.
        title: The title.
        subtitle: A line below it.
        intro: Text before the tables.
        tables: Further tables by name.
        replays: Episodes to watch, as `replay_data` gives them.
        provenance: What the page says of its origin.
        value: The column with the estimate; by default the first of those that are known.
        unit: The unit of the estimate.

    Raises:
        InterplayError: A column is missing, or there are no rows.
    """
    require(overall, "agent")
    require(partners, "agent", "partner")
    centre = centre_of(overall, value)
    sections: list[Section] = [KeyNumbers(_grade_numbers(overall, partners, centre, unit))]
    if len(overall) > 1:
        sections.append(intervals_figure(overall, centre, "Overall", unit))
    sections.append(TableSection(overall, "Grade", name="grade"))
    with_partner = centre_of(partners, value)
    for (game,), part in by_game(partners).items():
        sections.append(
            intervals_figure(part, with_partner, "With each partner" + (f" in {game}" if game else ""), unit)
        )
    sections.append(TableSection(partners, "Partners", name="partners"))
    return build_report(
        tables or {}, replays, title=title, subtitle=subtitle, intro=intro, provenance=provenance, first=sections
    )


def table_sections(name: str, table: Table) -> list[Section]:
    """A table with the figures that its columns allow: a heat map, who helps whom, intervals."""
    title = table.title or name.replace("_", " ").capitalize()
    names = set(table.columns)
    drawn: list[Section] = []
    centre = next((c for c in CENTRES if c in names), None)
    if len(table) and centre:
        if {"giver", "receiver"} <= names:
            graphs = help_graphs(table, centre)
            drawn += [Columns(graphs)] if graphs else []
        elif {"agent", "partner"} <= names and "episode" not in names:
            drawn += [Columns(heat_maps(table, centre))]
        elif {"low", "high"} <= names and len(table) <= MOST_ROWS:
            drawn += [replace(intervals_figure(table, centre, title, title.lower()), title="", name=name)]
    return [Group([*drawn, TableSection(table, name=name)], title)]


def replay_sections(replays: Sequence[Mapping[str, Any]]) -> list[Section]:
    """Return the section with the replays, or nothing where there are none."""
    hint = "Space plays and pauses, the arrow keys step; marks above the bar are points and hand-overs."
    return [ReportReplay(list(replays), "Replays", hint)] if replays else []


def heat_maps(cells: Table, value: str, what: str = "points") -> list[Section]:
    """One heat map per seating and metric."""
    by = [c for c in ("metric", "game", "seat_of_agent") if c in cells.columns and len(set(cells.column(c))) > 1]
    parts = cells.groups(*by) if by else {(): cells}
    maps: list[Section] = []
    for key, part in list(parts.items())[:MOST_FIGURES]:
        case = dict(zip(by, key, strict=True))
        words = ", ".join(f"agent in seat {v}" if c == "seat_of_agent" else str(v) for c, v in case.items())
        # The seatings of one game and measure share their colours, so that the maps can be compared.
        same = {c: v for c, v in case.items() if c != "seat_of_agent"}
        known = [v for v in cells.where(**same).column(value) if v is not None]
        maps.append(_heat_map(part, value, what, words, (min(known), max(known)) if known else None))
    return maps


def _heat_map(part: Table, value: str, what: str, words: str, bounds: tuple[float, float] | None) -> Figure:
    # Agents keep one order on both sides, so that self-play lies on the diagonal.
    agents = list(dict.fromkeys(part.column("agent")))
    partners = list(dict.fromkeys(part.column("partner")))
    partners = [a for a in agents if a in partners] + [p for p in partners if p not in agents]
    at = {(row["agent"], row["partner"]): row for row in part}
    if len(at) < len(part):
        raise InterplayError("a heat map needs one row for each agent and partner; summarise the table first")

    def grid(get):
        return [[get(at.get((a, p), {})) for p in partners] for a in agents]

    marked = privileged_names(part)
    drawing = figures.heat_map(
        agents,
        partners,
        grid(lambda row: row.get(value)),
        title=f"{what} of each agent with each partner" + (f", {words}" if words else ""),
        intervals=grid(lambda row: (row.get("low"), row.get("high"))),
        row_title="agent",
        column_title="partner",
        privileged=marked,
        bounds=bounds,
        links=grid(lambda row: row.get("replay")) if "replay" in part.columns else None,
    )
    caption = (
        f"{WORDS.get(value, value)} of {what}"
        + (f", {words}" if words else "")
        + ". A dash is a pair that was not played."
    )
    name = "-".join(["heat-map", value, *([str(part.rows[0]["game"])] if "game" in part.columns else []), words])
    return Figure(drawing, words, caption, name, privileged=bool(marked & {*agents, *partners}))


def intervals_figure(table: Table, value: str, title: str, unit: str = "") -> Figure:
    """The estimates of a table with their intervals, grouped by agent where partners tell the rows apart."""
    rows, marked = table.rows[:MOST_ROWS], privileged_names(table)
    of_several = "partner" in table.columns and bool(_varying(table, "agent"))
    estimates = [
        FigureEstimate(
            _row_name(row, table),
            row.get(value),
            row.get("low"),
            row.get("high"),
            str(row["agent"]) if of_several else "",
            privileged=row.get("partner", row.get("agent")) in marked,
        )
        for row in rows
    ]
    drawing = figures.interval_plot(estimates, title=title, x_title=unit)
    more = f" The first {len(rows)} of {len(table)} rows." if len(table) > len(rows) else ""
    caption = f"{WORDS.get(value, value)} with its interval.{more}"
    return Figure(drawing, title, caption, privileged=any(e.privileged for e in estimates))


def _varying(table: Table, *columns: str) -> list[str]:
    return [c for c in columns if c in table.columns and len(set(map(str, table.column(c)))) > 1]


def partner_name(row: Row, most: int = 56) -> str:
    """Return a partner by what it prefers, where that is known, and its name: "hoards dishes (c021.final)"."""
    prefers = row.get("prefers")
    name = shorten(str(row["partner"]))
    return f"{shorten(str(prefers), most)} ({name})" if prefers else name


def _row_name(row: Row, table: Table) -> str:
    if "partner" in table.columns:
        names = [partner_name(row)]
        names += [f"seat {row['seat_of_agent']}"] if _varying(table, "seat_of_agent") else []
        return ", ".join(names)
    names = _varying(table, "agent", "agents", "metric", "seat", "channel", "window", "game")
    return ", ".join(str(row[n]) for n in names) or str(next(iter(row.values()), ""))


def help_graphs(table: Table, value: str = "value") -> list[Section]:
    """Who helps whom, one graph per team and metric; several rows of a pair of seats are averaged, nulls left out."""
    by = [c for c in ("game", "agents", "metric", "channel") if c in table.columns]
    parts = table.groups(*by) if by else {(): table}
    graphs: list[Section] = []
    for key, part in list(parts.items())[:MOST_FIGURES]:
        edges: dict[tuple[int, int], float | None] = {}
        for (giver, receiver), rows in part.groups("giver", "receiver").items():
            if giver is None or receiver is None:
                continue
            edges[int(giver), int(receiver)] = mean(rows.column(value))
        if not edges:
            continue
        words = ", ".join(str(k) for k in key)
        seats = 1 + max(max(pair) for pair in edges)
        nodes = _seat_agents(part, seats)
        drawing = diagrams.help_graph(nodes, edges, title=f"Who helps whom: {words}", what="on average")
        graphs.append(Figure(drawing, "", f"{words}. Arrows go from giver to receiver.", f"who-helps-whom-{words}"))
    return graphs


def _seat_agents(part: Table, seats: int) -> list[str]:
    row = part.rows[0]
    together = str(row.get("agents") or "").split(" | ")
    spare = together if len(together) == seats else [f"seat {s}" for s in range(seats)]
    return [str(row.get(f"seat_{s}") or spare[s]) for s in range(seats)]


def centre_of(table: Table, value: str | None = None) -> str:
    """The column with the estimate."""
    column = value or next((c for c in CENTRES if c in table.columns), None)
    if column is None or column not in table.columns:
        wanted = value or " or ".join(CENTRES)
        raise InterplayError(f"no column {wanted} with an estimate; this table has {', '.join(table.columns)}")
    return column


def require(table: Table, *columns: str) -> None:
    """Check that a table has rows and these columns.

    Raises:
        InterplayError: It has not.
    """
    missing = [c for c in columns if c not in table.columns]
    if missing:
        raise InterplayError(f"the table lacks {', '.join(missing)}; it has {', '.join(table.columns)}")
    if not len(table):
        raise InterplayError("there is nothing to report: the table has no rows")


def by_game(table: Table) -> dict[tuple[Any, ...], Table]:
    """Return the parts of a table by game; a single part where it has no such column."""
    return table.groups("game") if "game" in table.columns else {("",): table}


def privileged_names(table: Table) -> set[str]:
    """The agents that a table marks as privileged; a bare yes speaks of the row's agent."""
    names = privileged_in(table)
    if {"privileged", "agent"} <= set(table.columns):
        names.update(row["agent"] for row in table if row["privileged"] is True)
    return names


def _crossplay_numbers(cells: Table, value: str, unit: str) -> list[KeyNumber]:
    known = [r for r in cells if r[value] is not None]
    agents = {*cells.column("agent"), *cells.column("partner")}
    numbers = [KeyNumber("agents", str(len(agents))), KeyNumber("pairings", str(len(known)))]
    if "episodes" in cells.columns:
        numbers.append(KeyNumber("episodes", str(sum(r["episodes"] or 0 for r in cells))))
    if known:
        digits = digits_for([r[value] for r in known])
        best, worst = max(known, key=lambda r: r[value]), min(known, key=lambda r: r[value])
        for name, row in (("best pair", best), ("worst pair", worst)):
            numbers.append(KeyNumber(name, label(row[value], digits), f"{unit}, {row['agent']} with {row['partner']}"))
    return numbers


def _grade_numbers(overall: Table, partners: Table, value: str, unit: str) -> list[KeyNumber]:
    digits = digits_for([v for r in overall for v in (r[value], r.get("low"), r.get("high"))])
    numbers = []
    for row in overall.rows[:3]:
        estimate, interval = label(row.get(value), digits), bracket(row.get("low"), row.get("high"), digits)
        what = f"{WORDS.get(value, value).lower()} of {unit}"
        if len(overall) == 1:
            numbers.append(KeyNumber(what, estimate, interval))
        else:
            where = f" in {row['game']}" if "game" in overall.columns else ""
            numbers.append(KeyNumber(f"{row['agent']}{where}", estimate, f"{what} {interval}".strip()))
    if len(overall) == 1 and overall.rows[0].get("br_prox") is not None:
        near = overall.rows[0]
        interval = f"[{near['br_prox_low']:.2f}, {near['br_prox_high']:.2f}]"
        numbers.append(KeyNumber("BR-Prox", f"{near['br_prox']:.2f}", f"of a best response {interval}"))
    if len(overall) == 1 and overall.rows[0].get("ignored_percent") is not None:
        helped = overall.rows[0]
        limits = bracket(helped.get("ignored_percent_low"), helped.get("ignored_percent_high"), 0)
        what = f"of what partners offered; it gets {helped['gets']:.1f} and gives {helped['gives']:.1f} an episode"
        what = f"{limits} {what}".strip()
        numbers.append(KeyNumber("ignored", f"{helped['ignored_percent']:.0f} %", what))
    episodes = sum(r["episodes"] or 0 for r in partners) if "episodes" in partners.columns else 0
    count = str(len(set(partners.column("partner"))))
    first = overall.rows[0]
    what = "partners" if first.get("sets") is None else f"sets of {first['partners']} partners"
    numbers.append(KeyNumber(what, count, f"{episodes:,} episodes" if episodes else ""))
    centre = centre_of(partners, value if value in partners.columns else None)
    known = [r for r in partners if r[centre] is not None]
    if known:
        worst = min(known, key=lambda r: r[centre])
        places = digits_for([r[centre] for r in known])
        what = f"{unit} with {partner_name(worst, 60)}"
        numbers.append(KeyNumber("hardest partner", label(worst[centre], places), what))
    return numbers
