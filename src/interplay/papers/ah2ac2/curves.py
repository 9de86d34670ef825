"""Returns against steps, as pictures and as a table, beside the published points; and steps a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from interplay.papers.ah2ac2.formatting import number, steps
from interplay.papers.ah2ac2.published import POINTS
from interplay.papers.ah2ac2.stage_results import StageResults, trained_steps
from interplay.papers.page_formatting import grid

CURVES, HELD = "hanabi_learning_curves.svg", "hanabi_hdr.svg"
MARKS = (1e7, 1e8, 1e9)
ALONE = ("ippo_ff", "ippo_rnn", "entropy", "op", "op_rnn", "obl1", "obl2", "anyplay", "fcp", "br_bc")  # in this order
NAMES = {
    "ippo_ff": "IPPO, feed-forward",
    "ippo_rnn": "IPPO, recurrent",
    "entropy": "IPPO, high entropy",
    "op": "Other-Play",
    "op_rnn": "Other-Play, recurrent, high entropy",
    "obl1": "OBL-1",
    "obl2": "OBL-2",
    "anyplay": "Any-Play",
    "fcp": "FCP (with its population)",
    "br_bc": "BR-BC (with clones)",
}
COLOURS = ("#1b6ca8", "#d1495b", "#edae49", "#00798c", "#66a182", "#8d5b9a", "#8a817c", "#b5651d", "#2e4057", "#5f7f3b")


def learnt(results: StageResults, players: int) -> dict[str, dict[str, Any]]:
    """Return the stage of each method that learns by playing the whole game, by method."""
    return {m: results.stages[f"{m}_{players}p"] for m in ALONE if f"{m}_{players}p" in results.stages}


def returns(record: dict[str, Any]) -> list[tuple[float, float]]:
    """Steps and the mean return over runs."""
    points = []
    for line in record["curve"]:
        known = [r for r in line.get("returns") or [] if r is not None]
        if known and line.get("steps"):
            points.append((float(line["steps"]), float(np.mean(known))))
    return points


def at(record: dict[str, Any], mark: float) -> float | None:
    """Return the return after a number of steps; None if training ended before."""
    points = returns(record)
    if not points or points[-1][0] < 0.97 * mark:  # the last update may end a little before
        return None
    return float(np.interp(np.log(mark), np.log([p[0] for p in points]), [p[1] for p in points]))


def curves(results: StageResults) -> list[str]:
    """Return the table of returns against steps."""
    rows = []
    for players in (2, 3):
        for method, record in learnt(results, players).items():
            last = returns(record)[-1][1] if returns(record) else None
            ends = [number(at(record, mark)) for mark in MARKS]
            rows.append([f"{NAMES[method]}, {players} players", *ends, number(last), steps(trained_steps(record))])
        for point in POINTS[players]:
            told_at = [number(point.score) if mark == point.steps else "–" for mark in MARKS]
            label = f"*{point.what}, {players} players, published*"
            rows.append([label, *told_at, number(point.score), steps(point.steps)])
    if not any(learnt(results, players) for players in (2, 3)):
        return []
    head = ["", *(f"at {steps(mark)} steps" for mark in MARKS), "at the end", "steps"]
    lines = ["## Return against steps", "", f"![Return against steps of training](../images/{CURVES})", ""]
    about = (
        "Returns of training, with sampled moves; means over runs. Runs that a clock ended went by the pace of the "
        "last chunk; where others on the GPU came to their end it rose, so that schedules took a step back: the "
        "learning rates of HDR-IPPO after 6e7 steps, and BR-BC's odds of meeting a clone after 1.1e8, which is its "
        "peak there. Schedules no longer go back."
    )
    return [*lines, about, "", *grid(head, rows)]


EARLIER = ("lstm_chunk16", "mingru_turns", "hdr_turns")  # measured before gradients through memory were one product


def speed(results: StageResults) -> list[str]:
    """Return the table of training speeds."""
    rows = []
    for row in results.speed.get("rows", []):
        flags = "" if row["flags"] == "plain" else f" ({row['flags']})"
        if "steps_per_s" in row:
            cells = [f"{row['steps_per_s']:,}", number(row["update_ms"], 1), number(row["times_jaxmarl"])]
            mark = "*" if row["configuration"] in EARLIER else ""
            rows.append([row["configuration"] + flags + mark, row["device"], *cells])
    if not rows:
        return []
    head = ["configuration", "machine", "steps/s", "an update, ms", "times JaxMARL's"]
    theirs = results.speed["jaxmarl"]
    about = (
        f"PPO at two players with all of its work, 1,024 environments x 128 steps, 4 epochs, 4 minibatches unless the "
        f"configuration says otherwise (`benchmarks/hanabi_learning/speed.json`). JaxMARL: "
        f"{theirs['steps_per_s']:,.0f} steps/s, {theirs['what']}. `turns`: only the seat to move is asked, and "
        "memory is of own turns. Rows with a star are from before gradients through memory were made faster."
    )
    return ["## Speed", "", about, "", *grid(head, rows)]


def draw(results: StageResults, folder: Path) -> list[Path]:
    """Draw the pictures; none where nothing was trained."""
    made = []
    if any(learnt(results, players) for players in (2, 3)):
        made.append(_saved(_curves(results), folder / CURVES))
    if "hdr_2p" in results.stages:
        made.append(_saved(_hdr_ippo(results), folder / HELD))
    return made


def _figure(rows: int, columns: int) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "interplay", "svg.fonttype": "none", "font.size": 9})
    size = (5.6 * columns + 1.8, 3.6 * rows)
    return pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)


def _legend(axis: Any) -> None:
    """Put the legend beside the panel, where it covers no line."""
    axis.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _saved(figure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    text = path.read_text()
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")  # matplotlib leaves blanks behind
    return path


def _curves(results: StageResults) -> Any:
    sizes = [players for players in (2, 3) if learnt(results, players)]
    figure, axes = _figure(len(sizes), 1)
    for axis, players in zip(axes[:, 0], sizes, strict=True):
        for method, record in learnt(results, players).items():
            points = returns(record)
            axis.plot(*zip(*points), color=COLOURS[ALONE.index(method)], label=NAMES[method], linewidth=1.5)
        for point, mark in zip(POINTS[players], "osD^", strict=False):
            told_as = f"{point.what}, published"
            axis.plot([point.steps], [point.score], mark, color="black", label=told_as, markersize=5, fillstyle="none")
        axis.set(xscale="log", xlabel="steps of the game", ylabel="return", ylim=(0, 25), title=f"{players} players")
        axis.grid(color="#dddddd", linewidth=0.6)
        _legend(axis)
    return figure


def _hdr_ippo(results: StageResults) -> Any:
    """HDR-IPPO: the return and the distance from the clone, by λ (the challenge's Figures 6 and 7)."""
    sizes = [players for players in (2, 3) if f"hdr_{players}p" in results.stages]
    figure, axes = _figure(len(sizes), 2)
    for row, players in enumerate(sizes):
        record = results.stages[f"hdr_{players}p"]
        hold = record["config"]["algorithm"]["options"].get("hold", [0.25])
        for place, (key, label) in enumerate((("returns", "return"), ("anchor_kls", "KL(clone || policy), nats"))):
            axis = axes[row][place]
            lines = [line for line in record["curve"] if line.get(key)]
            for run in range(record["config"].get("runs", 1)):
                points = [(line["steps"], line[key][run]) for line in lines if line[key][run] is not None]
                if points:
                    of_run = {"color": COLOURS[run % len(COLOURS)], "label": f"λ = {hold[run % len(hold)]:g}"}
                    axis.plot(*zip(*points), linewidth=1.3, **of_run)
            axis.set(xlabel="steps of the game", ylabel=label, title=f"HDR-IPPO, {players} players")
            if key == "anchor_kls":
                axis.set_yscale("log")
            axis.grid(color="#dddddd", linewidth=0.6)
        _legend(axes[row][1])
    return figure
