"""Training with and without a reward for hand-overs: the interdependence paper's Figure 3, run again, as a page.

python studies/teaming.py                     # from benchmarks/zsc/results/teaming.json
python studies/teaming.py --logs RUNS/counter_circuit     # keep the curves of new runs first

The runs: `python benchmarks/zsc/pipeline.py counter_circuit --plan benchmarks/zsc/teaming.json --out RUNS`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from interplay.papers.zsc.data import METHODS, RESULTS, ROOT
from interplay.papers.zsc.public_tables import check, grid

CURVES = RESULTS / "teaming.json"
PAGE = ROOT / "docs" / "results" / "teaming.md"
FIGURE = ROOT / "docs" / "images" / "teaming.png"
TRAINED = ("fcp", "mep", "hsp")
LAST = 10  # lines of the log whose mean stands for the end of training
SOUP = 20

WORDS = """\
# Does paying for hand-overs make agents hand over more

The paper on [interdependence](interdependence.md) trains FCP, MEP and HSP for 5 million steps with r_task + 0.3 x
r_teaming, where r_teaming counts constructive hand-overs, beside the same methods with r_task alone. Its Figure 3
is said to show that agents with the modified reward consistently increase their teaming reward, that it is nearly
stagnant with the original one, and that the task reward stays the same. Here is the same experiment on counter
circuit, with our agents, {seeds} seeds each:

    python benchmarks/zsc/pipeline.py counter_circuit --plan benchmarks/zsc/teaming.json --out runs/teaming

![Hand-overs and returns in training](../images/teaming.png)

"""

READING = """\
Means of the last {last} lines of the log (the last {share:.0f} % of training); returns by seed in brackets. A
hand-over is an item put on a counter by one and taken from it by the other that ends in a delivered soup. The log
has the mean of the seeds only, so hand-overs come without an interval.

**At this price little changed.** With the reward FCP ends {fcp:+.2f} hand-overs an episode from where it ends
without, MEP {mep:+.2f}, HSP {hsp:+.2f}: one up, one the same, one down. The consistent increase of the paper is not
there. Returns with and without overlap over the seeds, as in the paper.

**Without the reward it is not stagnant.** With the task's reward alone hand-overs rise from the first lines of the
log to the last with each method, most with HSP (from {hsp_from:.2f} to {hsp_to:.2f}), whose partners are trained to
prefer parts of the work: the ego learns to use what they put down.

**Why so little.** A soup pays {soup} to both. A hand-over pays 0.3 to the giver and 0.3 to the receiver, and only
when its soup is delivered. At the end of training it adds {low:.1f} to {high:.1f} % to the return: less than the
return's own noise. On counter circuit a chef can also walk around with an onion, so nothing forces a hand-over.

What this does not say: that teaming rewards do not work. Another price, another layout (the figure's caption names
none), longer training or a reward at the moment of the hand-over may do what 0.3 did not do here; we have not run
them. `--teaming 0.3` (or `rewards.teaming` in a configuration) is an option of every method.

Made by `python studies/teaming.py` from `benchmarks/zsc/results/teaming.json`; it stops if these words do not hold.
"""


@dataclass(frozen=True)
class Curve:
    """One run: hand-overs per episode (mean of the seeds) and returns of every seed."""

    steps: np.ndarray  # [line]
    handovers: np.ndarray  # [line]
    returns: np.ndarray  # [line, seed]

    def end(self) -> tuple[float, np.ndarray]:
        return float(self.handovers[-LAST:].mean()), self.returns[-LAST:].mean(axis=0)


def keep(folder: Path) -> None:
    """The curves of a folder of runs, small enough to stay."""
    runs = {}
    for name in (f"{m}{t}" for m in TRAINED for t in ("", "_teaming")):
        experiment = json.loads((folder / name / "manifest.json").read_text())["experiment"]
        lines = [json.loads(line) for line in (folder / name / "log.jsonl").read_text().splitlines()]
        runs[name] = {
            "alpha": experiment["rewards"]["teaming"],
            "steps": [line["steps"] for line in lines],
            # The log counts a hand-over for its giver and for its receiver.
            "handovers": [round(line["teaming"] / 2, 4) for line in lines],
            "returns": [[round(r, 2) for r in line["returns"]] for line in lines],
        }
    about = {"game": experiment["game"]["name"], "unit": "hand-overs over counters per episode of 400 steps"}
    CURVES.write_text(json.dumps(about | {"runs": runs}) + "\n")


def read(path: Path) -> tuple[dict[str, Curve], dict[str, Any]]:
    held = json.loads(path.read_text())
    fields = ("steps", "handovers", "returns")
    return {name: Curve(*(np.array(run[f]) for f in fields)) for name, run in held["runs"].items()}, held


def added(curve: Curve) -> float:
    """What hand-overs pay a chef, in per cent of the return."""
    handovers, returns = curve.end()
    return 100 * 0.3 * handovers / float(returns.mean())


def check_claims(curves: dict[str, Curve], held: dict[str, Any]) -> None:
    check(held["game"] == "overcooked/counter_circuit", "counter circuit")
    for name, run in held["runs"].items():
        check(run["alpha"] == (0.3 if name.endswith("_teaming") else 0.0), f"{name}'s alpha")
    for method in TRAINED:
        plain, paid = curves[method], curves[f"{method}_teaming"]
        check(abs(plain.steps[-1] / 5e6 - 1) < 0.01, "5 million steps")
        check(plain.end()[0] > plain.handovers[:LAST].mean(), f"hand-overs rise without the reward with {method}")
        (few, a), (many, b) = plain.end(), paid.end()
        check(a.min() <= b.max() and b.min() <= a.max(), f"returns of {method} are the same within the spread of seeds")
        check(abs(many - few) < 0.5, f"little changed with {method}")
    change = {m: curves[f"{m}_teaming"].end()[0] - curves[m].end()[0] for m in TRAINED}
    told = change["fcp"] > 0.1 and abs(change["mep"]) < 0.1 and change["hsp"] < -0.1
    check(told, "one up, one the same, one down")
    check(all(added(c) < 2 for c in curves.values()), "hand-overs add less than 2 % to the return")


def table(curves: dict[str, Curve]) -> list[str]:
    rows = []
    for method in TRAINED:
        line = [METHODS[method]]
        for run in (method, f"{method}_teaming"):
            handovers, returns = curves[run].end()
            line += [f"{handovers:.2f}", f"{returns.mean():.0f} [{', '.join(f'{r:.0f}' for r in returns)}]"]
        rows.append([line[0], line[1], line[3], line[2], line[4]])
    head = ["", "hand-overs, task only", "hand-overs, with teaming", "return, task only", "return, with teaming"]
    return grid(head, rows)


def page(curves: dict[str, Curve]) -> Iterator[str]:
    seeds = curves["fcp"].returns.shape[1]
    change = {m: curves[f"{m}_teaming"].end()[0] - curves[m].end()[0] for m in TRAINED}
    steps = curves["fcp"].steps
    shares = [added(curves[f"{m}_teaming"]) for m in TRAINED]
    yield WORDS.format(seeds={3: "three"}.get(seeds, seeds))
    yield "\n".join([*table(curves), ""])
    yield READING.format(
        last=LAST, share=100 * (1 - steps[-LAST - 1] / steps[-1]), soup=SOUP, low=min(shares), high=max(shares),
        hsp_from=curves["hsp"].handovers[0], hsp_to=curves["hsp"].end()[0], **change,
    )  # fmt: skip


def draw(curves: dict[str, Curve], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(9, 4.6), sharex=True, sharey="row")
    for column, method in zip(axes.T, TRAINED, strict=True):
        for run, label, colour in ((method, "task only", "#b5622b"), (f"{method}_teaming", "with teaming", "#2f6f9f")):
            curve, millions = curves[run], curves[run].steps / 1e6
            column[0].plot(millions, curve.handovers, color=colour, label=label)
            column[1].plot(millions, curve.returns.mean(axis=1), color=colour)
            low, high = curve.returns.min(axis=1), curve.returns.max(axis=1)
            column[1].fill_between(millions, low, high, color=colour, alpha=0.15)
        column[0].set_title(METHODS[method], fontsize=9)
        column[1].set_xlabel("million steps", fontsize=9)
    axes[0, 0].set_ylabel("hand-overs per episode", fontsize=9)
    axes[1, 0].set_ylabel("return; band: seeds", fontsize=9)
    axes[0, 0].legend(frameon=False, fontsize=8)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=90, metadata={"Software": None})


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path, help="a folder of runs whose curves to keep first")
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--figure", type=Path, default=FIGURE)
    given = parser.parse_args(argv)
    if given.logs:
        keep(given.logs)
    curves, held = read(CURVES)
    check_claims(curves, held)
    text = "".join(page(curves))
    draw(curves, given.figure)
    given.out.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
