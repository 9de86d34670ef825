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

from interplay.papers.zsc.data import METHODS, ROOT, LayoutResults, load_all
from interplay.papers.zsc.public_tables import check, grid, number
from interplay.reports.figures import heat_map
from interplay.reports.rankings import bump_chart, wide
from interplay.stats.measure_agreement import Agreement, rank_agreement
from interplay.table import Row, Table

PAGE = ROOT / "docs" / "results" / "zsc_rankings.md"
IMAGES = ROOT / "docs" / "images"
PROX, RETURN, CROSS, SELF = "BR-Prox", "return", "cross-play", "self-play"
GIVES, GETS, ACCEPTS = "gives", "gets", "acceptance"
MEASURES = (PROX, RETURN, CROSS, SELF, GIVES, GETS, ACCEPTS)
SHOWN = "counter_circuit"

INTRO = """\
# Do measures rank trained agents alike

The seven methods of [the benchmark](zsc.md), ranked in each layout by seven measures of the same agents, dead seeds
left out (in the circuit with several recipes all of TrajeDi's are dead, so that six methods are ranked there):

- **BR-Prox** with the generated panel (IQM), and the plain mean **return** with it;
- **cross-play**: mean return with the final agents of all other runs, of other seeds and other methods;
- **self-play**: mean return with itself, which no partner of the evaluation has a part in;
- **gives** and **gets**: constructive hand-overs to and from the partner in an episode with the panel, and
  **acceptance**: the share of what the partner put within its reach that the agent took. Counted in two episodes
  with each partner and seat, for the first living seed of a method.

Spearman's correlation of the ranks that two measures give the seven methods. With seven methods a correlation has
to be 0.79 or more to have p below 0.05; intervals draw seeds and partners again. Measures of the last kind have one
seed and are not drawn, so their intervals hold the other measure's uncertainty only.

Made by `python -m interplay.papers.zsc.rankings_page`.

## BR-Prox and the others
"""

READING = """\
In asymmetric advantages no counter is in reach of both chefs, so there are no hand-overs to rank by. What can be said:

- **The return with the panel tells nearly the order of BR-Prox** ({mean_return:.2f} on average; {low_return:.2f} in
  forced coordination, above 0.8 everywhere else): with the same partners for all, dividing by the best response
  changes little.
- **Self-play does not**: {low_self:.2f} to {high_self:.2f}, {mean_self:.2f} on average. An agent that is strong
  with itself may be useless with others, as SP on counter circuit is.
- **Cross-play among the methods' own agents is nearer to self-play than to BR-Prox**: {mean_cross_self:.2f} on
  average with self-play, {mean_cross:.2f} ({low_cross:.2f} to {high_cross:.2f}) with BR-Prox. Agents trained in the
  same ways are not the strangers that the panel holds.
- **What an agent gives its partner goes with BR-Prox** in most layouts ({mean_gives:.2f} on average,
  {low_gives:.2f} to {high_gives:.2f}), what it gets in five of eight ({mean_gets:.2f}; {low_gets:.2f} to
  {high_gets:.2f}). Part of that is mere arithmetic: who delivers more soups with a partner has taken over more on the
  way. Both rest on two episodes of one seed with each partner, so that an earlier count had "gives" far below "gets".
- The share of what the partner offers that an agent takes says less ({mean_accept:.2f}; {low_accept:.2f} to
  {high_accept:.2f}), least in bothway coordination. Except where the kitchen makes them, these egos fit themselves to
  what a partner does and seldom hand over anything themselves; HSP in the circuit with several recipes does.
- No two measures agree above 0.8 in every layout. They measure different things: report more than one.

## All pairs

Mean of Spearman over the layouts that have both measures:

![Mean rank correlation of each pair of measures](../images/zsc_rank_agreement.svg)

## Ranks
"""

BUMP = """\
Ranks by layout, with 95 % intervals where seeds or partners were drawn again; as a picture for counter circuit:

![Ranks of the methods under each measure on counter circuit](../images/zsc_ranks_counter_circuit.svg)
"""


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
    """Null where a layout has no such measure, or all methods are tied."""
    nothing = {"spearman": None, "spearman_low": None, "spearman_high": None}
    return next((r for r in made.pairs if {r["measure"], r["other"]} == {a, b}), nothing)


def spread(everyone: Sequence[Agreement], a: str, b: str) -> np.ndarray:
    """Of the layouts that have both measures."""
    values = [pair(made, a, b)["spearman"] for made in everyone]
    return np.array([v for v in values if v is not None])


def check_claims(everyone: Sequence[LayoutResults], made: dict[str, Agreement]) -> None:
    """What the words say."""
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
        line = [results.yard.title]
        for measure in MEASURES[1:]:
            row = pair(made[results.layout], PROX, measure)
            line.append(number(row["spearman"], row["spearman_low"], row["spearman_high"], digits=2))
        rows.append(line)
    means = [f"**{spread(list(made.values()), PROX, m).mean():.2f}**" for m in MEASURES[1:]]
    return grid(["Spearman with BR-Prox", *MEASURES[1:]], [*rows, ["**mean**", *means]])


def ranks(everyone: Sequence[LayoutResults], made: dict[str, Agreement]) -> Iterator[str]:
    """Yield the tables of ranks."""
    for results in everyone:
        yield from (f"### {results.yard.title[0].upper()}{results.yard.title[1:]}", "")
        lines = list(wide(made[results.layout].ranks))
        yield from grid(["agent", *MEASURES], [[r["agent"], *(_rank(r, m) for m in MEASURES)] for r in lines])


def _rank(row: Row, measure: str) -> str:
    """Without an interval where nothing was drawn again."""
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


def page(everyone: Sequence[LayoutResults], made: dict[str, Agreement]) -> Iterator[str]:
    """Yield the lines of the page."""
    numbers = {"mean_cross_self": spread(list(made.values()), CROSS, SELF).mean()}
    named = {"return": RETURN, "cross": CROSS, "self": SELF, "gets": GETS, "gives": GIVES, "accept": ACCEPTS}
    for name, measure in named.items():
        of = spread(list(made.values()), PROX, measure)
        numbers |= {f"low_{name}": of.min(), f"high_{name}": of.max(), f"mean_{name}": of.mean()}
    yield INTRO
    yield from correlations(everyone, made)
    yield READING.format(**numbers)
    yield BUMP
    yield from ranks(everyone, made)


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
    text = "\n".join(page(everyone, made)).rstrip() + "\n"
    options.images.mkdir(parents=True, exist_ok=True)
    (options.images / "zsc_rank_agreement.svg").write_text(figure(made))
    (options.images / "zsc_ranks_counter_circuit.svg").write_text(bump_chart(made[SHOWN]))
    options.out.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
