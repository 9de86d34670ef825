"""Do BR-Prox, returns, cross-play, self-play and interdependence rank the trained agents alike? A page of the docs.

python -m interplay.papers.zsc.rankings_page
python -m interplay.papers.zsc.rankings_page --tables FOLDER     # also FOLDER/LAYOUT.csv

Reads what benchmarks/zsc left; writes docs/results/zsc_rankings.md and its figures. What the words claim is checked.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from interplay.papers.page_formatting import check, fill, grid, number
from interplay.papers.zsc.data import METHODS, ROOT, LayoutResults, load_all
from interplay.reports.figures import heat_map
from interplay.reports.rankings import bump_chart, wide
from interplay.stats.measure_agreement import Agreement, rank_agreement
from interplay.table import Row, Table

PAGE = ROOT / "docs" / "results" / "zsc_rankings.md"
TEMPLATE = Path(__file__).with_name("rankings_page_template.md")
IMAGES = ROOT / "docs" / "images"
PROX, RETURN, CROSS, SELF = "BR-Prox", "return", "cross-play", "self-play"
GIVES, GETS, ACCEPTS = "gives", "gets", "acceptance"
MEASURES = (PROX, RETURN, CROSS, SELF, GIVES, GETS, ACCEPTS)
SHOWN = "counter_circuit"


def tidy(results: LayoutResults) -> list[Row]:
    """A row per value: agent, measure, value, seed, partner."""
    rows: list[Row] = []
    for r in (r for r in results.returns if r["algorithm"] in METHODS):
        unit = {"agent": METHODS[r["algorithm"]], "seed": r["seed"], "partner": r["partner"]}
        value = float(r["return"])
        rows.append(unit | {"measure": PROX, "value": min(1.0, value / float(r["best_response_return"]))})
        rows.append(unit | {"measure": RETURN, "value": value})
    for r in (r for r in results.crossplay if {r["algorithm"], r["partner"]} <= set(METHODS)):
        itself = (r["algorithm"], r["seed"]) == (r["partner"], r["partner_seed"])
        unit = {"agent": METHODS[r["algorithm"]], "seed": r["seed"], "value": float(r["return"])}
        partner = None if itself else f"{r['partner']}-{r['partner_seed']}"
        rows.append(unit | {"measure": SELF if itself else CROSS, "partner": partner})
    for method, row in results.methods.items():
        unit = {"agent": METHODS[method], "seed": None, "partner": None}
        values = {GIVES: row["gives"], GETS: row["gets"], ACCEPTS: _rest(row["ignored_percent"])}
        rows += [unit | {"measure": measure, "value": value} for measure, value in values.items()]
    return rows


def _rest(percent: float | None) -> float | None:
    return None if percent is None else 100 - percent


def agreement(results: LayoutResults, replicates: int = 1000) -> Agreement:
    """Return how alike the measures rank the methods of a layout."""
    return rank_agreement(Table.of(tidy(results)), seed=0, statistic={PROX: "iqm"}, replicates=replicates)


def pair(made: Agreement, a: str, b: str) -> Row:
    """Return the correlation of two measures; null where a layout lacks one of them, or all methods are tied."""
    nothing = {"spearman": None, "spearman_low": None, "spearman_high": None}
    return next((r for r in made.pairs if {r["measure"], r["other"]} == {a, b}), nothing)


def spread(everyone: Sequence[Agreement], a: str, b: str) -> np.ndarray:
    """Return the Spearman correlation of two measures in each layout that has both."""
    values = [pair(made, a, b)["spearman"] for made in everyone]
    return np.array([v for v in values if v is not None])


def check_claims(everyone: Sequence[LayoutResults], made: dict[str, Agreement]) -> None:
    """Check the claims that the page's sentences make."""
    of = {(a, b): spread(list(made.values()), a, b) for a, b in combinations(MEASURES, 2)}
    check(not [pair for pair, values in of.items() if values.min() > 0.8], "no two measures agree everywhere")
    low = {layout for layout, one in made.items() if pair(one, PROX, RETURN)["spearman"] < 0.8}
    check(low == {"forced_coordination"}, "where BR-Prox and the return agree below 0.8")
    check(of[PROX, SELF].mean() < 0.2, "self-play does not tell the order of BR-Prox")
    check(of[CROSS, SELF].mean() > of[PROX, CROSS].mean() + 0.3, "cross-play is nearer to self-play than to BR-Prox")
    above = {measure: int(np.sum(of[PROX, measure] > 0.4)) for measure in (GETS, GIVES)}
    check(2 * above[GIVES] > len(of[PROX, GIVES]), "what egos give goes with BR-Prox in most layouts")
    check((above[GETS], len(of[PROX, GETS])) == (5, 8), "what they get in five of eight")
    check(min(of[PROX, m].mean() for m in (GETS, GIVES)) > of[PROX, ACCEPTS].mean(), "the share taken says less")
    both = pair(made["bothway_coordination"], PROX, ACCEPTS)["spearman"]
    check(both == of[PROX, ACCEPTS].min(), "the share taken says least in bothway coordination")
    for results in everyone:
        able = {"hsp"} if results.layout == "counter_circuit_multi" else set()
        gives = [row["gives"] for method, row in results.methods.items() if method not in able]
        if results.layout == "asymmetric_advantages":
            check(set(gives) == {None}, "nothing can be handed over in asymmetric advantages")
        elif "forced" not in results.layout and results.layout not in ("bothway_coordination", "blocked_corridor"):
            check(max(gives) < 1.2, f"egos seldom hand over anything in {results.layout}")
    ranks = {r["agent"]: r for r in made[SHOWN].ranks if r["measure"] == PROX}
    alone = {r["agent"]: r["value"] for r in made[SHOWN].ranks if r["measure"] == SELF}
    check(ranks["SP"]["rank"] == 7 and alone["SP"] > 0.8 * max(alone.values()), "SP on counter circuit: strong alone")


def correlations(everyone: Sequence[LayoutResults], made: dict[str, Agreement]) -> list[str]:
    """Return the table of correlations with BR-Prox."""
    rows = []
    for results in everyone:
        line = [results.reference.title]
        for measure in MEASURES[1:]:
            row = pair(made[results.layout], PROX, measure)
            line.append(number(row["spearman"], row["spearman_low"], row["spearman_high"], digits=2))
        rows.append(line)
    means = [f"**{spread(list(made.values()), PROX, m).mean():.2f}**" for m in MEASURES[1:]]
    return grid(["Spearman with BR-Prox", *MEASURES[1:]], [*rows, ["**mean**", *means]])


def ranks(everyone: Sequence[LayoutResults], made: dict[str, Agreement]) -> Iterator[str]:
    """Yield the tables of ranks."""
    for results in everyone:
        yield from (f"### {results.reference.title[0].upper()}{results.reference.title[1:]}", "")
        lines = list(wide(made[results.layout].ranks))
        yield from grid(["agent", *MEASURES], [[r["agent"], *(_rank(r, m) for m in MEASURES)] for r in lines])


def _rank(row: Row, measure: str) -> str:
    """Return the rank under a measure, with its interval where the measure was resampled."""
    cell = row.get(f"by {measure}", "–")
    return cell.split(" [")[0] if measure in (GIVES, GETS, ACCEPTS) else cell


def figure(made: dict[str, Agreement]) -> str:
    """Mean Spearman over the layouts of each pair, with the lowest and the highest."""
    spreads = {(a, b): spread(list(made.values()), a, b) for a in MEASURES for b in MEASURES if a != b}
    values = [[1.0 if a == b else float(spreads[a, b].mean()) for b in MEASURES] for a in MEASURES]
    limits = [
        [None if a == b else (float(spreads[a, b].min()), float(spreads[a, b].max())) for b in MEASURES]
        for a in MEASURES
    ]
    return heat_map(
        MEASURES, MEASURES, values, title="Spearman between measures, mean of nine layouts", intervals=limits,
        row_title="measure", column_title="measure", bounds=(-1.0, 1.0),
    )  # fmt: skip


def page(everyone: Sequence[LayoutResults], made: dict[str, Agreement]) -> str:
    """Return the page: the template with the tables and numbers of these layouts."""
    numbers = {"mean_cross_self": spread(list(made.values()), CROSS, SELF).mean()}
    named = {"return": RETURN, "cross": CROSS, "self": SELF, "gets": GETS, "gives": GIVES, "accept": ACCEPTS}
    for name, measure in named.items():
        of = spread(list(made.values()), PROX, measure)
        numbers |= {f"low_{name}": of.min(), f"high_{name}": of.max(), f"mean_{name}": of.mean()}
    return fill(TEMPLATE, {"correlations": correlations(everyone, made), "ranks": ranks(everyone, made)}, **numbers)


def write_table(results: LayoutResults, folder: Path) -> None:
    """Write the tidy table of a layout."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{results.layout}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["agent", "measure", "value", "seed", "partner"])
        writer.writeheader()
        writer.writerows(tidy(results))


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page and its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--images", type=Path, default=IMAGES)
    parser.add_argument("--tables", type=Path, help="a folder for the tidy tables")
    options = parser.parse_args(argv)
    everyone = load_all()
    if options.tables:
        for results in everyone:
            write_table(results, options.tables)
    made = {results.layout: agreement(results) for results in everyone}
    check_claims(everyone, made)
    options.images.mkdir(parents=True, exist_ok=True)
    (options.images / "zsc_rank_agreement.svg").write_text(figure(made))
    (options.images / "zsc_ranks_counter_circuit.svg").write_text(bump_chart(made[SHOWN]))
    options.out.write_text(page(everyone, made))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
