"""Who helps whom, as sections of a report."""

from __future__ import annotations

from interplay.metrics.interdependence import OUTCOMES
from interplay.metrics.interdependence.metric import readable
from interplay.metrics.measured_traces import MeasuredTraces
from interplay.reports import diagrams, figures
from interplay.reports.diagrams import Mark
from interplay.reports.document import Columns, Figure, Group, Section, TableSection, Text
from interplay.reports.table_report import help_graphs
from interplay.stats import linear_fit, pearson
from interplay.table import Row, Table, mean

KINDS = ("constructive", "constructive_per_goal", "looping", "irrelevant")
MOST_GROUPS = 6  # teams told apart by colour in the scatter

HELP_TEXT = (
    "A hand-over counts when one seat puts something where another uses it: over a counter, through a pot. It is "
    "**constructive** if it ended in the goal and did not go in a circle, **looping** if it came back or was there "
    "before, **irrelevant** otherwise. *Triggers* are things put within a teammate's reach: *accepted* ones a teammate "
    "used, *parked* ones their giver took back, *ignored* ones nobody used. The table counts each channel apart, and "
    "all together; *per goal* is for each soup delivered or victim treated."
)


def sections(measured: MeasuredTraces) -> list[Section]:
    """Graph, table, scatter, and a timeline of each shown episode; nothing where a game cannot tell."""
    if not all(readable(game) for game in measured.games):
        return []
    rows = measured.measure(["score", "interdependence"])
    made: list[Section] = [Text(HELP_TEXT)]
    if len(measured.measured) < len(measured.summary):
        counts = f"{len(measured.measured)} of {len(measured.summary)}"
        made.append(Text(f"Counted over {counts} episodes, the first of each team."))
    made.append(Columns(help_graphs(rows.where(metric="constructive"))))
    by_channel = measured.measure(["interdependence"], channels="each")
    made.append(TableSection(_by_team(by_channel), name="who-helps-whom"))
    made += _scatter(rows)
    made += [_timeline(measured, number) for number in measured.shown]
    made += _moments(measured)
    return [Group(made, "Who helps whom")]


def hand_overs(measured: MeasuredTraces, number: int) -> list[Mark]:
    """The hand-overs of a shown episode, as marks for its replay and timeline."""
    if not readable(measured.episode(number)[0]):
        return []
    return [
        Mark(
            t=row["gave_t"] + 1,
            seat=row["giver"],
            kind=row["class"],
            label=f"{row['object']}: {row['gave']}, used by {row['used']}",
            to=row["receiver"],
            until=row["used_t"] + 1,
        )
        for row in _detail(measured)
        if row["episode"] == number
    ]


def _detail(measured: MeasuredTraces) -> Table:
    """Every hand-over of the shown episodes, where all of their games can tell."""
    return measured.measure(["interdependence"], shown=True, detail=True)


def _timeline(measured: MeasuredTraces, number: int) -> Section:
    _, episode, _ = measured.episode(number)
    lanes = [identity.name for identity in episode.agents]
    marks = hand_overs(measured, number)
    title = f"Hand-overs of episode {number}"
    drawing = diagrams.timeline(lanes, marks, steps=episode.length, episode=number, title=title)
    caption = "Each line goes from where something was put down to where it was used; a click shows the moment."
    return Figure(drawing, title, caption, f"timeline-{number}")


def _moments(measured: MeasuredTraces) -> list[Section]:
    """Every hand-over of the shown episodes as a row that leads to its moment in the replay."""
    if not measured.shown:
        return []
    names = ("episode", "giver", "receiver", "object", "class", "channel", "gave_t", "used_t", "gave", "used")
    linked = [
        {"moment": f"#replay-{r['episode']}@{r['gave_t'] + 1}"} | {n: r[n] for n in names} for r in _detail(measured)
    ]
    if not linked:
        return []
    return [TableSection(Table.of(linked), "Every hand-over of the shown episodes", name="hand-overs")]


def _by_team(rows: Table) -> Table:
    """One row per team and channel: what each seat gave, and what became of its offers."""
    made: list[Row] = []
    for (game, agents, channel), part in rows.where(window="unlimited").groups("game", "agents", "channel").items():
        line: Row = {"game": game, "agents": agents, "channel": channel}
        for kind in KINDS:
            for (giver, receiver), links in part.where(metric=kind).groups("giver", "receiver").items():
                line[f"{kind} {giver} → {receiver}"] = mean(links.column("value"))
        for metric in ("triggers", *OUTCOMES):
            for (seat,), values in part.where(metric=metric).groups("seat").items():
                line[f"{metric}, seat {seat}"] = mean(values.column("value"))
        made.append(line)
    return Table.of(made, "Hand-overs per episode, by team")


def _scatter(rows: Table) -> list[Section]:
    """Score against constructive hand-overs, an episode each, with r and its interval."""
    scores = {(r["game"], r["episode"]): (r["value"], r["agents"]) for r in rows.where(metric="score")}
    links: dict[tuple, float] = {}
    for row in rows.where(metric="constructive"):
        if row["value"] is not None:
            key = (row["game"], row["episode"])
            links[key] = links.get(key, 0) + row["value"]
    x, y = [links[k] for k in links], [scores[k][0] for k in links]
    if len(x) < 4 or len(set(x)) < 2 or len(set(y)) < 2:
        return []
    r, fit = pearson(x, y), linear_fit(x, y)
    note = f"r = {r.r:.2f} [{r.low:.2f}, {r.high:.2f}], {len(x)} episodes"
    points = [figures.Point(links[k], scores[k][0], f"{scores[k][1]}, episode {k[1]}", scores[k][1]) for k in links]
    if len({p.group for p in points}) > MOST_GROUPS:
        points = [p._replace(group="") for p in points]
    drawing = figures.scatter(
        points,
        title="Score against constructive hand-overs",
        x_title="constructive hand-overs",
        y_title="score",
        line=(fit.slope, fit.intercept),
        note=note,
    )
    caption = f"{note}. The interval treats episodes as independent, which those of one team are not."
    return [Figure(drawing, "Score against constructive hand-overs", caption, "score-against-constructive")]
