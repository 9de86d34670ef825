"""The paper's agents as far as they are here, their games with one another, and Table 3."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats as distributions

from interplay.api import crossplay, make, measure
from interplay.metrics.grouping import INTER, MEAN, PAIRING
from interplay.metrics.hanabi.agent_pool import COLUMNS, wide
from interplay.papers.preference import published
from interplay.table import Row, Table
from interplay.traces import TraceSet

TRAINED = "any_score:greedy:trained/hanabi/2p/"
# The paper's name -> the agent that stands for it here, and how near it is.
AGENTS: dict[str, tuple[str, str]] = {
    "RandomBot": ("random", "the same agent"),
    "HolmesBot": ("hanabi/holmes", "the same agent, written from its description"),
    "SmartBot": ("hanabi/smart", "the same agent, written from its description"),
    "OP+Aux": (f"{TRAINED}op-1", "Other-Play of ours, without the auxiliary task"),
    "OBL1": (f"{TRAINED}obl1-1", "off-belief learning of ours, trained with far fewer steps"),
    "OBL2": (f"{TRAINED}obl2-1", "off-belief learning of ours, trained with far fewer steps"),
}
# The rest of the pool that the metrics are measured in; AP+Aux and OBL4 are in no package of ours.
OTHERS = ("hanabi/simple", "hanabi/value", f"{TRAINED}op-2", f"{TRAINED}ippo-1", f"{TRAINED}fcp-1")
MISSING = tuple(name for name in published.table3() if name not in AGENTS)
EPISODES = 125  # games for each seating of each pair, as in the paper
GAME = ("hanabi/2p", {"bomb": "keep"})


def play_pool(agents: Sequence[str] = (), *, episodes: int = EPISODES, seed: int = 0) -> TraceSet:
    """Return games of every pair of a pool in both seatings, with points kept after the third bomb.

    Args:
        agents: The pool; by default the paper's agents as far as they are here, and some others.
        episodes: Games for each seating of each pair.
        seed: Seed of the games.
    """
    pool = list(agents) or [*(name for name, _ in AGENTS.values()), *OTHERS]
    return crossplay(make(GAME[0], **GAME[1]), pool, episodes=episodes, seed=seed)


def pool_table(traces: TraceSet) -> Table:
    """Return every metric of every agent of a pool."""
    return measure(traces, ["hanabi/pool"])


def table3(table: Table, *, known: str = "public", messages: str = "actions") -> Table:
    """Return Table 3 beside the published one: a row for each agent and metric, with 95 % intervals.

    Self-play and intra-XP intervals are over games, all others over partners (inter-XP: over algorithms), which are
    taken as drawn. IC is the corrected estimate, `ic_plug_in` the uncorrected one.

    Args:
        table: Rows of the metric hanabi/pool.
        known: The sense of a known card: public or seen.
        messages: What context independence takes as messages: actions or kinds.
    """
    summary = {row["agent"]: row for row in wide(table, bomb="keep", known=known, messages=messages)}
    theirs = published.table3()
    names = {agent: name for name, (agent, _) in AGENTS.items()}
    rows: list[Row] = []
    for agent, values in summary.items():
        name = names.get(agent) or str(agent)
        for metric in (*published.METRICS, "ic_plug_in"):
            column: str = {"ic": "ic_corrected", "ic_plug_in": "ic"}.get(metric, metric)
            printed = theirs.get(name, {}).get("ic" if metric == "ic_plug_in" else metric, (None, None))
            low, high, n = interval(table, agent, column, values)
            rows.append(
                {
                    "agent": name, "metric": metric, "value": values[column], "sd": values[f"{column}_sd"], "low": low,
                    "high": high, "n": n, "published": printed[0], "published_spread": printed[1], "ours": agent,
                }
            )  # fmt: skip
    rule = f"points kept after the third bomb, known: {known}, messages: {messages}"
    return Table.of(rows, f"Table 3: objective metrics ({rule})")


def interval(table: Table, agent: str, column: str, values: Row) -> tuple[float | None, float | None, int | None]:
    """Return the 95 % interval of a value of the wide table, and the number of units it rests on."""
    where = COLUMNS[column]
    mine = table.where(agent=agent)
    if where["metric"] == INTER:
        by_algorithm: dict[str, list[float]] = {}
        algorithms = {row["agent"]: row["algorithm"] for row in table if row.get("algorithm")}
        for row in mine.where(metric="score", over=PAIRING, relation=INTER, bomb="keep"):
            by_algorithm.setdefault(str(algorithms.get(row["partner"], row["partner"])), []).append(row["value"])
        units = [float(np.mean(part)) for part in by_algorithm.values()]
    elif where.get("over") == MEAN:
        row = next((r for r in mine.where(**where) if r["value"] == values[column]), None)
        if row is None or row["sd"] is None:
            return None, None, None
        return *t_interval(values[column], row["sd"], row["partners"]), row["partners"]
    else:
        row = next((r for r in mine.where(**where, bomb="keep") if r["value"] == values[column]), None)
        if row is None or row["sd"] is None:
            return None, None, None
        return *t_interval(values[column], row["sd"], row["games"]), row["games"]
    if len(units) < 2:
        return None, None, len(units)
    return *t_interval(values[column], float(np.std(units, ddof=1)), len(units)), len(units)


def t_interval(mean: float, sd: float | None, n: int) -> tuple[float | None, float | None]:
    """Return the 95 % interval of a mean of `n` values; None without a spread."""
    if sd is None or n < 2:
        return None, None
    half = float(distributions.t.ppf(0.975, n - 1)) * sd / math.sqrt(n)
    return mean - half, mean + half


def as_printed(table: Table) -> Table:
    """Return Table 3 in the paper's form: a row for each agent, ours and the published value in one cell."""
    rows = []
    for (agent,), part in table.groups("agent").items():
        row: Row = {"agent": agent}
        for cell in part:
            if cell["metric"] != "ic_plug_in":
                row[cell["metric"]] = _cell(cell)
        rows.append(row)
    return Table.of(rows, f"{table.title}: ours / published")


def _cell(cell: Row) -> str | None:
    digits = 1 if cell["metric"] in ("self_play", "intra_xp", "inter_xp") else 3

    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.{digits}f}"

    if cell["value"] is None and cell["published"] is None:
        return None
    return f"{number(cell['value'])} / {number(cell['published'])}"


def nearness() -> Table:
    """Return which agent stands for each of the paper's."""
    rows = [{"paper": name, "agent": agent, "how": how} for name, (agent, how) in AGENTS.items()]
    rows += [{"paper": name, "agent": None, "how": "not shipped"} for name in MISSING]
    return Table.of(rows, "The paper's agents and ours")
