"""Who helps whom, as sections of a report."""

from __future__ import annotations

from collections.abc import Sequence

from interplay.metrics.api import measure
from interplay.metrics.interdependence.metric import readable
from interplay.report import diagrams, figures
from interplay.report.build import help_graphs
from interplay.report.diagrams import Mark
from interplay.report.document import Columns, Figure, Group, Section, TableSection, Text
from interplay.stats import linear_fit, pearson
from interplay.table import Row, Table
from interplay.traces import TraceSet, game_of

MOST_EPISODES = 600  # counted for a report; `interplay measure` counts all
MOST_GROUPS = 6  # teams told apart by colour in the scatter

HELP_TEXT = (
    "A hand-over counts when one seat puts something where another takes it. It is **constructive** if it ended in "
    "the goal and did not go in a circle, **looping** if it came back or had been there before, **irrelevant** "
    "otherwise. *Triggers* are things put within a teammate's reach; the last columns tell how many nobody took."
)


def sections(traces: TraceSet, shown: Sequence[int], measured: Table | None = None) -> list[Section]:
    """Graph, table, scatter, and a timeline of each shown episode; nothing where the game cannot tell.

    `measured` is the table of score and interdependence, if it is at hand already."""
    if not all(readable(game_of(episode)) for episode in _one_per_game(traces)):
        return []
    part = traces if measured is not None else _sample(traces)
    rows = measured if measured is not None else measure(part, ["score", "interdependence"])
    found: list[Section] = [Text(HELP_TEXT)]
    if len(part) < len(traces):
        found.append(Text(f"Counted over {len(part)} of {len(traces)} episodes, the first of each team."))
    found.append(Columns(help_graphs(rows.where(metric="constructive"))))
    found.append(TableSection(_by_line_up(rows), name="who-helps-whom"))
    found += _scatter(rows)
    found += [_timeline(traces, number) for number in shown]
    found += _moments(traces, shown)
    return [Group(found, "Who helps whom")]


def hand_overs(traces: TraceSet, number: int) -> list[Mark]:
    """The hand-overs of an episode, as marks for its replay and timeline."""
    one = traces.select(where=lambda row: row["episode"] == number)
    if not readable(game_of(one[0])):
        return []
    detail = measure(one, ["interdependence"], detail=True)
    return [
        Mark(
            t=row["gave_t"] + 1,
            seat=row["giver"],
            kind=row["class"],
            label=f"{row['object']}: {row['gave']}, used by {row['used']}",
            to=row["receiver"],
            until=row["used_t"] + 1,
        )
        for row in detail
    ]


def _timeline(traces: TraceSet, number: int) -> Section:
    one = traces.select(where=lambda row: row["episode"] == number)[0]
    lanes = [identity.name for identity in one.agents]
    drawing = diagrams.timeline(
        lanes, hand_overs(traces, number), steps=one.length, episode=number, title=f"Hand-overs of episode {number}"
    )
    caption = "Each line goes from where something was put down to where it was used; a click shows the moment."
    return Figure(drawing, f"Hand-overs of episode {number}", caption, f"timeline-{number}")


def _moments(traces: TraceSet, shown: Sequence[int]) -> list[Section]:
    """Every hand-over of the shown episodes as a row that leads to its moment in the replay."""
    if not shown:
        return []
    rows = measure(traces.select(where=lambda row: row["episode"] in shown), ["interdependence"], detail=True)
    names = ("episode", "giver", "receiver", "object", "class", "channel", "gave_t", "used_t", "gave", "used")
    linked = [{"moment": f"#replay-{r['episode']}@{r['gave_t'] + 1}"} | {n: r[n] for n in names} for r in rows]
    if not linked:
        return []
    return [TableSection(Table.of(linked), "Every hand-over of the shown episodes", name="hand-overs")]


def _one_per_game(traces: TraceSet) -> list:
    first: dict[str, int] = {}
    for place, row in enumerate(traces.summary()):
        first.setdefault(str((row["game"], row["options"])), place)
    return [traces[place] for place in first.values()]


def _sample(traces: TraceSet) -> TraceSet:
    """All episodes, or the first few of each team if there are many."""
    if len(traces) <= MOST_EPISODES:
        return traces
    teams: dict[str, int] = {}
    each = max(1, MOST_EPISODES // len({str((row["game"], row["agents"])) for row in traces.summary()}))

    def among_first(row: Row) -> bool:
        team = str((row["game"], row["agents"]))
        teams[team] = teams.get(team, 0) + 1
        return teams[team] <= each

    return traces.select(where=among_first)


def _by_line_up(rows: Table) -> Table:
    """One row per team: what each seat gave, and how many of its offers nobody took."""
    made: list[Row] = []
    for (game, agents, channel), part in rows.where(window="unlimited").groups("game", "agents", "channel").items():
        line: Row = {"game": game, "agents": agents, "channel": channel}
        for kind in ("constructive", "looping", "irrelevant"):
            for (giver, receiver), links in part.where(metric=kind).groups("giver", "receiver").items():
                line[f"{kind} {giver} → {receiver}"] = _mean(links)
        for metric in ("triggers", "percent_not_accepted"):
            for (seat,), values in part.where(metric=metric).groups("seat").items():
                line[f"{metric.replace('_', ' ')}, seat {seat}"] = _mean(values)
        made.append(line)
    return Table.of(made, "Hand-overs per episode, by team")


def _mean(part: Table) -> float | None:
    present = [v for v in part.column("value") if v is not None]
    return sum(present) / len(present) if present else None


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
