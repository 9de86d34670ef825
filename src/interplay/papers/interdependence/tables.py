"""The tables of the paper on interdependence, for any agents: counts with intervals beside what was printed.

    counts = count_hand_overs(traces, partner="overcooked/onion_passer")
    joint = count_hand_overs(interplay.play(game, ["overcooked/onion_passer", "overcooked/onion_receiver"]))
    Report("...", sections(1, counts, coop=joint))

Table 1 is for teams with a scripted partner, 2 for self-play, 3 for a model of people as partner, 4 for people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from interplay.errors import InterplayError
from interplay.metrics.api import Sample, samples
from interplay.metrics.interdependence.metric import interdependence
from interplay.metrics.interdependence.records import (
    CONSTRUCTIVE,
    IRRELEVANT,
    LOOPING,
    PARKED,
    Interdependence,
    Window,
)
from interplay.papers.interdependence.published import CONTRADICTIONS, PARTS, PEARSON, SETTINGS, SOURCE, published
from interplay.reports.document import Group, Section, TableSection, Text
from interplay.stats import bootstrap, pearson
from interplay.table import Row, Table, mean
from interplay.traces import TraceSet

BY = ("layout", "agent", "partner")
OUTCOMES = ("pct_trig_tot_sub", "pct_trig_not_accepted", "pct_trig_parked", "pct_trig_ignored")
MEASURED = ("task_reward", "int_cons", "int_non_cons", *OUTCOMES)
SOON = Window("20 steps", 20)
THIRDS = ("first third", "middle third", "last third")

TITLES = {
    1: "Table 1: with a scripted cooperative partner",
    2: "Table 2: self-play",
    3: "Table 3: with a model of people",
    4: "Table 4: with people",
}
LABELS = {
    "task_reward": "task reward",
    "int_cons": "Int cons",
    "int_non_cons": "Int non-cons",
    "int_cons_coop": "Int cons coop",
    "int_cons_coop_matched": "same soups",
    "pct_trig_tot_sub": "% triggered",
    "pct_trig_not_accepted": "% not accepted",
    "pct_trig_parked": "% parked",
    "pct_trig_ignored": "% ignored",
}
EXPLAINED = (
    "*Int cons* and *Int non-cons* are constructive and other hand-overs of the team per episode. *Int cons coop* is "
    "the constructive count when both seats follow the joint policy: as it is, and (*same soups*) for as many soups as "
    "the team delivered. *% triggered* is the share of the partner's sub-tasks that put something where the "
    "agent could take it, *% not accepted* the share of these that the agent never took: *% parked*, taken back by the "
    "partner, and *% ignored*, used by nobody. Where both seats are of one "
    "kind, each is agent and partner, and their triggers are added up. Intervals (95 %) are over episodes."
)


@dataclass(frozen=True)
class HandOverCounts:
    """The hand-overs counted in some traces."""

    episodes: Table  # a row per episode (and per channel, if several were asked for)
    triggers: Table  # a row per trigger of a partner: when, and how long until the agent under test took it

    def __add__(self, other: HandOverCounts) -> HandOverCounts:
        return HandOverCounts(self.episodes + other.episodes, self.triggers + other.triggers)


def count_hand_overs(
    traces: TraceSet, *, partner: str | Sequence[str | None] | None = None, channels: str | None = "counters"
) -> HandOverCounts:
    """Counts the hand-overs of every episode.

    `partner` is the name of the partner, or a pattern such as `human*`, or one for each episode; the others are under
    test. Teams of one kind (self-play, people) need no partner. `channels` as for the metric: names joined by +, `all`,
    or `each`; by default counters, which the paper's numbers fit.
    """
    episodes: list[Row] = []
    triggers: list[Row] = []
    for sample in samples(traces, {"channels": channels}):
        played = zip(sample.numbers, interdependence(sample), _soups(sample), strict=True)
        for number, (episode, counts), soups in played:
            who = partner if partner is None or isinstance(partner, str) else partner[number]
            team = _team([a.name for a in episode.agents], who)
            about = {"layout": episode.game_id.partition("/")[2], "agent": team.agent, "partner": team.partner}
            about |= {"seat_of_agent": team.where, "episode": number, "index": episode.index}
            for count in counts:
                mine = {**about, "channel": count.channel}
                episodes.append({**mine, "soups": soups, "task_reward": episode.score, **_counts(count, team)})
                triggers += [{**mine, **row} for row in _waits(count, team)]
    trigger_columns = (*BY, "seat_of_agent", "episode", "index", "channel", "t", "length", "waited")
    return HandOverCounts(Table.of(episodes, "Episodes"), Table.of(triggers, "Triggers", columns=trigger_columns))


class _Team(NamedTuple):
    agent: str
    partner: str
    seats: set[int]  # of the agent under test
    others: set[int]  # of its partner; the same where everybody is of one kind

    @property
    def where(self) -> str:
        return "any" if self.seats == self.others else ", ".join(map(str, sorted(self.seats)))


def _team(names: Sequence[str], partner: str | None) -> _Team:
    everyone = set(range(len(names)))
    if len(set(names)) == 1:
        return _Team(names[0], names[0], everyone, everyone)
    others = {s for s in everyone if partner is not None and fnmatchcase(names[s], partner)}
    if partner is not None and others == everyone:
        return _Team(partner, partner, everyone, everyone)
    agents = {names[s] for s in everyone - others}
    if len(agents) > 1:
        reason = "no partner was named" if partner is None else f"the partner {partner!r} does not tell"
        raise InterplayError(
            f"who is under test in the team of {', '.join(names)}? {reason}; set partner to one of them"
        )
    return _Team(agents.pop(), " and ".join(sorted({names[s] for s in others})), everyone - others, others)


def _counts(count: Interdependence, team: _Team) -> Row:
    """The columns of the paper for one episode; null where nothing can be handed over."""
    kinds = {kind: count.number(kind) for kind in (CONSTRUCTIVE, LOOPING, IRRELEVANT)}
    both = count.number()
    offers = [t for t in count.triggers if t.seat in team.others]
    can = any(count.partners.get(seat) for seat in team.others)
    taken = sum(t.accepted_by in team.seats for t in offers)
    parked = sum(t.outcome == PARKED for t in offers)
    return {
        "int_cons": kinds[CONSTRUCTIVE],
        "int_non_cons": None if both is None else both - (kinds[CONSTRUCTIVE] or 0),
        **{kind: kinds[kind] for kind in (LOOPING, IRRELEVANT)},
        "reciprocal": None if both is None else sum(k.reciprocal and k.kind == CONSTRUCTIVE for k in count.links),
        "pct_trig_tot_sub": _percent(len(offers), sum(count.subtasks[s] for s in team.others)) if can else None,
        "pct_trig_not_accepted": _percent(len(offers) - taken, len(offers)),
        "pct_trig_parked": _percent(parked, len(offers)),
        "pct_trig_ignored": _percent(len(offers) - taken - parked, len(offers)),
    }


def _waits(count: Interdependence, team: _Team) -> Iterator[Row]:
    for t in count.triggers:
        if t.seat in team.others:
            waited = None if t.accepted_t is None or t.accepted_by not in team.seats else t.accepted_t - t.t
            yield {"t": t.t, "length": count.length, "waited": waited}


def _soups(sample: Sample) -> Iterator[int | None]:
    """Delivered soups that were ordered; null in a game without deliveries."""
    names = list(sample.game.event_names)
    for replay in sample.replays:
        counts = replay.steps.events.sum(axis=(0, 1))
        if "delivery" not in names:
            yield None
            continue
        wasted = counts[names.index("deliver_useless_order")] if "deliver_useless_order" in names else 0
        yield int(counts[names.index("delivery")] - wasted)


def _percent(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def _interval(part: Table, column: str, seed: int, name: str | None = None) -> Row:
    """The mean with its interval over episodes; the seats of the agent under test are kept in their shares."""
    values, column_name = part.column(column), name or column
    row: Row = {column_name: mean(values), f"{column_name}_low": None, f"{column_name}_high": None}
    seats = part.column("seat_of_agent")
    seen = Counter(seat for seat, value in zip(seats, values, strict=True) if value is not None)
    if min(seen.values(), default=0) > 1:
        resampled = bootstrap(
            values, {"seat": seats}, seed=seed, units=(), fixed=["seat"], statistic="mean", missing="drop"
        )
        row |= {f"{column_name}_low": resampled.low, f"{column_name}_high": resampled.high}
    return row


def summary(episodes: Table, *, coop: Table | None = None, seed: int = 0, intervals: bool = True) -> Table:
    """A row per layout and team: the paper's columns. `coop` holds the episodes of the joint policy."""
    rows: list[Row] = []
    for (layout, agent, partner), part in episodes.groups(*BY).items():
        row: Row = {"layout": layout, "setting": SETTINGS.get(layout), "agent": agent, "partner": partner}
        row["episodes"] = len(part)
        for metric in MEASURED[:3]:
            row |= _interval(part, metric, seed)
        row |= _upper_bound(part, coop.where(layout=layout) if coop else None, seed)
        for metric in MEASURED[3:]:
            row |= _interval(part, metric, seed)
        rows.append(row if intervals else {k: v for k, v in row.items() if not k.endswith(("_low", "_high"))})
    return Table.of(rows, "Measured here")


def _upper_bound(part: Table, coop: Table | None, seed: int) -> Row:
    """Constructive hand-overs of the joint policy: per episode, and for as many soups as this team delivered."""
    if not coop:
        names = ("int_cons_coop", "int_cons_coop_matched")
        return {f"{name}{end}": None for name in names for end in ("", "_low", "_high")}
    soups = sum(s or 0 for s in coop.column("soups"))
    per_soup = sum(n or 0 for n in coop.column("int_cons")) / soups if soups else None
    matched = [
        {**row, "matched": None if per_soup is None or row["soups"] is None else per_soup * row["soups"]}
        for row in part
    ]
    return {
        **_interval(coop, "int_cons", seed, "int_cons_coop"),
        **_interval(Table.of(matched), "matched", seed, "int_cons_coop_matched"),
    }


def best_teams(episodes: Table) -> Table:
    """The episodes with the highest reward of each agent in each layout: one, or several that are equal."""
    rows: list[Row] = []
    for part in episodes.groups(*BY).values():
        best = max(part.column("task_reward"))
        rows += part.where(task_reward=best).rows
    return Table.of(rows, episodes.title, columns=episodes.columns)


def by_channel(episodes: Table, *, seed: int = 0) -> Table:
    """A row per layout, team and channel: hand-overs of each class, and constructive ones a soup."""
    rows: list[Row] = []
    for (layout, agent, partner, channel), part in episodes.groups(*BY, "channel").items():
        each = [r["int_cons"] / r["soups"] for r in part if r["int_cons"] is not None and r["soups"]]
        soups, links = sum(s or 0 for s in part.column("soups")), part.column("int_cons")
        constructive = None if all(n is None for n in links) else sum(n or 0 for n in links)
        mutual = sum(n or 0 for n in part.column("reciprocal"))
        rows.append(
            {
                "layout": layout, "agent": agent, "partner": partner, "channel": channel, "games": len(part),
                "soups": mean(part.column("soups")), **_interval(part, "int_cons", seed),
                "a_soup": constructive / soups if constructive is not None and soups else None,
                "least_a_soup": min(each, default=None), "most_a_soup": max(each, default=None),
                "reciprocal_percent": _percent(mutual, constructive or 0),
                LOOPING: mean(part.column(LOOPING)), IRRELEVANT: mean(part.column(IRRELEVANT)),
                **_interval(part, "pct_trig_not_accepted", seed),
            }
        )  # fmt: skip
    return Table.of(rows, "Hand-overs by channel")


def correlations(episodes: Table) -> Table:
    """Pearson's r of reward and constructive hand-overs for each layout and channel, beside the published r.

    The paper's numbers fit counters, so that other channels have none beside them.
    """
    rows: list[Row] = []
    for (layout, channel), part in episodes.groups("layout", "channel").items():
        pairs = [(r["task_reward"], r["int_cons"]) for r in part if r["int_cons"] is not None]
        row: Row = {"layout": layout, "setting": SETTINGS.get(layout), "channel": channel, "episodes": len(pairs)}
        row |= {"r": None, "r_low": None, "r_high": None}
        if len(pairs) > 3 and all(len(set(column)) > 1 for column in zip(*pairs, strict=True)):
            correlation = pearson(*zip(*pairs, strict=True))
            row |= {"r": correlation.r, "r_low": correlation.low, "r_high": correlation.high}
        row["published"] = PEARSON.get(SETTINGS.get(layout, "")) if channel == "counters" else None
        rows.append(row)
    return Table.of(rows, "Reward against constructive hand-overs")


def over_episode(triggers: Table, *, window: Window = SOON, seed: int = 0) -> Table:
    """How much of what partners offer is taken, early and late in an episode."""
    return _taken(triggers, window, seed, lambda row: THIRDS[min(2, 3 * row["t"] // max(row["length"], 1))], THIRDS)


def over_session(triggers: Table, *, window: Window = SOON, parts: int = 3, seed: int = 0) -> Table:
    """The same over the episodes that a team played one after the other, cut into `parts` by their index."""
    last = max(triggers.column("index"), default=0) + 1
    parts = min(parts, last)
    bounds = [(last * n // parts, last * (n + 1) // parts - 1) for n in range(parts)]
    names = [f"episode {a}" if a == b else f"episodes {a} to {b}" for a, b in bounds]

    def part(row: Row) -> str:
        return next(name for name, (_, b) in zip(names, bounds, strict=True) if row["index"] <= b)

    return _taken(triggers, window, seed, part, names)


def _taken(triggers: Table, window: Window, seed: int, part: Callable[[Row], str], parts: Sequence[str]) -> Table:
    """Rates per episode and part, averaged.

    Triggers whose window outlasts the episode are left out: nobody can tell whether they would have been taken in time.
    """
    rows: list[Row] = []
    for (layout, agent, partner), mine in (triggers.groups(*BY) if len(triggers) else {}).items():
        rates: dict[str, dict[tuple[Any, ...], list[bool]]] = {name: {} for name in parts}
        for row in mine:
            if window.steps is not None and row["t"] + window.steps > row["length"]:
                continue
            soon = row["waited"] is not None and (window.steps is None or row["waited"] <= window.steps)
            key = (row["episode"], row["seat_of_agent"])
            rates[part(row)].setdefault(key, []).append(soon)
        for name in parts:
            each = [
                {"taken_percent": 100 * sum(taken) / len(taken), "seat_of_agent": key[1]}
                for key, taken in rates[name].items()
            ]
            interval = _interval(Table.of(each, columns=["taken_percent", "seat_of_agent"]), "taken_percent", seed)
            total = sum(len(taken) for taken in rates[name].values())
            rows.append(
                {"layout": layout, "agent": agent, "partner": partner, "part": name, "offers": total, **interval}
            )
    return Table.of(rows, f"Offers that were taken within {window.name}")


def sections(
    number: int,
    counts: HandOverCounts | None,
    *,
    coop: HandOverCounts | None = None,
    seed: int = 0,
    explain: bool = True,
) -> list[Section]:
    """One of the paper's tables, 1 to 4: measured here (if there is anything), as printed, and what to know of it."""
    if number not in TITLES:
        raise InterplayError(f"the paper has tables 1 to 4, not {number}")
    parts: list[Section] = [Text(EXPLAINED)] if explain else []
    if counts is None:
        parts.append(Text("No agents were played for this table here."))
    else:
        joint = coop.episodes if coop else None
        parts += measured_sections(summary(counts.episodes, coop=joint, seed=seed), f"table-{number}")
    parts.append(published_section(f"Printed in {' and '.join(f'Table {n}' for n in PARTS[number])}", *PARTS[number]))
    if number == 4:
        if counts is not None:
            best = summary(best_teams(counts.episodes), intervals=False)
            parts += measured_sections(best, "table-4-best", "Best teams: the highest reward of each agent")
        parts.append(published_section("Best teams as printed in Table 4b", "4b"))
    notes = "\n".join(f"- {note}" for note in CONTRADICTIONS[number])
    parts.append(Text(f"The paper disagrees with itself here, and its figures stand uncorrected:\n\n{notes}"))
    return [Group(parts, TITLES[number])]


def measured_sections(table: Table, name: str, title: str = "Measured here") -> list[TableSection]:
    """A summary as sections, one for each layout if several agents have to be told apart."""
    if len(set(table.column("agent"))) == 1:
        return [_measured(table, name, title, ["agent", "setting"])]
    sections_made = []
    for (layout, setting), part in table.groups("layout", "setting").items():
        where = f"{layout} ({setting})" if setting else layout
        sections_made.append(_measured(part, f"{name}-{layout}", f"{title}: {where}", ["layout", "setting"]))
    return sections_made


def _measured(table: Table, name: str, title: str, hide: list[str]) -> TableSection:
    """A section without the columns that are empty or have one value; such values stand in the caption."""
    empty = [c for c in table.columns if all(v is None for v in table.column(c)) and not c.endswith(("_low", "_high"))]
    partners = set(table.column("partner"))
    own = all(row["agent"] == row["partner"] for row in table)
    captions = {
        f"Agent: {table.rows[0]['agent']}": "agent" in hide,
        "each seat is agent and partner": own,
        f"partner: {min(partners)}": len(partners) == 1 and not own,
    }
    bound = {(row["int_cons_coop"], row.get("int_cons_coop_low"), row.get("int_cons_coop_high")) for row in table}
    if len(bound) == 1 and "int_cons_coop" not in empty and len(table) > 1:
        centre, low, high = bound.pop()
        spread = "" if low is None else f" [{low:.1f}, {high:.1f}]"
        captions[f"Int cons coop: {centre:.1f}{spread} an episode"] = True
        empty.append("int_cons_coop")
    hidden = [*hide, *empty, *(["partner"] if own or len(partners) == 1 else [])]
    limits = {c: (f"{c}_low", f"{c}_high") for c in table.columns if f"{c}_low" in table.columns}
    hidden += [limit for c in empty for limit in limits.pop(c, ())]
    caption = "; ".join(words for words, needed in captions.items() if needed)
    return TableSection(
        table, title, caption, name=name, labels=LABELS, hide=list(dict.fromkeys(hidden)), intervals=limits
    )


def published_section(title: str, *names: str) -> TableSection:
    """The printed figures, digit for digit."""
    caption = f"Source: {SOURCE}. " + ", ".join(f"{setting}: {layout}" for layout, setting in SETTINGS.items())
    return TableSection(
        published(*names), title, caption, name=f"published-{'-'.join(names)}", labels=LABELS, hide=["layout"]
    )
