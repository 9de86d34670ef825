"""Rank tables of BR-Prox: how sure a rank is, how often each is taken, and whether people ranked alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.errors import InterplayError
from interplay.stats.measure_agreement import LEAST_AGENTS, Agreement, rank_agreement
from interplay.stats.ranks import rank_shares
from interplay.table import Row, Table

REFERENCE = "reference"


def measures(cells: Table) -> Table:
    """Return cells as rows of (agent, measure, value): BR-Prox in both ways of counting, and the plain return.

    The agent is "algorithm population". Cells of several layouts must be taken one layout at a time.

    Raises:
        InterplayError: The cells are of several layouts.
    """
    if len(set(cells.column("layout"))) > 1:
        raise InterplayError("agents are ranked within one layout: give one table, or cells.where(layout=...)")
    rows: list[Row] = []
    for row in cells:
        about = {"agent": name(row), "algorithm": row["algorithm"], "population": row["population"]}
        about |= {"seed": row["seed"], "partner": row["partner"]}
        for measure in ("compatible", "honest", "return"):
            rows.append(about | {"measure": measure, "value": row[measure]})
    return Table.of(rows, "BR-Prox and returns")


def name(row: Mapping[str, Any]) -> str:
    """Return the name of a row's agent: its algorithm and population."""
    return str(row["algorithm"]) if row["population"] is None else f"{row['algorithm']} {row['population']}"


def rank_table(cells: Table, *, seed: int, level: float = 0.95, replicates: int = 2000) -> tuple[Table, Table]:
    """Rank the agents of each layout by BR-Prox (both ways of counting) and by return.

    Args:
        cells: The cells.
        seed: The seed of the bootstrap.
        level: The confidence level.
        replicates: Bootstrap replicates.

    Returns:
        Every agent's ranks with intervals, and how alike the three measures rank.
    """
    ranked: list[Row] = []
    pairs: list[Row] = []
    for (layout,), part in cells.groups("layout").items():
        if len(part.groups("algorithm", "population")) < LEAST_AGENTS:
            raise InterplayError(f"a rank table needs at least {LEAST_AGENTS} agents")
        agreed = agreement(part, seed=seed, level=level, replicates=replicates)
        ranked += [{"layout": layout, **row} for row in agreed.ranks]
        pairs += [{"layout": layout, **row} for row in agreed.pairs]
    return Table.of(ranked, "Ranks"), Table.of(pairs, "Do they rank the same agents alike?")


def agreement(cells: Table, *, seed: int, level: float = 0.95, replicates: int = 2000) -> Agreement:
    """How alike BR-Prox in both ways of counting and the return rank the agents of one layout."""
    return rank_agreement(measures(cells), seed=seed, statistic=_statistic(cells), level=level, replicates=replicates)


def _statistic(cells: Table) -> dict[str, str]:
    """IQM of ratios, mean of returns; a table without a usable best response has no honest ratios."""
    known = any(v is not None for v in cells.column("honest"))
    return {"compatible": "iqm", **({"honest": "iqm"} if known else {})}


def against(
    cells: Table, reference: Mapping[str, float], *, seed: int, level: float = 0.95, replicates: int = 2000
) -> Table:
    """Return Spearman and Kendall between BR-Prox and ranks given for algorithms, for each population size.

    Sizes are matched by their order within an algorithm (12, 24, 36 beside 25, 50, 75); an algorithm without
    populations stands in every one. Intervals come from drawing seeds and partners again, p from all orders.

    Args:
        cells: The cells.
        reference: The ranks by algorithm, 1 is best.
        seed: The seed of the bootstrap.
        level: The confidence level.
        replicates: Bootstrap replicates.
    """
    rows: list[Row] = []
    for place, chosen in enumerate(sizes(cells)):
        part = Table(cells.columns, [r for r in cells if chosen.get(r["algorithm"], _NONE) == r["population"]])
        part = Table(part.columns, [r for r in part if r["algorithm"] in reference])
        missing = sorted(set(reference) - set(part.column("algorithm")))
        table = measures(part)
        extra = [{"agent": name(r), "measure": REFERENCE, "value": reference[r["algorithm"]]} for r in _one_each(part)]
        if len(extra) < LEAST_AGENTS:
            raise InterplayError(
                f"{len(extra)} of the ranked algorithms ({', '.join(reference)}) are in the table; "
                f"a rank correlation needs {LEAST_AGENTS}"
            )
        agreed = rank_agreement(
            Table.of([*table.rows, *extra]), seed=seed, lower=[REFERENCE],
            statistic=_statistic(part), level=level, replicates=replicates,
        )  # fmt: skip
        rows += [
            {"size": place + 1, "populations": _format_populations(chosen, reference), "measure": row["measure"]}
            | {k: v for k, v in row.items() if k not in ("measure", "other")}
            | {"without": ", ".join(missing) or None}
            for row in agreed.pairs
            if row["other"] == REFERENCE
        ]
    return Table.of(rows, "Rank correlation with the given ranks")


def shares(summary: Table, by: str = "iqm") -> Table:
    """Per cent of layouts and sizes in which an algorithm took each rank, as ZSC-Eval's Table 9."""
    boards: list[dict[str, float]] = []
    for _, part in summary.groups("layout").items():
        for chosen in sizes(part):
            board = {r["algorithm"]: r[by] for r in part if chosen.get(r["algorithm"], _NONE) == r["population"]}
            boards.append(board)
    algorithms = sorted(boards[0])
    for board in boards:
        if sorted(board) != algorithms or any(v is None for v in board.values()):
            raise InterplayError("shares of ranks need the same algorithms, with a value, in every layout and size")
    taken = rank_shares([[board[a] for a in algorithms] for board in boards])
    rows = [
        {"algorithm": a} | {str(k + 1): 100 * share for k, share in enumerate(line)}
        for a, line in zip(algorithms, taken, strict=True)
    ]
    return Table.of(rows, f"Per cent of {len(boards)} layouts and sizes in which an algorithm took each rank")


_NONE = object()


def sizes(table: Table) -> list[dict[str, Any]]:
    """For the smallest, the next, ... population size: algorithm -> its size, null for one without populations."""
    known: dict[str, list[Any]] = {}
    for row in table:
        if row["population"] not in known.setdefault(row["algorithm"], []):
            known[row["algorithm"]].append(row["population"])
    ordered = {
        a: sorted(populations, key=lambda v: (v is None, isinstance(v, str), v)) for a, populations in known.items()
    }
    most = max(len(populations) for populations in ordered.values())
    return [
        {
            a: populations[place] if len(populations) > 1 else populations[0]
            for a, populations in ordered.items()
            if len(populations) in (1, most)
        }
        for place in range(most)
    ]


def _one_each(part: Table) -> list[Row]:
    return [rows.rows[0] for rows in part.groups("algorithm", "population").values()]


def _format_populations(chosen: Mapping[str, Any], reference: Mapping[str, float]) -> str:
    populations = {a: p for a, p in chosen.items() if a in reference and p is not None}
    return ", ".join(f"{a} {p}" for a, p in populations.items()) or "none"
