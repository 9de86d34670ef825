"""Who helps whom: the tables of the paper on interdependence with our scripted chefs and with people.

    python studies/interdependence.py                  # writes out/interdependence/report.html and the docs page
    python studies/interdependence.py --episodes 4 --out /tmp/small --page /tmp/small/page.md
    python studies/interdependence.py --agents overcooked/greedy runs/mep --proxy runs/bc    # trained agents as well

What the page claims in words is checked first: a run whose numbers say otherwise stops and tells so.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from interdependence_page import CHANNEL_LABELS, CIRCUIT, COUNTERS, FORCED, LAYOUTS, SEED, one, page

import interplay
from interplay.metrics.measured import MeasuredTraces
from interplay.reports import (
    Columns,
    Figure,
    Group,
    KeyNumber,
    KeyNumbers,
    Point,
    Report,
    ReportReplay,
    Section,
    TableSection,
    Text,
    scatter,
    teamwork,
    timeline,
)
from interplay.reports.assemble import show_episode
from interplay.reports.build import help_graphs
from interplay.reports.paper_tables import (
    HandOverCounts,
    across,
    best_teams,
    by_channel,
    correlations,
    count_hand_overs,
    over_episode,
    over_session,
    sections,
    summary,
)
from interplay.rollout.engine import run
from interplay.rollout.teams import Team
from interplay.table import Table
from interplay.traces import TraceSet
from interplay.traces.importers.overcooked_ai import human_episodes

HERE = Path(__file__).parent.parent
PASSER, RECEIVER, GREEDY = (f"overcooked/{n}" for n in ("onion_passer", "onion_receiver", "greedy"))
AGENTS = (
    RECEIVER,
    GREEDY,
    "overcooked/trial_partner",
    "overcooked/place_and_deliver",
    "overcooked/onion_only",
    "overcooked/dish_only",
    "random",
    "stay",
)
# In forced coordination dishes have to be handed over too, which the onion passer does not do.
JOINT = {CIRCUIT: (PASSER, RECEIVER), FORCED: (GREEDY, GREEDY)}


def play(layout: str, teams: Iterable[Sequence[str]], episodes: int) -> TraceSet:
    game = interplay.make(f"overcooked/{layout}")
    return TraceSet.in_memory(list(run(game, [Team.of(game, team) for team in teams], episodes=episodes, seed=SEED)))


def seatings(layout: str, agent: str, partner: str) -> list[tuple[str, str]]:
    """Both, except where the partner of the second seat alone reaches the onions."""
    return [(agent, partner)] if layout == FORCED else [(agent, partner), (partner, agent)]


def with_partner(agents: Sequence[str], partner: str, episodes: int) -> HandOverCounts:
    parts = [
        count_hand_overs(
            play(layout, [t for a in agents for t in seatings(layout, a, partner)], episodes), partner=partner
        )
        for layout in LAYOUTS
    ]
    return short(parts[0] + parts[1])


def short(found: HandOverCounts) -> HandOverCounts:
    """With the names of agents without their game."""

    def cut(table: Table) -> Table:
        rows = [{**r, **{c: r[c].removeprefix("overcooked/") for c in ("agent", "partner")}} for r in table]
        return Table.of(rows, table.title, columns=table.columns)

    return HandOverCounts(cut(found.episodes), cut(found.triggers))


class Results:
    """All that is measured, once."""

    def __init__(self, agents: Sequence[str], proxy: str | None, episodes: int):
        self.episodes = episodes
        print("playing with the scripted partner", flush=True)
        self.scripted = with_partner(agents, PASSER, episodes)
        print("self-play", flush=True)
        self.own = [play(layout, [(a, a) for a in agents], episodes) for layout in LAYOUTS]
        self.selfplay = short(count_hand_overs(self.own[0]) + count_hand_overs(self.own[1]))
        self.joint = {c: play(c, dict.fromkeys([JOINT[c], JOINT[c][::-1]]), episodes) for c in LAYOUTS}
        found = [count_hand_overs(traces, partner=PASSER) for traces in self.joint.values()]
        self.coop = short(found[0] + found[1])
        self.proxy = with_partner(agents, proxy, episodes) if proxy else None
        print("people", flush=True)
        self.human = TraceSet.in_memory(human_episodes())
        self.people = count_hand_overs(self.human, channels="each")
        self.counters = self.people.through(COUNTERS)
        # A layout without a shared counter has rows, too, all of them null.
        self.table_1 = summary(self.scripted.episodes, coop=self.coop.episodes, seed=SEED)
        self.table_2 = summary(self.selfplay.episodes, coop=self.coop.episodes, seed=SEED)
        self.table_4 = summary(self.counters.episodes, seed=SEED)
        self.best = summary(best_teams(self.counters.episodes), intervals=False)
        self.channels = by_channel(self.people.episodes, seed=SEED)
        self.thirds = [across(over_episode(f.triggers, seed=SEED)) for f in (self.scripted, self.counters)]
        self.session = across(over_session(self.scripted.triggers, seed=SEED))
        self.relations = correlations(self.counters.episodes), correlations(self.selfplay.episodes)


def report(r: Results, command: str) -> Report:
    circuit, forced = (one(r.channels, layout=name, channel=COUNTERS) for name in LAYOUTS)
    joint = one(summary(r.coop.episodes), layout=CIRCUIT)
    ignored = one(r.table_1, layout=CIRCUIT, agent="stay")["pct_trig_not_accepted"]
    numbers = KeyNumbers(
        [
            KeyNumber("people, forced coordination", f"{forced['a_soup']:.3f}", "constructive hand-overs a soup"),
            KeyNumber("people, counter circuit", f"{circuit['a_soup']:.3f}", "constructive hand-overs a soup"),
            KeyNumber("upper bound, counter circuit", f"{joint['int_cons']:.1f}", "an episode, passer with receiver"),
            KeyNumber("ignored by stay", f"{ignored:.0f} %", "of what the passer offers"),
        ],
    )
    digits = {"a_soup": 3, "least_a_soup": 3, "most_a_soup": 3, "int_cons": 1, "reciprocal_percent": 0}
    who = ("agent", "partner")
    limits = ("pct_trig_not_accepted_low", "pct_trig_not_accepted_high")
    classes = (*who, "looping", "irrelevant", "reciprocal_percent", "pct_trig_not_accepted", *limits)
    numbers_of = (*who, "games", "soups", "int_cons", "a_soup", "least_a_soup", "most_a_soup")
    people = Group(
        [
            Text(
                "*counters*: an item that one person put down and the other took. *pots*: what passes through a pot. "
                "A dash: nobody can hand anything over this way."
            ),
            TableSection(
                r.channels,
                name="people-by-channel",
                labels=CHANNEL_LABELS,
                digits=digits,
                hide=classes,
                intervals={"int_cons": ("int_cons_low", "int_cons_high")},
            ),
            TableSection(
                r.channels,
                "Their classes, and what was offered in vain",
                name="people-by-class",
                labels=CHANNEL_LABELS,
                digits=digits,
                hide=numbers_of,
            ),
            Columns([people_scatter(r, COUNTERS), people_scatter(r, "counters+pots")]),
        ],
        "People on five layouts, by channel",
    )
    tables: list[Section] = []
    for n, found in ((1, r.scripted), (2, r.selfplay), (3, r.proxy), (4, r.counters)):
        tables += sections(n, found, coop=r.coop if n < 4 else None, seed=SEED, explain=n == 1)
    return Report(
        "Who helps whom",
        [numbers, people, *tables, relations(r), course(r), *shown(r)],
        "The tables of the paper on interdependence, with scripted chefs and with people",
        {"command": command, "interplay": interplay.__version__, "seed": SEED, "episodes per seating": r.episodes},
    )


def people_scatter(r: Results, channel: str) -> Figure:
    names = {"coordination_ring": "ring", CIRCUIT: "circuit", "cramped_room": "room", FORCED: "forced"}
    places = [*names, "asymmetric_advantages"]  # layouts keep their colours in both figures
    points = [
        Point(
            e["int_cons"], e["task_reward"], f"{e['layout']}, game {e['episode']}", names.get(e["layout"], "asymmetric")
        )
        for e in sorted(r.people.through(channel).episodes, key=lambda e: places.index(e["layout"]))
        if e["int_cons"] is not None
    ]
    title = f"Score against constructive hand-overs: {channel}"
    drawing = scatter(points, title=title, x_title="constructive hand-overs in a game", y_title="score")
    told = "A point is a game. In forced coordination all lie on one line: 4 hand-overs a soup."
    return Figure(drawing, title, told, f"people-{channel}")


def relations(r: Results) -> Section:
    labels = {"published": "published r", "r": "Pearson's r"}
    parts = [
        TableSection(t, title, name=name, labels=labels, digits={"r": 2})
        for t, title, name in zip(r.relations, ("People", "Agents in self-play"), ("r-people", "r-agents"), strict=True)
    ]
    return Group(parts, "Reward against constructive hand-overs")


def course(r: Results) -> Section:
    told = "Offers taken within 20 steps, in per cent; those of the last 20 steps are left out."
    named = (
        (r.thirds[1], "People, over a game", "taken-people", ("agent", "partner")),
        (r.thirds[0], "Agents with the onion passer, over an episode", "taken-agents", ("partner",)),
        (r.session, "Agents with the onion passer, over a session", "taken-session", ("partner",)),
    )
    parts = [TableSection(t, title, name=name, hide=hide) for t, title, name, hide in named]
    return Group([Text(told), *parts], "Acceptance over time")


def shown(r: Results) -> list[Section]:
    """Who helps whom in two teams, and one episode of each to watch."""
    found: list[Section] = []
    replays = []
    graphs: list[Section] = []
    best = max(r.counters.episodes.where(layout=CIRCUIT), key=lambda e: e["int_cons"])["episode"]
    for traces, place in ((r.joint[CIRCUIT], 0), (r.human, best)):
        team = traces.select(where=lambda row, p=place: row["episode"] == p)
        measured = interplay.measure(team, ["interdependence"]).where(metric="constructive")
        graphs += help_graphs(measured)
        names = [a.name.removeprefix("overcooked/") for a in traces[place].agents]
        lanes = [f"{s + 1}: {name}" for s, name in enumerate(names)]
        one = MeasuredTraces(traces, shown=[place], most=1)
        marks = teamwork.hand_overs(one, place)
        title = f"Hand-overs of episode {place}: {' with '.join(names)}"
        drawing = timeline(lanes, marks, steps=traces[place].length, episode=place, title=title)
        found.append(Figure(drawing, title, "A click shows the moment in the replay below.", f"timeline-{place}"))
        replays.append(show_episode(one, place))
    return [Group([Columns(graphs), *found], "Two teams"), ReportReplay(replays, "Replays")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=30, help="for each seating")
    parser.add_argument("--agents", nargs="*", default=[], help="further agents under test, such as checkpoints")
    parser.add_argument("--proxy", help="an agent that stands for people, for Table 3")
    parser.add_argument("--out", type=Path, default=HERE / "out" / "interdependence")
    parser.add_argument("--page", type=Path, default=HERE / "docs" / "results" / "interdependence.md")
    options = parser.parse_args()
    command = f"python studies/interdependence.py --episodes {options.episodes}"
    command += f" --agents {' '.join(options.agents)}" if options.agents else ""
    command += f" --proxy {options.proxy}" if options.proxy else ""
    found = Results(list(dict.fromkeys([*AGENTS, *options.agents])), options.proxy, options.episodes)
    told = page(found, command)
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(told)
    print(told)
    print(report(found, command).write(options.out / "report.html"))


if __name__ == "__main__":
    main()
