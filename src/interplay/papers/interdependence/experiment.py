"""The paper's teams with our agents: who plays with whom, in which kitchens, and what is counted.

Tables 1 to 3: FCP, MEP, HSP, COLE (the paper's methods) and clones of people, every seed on this machine, with a
scripted cooperative partner, with themselves, and with models of people, in a kitchen that requires cooperation
(forced coordination) and in one that does not (counter circuit). A seed is one trained agent; intervals are over seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.hub.manifest import AGENT
from interplay.hub.store import local_names
from interplay.papers.interdependence.published import SETTINGS, published
from interplay.papers.interdependence.tables import OUTCOMES, count_hand_overs
from interplay.rollout.engine import run
from interplay.rollout.teams import Team
from interplay.stats import bootstrap
from interplay.table import Row, Table, mean
from interplay.traces import TraceSet
from interplay.traces.importers.overcooked_ai import human_episodes

CIRCUIT, FORCED = LAYOUTS = tuple(SETTINGS)
METHODS = ("fcp", "mep", "hsp", "cole", "bc")  # bc: clones of people
PRINTED_NAMES = {"fcp": "FCP", "mep": "MEP", "hsp": "HSP", "cole": "COLE"}
# Forced coordination needs dishes handed over too, which the onion passer does not do.
SCRIPTED = {CIRCUIT: "overcooked/onion_passer", FORCED: "overcooked/greedy"}
PROXIES = ("bc-1", "bc-2", "bc-3")  # the clones that stand for people in Table 3
COUNTERS, POTS, BOTH = CHANNELS = ("counters", "pots", "counters+pots")
TABLES = {1: "with a scripted cooperative partner", 2: "in self-play", 3: "with models of people"}


def seeds(layout: str, method: str) -> list[str]:
    """Return the names of every seed of a method in a kitchen, in the order of their numbers.

    Raises:
        InterplayError: None is on this machine.
    """
    prefix = f"trained/overcooked/{layout}/{method}-"
    names = [n for n in local_names(AGENT) if n.startswith(prefix) and n.removeprefix(prefix).isdigit()]
    if not names:
        raise InterplayError(f"no agent {prefix}N is on this machine; the package interplay-agents has them")
    return sorted(names, key=lambda name: int(name.removeprefix(prefix)))


def _teams(number: int, layout: str, agent: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the teams of one agent in a table: who the partner is, and who sits where."""
    if number == 2:
        yield agent, (agent, agent)
        return
    partners = [SCRIPTED[layout]] if number == 1 else [f"trained/overcooked/{layout}/{name}" for name in PROXIES]
    for partner in partners:
        if partner == agent:  # a clone is not its own partner here
            continue
        yield partner, (agent, partner)
        yield partner, (partner, agent)


def episodes_of(
    number: int,
    *,
    methods: Sequence[str] = METHODS,
    episodes: int = 10,
    seed: int = 0,
    layouts: Sequence[str] = LAYOUTS,
) -> Table:
    """Play the teams of Table 1, 2 or 3 and return a row for each episode and channel.

    Args:
        number: Of the table.
        methods: Whose seeds are under test.
        episodes: Of each team and seating.
        seed: Of all chance.
        layouts: The kitchens.
    """
    rows: list[Row] = []
    for layout in layouts:
        game = make(f"overcooked/{layout}")
        # All teams of a kitchen play and are counted at once, since compiling takes longer than playing.
        named = [
            (method, partner, pair)
            for method in methods
            for agent in seeds(layout, method)
            for partner, pair in _teams(number, layout, agent)
        ]
        teams = [Team.of(game, pair) for _, _, pair in named]
        traces = TraceSet.in_memory(list(run(game, teams, episodes=episodes, seed=seed)))
        partners = [None if number == 2 else partner for _, partner, _ in named for _ in range(episodes)]
        counts = count_hand_overs(traces, partner=partners, channels="each").episodes
        rows += [{**row, "method": named[row["episode"] // episodes][0]} for row in counts]
    return Table.of(rows, f"Table {number}: {TABLES[number]}")


def people(traces: TraceSet | None = None) -> Table:
    """Count hand-overs of people: the games that come with interplay, or imported rounds of people with agents."""
    chosen = TraceSet.in_memory(human_episodes()) if traces is None else traces
    counts = count_hand_overs(chosen, partner=None if traces is None else "human", channels="each").episodes
    return Table.of([{**row, "method": row["agent"]} for row in counts], "Table 4: with people")


def table(episodes: Table, *, unit: str = "agent", names: Sequence[str] = (), seed: int = 0) -> Table:
    """Return one row for each kitchen and method: channels side by side, the paper's printed values beside them.

    Args:
        episodes: Rows of `episodes_of` or `people`.
        unit: What intervals are over: `agent` (seeds), or a column such as `episode`.
        names: The paper's tables whose values stand beside ours.
        seed: Of the bootstrap.
    """
    printed = {(r["layout"], r["agent"]): r for r in published(*names)} if names else {}
    rows: list[Row] = []
    for (layout, method), part in episodes.groups("layout", "method").items():
        by = {channel: part.where(channel=channel) for channel in CHANNELS}
        row: Row = {"layout": layout, "setting": SETTINGS.get(layout), "agent": method}
        row[f"{unit}s"] = len(set(part.column(unit)))
        row["episodes"] = len(by[BOTH])
        row |= _interval(by[BOTH], "task_reward", unit, seed)
        row |= _interval(by[COUNTERS], "int_cons", unit, seed)
        row |= {"int_cons_pots": _mean(by[POTS], "int_cons"), "int_cons_both": _mean(by[BOTH], "int_cons")}
        row["cons_a_soup"] = _a_soup(by[COUNTERS])
        row["cons_a_soup_both"] = _a_soup(by[BOTH])
        row["int_non_cons"] = _mean(by[COUNTERS], "int_non_cons")
        row["int_non_cons_both"] = _mean(by[BOTH], "int_non_cons")
        for name in OUTCOMES:
            row |= (
                _interval(by[COUNTERS], name, unit, seed)
                if name.endswith("not_accepted")
                else {name: _mean(by[COUNTERS], name)}
            )
        row["pct_trig_not_accepted_both"] = _mean(by[BOTH], "pct_trig_not_accepted")
        theirs = printed.get((layout, PRINTED_NAMES.get(method, method)), {})
        for name in ("task_reward", "int_cons", "int_non_cons", "pct_trig_tot_sub", "pct_trig_not_accepted"):
            if names and any(name in r for r in printed.values()):
                row[f"published_{name}"] = theirs.get(name)
        rows.append(row)
    return Table.of(rows, episodes.title)


def _mean(part: Table, column: str) -> float | None:
    return mean(part.column(column))


def _a_soup(part: Table) -> float | None:
    known = [r for r in part if r["int_cons"] is not None and r["soups"]]
    soups = sum(r["soups"] for r in known)
    return sum(r["int_cons"] for r in known) / soups if soups else None


def _interval(part: Table, column: str, unit: str, seed: int) -> Row:
    """Return the mean with an interval over the units; without one where there are fewer than two."""
    known = [r for r in part if r[column] is not None]
    row: Row = {column: _mean(part, column), f"{column}_low": None, f"{column}_high": None}
    units = [r[unit] for r in known]
    if len(set(units)) > 1:
        values = [r[column] for r in known]
        made = bootstrap(values, {unit: units}, seed=seed, units=[unit], statistic="mean", episodes=False)
        row |= {f"{column}_low": made.low, f"{column}_high": made.high}
    return row


def by_person(traces: TraceSet) -> Table:
    """Return who offered and who accepted, a row for each person, partner and kitchen of imported rounds."""
    from interplay.metrics.api import samples
    from interplay.metrics.interdependence import OUTCOMES as ENDS
    from interplay.metrics.interdependence.metric import interdependence

    sums: dict[tuple[str, ...], dict[str, float]] = {}
    for sample in samples(traces, {"channels": "each"}):
        for episode, counts in interdependence(sample):
            seat = next((s for s, who in enumerate(episode.agents) if who.name == "human"), None)
            if seat is None:
                raise InterplayError("no seat of an episode is called human; import rounds with overcooked-web")
            partner = next(who.name for s, who in enumerate(episode.agents) if s != seat)
            for count in counts:
                who = str(episode.agents[seat].config.get("person"))
                key = (who, partner, episode.game_id.partition("/")[2], count.channel)
                total = sums.setdefault(key, {"rounds": 0.0, "score": 0.0})
                total["rounds"] += 1
                total["score"] += episode.score
                for side, mine in (("person", seat), ("partner", 1 - seat)):
                    for end in ("triggers", *ENDS):
                        number = count.num_triggers(mine) if end == "triggers" else count.num_outcome(end, mine)
                        column = f"{side}_{'offered' if end == 'triggers' else end}"
                        total[column] = total.get(column, 0) + (number or 0)
    columns = ("person", "partner", "layout", "channel")
    rows = [dict(zip(columns, key)) | {"score": v["score"] / v["rounds"]} | _counts(v) for key, v in sums.items()]
    return Table.of(rows, "Who offered, and what became of it; `person_accepted`: offers of the person that were taken")


def _counts(values: dict[str, float]) -> Row:
    return {name: int(value) for name, value in values.items() if name != "score"}


def statements(number: int, made: Table) -> list[str]:
    """Say in words whether the paper's claim of a table carries over to these agents, with the numbers.

    Args:
        number: Of the table.
        made: As `table` returns it.
    """
    rows = [r for r in made if r["layout"] == CIRCUIT and r["agent"] in PRINTED_NAMES]
    forced = [r for r in made if r["layout"] == FORCED and r["agent"] in PRINTED_NAMES]
    lines: list[str] = []
    if number == 1:
        left = {r["agent"]: r["pct_trig_not_accepted"] for r in rows if r["pct_trig_not_accepted"] is not None}
        alike = [name for name, share in left.items() if share >= 75]
        shares = ", ".join(f"{PRINTED_NAMES[name]} {share:.0f} %" for name, share in left.items())
        claim = "The paper: trained agents leave 76 to 100 % of a cooperative partner's offers (counter circuit)."
        if left:
            verdict = (
                "carries over" if len(alike) == len(left) else "does not carry over" if not alike else "holds in part"
            )
            lines.append(f"{claim} This {verdict}: ours leave {shares}.")
    if number in (2, 3):
        more = [PRINTED_NAMES[r["agent"]] for r in rows if (r["int_non_cons"] or 0) > (r["int_cons"] or 0)]
        most = "all" if len(more) == len(rows) else ", ".join(more) or "none"
        lines.append(
            "The paper: where cooperation is not required, non-constructive hand-overs exceed constructive ones "
            f"(counters). Ours: {most} of {', '.join(PRINTED_NAMES[r['agent']] for r in rows)}."
        )
    exact = [r["cons_a_soup"] for r in forced if r["cons_a_soup"] is not None]
    if exact:
        lines.append(
            f"Forced coordination: {min(exact):.2f} to {max(exact):.2f} constructive hand-overs a soup; 4 are needed."
        )
    return lines


def for_people(made: Table) -> Table:
    """Return a table of `table` in few columns: a value with its interval and, as `(paper ...)`, the printed one."""
    unit = next(c for c in made.columns if c in ("agents", "episodes"))

    def cell(row: Row, name: str, digits: int) -> str | None:
        if row.get(name) is None:
            return None
        low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
        text = f"{row[name]:.{digits}f}" + ("" if low is None else f" [{low:.{digits}f}, {high:.{digits}f}]")
        printed = row.get(f"published_{name}")
        return text if printed is None else f"{text} (paper {printed})"

    columns = {
        "reward": ("task_reward", 0), "cons, counters": ("int_cons", 1), "cons, pots": ("int_cons_pots", 1),
        "cons, both": ("int_cons_both", 1), "a soup, counters": ("cons_a_soup", 2),
        "a soup, both": ("cons_a_soup_both", 2), "non-cons, counters": ("int_non_cons", 1),
        "non-cons, both": ("int_non_cons_both", 1), "% triggered": ("pct_trig_tot_sub", 0),
        "% not accepted": ("pct_trig_not_accepted", 0), "% parked": ("pct_trig_parked", 0),
        "% ignored": ("pct_trig_ignored", 0),
    }  # fmt: skip
    rows = [
        {"layout": r["layout"], "agent": PRINTED_NAMES.get(r["agent"], r["agent"]), unit: r[unit]}
        | {label: cell(r, *name) for label, name in columns.items()}
        for r in made
    ]
    return Table.of(rows, made.title)
