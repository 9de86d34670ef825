"""Figure 3: training with r_task + alpha * r_teaming, over alpha, beside the same training with r_task alone.

The paper trains FCP, MEP and HSP with alpha .3, paid when a hand-over's soup is delivered, and says that hand-overs
increase while the task's reward stays the same. Here self-play is trained at several prices, paid at the delivery or
at the hand-over itself (a loop pays back), through counters and pots or counters alone, in two kitchens with several
seeds. Each condition has runs at the price 0 of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats import bootstrap
from interplay.table import Row, Table
from interplay.untrusted_files import lines, read_json

CONFIG = "figure3.json"  # the training, beside this file
PAID_AT = ("delivery", "hand_over")
CHANNELS = (("counters", "pots"), ("counters",))  # whose hand-overs pay
LAST = 5  # lines of the log whose mean is the end of training
MEASURES = ("return", "constructive_counters", "constructive_pots", "handovers_counters", "handovers_pots")
PUBLISHED = "alpha 0.3, paid at the delivery: hand-overs increase consistently, the task's reward stays the same"


@dataclass(frozen=True)
class Condition:
    """A kitchen, which hand-overs pay, and when; all prices are trained side by side."""

    layout: str
    paid_at: str
    channels: tuple[str, ...] = CHANNELS[0]

    @property
    def folder(self) -> str:
        """Where its runs are, in the folder of all."""
        return f"{self.layout}/{self.paid_at}-{'+'.join(self.channels)}"


def conditions(layouts: Sequence[str]) -> list[Condition]:
    """Return all conditions, those in which every hand-over pays first."""
    return [Condition(layout, at, channels) for channels in CHANNELS for layout in layouts for at in PAID_AT]


def experiment(condition: Condition, *, prices: Sequence[float], seeds: int, scale: float, folder: Path) -> Any:
    """Return the training of a condition: `seeds` runs of each price in one program."""
    from interplay.training.config import Experiment
    from interplay.training.loader import build

    values = json.loads((files("interplay.papers.interdependence") / CONFIG).read_text())
    values["game"] = {"name": f"overcooked/{condition.layout}"}
    values["runs"] = seeds * len(prices)
    values["algorithm"]["options"] = {"teaming": [price for price in prices for _ in range(seeds)]}
    values["steps"] = max(values["steps"] * scale, values["envs"] * values["rollout"])
    values["rewards"] |= {"teaming_at": condition.paid_at, "teaming_channels": list(condition.channels)}
    values["output"] |= {"folder": str(folder / condition.folder)}
    return build(Experiment, values)


def train(condition: Condition, folder: Path, *, prices: Sequence[float], seeds: int, scale: float = 1.0) -> None:
    """Train a condition, or what is missing of it."""
    from interplay.training.algorithms import train as run

    run(experiment(condition, prices=prices, seeds=seeds, scale=scale, folder=folder))


def read(folder: Path, wanted: Sequence[Condition]) -> Table:
    """Return the end of training of every run: a row for each condition, seed and measure.

    Raises:
        InterplayError: Nothing was trained there.
    """
    rows: list[Row] = []
    for condition in wanted:
        where = folder / condition.folder
        if not (where / "log.jsonl").is_file():
            continue
        trained = read_json(where / "manifest.json")["experiment"]
        paid = (trained["rewards"]["teaming_at"], tuple(trained["rewards"]["teaming_channels"]))
        if paid != (condition.paid_at, condition.channels):
            raise InterplayError(f"{where}: what was paid there is not what its name says")
        prices = trained["algorithm"]["options"]["teaming"]
        last = [json.loads(text) for _, text in lines(where / "log.jsonl")][-LAST:]
        for measure in MEASURES:
            for run, value in enumerate(_ends(last, measure)):
                about = {"layout": condition.layout, "paid": "+".join(condition.channels), "at": condition.paid_at}
                about |= {"price": prices[run], "steps": last[-1]["steps"], "seed": run}
                rows.append({**about, "measure": measure, "value": value})
    if not rows:
        raise InterplayError(f"{folder}: no condition was trained here yet; run without --no-train")
    return Table.of(rows, "End of training")


def shipped() -> Table:
    """Return the end of training of the runs whose numbers come with interplay, as `read` does."""
    text = (files("interplay.papers.interdependence") / "figure3_runs.json").read_text()
    rows: list[Row] = []
    for one in json.loads(text)["conditions"]:
        about = {name: one[name] for name in ("layout", "paid", "at")}
        for measure in MEASURES:
            for run, value in enumerate(one[measure]):
                rows.append({**about, "price": one["prices"][run], "steps": one["steps"], "seed": run})
                rows[-1] |= {"measure": measure, "value": value}
    return Table.of(rows, "End of training")


def _ends(log: Sequence[dict[str, Any]], measure: str) -> list[float | None]:
    """Return the mean of the last lines for each run."""
    values = np.array([[np.nan if v is None else v for v in line[f"{measure}s"]] for line in log], float)
    known = ~np.isnan(values)
    totals = np.where(known, values, 0).sum(axis=0)
    return [float(t / k) if k else None for t, k in zip(totals, known.sum(axis=0))]


def table(ends: Table, *, seed: int = 0) -> Table:
    """Return a row for each condition: means over seeds with intervals, and the change from the price 0."""
    rows: list[Row] = []
    for (layout, paid, at, price), part in ends.groups("layout", "paid", "at", "price").items():
        row: Row = {"layout": layout, "paid": paid, "paid_at": at, "alpha": price}
        row |= {"steps": part.rows[0]["steps"], "seeds": len(set(part.column("seed")))}
        for measure in MEASURES:
            values = [r["value"] for r in part.where(measure=measure) if r["value"] is not None]
            low = high = None
            if len(values) > 1:
                made = bootstrap(
                    values, {"seed": list(range(len(values)))}, seed=seed, statistic="mean", episodes=False
                )
                low, high = made.low, made.high
            mean = sum(values) / len(values) if values else None
            row |= {measure: mean, f"{measure}_low": low, f"{measure}_high": high}
        rows.append(row)
    rows.sort(key=lambda r: (r["layout"], r["paid"] != "counters+pots", r["paid_at"], r["alpha"]))
    return Table.of(rows, f"Hand-overs and returns over the price of a hand-over (published: {PUBLISHED})")


def draw(made: Table, measure: str) -> str:
    """Return one measure over the price as SVG: an interval for each kitchen, price and time of payment."""
    from interplay.reports import svg
    from interplay.reports.figures import FigureEstimate, interval_plot

    estimates = [
        FigureEstimate(
            f"{r['alpha']:g}, {r['paid']}, {r['paid_at'].replace('_', '-')}",
            r[measure],
            r[f"{measure}_low"],
            r[f"{measure}_high"],
            r["layout"],
        )
        for r in made
    ]
    title = f"{measure.replace('_', ' ')} at the end of training, by alpha and when it is paid"
    return svg.standalone(interval_plot(estimates, title=title))


def write(made: Table, folder: Path) -> list[Path]:
    """Write a drawing of every measure into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for measure in MEASURES:
        paths.append(folder / f"{measure}.svg")
        paths[-1].write_text(draw(made, measure))
    return paths


def earlier() -> Table:
    """Return the end of an earlier run on a GPU: FCP, MEP and HSP with alpha 0 and .3, three seeds, counter circuit.

    Hand-overs are those over counters that end in a soup, in an episode, as means over seeds; paid at the delivery.
    """
    data = json.loads((files("interplay.papers.interdependence") / "figure3_earlier.json").read_text())
    rows: list[Row] = []
    for name, run in data["runs"].items():
        returns = np.array(run["returns"][-10:]).mean(axis=0)
        row: Row = {"method": name.removesuffix("_teaming"), "alpha": run["alpha"], "steps": run["steps"][-1]}
        row |= {"handovers": float(np.mean(run["handovers"][-10:])), "return": float(returns.mean())}
        rows.append(row | {"returns_by_seed": ", ".join(f"{r:.0f}" for r in returns)})
    return Table.of(rows, "An earlier run: the last ten lines of the log (counter circuit, alpha paid at the delivery)")
