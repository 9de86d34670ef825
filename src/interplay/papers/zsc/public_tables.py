"""BR-Prox of the public ZSC-Eval results, recomputed with the right best responses, as a page of the docs.

python -m interplay.papers.zsc.public_tables FOLDER          # FOLDER holds LAYOUT.csv.gz and LAYOUT.br_events.csv.gz
python -m interplay.papers.zsc.public_tables FOLDER --out /dev/stdout
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.metrics.brprox.ratios import Cells
from interplay.metrics.brprox.rows import read_rows
from interplay.metrics.brprox.table import read_table
from interplay.papers.page_formatting import check, fill, grid, number
from interplay.papers.zsc.printed import (
    CONTRADICTIONS,
    GENERATED,
    HUMAN,
    SOURCE,
    SPEARMAN,
    human_ranks,
    printed_ranks,
    rank_shares,
)  # fmt: skip
from interplay.stats import iqm
from interplay.stats.brprox.ranks import against, name, rank_table, shares, sizes
from interplay.stats.brprox.summary import BRProx, summarise
from interplay.table import Row, Table

PAGE = Path(__file__).parents[4] / "docs" / "results" / "br_prox.md"
TEMPLATE = Path(__file__).with_name("public_tables_template.md")
VALUES = Path(__file__).with_name("public_br_prox.json")
SEED = 0
LAYOUTS = {
    "random0": "forced coordination",
    "random1": "coordination ring",
    "random3": "counter circuit",
    "random0_m": "forced coordination, several recipes",
    "random1_m": "coordination ring, several recipes",
}
OURS = {
    "random0": "forced_coordination", "random1": "coordination_ring", "random3": "counter_circuit",
    "random0_m": "forced_coordination_multi", "random1_m": "coordination_ring_multi",
}  # fmt: skip
SELECTED = {  # the published selections: the candidates behind partners 1, 2, 3, ...
    "random0": (1, 3, 4, 5, 7, 9, 17, 26, 28, 29),
    "random1": (3, 15, 71, 74, 77, 80, 99, 119, 120, 134),
    "random3": (3, 34, 38, 42, 90, 98, 112, 115, 162, 164),
    "random0_m": (2, 5, 7, 26, 28, 32, 33, 39, 46, 49, 51, 58, 60, 65, 70),
    "random1_m": (4, 5, 9, 13, 18, 22, 24, 40, 42, 44, 47, 51, 54, 56, 69),
}
STUDIED = {"random1": "coordination_ring", "random3": "counter_circuit"}  # those that people played


def layout_page(title: str, results: BRProx) -> Iterator[str]:
    """Yield the section of a layout."""
    yield from (f"### {title[0].upper()}{title[1:]}", "")
    honest = len(results.excluded) > 0
    head = ["agent", "rank", "compatible", *(["honest rank", "honest"] if honest else []), "inter-quartile range"]
    head += ["above 1", "expert", "moderate", *(["expert, honest", "moderate, honest"] if honest else [])]
    rows = []
    for row in results.summary:
        line = [name(row), f"{row['rank']:g}", number(row["iqm"], row["low"], row["high"])]
        line += _honest(row) if honest else []
        line += [number(row["iqr"], digits=2), f"{100 * row['above_share']:.1f} %"]
        line += [number(row[f"{s}_iqm"], digits=2) for s in ("expert", "moderate")]
        line += [number(row[f"{s}_honest_iqm"], digits=2) for s in ("expert", "moderate")] if honest else []
        rows.append(line)
    yield from grid(head, rows)
    worst = max(results.best_responses, key=lambda r: r["highest_ratio"] or 0)
    egos = sum(row["n"] for row in results.summary)
    text = f"{len(results.above)} of {egos} cells lie above 1"
    text += (
        f"; the best response to partner {worst['partner']} ({worst['skill']}, ego in seat {worst['ego_seats']}) was "
    )
    text += f"exceeded by {worst['n_above']} of {worst['egos']} egos, at most {worst['highest_ratio']:.2f} times."
    if honest:
        count = f"{len(results.excluded)} of {len(results.best_responses)}"
        text += f" {count} best responses get nothing: honest leaves these out."
    yield from (text, "")


def _honest(row: Row) -> list[str]:
    return [f"{row['honest_rank']:g}", number(row["honest_iqm"], row["honest_low"], row["honest_high"])]


def best_page(results: dict[str, BRProx]) -> Iterator[str]:
    """Yield the table of the best agents."""
    rows = []
    for layout, made in results.items():
        best, honest = (max(made.summary, key=lambda r, k=k: r[k]) for k in ("iqm", "honest_iqm"))
        sp = next(r for r in made.summary if r["algorithm"] == "sp")
        rows.append([
            LAYOUTS[layout], name(best), number(best["iqm"]), number(best["honest_iqm"]), name(honest),
            number(honest["honest_iqm"]), number(sp["iqm"]), number(sp["honest_iqm"]),
        ])  # fmt: skip
    head = ["layout", "best", "compatible", "its honest", "best, honest", "honest", "SP", "SP, honest"]
    yield from grid(head, rows)


def people_page(results: dict[str, BRProx]) -> Iterator[str]:
    """Yield the tables beside people's ranks."""
    for layout, studied in STUDIED.items():
        yield from (f"### {LAYOUTS[layout][0].upper()}{LAYOUTS[layout][1:]}", "")
        human = human_ranks(studied)
        head, rows = ["ranks", *human], []
        rows.append([f"{HUMAN}, printed", *(f"{v}" for v in human.values())])
        rows.append([f"{GENERATED}, printed", *(f"{v}" for v in printed_ranks(studied, GENERATED).values())])
        for place, chosen in enumerate(sizes(results[layout].summary)):
            iqms = {r["algorithm"]: r["iqm"] for r in results[layout].summary if _is(r, chosen)}
            order = sorted(human, key=lambda a, iqms=iqms: -iqms[a])
            rows.append([f"BR-Prox here, size {place + 1}", *(str(order.index(a) + 1) for a in human)])
        yield from grid(head, rows)
        made = against(results[layout].cells, human, seed=SEED).where(measure="compatible")
        head = ["size", "populations", "Spearman with people", "p", "Kendall", "printed Spearman"]
        yield from grid(head, [
            [f"{r['size']}", r["populations"], number(r["spearman"], r["spearman_low"], r["spearman_high"], 2),
             number(r["spearman_p"]), number(r["kendall"], r["kendall_low"], r["kendall_high"], 2),
             SPEARMAN[studied, GENERATED]] for r in made
        ], left=2)  # fmt: skip


def _is(row: Row, chosen: dict) -> bool:
    return row["algorithm"] in chosen and chosen[row["algorithm"]] == row["population"]


def events_of(folder: Path, layout: str) -> dict[int, float]:
    """Every candidate's mean return with its own best response, over both seats."""
    rows = read_rows(folder / f"{layout}.br_events.csv.gz")
    return {int(row["candidate"]): float(row["mean_return"]) for _, row in rows}


def first_candidates(cells: Cells, returns: dict[int, float], layout: str) -> tuple[Table, Table]:
    """Divide cells of final partners by two best responses: the right one, and that of the first candidates.

    The second is the candidate whose number is the partner's place in the selection. Both are over both seats, since
    events table holds no more.
    """
    chosen = SELECTED[layout]
    final = [r for r in cells.table if r["skill"] == "final"]
    for row in final:
        both = [cells.best_responses[None, row["partner"], "final", seat].mean for seat in "01"]
        same = abs(sum(both) / 2 - returns[chosen[row["partner"] - 1]]) < 0.1
        check(same, f"the best response to partner {row['partner']} of {layout} is that of the selected candidate")
    return (
        Table(cells.table.columns, [_divided(row, returns[chosen[row["partner"] - 1]]) for row in final]),
        Table(
            cells.table.columns, [_divided(row, returns[row["partner"]]) for row in final if row["partner"] in returns]
        ),
    )


def _divided(row: Row, best: float) -> Row:
    ratio = row["return"] / best if best > 0 else None
    clipped = None if ratio is None else min(1.0, ratio)
    return row | {"ratio": ratio, "honest": clipped, "compatible": 1.0 if clipped is None else clipped}


def script_page(read: dict[str, Cells], folder: Path) -> Iterator[str]:
    """Yield the table of what the wrong best responses do."""
    rows = []
    for layout, cells in read.items():
        tables = first_candidates(cells, events_of(folder, layout), layout)
        best = [max(_iqms(t).items(), key=lambda pair: pair[1]) for t in tables]
        line = [LAYOUTS[layout], *(f"{number(value)} ({agent})" for agent, value in best)]
        if layout in STUDIED:
            made = [against(t, human_ranks(STUDIED[layout]), seed=SEED, replicates=100) for t in tables]
            line += [", ".join(f"{r['spearman']:.1f}" for r in m.where(measure="compatible")) for m in made]
        rows.append(line + ["–"] * (5 - len(line)))
    yield from grid(["layout", "best, right", "best, mixed up", "Spearman with people, right", "mixed up"], rows)


def _iqms(table: Table) -> dict[str, float]:
    parts = table.groups("algorithm", "population").items()
    return {name({"algorithm": a, "population": p}): iqm(part.column("compatible")) for (a, p), part in parts}


def alike_page(results: dict[str, BRProx]) -> Iterator[str]:
    """Yield how alike BR-Prox and returns rank."""
    rows = []
    for layout, made in results.items():
        _, pairs = rank_table(made.cells, seed=SEED)
        of = {(r["measure"], r["other"]): r for r in pairs}
        line = [LAYOUTS[layout]]
        for key in (("compatible", "honest"), ("compatible", "return"), ("honest", "return")):
            r = of[key]
            line.append(number(r["spearman"], r["spearman_low"], r["spearman_high"], 2))
        rows.append(line)
        if not len(made.excluded):
            check(of["honest", "return"]["spearman"] > 0.95, f"the return ranks as BR-Prox does in {layout}")
        if layout == "random0":
            check(of["compatible", "honest"]["spearman"] < 0.8, "the way of counting changes the order")
    yield from grid(["layout", "compatible and honest", "compatible and return", "honest and return"], rows)


def shares_page(results: dict[str, BRProx]) -> Iterator[str]:
    """Yield the shares of ranks."""
    table = Table.of([row | {"layout": layout} for layout, made in results.items() for row in made.summary])
    printed = {row["algorithm"]: row for row in rank_shares()}
    rows = []
    ours = {by: {r["algorithm"]: r for r in shares(table, by)} for by in ("iqm", "honest_iqm")}
    for algorithm in printed:
        for words, percents in (("compatible", ours["iqm"]), ("honest", ours["honest_iqm"]), ("printed", printed)):
            label = algorithm if words == "compatible" else ""
            rows.append([label, words, *(f"{float(percents[algorithm][str(k)]):.0f}" for k in range(1, 8))])
    yield from grid(["algorithm", "counted", *(str(k) for k in range(1, 8))], rows, left=2)


def values(results: dict[str, BRProx]) -> dict[str, Any]:
    """BR-Prox of every public agent by our names of the layouts, in both ways of counting, for the package."""
    layouts = {
        OURS[layout]: [
            {
                "algorithm": row["algorithm"],
                "population": row["population"],
                "compatible": round(row["iqm"], 3),
                "excluding_undefined": round(row["honest_iqm"], 3),
            }
            for row in made.summary
        ]
        for layout, made in results.items()
    }
    return {
        "source": f"{SOURCE}: public results (licence MIT), recomputed with the right best responses",
        "layouts": layouts,
    }


def read_public(folder: Path) -> tuple[dict[str, Cells], dict[str, BRProx]]:
    """Read the public tables of a folder, LAYOUT.csv.gz, and their summaries."""
    cells = {layout: read_table(folder / f"{layout}.csv.gz") for layout in LAYOUTS}
    return cells, {layout: summarise(table, seed=SEED) for layout, table in cells.items()}


def page(read: dict[str, Cells], results: dict[str, BRProx], folder: Path) -> str:
    """Return the page: the template with the tables of these results."""
    forced = results["random0"]
    firsts = [next(name(r) for r in forced.summary if r[by] == 1) for by in ("rank", "honest_rank")]
    check(len(forced.excluded) == 12 and firsts[0] != firsts[1], "twelve seatings without a return change the best")
    sections = {
        "best": best_page(results),
        "people": people_page(results),
        "script": script_page(read, folder),
        "contradictions": (f"- {line}" for line in CONTRADICTIONS),
        "alike": alike_page(results),
        "shares": shares_page(results),
        "every_agent": (line for layout, made in results.items() for line in layout_page(LAYOUTS[layout], made)),
    }
    return fill(TEMPLATE, sections, source=SOURCE)


def main() -> int:
    """Write the page and the numbers that the package ships."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where LAYOUT.csv.gz and LAYOUT.br_events.csv.gz are")
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--values", type=Path, default=VALUES, help="where the numbers go that the package ships")
    options = parser.parse_args()
    try:
        cells, results = read_public(options.folder)
        text = page(cells, results, options.folder)
    except InterplayError as error:
        print(f"public_tables: {error}", file=sys.stderr)
        return 2
    options.out.write_text(text)
    listed = json.dumps(values(results))
    options.values.write_text(listed.replace("}, {", "},\n{").replace("[{", "[\n{") + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
