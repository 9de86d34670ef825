"""Do BR-Prox, interdependence, cross-play and returns rank the same agents alike?

python -m interplay.papers.zsc.rankings MEASURES.csv --out out/rankings.html   # agent, measure, value, seed, partner
python -m interplay.papers.zsc.rankings --brprox TABLE.csv.gz --out out/rankings.html
python -m interplay.papers.zsc.rankings MEASURES.csv --brprox TABLE.csv.gz --statistic interdependence=iqm

MEASURES.csv is tidy: a row per value. An agent is whatever is ranked (an algorithm, "mep 12"); the columns of --own and
--shared say what was sampled, and may be empty where a measure has no such unit. --brprox adds BR-Prox in both ways of
counting and the plain return from a table as `interplay brprox` takes it; its agents are named "algorithm population".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from interplay.errors import InterplayError
from interplay.metrics.brprox.rows import read_rows
from interplay.metrics.brprox.table import read_table
from interplay.reports.rankings import ranking_report
from interplay.stats.brprox.ranks import measures
from interplay.stats.measure_agreement import Agreement, rank_agreement
from interplay.table import Row, Table

BR_PROX = {"compatible": "BR-Prox", "honest": "BR-Prox, honest", "return": "return"}


def read_measures(path: Path) -> list[Row]:
    """The rows of a tidy CSV: an empty value is null, an empty unit is none."""
    rows = []
    for at, row in read_rows(path):
        lacking = [name for name in ("agent", "measure", "value") if name not in row]
        if lacking:
            raise InterplayError(f"{path}: no column {lacking[0]!r}; there are {', '.join(row)}")
        try:
            value = float(row["value"]) if row["value"] else None
        except ValueError:
            raise InterplayError(f"{path}, {at}: value is {row['value']!r}, not a number") from None
        rows.append({name: cell or None for name, cell in row.items()} | {"value": value})
    return rows


def of_brprox(path: Path) -> list[Row]:
    """BR-Prox and returns of a table, under the names of this study; units as text, as in a CSV."""
    results = measures(read_table(path).table)
    units = ("seed", "partner")
    return [row | {"measure": BR_PROX[row["measure"]]} | {u: str(row[u]) for u in units} for row in results]


def compare(rows: Sequence[Row], options: argparse.Namespace) -> Agreement:
    """Return how alike the measures rank."""
    present = {row["measure"] for row in rows if row["value"] is not None}
    statistic = {name: "iqm" for name in BR_PROX.values() if name.startswith("BR-Prox") and name in present}
    for pair in options.statistic:
        measure, equals, kind = pair.partition("=")
        if not equals:
            raise InterplayError(f"--statistic {pair!r}: write measure=iqm")
        statistic[measure] = kind
    return rank_agreement(
        Table.of(rows), seed=options.seed, own=options.own, shared=options.shared, statistic=statistic,
        lower=options.lower, replicates=options.replicates,
    )  # fmt: skip


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measures", nargs="*", type=Path, help="tidy CSV files of agent, measure, value")
    parser.add_argument("--brprox", type=Path, help="a table of returns and best responses' returns")
    parser.add_argument("--own", nargs="*", default=["seed"], help="units drawn for each agent on its own")
    parser.add_argument("--shared", nargs="*", default=["partner"], help="units drawn once for all agents")
    parser.add_argument("--lower", nargs="*", default=[], help="measures where less is better")
    parser.add_argument("--statistic", nargs="*", default=[], help="measure=iqm; the mean by default, iqm for BR-Prox")
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/zsc_rankings.html"))
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Rank, print, and write the report."""
    options = arguments(argv)
    try:
        rows = [row for path in options.measures for row in read_measures(path)]
        rows += of_brprox(options.brprox) if options.brprox else []
        if not rows:
            raise InterplayError("nothing to rank: name a CSV of measures, or --brprox TABLE")
        results = compare(rows, options)
    except InterplayError as error:
        print(f"zsc_rankings: {error}", file=sys.stderr)
        return 2
    for row in results.pairs:
        if row["spearman"] is None:
            print(f"{row['measure']} / {row['other']}: too few agents, or all tied")
            continue
        limits = "" if row["spearman_low"] is None else f" [{row['spearman_low']:.2f}, {row['spearman_high']:.2f}]"
        text = f"Spearman {row['spearman']:.2f}{limits}, p {row['spearman_p']:.3f}, Kendall {row['kendall']:.2f}"
        print(f"{row['measure']} / {row['other']}: {text}, {row['agents']} agents")
    sources = [p.name for p in (*options.measures, *([options.brprox] if options.brprox else []))]
    title = "Do these measures rank the same agents alike?"
    page = ranking_report(results, title=title, provenance={"tables": sources, "seed": options.seed})
    print(f"report: {page.write(options.out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
