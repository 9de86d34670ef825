"""The trained benchmark of zero-shot coordination as a page: `python -m interplay.papers.zsc.results_page`.

Reads what benchmarks/zsc left in benchmarks/zsc/results and in the shipped panels; writes docs/results/zsc.md and its
figure. Every claim of the page's words is checked against the data first; one that does not hold ends the script.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from interplay.papers.page_formatting import check, fill, grid, number
from interplay.papers.zsc.data import (
    ANEW,
    EGOS_ANEW,
    GREEDY,
    KINDS,
    METHODS,
    ROOT,
    VARIANTS,
    LayoutResults,
    is_faint,
    load_all,
    other_panels,
    published,
    ratios,
    ratios_of,
)
from interplay.stats import iqm, spearman

PAGE = ROOT / "docs" / "results" / "zsc.md"
TEMPLATE = Path(__file__).with_name("results_page_template.md")
FIGURE = ROOT / "docs" / "images" / "zsc_br_prox.png"
AUDIT = ROOT / "benchmarks" / "zsc" / "results" / "audit.json"
EGOS = ("fcp", "mep", "trajedi", "hsp", "e3t", "cole")
STATES = ("blocked_corridor", "forced_coordination")  # where egos were also trained with states met by others


def mean(values: Sequence[float]) -> float:
    """Return the mean."""
    return float(np.mean(values))


def titles(results: Sequence[LayoutResults]) -> str:
    """Return the titles of layouts in a row."""
    return "; ".join(f.reference.title for f in results)


def order(results: LayoutResults) -> list[str]:
    """The trained methods, best first."""
    return sorted(results.methods, key=lambda m: -results.baselines[m]["br_prox"])


def seeds_of(results: LayoutResults, method: str) -> int:
    """Return how many seeds of a method were trained."""
    return 5 if method == "sp" or method in of_present_plan(results.layout) else 3


def of_present_plan(layout: str) -> tuple[str, ...]:
    """Return the methods that the present plan trained in a layout."""
    return ANEW.get(layout, EGOS_ANEW.get(layout, ()))


def greedy_leads(results: LayoutResults) -> bool:
    """Return whether the scripted chef is above all trained methods."""
    return results.baselines[GREEDY]["br_prox"] > results.baselines[order(results)[0]]["br_prox"]


def whole(values: Sequence[float]) -> str:
    """Return rounded numbers in a row."""
    return ", ".join(f"{v:.0f}" for v in values)


def check_layout(results: LayoutResults) -> None:
    """Check what the page's sentences claim of every layout."""
    at, reference = results.layout, results.reference
    check({*METHODS, GREEDY} <= set(results.baselines), f"seven methods and greedy in {at}")
    for method, row in results.methods.items():
        seeds = {r["seed"] for r in results.returns if r["algorithm"] == method}
        check(len(seeds) == row["seeds"], f"the living seeds of {method} in {at}")
        all_seeds = row["seeds"] + results.count_dead(method)
        check(all_seeds == seeds_of(results, method), f"five seeds of SP and of what is new, in {at}")
        same = abs(float(iqm(ratios(results, method))) - row["br_prox"]) < 5e-4
        check(same, f"{method}'s BR-Prox in {at} is the trimmed mean of its cells")
    check(
        mean(results.self_play) >= (reference.floor or 0) and len(results.self_play) == 5 - results.count_dead("sp"),
        f"self-play's floor is kept in {at}",
    )
    beyond = [r for r in results.above(beyond_noise=True) if not is_faint(r) and r["algorithm"] != GREEDY]
    check(not beyond, f"no ego of {at} above 1.05 times a best response of a soup or more, beyond noise")
    candidates = 48 if at == "forced_coordination" else 64
    check(results.stages["candidates"]["runs"] == candidates, f"{candidates} candidates in {at}")
    check(results.best_pair >= 0.9 * reference.pair, f"the best pair of {at} is within 10 % of the published one")
    check(results.stages["selection"]["br_div"] > results.stages["selection"]["p_div"], "BR-Div above P-Div everywhere")
    check(len({c[0] for c in results.cells}) == 10, f"ten partners in {at}")
    networks = {str([s["network"][k] for k in ("encoding", "trunk", "widths")]) for s in results.settings}
    check(len(networks) == 1, f"one network for all in {at}")
    if not of_present_plan(at):
        check(len({str(s["ppo"]) for s in results.settings}) == 1, f"one PPO for all in {at}")
    steps = {results.experiments[m]["steps"] for m in EGOS if m in (of_present_plan(at) or EGOS)}
    check(steps == {reference.egos}, f"steps of egos in {at}")
    check(results.experiments["sp"]["runs"] == reference.population, f"{reference.population} runs of SP in {at}")
    each = results.stages["candidates"]["steps_of_each"], results.stages["responses"]["steps_of_each"]
    check(3.9e6 < each[0] < 15.1e6 and 4.9e6 < each[1] < 10.1e6, f"steps of candidates and responses in {at}")


def gains(baselines: dict[str, dict[str, Any]]) -> list[float]:
    """Return by how much states met by others raise BR-Prox, method by method."""
    return [baselines[variant]["br_prox"] - baselines[method]["br_prox"] for variant, method in VARIANTS.items()]


def check_anew(results: LayoutResults) -> None:
    """Check what the page's sentences claim of the layouts that were trained by the present plan."""
    at, known = results.layout, published(results.layout)
    for method in METHODS if known else ():
        row, range_of = results.baselines[method], known[method]
        check(row["br_prox_high"] > min(range_of), f"{method} in {at} is not below the published range beyond noise")
        if method in ANEW[at] and method != "sp":
            check(row["br_prox"] > min(range_of) - 5e-4, f"{method} in {at} is within or above the published range")
    check(not results.above(beyond_noise=True), f"nobody in {at} is above a best response beyond noise")
    check(order(results)[-1] == "sp", f"SP is last in {at}")
    check(set(results.failed) == set(results.dead), f"what is dead in {at} was trained again")
    for variant in VARIANTS:
        row = results.baselines.get(variant)
        check((row is None) == (at not in STATES) and (row is None or row["seeds"] == 5), f"{variant} in {at}")


def check_claims(by: dict[str, LayoutResults]) -> None:
    """Check what the page's sentences claim of single layouts."""
    everyone = list(by.values())
    for layout in ANEW:
        check_anew(by[layout])
    for layout in ("coordination_ring", "counter_circuit"):
        best, greedy = by[layout].baselines[order(by[layout])[0]], by[layout].baselines[GREEDY]
        check(greedy_leads(by[layout]), f"greedy is above the best trained method in {layout}")
        check(best["br_prox_high"] > greedy["br_prox"], f"greedy and the best of {layout} cannot be told apart")
        check(by[layout].retrained == 0, f"every ego of {layout} passed its gate at the first try")
    for layout in STATES:
        check(not greedy_leads(by[layout]), f"greedy is below the best trained method in {layout}")
    few = {f.layout for f in everyone if f.stages["features"]["able_share"] <= 0.8}
    missed = {"blocked_corridor", "forced_coordination", "coordination_ring_multi", "counter_circuit_multi"}
    check(few == missed, "too few candidates deliver in blocked corridor, forced and two of several recipes")
    check(order(by["counter_circuit"])[0] == "hsp", "HSP is first in counter circuit")
    check(order(by["coordination_ring"])[:2] == ["trajedi", "hsp"], "TrajeDi and HSP lead in coordination ring")
    check(len({order(f)[0] for f in everyone}) > 1, "no method is first everywhere")
    both = by["bothway_coordination"].methods
    check(order(by["bothway_coordination"])[0] == "sp", "SP is first in bothway coordination")
    overlap = all(row["br_prox_high"] > both["sp"]["br_prox_low"] for row in both.values())
    check(overlap, "SP's interval in bothway coordination overlaps with all others")
    blocked = by["blocked_corridor"]
    check(mean(blocked.self_play) > 100, "SP scores above 100 with itself in blocked corridor")
    check(blocked.baselines["sp"]["br_prox"] < 0.15, "and little with strangers")
    check(order(blocked)[:2] == ["hsp", "mep"], "HSP and MEP lead in blocked corridor")
    check(blocked.baselines["hsp"]["br_prox_low"] < blocked.baselines[GREEDY]["br_prox"], "HSP's lead there is noise")
    gain = {layout: gains(by[layout].baselines) for layout in STATES}
    check(min(gain["blocked_corridor"]) > 0 > max(gain["forced_coordination"]), "where states met by others help")
    ring = by["coordination_ring_multi"].methods
    check(order(by["coordination_ring_multi"])[0] == "hsp", "HSP leads in ring, several recipes")
    check(max(row["br_prox"] for m, row in ring.items() if m != "hsp") < 0.31, "the others are far below there")
    circuit = by["counter_circuit_multi"]
    check(order(circuit)[0] == "hsp", "HSP is first in circuit, several recipes")
    check(circuit.baselines["hsp"]["br_prox_high"] < circuit.baselines[GREEDY]["br_prox"], "and greedy is far above it")
    check(abs(circuit.baselines["sp"]["br_prox"]) < 0.01, "SP there scores nothing with strangers")
    check(len(circuit.failed) == 8, "eight egos died twice there")
    check(
        max(float(iqm(ratios_of(circuit.all_returns, m, seed))) for m, seed in circuit.failed) < 0.01, "and help nobody"
    )
    (odd,) = [r for r in by["bothway_coordination"].above(beyond_noise=True) if r["algorithm"] != GREEDY]
    check(
        float(odd["best_response_return"]) < 2, "the cell beyond noise in bothway has a best response below two points"
    )


def prox(everyone: Sequence[LayoutResults]) -> list[str]:
    """Return the table of BR-Prox."""
    rows = []
    for results in everyone:
        line, best = [results.reference.title], order(results)[0]
        for method in METHODS:
            row = results.baselines[method]
            cell = number(row["br_prox"], row.get("br_prox_low"), row.get("br_prox_high"), digits=2)
            cell = f"**{cell}**" if method == best else cell
            if dead := results.count_dead(method):
                cell += f"; {dead} of {seeds_of(results, method)} seeds dead"
            line.append(cell)
        row = results.baselines[GREEDY]
        scripted = number(row["br_prox"], row["br_prox_low"], row["br_prox_high"], digits=2)
        rows.append([*line, scripted, number(results.reference.best), number(results.reference.sp)])
    return grid(["layout", *METHODS.values(), "scripted: greedy", "best published", "SP published"], rows)


def died(everyone: Sequence[LayoutResults]) -> list[str]:
    """Every method with dead seeds: BR-Prox of those alive, and of all."""
    rows = []
    for results in everyone:
        for method in (m for m in METHODS if results.count_dead(m)):
            scores = ", ".join(f"{v:.0f}" for (m, _), v in results.dead.items() if m == method)
            alive = number(results.baselines[method]["br_prox"], digits=2)
            measured = ratios_of(results.all_returns, method)
            played = {(row["algorithm"], int(row["seed"])) for row in results.all_returns}
            absent = sum(m == method for m, _ in results.failed - played) * len(results.cells)
            every = number(float(iqm(np.append(measured, np.zeros(absent)))), digits=2)
            seeds = f"{results.count_dead(method)} of {seeds_of(results, method)}"
            rows.append([results.reference.title, METHODS[method], seeds, scores, alive, every])
    head = ["layout", "method", "dead seeds", "they score with themselves", "BR-Prox, alive", "BR-Prox, all seeds"]
    return grid(head, rows, left=2)


def beside_published(everyone: Sequence[LayoutResults]) -> list[str]:
    """The layouts trained anew: every method beside the range of the published values."""
    rows = []
    for results in everyone:
        known = published(results.layout)
        for method in order(results) if known else ():
            row, values = results.baselines[method], known[method]
            theirs = f"{min(values):.3f} to {max(values):.3f}" if len(values) > 1 else f"{values[0]:.3f}"
            ours = number(row["br_prox"], row["br_prox_low"], row["br_prox_high"], digits=3)
            mine = round(row["br_prox"], 3)
            where = "above" if mine > max(values) else "below" if mine < min(values) else "within"
            earlier = "" if method in ANEW[results.layout] else " (earlier, 15 million steps)"
            rows.append(
                [results.reference.title, f"{METHODS[method]}{earlier}", f"{row['seeds']}", ours, theirs, where]
            )
    return grid(["layout", "method", "seeds", "BR-Prox here", "published", "here"], rows)


def gates(everyone: Sequence[LayoutResults]) -> str:
    """Return how many egos the present plan trained again since their score was too low."""
    retrained = [f for f in everyone if f.retrained]
    return "; ".join(f"{f.reference.title} {f.retrained} egos, of which {len(f.failed)} stayed dead" for f in retrained)


def states(everyone: Sequence[LayoutResults]) -> list[str]:
    """Egos whose episodes in part begin in states that their partners met without them, beside those without."""
    rows = []
    for results in everyone:
        for variant, method in VARIANTS.items():
            if variant not in results.baselines:
                continue
            cells = [results.baselines[m] for m in (method, variant)]
            prox = [number(c["br_prox"], c["br_prox_low"], c["br_prox_high"], digits=2) for c in cells]
            more = []
            for kind in KINDS:
                other = other_panels(results.layout).get(kind)
                more += [f"{iqm(ratios_of(other, m)):.2f}" if other else "–" for m in (method, variant)]
            rows.append([results.reference.title, METHODS[method], *prox, *more])
    sides = [f"{kind}, {which}" for kind in KINDS.values() for which in ("without", "with")]
    return grid(["layout", "method", "without", "with", *sides], rows, left=2)


def floors(everyone: Sequence[LayoutResults]) -> list[str]:
    """Return the table of self-play and candidate pairs."""
    head = ["layout", "self-play", "floor", "best candidate pair", "best published pair", "candidates that deliver"]
    rows = []
    for results in everyone:
        able, reference = results.stages["features"], results.reference
        low = " (missed)" if results.best_pair < 0.9 * reference.pair else ""
        few = " (missed)" if able["able_share"] <= 0.8 else ""
        floor = "–" if reference.floor is None else f"{reference.floor:g}"
        share = f"{able['able']} of {results.stages['candidates']['runs']}, {100 * able['able_share']:.0f} %{few}"
        rows.append([
            reference.title, f"{mean(results.self_play):.0f}", floor, f"{results.best_pair:.0f}{low}",
            f"{reference.pair:g}", share,
        ])  # fmt: skip
    return grid(head, rows)


def rulers(everyone: Sequence[LayoutResults]) -> list[str]:
    """Return the table of best responses."""
    head = [
        "layout",
        "seatings",
        "below one soup",
        "exceeded",
        "a known agent is best",
        "cells above 1.05",
        "beyond noise",
    ]
    rows = [
        [
            f.reference.title, f"{len(f.cells)} of 40", f"{f.faint}", "–" if f.exceeded is None else f"{f.exceeded}",
            f"{len(f.raised)}", f"{len(f.above())} of {len(f.returns)}", f"{len(f.above(beyond_noise=True))}",
        ]
        for f in everyone
    ]  # fmt: skip
    return grid(head, rows)


def own(everyone: Sequence[LayoutResults]) -> list[str]:
    """Return the table of returns with training partners."""
    rows = [[f.reference.title, *(whole(f.last[j]) for j in EGOS)] for f in everyone]
    return grid(["layout", *(METHODS[j] for j in EGOS)], rows)


def selection(everyone: Sequence[LayoutResults]) -> list[str]:
    """Return the table of selections."""
    rows = []
    for results in everyone:
        chosen = results.stages["selection"]
        cells = [f"{chosen['br_div']:.2f}", f"{chosen['p_div']:.2f}", f"{np.exp(chosen['br_div']):.4g}"]
        rows.append([results.reference.title, f"{chosen['from']}", f"{chosen['rank']}", *cells])
    return grid(["layout", "chosen from", "rank", "BR-Div", "P-Div", "determinant"], rows)


def by_kind(results: LayoutResults) -> dict[str, dict[str, float]]:
    """By kind of panel, where a layout has it: BR-Prox of each method, and under `alike` how its ranks agree."""
    made = {}
    for kind, returns in other_panels(results.layout).items():
        known = {r["algorithm"] for r in returns}
        of = {m: float(iqm(ratios_of(returns, m))) for m in (*METHODS, "bc_br") if m in known}
        generated = [results.baselines[m]["br_prox"] for m in METHODS]
        made[kind] = of | {"alike": spearman(generated, [of[m] for m in METHODS]).r}
    return made


def kinds(everyone: Sequence[LayoutResults]) -> list[str]:
    """Return the table by other kinds of partners."""
    rows = []
    for results in everyone:
        made = by_kind(results)
        for kind, of in made.items():
            partners = len({r["partner"] for r in other_panels(results.layout)[kind]})
            cells = [f"{of[m]:.2f}" if m in of else "–" for m in (*METHODS, "bc_br", "alike")]
            rows.append([results.reference.title, KINDS[kind], f"{partners}", *cells])
    return grid(["layout", "panel", "partners", *METHODS.values(), "BR-BC", "ranks as generated"], rows)


def nearer(everyone: Sequence[LayoutResults]) -> str:
    """Whose order of the methods is nearer to that by the generated panel: clones of people, or self-play agents."""
    made = {f.reference.title: of for f in everyone if {"people", "self_play"} <= (of := by_kind(f)).keys()}
    clones = [title for title, of in made.items() if of["people"]["alike"] > of["self_play"]["alike"]]
    if len(clones) == len(made):
        where = f"In all {len(made)} layouts"
    else:
        where = f"In {len(clones)} of {len(made)} layouts ({', '.join(clones)})"
    return f"{where} clones of people order the methods more as the generated panel does than self-play agents do."


def audited() -> list[str]:
    """What `interplay partners audit` found in the panels that known agents tried to beat while they were made."""
    rows = []
    for panel, audit in json.loads(AUDIT.read_text()).items():
        above = "; ".join(
            f"{r['agent']} with {r['partner']}, seat {r['seat']}: {r['return']:.1f} for {r['best_return']:.1f}"
            for r in audit["rows"]
        )
        rows.append([panel, f"{audit['agents']}", f"{audit['cells']}", f"{len(audit['rows'])}", above or "–"])
    return grid(["panel", "known agents", "cells", "exceeded beyond noise", "by"], rows)


def times(everyone: Sequence[LayoutResults]) -> list[str]:
    """Return the table of steps and seconds."""
    names = [job.name for job in everyone[0].jobs if job.steps or job.seconds]
    rows = []
    for name in names:
        jobs = [next((j for j in f.jobs if j.name == name), None) for f in everyone]
        cells = ["–" if j is None else f"{j.million:.0f} ({j.seconds:.0f} s)" for j in jobs]
        rows.append([name.replace("_", " "), *cells])
    rows.append(["**all**", *(f"{f.steps / 1e6:.0f}" for f in everyone)])
    return grid(["job", *(f.reference.title for f in everyone)], rows)


def page(everyone: Sequence[LayoutResults]) -> str:
    """Return the page: the template with the tables and numbers of these layouts."""
    by = {results.layout: results for results in everyone}
    blocked, circuit = by["blocked_corridor"], by["counter_circuit_multi"]
    recent = [f for f in everyone if f.layout in ANEW]
    timed = [f for f in everyone if of_present_plan(f.layout)]
    (device,) = {f.device for f in everyone}
    tables = {
        "prox": prox(everyone),
        "died": died(everyone),
        "beside_published": beside_published(recent),
        "states": states(everyone),
        "kinds": kinds(everyone),
        "floors": floors(everyone),
        "rulers": rulers(everyone),
        "audit": audited(),
        "own": own(everyone),
        "selection": selection(everyone),
        "times": times(timed),
        "times_earlier": times([f for f in everyone if f not in timed]),
    }
    return fill(
        TEMPLATE,
        tables,
        device=device,
        dead=sum(len(f.dead) for f in everyone),
        egos=sum(
            len({(r["algorithm"], r["seed"]) for r in f.all_returns if r["algorithm"] in METHODS}) for f in everyone
        ),
        figure=FIGURE.name,
        leaders=", ".join(METHODS[m] for m in dict.fromkeys(order(f)[0] for f in everyone)),
        blocked=mean(blocked.self_play),
        circuit_hsp=circuit.baselines["hsp"]["br_prox"],
        circuit_greedy=circuit.baselines[GREEDY]["br_prox"],
        circuit_rest=max(r["br_prox"] for m, r in circuit.methods.items() if m != "hsp") + 0.005,
        circuit_sp=mean(circuit.self_play),
        greedy=titles([f for f in everyone if greedy_leads(f)]),
        above=titles([f for f in everyone if not greedy_leads(f)]),
        gates=gates(timed),
        nearer=nearer(everyone),
        steps=sum(f.steps for f in timed) / 1e6,
        circuit_s=max(job.end_s for job in circuit.jobs if job.name == "egos"),
    )


def draw(everyone: Sequence[LayoutResults], path: Path) -> None:
    """Write the figure."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(3, 3, figsize=(9, 6.6), sharex=True, sharey=True)
    for axis, results in zip(axes.flat, everyone, strict=True):
        for y, row in enumerate(results.baselines[m] for m in (*METHODS, GREEDY)):
            if row["br_prox"] is None:
                continue
            axis.plot([row["br_prox_low"], row["br_prox_high"]], [y, y], color="#4b6b88", lw=1.5)
            axis.plot(row["br_prox"], y, "o", color="#4b6b88", ms=5)
        axis.axvline(results.reference.best, color="#b5622b", lw=1, ls="--")
        axis.set_title(results.reference.title, fontsize=9)
        axis.set_xlim(0, 1)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_yticks(range(len(METHODS) + 1), [*METHODS.values(), GREEDY])
    axes[0, 0].invert_yaxis()
    figure.supxlabel("BR-Prox with 95 % interval; dashed: the best published agent, with other partners", fontsize=9)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90, metadata={"Software": None})


def main(argv: Sequence[str] | None = None) -> int:
    """Check the claims, then write the page and its figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--figure", type=Path, default=FIGURE)
    options = parser.parse_args(argv)
    everyone = load_all()
    for results in everyone:
        check_layout(results)
    check_claims({results.layout: results for results in everyone})
    draw(everyone, options.figure)
    options.out.write_text(page(everyone))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
