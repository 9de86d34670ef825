"""The words of docs/results/interdependence.md. Every number in them comes from the results; every claim is checked."""

from __future__ import annotations

import sys
from typing import Any

from interplay.reports.paper_tables import LABELS, summary
from interplay.reports.paper_values import CONTRADICTIONS, published
from interplay.table import Row, Table

SEED = 0
CIRCUIT, FORCED = LAYOUTS = ("counter_circuit", "forced_coordination")
COUNTERS = "counters"
IGNORANT = ("stay", "dish_only")
CHANNEL_LABELS = {
    "int_cons": "constructive", "a_soup": "a soup", "least_a_soup": "least", "most_a_soup": "most",
    "reciprocal_percent": "% reciprocal", "pct_trig_not_accepted": "% not accepted",
}  # fmt: skip


def check(holds: bool, claim: str) -> None:
    if not holds:
        sys.exit(f"the page would say: {claim}; these numbers do not. Change the page's words, or find the cause.")


def one(table: Table, **equal: str) -> Row:
    (row,) = table.where(**equal).rows
    return row


def number(value: float | str | None, digits: int) -> str:
    return "–" if value is None else value if isinstance(value, str) else f"{value:.{digits}f}"


def markdown(table: Table, columns: dict[str, int], labels: dict[str, str] | None = None) -> list[str]:
    """A table for the page; `columns` maps each to its decimals."""
    names = {**LABELS, "int_cons_coop_matched": "coop, same soups", **(labels or {})}
    left = ("layout", "agent", "channel")
    lines = ["| " + " | ".join(names.get(c, c.replace("_", " ")) for c in columns) + " |"]
    lines.append("|" + "|".join("---" if c in left else "---:" for c in columns) + "|")
    for row in table:
        cells = []
        for column, digits in columns.items():
            low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
            ends = number(low, digits), number(high, digits)
            limits = "" if ends[0] == ends[1] else f" [{ends[0]}, {ends[1]}]"
            cells.append(number(row[column], digits) + limits)
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


PAPER = {"layout": 0, "agent": 0, "task_reward": 1, "int_cons": 2, "int_non_cons": 2}
RATES = {"pct_trig_tot_sub": 1, "pct_trig_not_accepted": 1}
BOUND = {"int_cons_coop": 2, "int_cons_coop_matched": 2}


def printed(*names: str) -> list[str]:
    table = published(*names)
    return markdown(table, {c: 0 for c in table.columns if c != "setting"})


def page(r: Any, command: str) -> str:
    lines = [
        "# Who helps whom, measured",
        "",
        f"All figures on this page are printed by `{command}`, which also writes an HTML report with replays "
        "(`out/interdependence/report.html`). What each column means: [interdependence](../guide/interdependence.md). "
        "Brackets are 95 % intervals over episodes or games (bootstrap); where all "
        "episodes agree there are none. A dash is null: nothing can be handed over, or nothing was offered.",
        "",
        *people_page(r),
        *scripted_page(r),
        *selfplay_page(r),
        *humans_page(r),
        *course_page(r),
        "## Where the paper disagrees with itself",
        "",
        *[f"- Table {n}: {note}" for n, notes in CONTRADICTIONS.items() for note in notes],
        "",
    ]
    return "\n".join(lines)


def people_page(r: Any) -> list[str]:
    c, games = r.channels, r.counters.episodes
    forced = games.where(layout=FORCED)
    exact = all(g["int_cons"] == 4 * g["soups"] for g in forced)
    check(not any(g["reciprocal"] for g in forced), "hand-overs of forced coordination go one way")
    check(exact and len(forced) > 0, "every human game of forced coordination has 4 constructive hand-overs a soup")
    circuit, best = one(c, layout=CIRCUIT, channel=COUNTERS), one(r.best, layout=CIRCUIT)
    check(best["int_cons"] == 0, "the best pair of counter circuit handed over nothing")
    none = sum(g["int_cons"] == 0 for g in games.where(layout=CIRCUIT))
    room, ring = (one(c, layout=name, channel=COUNTERS) for name in ("cramped_room", "coordination_ring"))
    check(room["a_soup"] < 0.1 and ring["a_soup"] < 0.1, "people hardly use counters in the room and the ring")
    shared = one(c, layout="asymmetric_advantages", channel=COUNTERS)["int_cons"]
    check(shared is None, "asymmetric advantages has no shared counter")
    check(not any(e["looping"] for e in r.people.episodes), "no hand-over of people loops")
    columns = {"layout": 0, "channel": 0, "games": 0, "soups": 1, "int_cons": 2, "a_soup": 3, "least_a_soup": 3}
    columns |= {"most_a_soup": 3, "reciprocal_percent": 0, "looping": 2, "irrelevant": 2, "pct_trig_not_accepted": 1}
    pots = {row["layout"]: row for row in c.where(channel="pots")}
    apart, spare = pots["asymmetric_advantages"], one(c, layout=FORCED, channel=COUNTERS)["irrelevant"]
    return [
        f"## {len(set(games.column('episode')))} games of people on five layouts",
        "",
        "The human-human games of 2019 that come with interplay, about 1,200 steps each. *counters* is the default "
        "channel: an item that one person put down and the other took. *pots* adds what passes through a pot: an onion "
        "that I pot in a soup that you plate, and the soup that I set cooking. *least* and *most* are constructive "
        "ones a soup in a single game.",
        "",
        *markdown(c, columns, CHANNEL_LABELS),
        f"- **Forced coordination: exactly 4 a soup, in each of its {len(forced)} games** (three onions and a dish, of "
        "which none can reach the pot otherwise). The count is not a matter of style there, it is the score in other "
        "units. All of it goes one way, from the side of the dispensers to the side of the pots. People put down more "
        f"than is used: {spare:.2f} hand-overs a game lead to no soup.",
        f"- **Counter circuit: {circuit['a_soup']:.2f} a soup.** The kitchen invites passing across the middle "
        f"counter, and {none} of {circuit['games']} pairs never did so to any use; the pair that did it most handed "
        f"over {circuit['most_a_soup']:.2f} a soup. Whether people help each other here is a choice, and the score "
        f"need not tell: the best pair ({best['task_reward']:.0f} points) handed over nothing.",
        f"- **Cramped room and coordination ring: {room['a_soup']:.3f} and {ring['a_soup']:.3f} a soup.** With the pot "
        "a few steps away nobody needs a counter. Read alone, the default channel would call these people strangers. "
        f"With pots it says the opposite: {pots['cramped_room']['a_soup']:.2f} and "
        f"{pots['coordination_ring']['a_soup']:.2f} a soup; they fill one pot together and serve what the "
        "other cooked.",
        "- **Asymmetric advantages has no counter that both can reach: null, not 0.** Through its pots people hand "
        f"over {apart['a_soup']:.2f} a soup, from {apart['least_a_soup']:.2f} to {apart['most_a_soup']:.2f} by pair: "
        "some divide the work, some cook side by side.",
        "- With pots, every onion put into a pot that the other can reach is an offer; what is not accepted there are "
        "soups that people plated themselves, or that nobody did.",
        "- No hand-over of any of these games loops: people do not pass a thing back and forth.",
        "",
    ]


def scripted_page(r: Any) -> list[str]:
    t, coop = r.table_1, summary(r.coop.episodes, seed=SEED)
    circuit = t.where(layout=CIRCUIT)
    bound = one(coop, layout=CIRCUIT)
    lost = {name: one(circuit, agent=name) for name in IGNORANT}
    check(all(x["pct_trig_not_accepted"] > 99 for x in lost.values()), "partners who ignore the passer take nothing")
    soups = [e for e in r.coop.episodes.where(layout=CIRCUIT) if e["soups"]]
    per_soup = sum(e["int_cons"] for e in soups) / sum(e["soups"] for e in soups)
    taker, plates, ours = (one(circuit, agent=name) for name in ("onion_only", "greedy", "onion_receiver"))
    check(plates["pct_trig_not_accepted"] < 25, "greedy takes most of what it is offered")
    check(taker["pct_trig_not_accepted"] < 60 and taker["int_cons"] == 0, "onion_only takes onions that reach no goal")
    theirs = {
        row["agent"]: float(row["int_cons_coop"]) / (float(row["task_reward"]) / 20)
        for row in published("1a")
        if float(row["task_reward"])
    }
    zero = [x["agent"] for x in t.where(layout=FORCED) if x["task_reward"] == 0]
    check(len(zero) == len(t.where(layout=FORCED)), "no agent scores with the passer in forced coordination")
    return [
        "## With a scripted cooperative partner (Table 1)",
        "",
        f"The partner is the onion passer, who puts onions on the middle counter and does nothing else; {r.episodes} "
        "episodes of 400 steps for each seating (both in counter circuit; in forced coordination the passer sits where "
        "the onions are).",
        "",
        *markdown(t, PAPER | BOUND | RATES),
        "Printed in the paper's Tables 1a and 1b, for its agents in counter circuit:",
        "",
        *printed("1a", "1b"),
        f"- **The upper bound.** The onion passer with its receiver, the joint policy, makes {bound['int_cons']:.2f} "
        f"constructive hand-overs an episode at a reward of {bound['task_reward']:.1f}: {per_soup:.2f} a soup, its "
        "three onions (the receiver fetches dishes itself). The paper's bound differs from agent to agent, "
        f"{theirs['COLE']:.2f} a soup for COLE and {theirs['MEP']:.2f} for MEP at 20 points a soup, so it seems to be "
        "matched to the soups of the team; both forms stand above. In forced coordination the bound is that of two "
        "greedy chefs, since a passer of onions alone leaves the other side without dishes.",
        f"- **Partners who ignore it.** {' and '.join(lost)} leave "
        f"{' and '.join(number(x['pct_trig_not_accepted'], 1) for x in lost.values())} % of what the passer offers: "
        "the counter fills up, and nothing more happens.",
        f"- **Taking is not yet cooperating.** onion_only takes what it is offered "
        f"({taker['pct_trig_not_accepted']:.1f} % not accepted) and fills the pots, but nobody plates: "
        f"{taker['int_non_cons']:.2f} hand-overs, {taker['int_cons']:.2f} of them constructive.",
        "- **A rule that looks at the counters is enough.** greedy, which can do every job alone, leaves "
        f"{plates['pct_trig_not_accepted']:.1f} % ({ours['pct_trig_not_accepted']:.1f} % for the receiver) and makes "
        f"{plates['int_cons']:.2f} constructive hand-overs; the paper's agents leave 75 % and more.",
        "",
    ]


def selfplay_page(r: Any) -> list[str]:
    t = r.table_2
    forced = [e for e in r.selfplay.episodes.where(layout=FORCED) if e["soups"]]
    check(all(e["int_cons"] == 4 * e["soups"] for e in forced), "self-play in forced coordination has 4 a soup")
    greedy = one(t, layout=CIRCUIT, agent="greedy"), one(t, layout=FORCED, agent="greedy")
    check(
        greedy[0]["int_cons_coop_matched"] > greedy[0]["int_cons_coop"] > greedy[0]["int_cons"],
        "two greedy chefs deliver more than the joint policy does, with fewer hand-overs",
    )
    return [
        "## Self-play (Table 2)",
        "",
        f"{r.episodes} episodes of 400 steps.",
        "",
        *markdown(t, PAPER | BOUND | RATES),
        "Printed in the paper's Table 2:",
        "",
        *printed("2"),
        "- The bound for the same soups may exceed the bound for an episode: two greedy chefs deliver more than the "
        "joint policy does, with fewer hand-overs.",
        f"- Whatever the agent, a soup in forced coordination stands on exactly 4 hand-overs ({len(forced)} episodes "
        "with soups). The paper's Table 2 does not keep to this (29.5 at a reward of 140, which is 7 soups or 28).",
        "- Reward and hand-overs part where cooperation is a choice: two greedy chefs score "
        f"{greedy[0]['task_reward']:.1f} in counter circuit with {greedy[0]['int_cons']:.2f} constructive hand-overs, "
        f"and {greedy[1]['task_reward']:.1f} in forced coordination with {greedy[1]['int_cons']:.2f}.",
        "",
    ]


def humans_page(r: Any) -> list[str]:
    human, own = r.relations
    labels = {"r": "r, people", "published": "r, published"}
    both = Table.of([{**row, "own": one(own, layout=row["layout"])["r"] if row["layout"] in LAYOUTS else None}
                     for row in human])  # fmt: skip
    forced = one(human, layout=FORCED)
    check(forced["r"] > 0.999999, "in forced coordination reward and hand-overs are the same thing")
    return [
        "## People (Table 4)",
        "",
        "The paper paired its agents with people. These are people with people, in longer games; counters only.",
        "",
        *markdown(r.table_4, PAPER | RATES | {"episodes": 0}, {"episodes": "games"}),
        "The best team of each layout:",
        "",
        *markdown(r.best, PAPER | RATES | {"episodes": 0}, {"episodes": "games"}),
        "Printed in Tables 4a and 4c, and for best teams in 4b:",
        "",
        *printed("4a", "4c"),
        *printed("4b"),
        "Reward against constructive hand-overs, Pearson's r over games of people, beside the paper's over its "
        "human-agent teams, and over the episodes of our agents in self-play:",
        "",
        *markdown(both, {"layout": 0, "episodes": 0, "r": 2, "published": 0, "own": 2},
                  labels | {"episodes": "games", "own": "r, self-play"}),
        "In forced coordination r is 1 by construction: each soup is 4 hand-overs. An r of 0.81, as printed, means "
        "that the counts stray from this identity. Elsewhere r says how far a team's score rests on passing things.",
        "",
    ]  # fmt: skip


def course_page(r: Any) -> list[str]:
    agents, people = r.thirds
    some = [row for row in r.session.where(layout=CIRCUIT) if row["agent"] in ("onion_receiver", "greedy")]
    check(all(p["first third"] is not None for p in people), "people made offers early in every layout with counters")
    return [
        "## Acceptance over time",
        "",
        "The share of offers that is taken within 20 steps, in per cent; offers of the last 20 steps are left out, "
        "since nobody knows what would have become of them. People, early and late in their games:",
        "",
        *markdown(people, _parts(people)),
        "Agents with the onion passer, early and late in an episode of 400 steps. Where nobody takes them, onions fill "
        "the counter early and no more can be offered:",
        "",
        *markdown(agents.where(layout=CIRCUIT), _parts(agents)),
        "Over the episodes of a session. Scripted chefs forget everything between episodes, so what differs here is "
        "chance: a yardstick for people and for agents that learn.",
        "",
        *markdown(Table.of(some), _parts(r.session)),
    ]


def _parts(table: Table) -> dict[str, int]:
    shown = [c for c in table.columns if not c.endswith(("_low", "_high")) and c not in ("layout", "agent", "partner")]
    return {"layout": 0, "agent": 0, "offers": 0} | {c: 1 for c in shown if c != "offers"}
