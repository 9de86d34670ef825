"""BR-Prox of algorithms: IQM of the ratios with intervals that respect seeds and partners, in both ways of counting.

    result = br_prox(returns, best_responses, seed=0)      # tidy rows; see metrics.brprox.cells
    result = summarise(read_table("TABLE.csv"), seed=0)    # a table that holds both

Above 1 an ego does better than the best response: then the best response is too weak, or it is noise. Every such pair
is named; where standard errors or episodes are known, `beyond_noise` says which of the two (Welch's test of the
difference, Holm's correction over all cells that can be tested).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.metrics.brprox.ratios import BEST_RESPONSE_KEY, CELL, Cells, cells
from interplay.metrics.brprox.rows import SET_JOIN
from interplay.stats.bootstrap import bootstrap_counts
from interplay.stats.brprox.best_response_returns import BestResponses
from interplay.stats.estimators import iqm, quantile
from interplay.stats.multiple_testing import holm
from interplay.stats.ranks import ranks
from interplay.stats.resampling_design import design
from interplay.table import Row, Table

BY = ("layout", "algorithm", "population")
UNITS, FIXED = ("seed", "partner"), ("skill", "ego_seats")
SPLITS = ("expert", "moderate")
SPLIT_COLUMNS = {"partners": "", "partners_by_response": "by_response_"}  # of the cells, and how a summary calls them
PAIR = ("seed", "partner", "skill", "ego_seats", "return", "best_response_return", "ratio")
CHANCE = 0.05  # of naming any pair as beyond noise where all are noise


@dataclass(frozen=True)
class BRProx:
    """The BR-Prox of a table of cells."""

    summary: Table  # a row per algorithm and population: iqm, low, high, honest_iqm, ...
    cells: Table
    above: Table  # every cell above 1
    excluded: Table  # best responses without a positive return: the honest column leaves their cells out
    best_responses: (
        Table  # every best response: its return, expert or moderate, and how often and how far it was exceeded
    )
    split_by: str  # what tells expert from moderate partners
    notes: tuple[str, ...]


@dataclass(frozen=True)
class BRProxOptions:
    """How intervals are made."""

    seed: int
    level: float = 0.95
    method: str = "expanded"
    replicates: int = 2000
    propagate: bool = False  # draw the best responses' returns anew in every replicate
    times: float = 1.0  # beyond noise is who does better than so many times the best response


def br_prox(
    returns: Table | Iterable[Mapping[str, Any]],
    best_responses: Table | Iterable[Mapping[str, Any]],
    *,
    seed: int,
    seats: int | None = None,
    **options: Any,
) -> BRProx:
    """BR-Prox of tidy returns and the returns of the best responses (see `metrics.brprox.cells`).

    `options` are those of `summarise`; with `propagate=True` the intervals also hold the uncertainty of the best
    responses: their episodes are drawn again where they are given, else a normal draw by their standard error.
    """
    return summarise(cells(returns, best_responses, seats=seats), seed=seed, **options)


def summarise(cells: Cells, *, seed: int, **options: Any) -> BRProx:
    """Summary, offending pairs and best responses of cells. `options`: those of `BRProxOptions`."""
    chosen = BRProxOptions(seed=seed, **options)
    best_responses = BestResponses.of(cells)
    if chosen.propagate and not best_responses.uncertain:
        raise InterplayError(
            "the best responses come without spread: give their episodes or standard errors, "
            "or leave their uncertainty out (propagate=False)"
        )
    table = _with_groups(cells.table, best_responses)
    above = _above(table, best_responses, chosen.times)
    named = {tuple(row[name] for name in CELL): row for row in above}
    rows = [
        dict(zip(BY, key, strict=True)) | _row(part, named, best_responses, chosen)
        for key, part in table.groups(*BY).items()
    ]
    _rank(rows)
    summary = Table.of(sorted(rows, key=lambda r: (str(r["layout"]), r["rank"])), "Best-response proximity")
    return BRProx(
        summary=summary,
        cells=table,
        above=above,
        excluded=Table.of(
            best_responses.without_return(), "Best responses without a positive return", columns=BEST_RESPONSE_KEY
        ),
        best_responses=Table.of(best_responses.exceeded(table, chosen.level), "Best responses"),
        split_by=best_responses.split_by,
        notes=cells.notes,
    )


def _with_groups(table: Table, best_responses: BestResponses) -> Table:
    """The cells with their partner's group."""
    return Table.of([r | best_responses.groups_of(r) for r in table], table.title)


def _above(table: Table, best_responses: BestResponses, times: float) -> Table:
    """The cells above 1, each with the p value of doing better than the best response."""
    measured = [row for row in table if row["ratio"] is not None]
    p = [best_responses.p_value(row, times) for row in measured]
    known = [i for i, value in enumerate(p) if value is not None]
    corrected = dict(zip(known, holm([p[i] for i in known]), strict=True)) if known else {}
    rows = [
        {name: row[name] for name in (*CELL, *PAIR[4:])}
        | {"p": p[i], "beyond_noise": bool(corrected[i] < CHANCE) if i in corrected else None}
        for i, row in enumerate(measured)
        if row["ratio"] > 1
    ]
    return Table.of(rows, "Above the best response", columns=[*CELL, *PAIR[4:], "p", "beyond_noise"])


def _row(
    part: Table, named: Mapping[tuple[Any, ...], Row], best_responses: BestResponses, options: BRProxOptions
) -> Row:
    ratios = [v for v in part.column("ratio") if v is not None]
    clipped, defined = part.column("compatible"), [v for v in part.column("honest") if v is not None]
    pairs = [named[key] for row in part if (key := tuple(row[n] for n in CELL)) in named]
    judged = [p["beyond_noise"] for p in pairs]
    result: Row = {
        "rank": None,
        "honest_rank": None,
        **_intervals(part, best_responses, options),
        "unclipped_iqm": iqm(ratios) if ratios else None,
        **_quartiles(clipped, ""),
        **_quartiles(defined, "honest_"),
        "above_share": len(pairs) / len(ratios) if ratios else None,
        "n_above": len(pairs),
        "n_beyond_noise": None if None in judged else sum(judged),
    }
    for column, infix in SPLIT_COLUMNS.items():
        for split in SPLITS:
            of = Table(part.columns, [row for row in part if row[column] == split])
            result |= _intervals(of, best_responses, options, prefix=f"{split}_{infix}")
    return result | {
        "n": len(part),
        "n_excluded": len(part) - len(ratios),
        "n_seeds": len(set(part.column("seed"))),
        "n_partners": len(set(part.column("partner"))),
        "mean_return": statistics.fmean(part.column("return")),
        "above": [{name: p[name] for name in (*PAIR, "beyond_noise")} for p in pairs],
    }


def _quartiles(values: list[float], prefix: str) -> Row:
    low, high = (quantile(values, q) if values else None for q in (0.25, 0.75))
    width = None if low is None or high is None else high - low
    return {f"{prefix}q25": low, f"{prefix}q75": high, f"{prefix}iqr": width}


def _intervals(part: Table, best_responses: BestResponses, options: BRProxOptions, prefix: str = "") -> Row:
    """IQM with its interval in both ways of counting."""
    columns: Row = {}
    for excluding_undefined in (False, True):
        if excluding_undefined and not options.propagate and None not in part.column("ratio"):
            interval = tuple(columns.values())  # no cell is left out, so both are one
        else:
            interval = _interval(part, best_responses, options, excluding_undefined=excluding_undefined)
        names = [prefix + ("honest_" if excluding_undefined else "") + name for name in ("iqm", "low", "high")]
        columns |= dict(zip(names, interval, strict=True))
    return columns


def _interval(
    part: Table, best_responses: BestResponses, options: BRProxOptions, *, excluding_undefined: bool
) -> tuple[float | None, float | None, float | None]:
    """IQM, low, high; null limits where nothing was sampled twice, null throughout where there are no cells."""
    rows = [row for row in part if row["ratio"] is not None] if excluding_undefined else part.rows
    if not rows:
        return None, None, None
    column = "honest" if excluding_undefined else "compatible"
    rows = sorted(rows, key=lambda row: row[column])
    values = np.array([row[column] for row in rows])
    columns = {name: [str(row[name]) for row in rows] for name in (*UNITS, *FIXED)}  # a skill may be null
    columns, units = _sampling_units(columns)
    plan = design(columns, len(rows), units=units, fixed=FIXED)
    if not plan.resampled:
        return iqm(values), None, None
    redrawn = (
        best_responses.redrawn(rows, excluding_undefined=excluding_undefined, seed=options.seed)
        if options.propagate
        else None
    )
    interval = bootstrap_counts(
        lambda counts: iqm(values, counts), plan, seed=options.seed,
        level=options.level, method=options.method, replicates=options.replicates, redrawn=redrawn,
    )  # fmt: skip
    return interval.estimate, interval.low, interval.high


def _sampling_units(columns: dict[str, list[str]]) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Return columns and units of a bootstrap: sets of partners, a|b, are drawn as partners of one population."""
    sets = [name.split(SET_JOIN) for name in columns["partner"]]
    size = len(sets[0])
    if size == 1 or any(len(members) != size for members in sets):
        return columns, UNITS
    members = {f"partner_{i}": [of[i] for of in sets] for i in range(size)}
    return columns | members, ("seed", "+".join(members))


def _rank(rows: list[Row]) -> None:
    """Ranks within a layout, 1 is best; null where an algorithm has no such number."""
    for layout in dict.fromkeys(row["layout"] for row in rows):
        for name, by in (("rank", "iqm"), ("honest_rank", "honest_iqm")):
            here = [row for row in rows if row["layout"] == layout and row[by] is not None]
            for row, rank in zip(here, ranks([r[by] for r in here]) if here else (), strict=True):
                row[name] = float(rank)
