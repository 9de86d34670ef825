"""Two tables of football's results, as Markdown.

    python benchmarks/football/tables.py curves benchmarks/football/results/keepaway/training.json
    python benchmarks/football/tables.py seats benchmarks/football/results/keepaway/returns.csv

`curves`: goals per episode with the partners of the training, after shares of the steps (of populations all members'
steps are counted together). `seats`: goals of each method by the seat of the ego, beside those of the best responses.
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

import numpy as np

from interplay.games.football.pitch import SEAT_NAMES

SHARES = (0.0, 0.05, 0.25, 0.5, 1.0)  # the first is the first line of the log


def main() -> None:
    """Print the table that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("curves", "seats"))
    parser.add_argument(
        "file", type=Path, help="training.json or returns.csv, as benchmarks/zsc/install.py writes them"
    )
    given = parser.parse_args()
    (curves if given.table == "curves" else seats)(given.file)


def curves(file: Path) -> None:
    """Print a row for each job, and for each method of a job that trains several."""
    header("job", "runs", *(f"{share:.0%}" for share in SHARES), "steps of each run", "seconds")
    total, training = 0.0, json.loads(file.read_text())
    for name, job in training.items():
        curve = job.get("curve")
        if not curve:
            continue
        last = curve[-1]["steps"]
        marks = [min(curve, key=lambda line, s=share: abs(line["steps"] - s * last)) for share in SHARES]
        many = len(marks[0]["returns"])
        methods = list(dict.fromkeys(run["algorithm"] for run in job["runs"]))
        total += last * many
        for number, method in enumerate(methods):
            own = slice(number * many // len(methods), (number + 1) * many // len(methods))
            goals = (f"{np.nanmean(np.array(mark['returns'][own], float)):.3f}" for mark in marks)
            label = name if len(methods) == 1 else f"{name}: {method}"
            row(label, many // len(methods), *goals, f"{last:.2g}", training["times"][name]["seconds"])
    print(f"{total / 1e6:.0f} million steps")


def seats(file: Path) -> None:
    """Print a row for each method: mean goals in each seat, over the cells that have a best response."""
    with file.open() as opened:
        rows = list(csv.DictReader(opened))
    header("method", "all seats", *SEAT_NAMES)
    methods = list(dict.fromkeys(r["algorithm"] for r in rows))
    for column, names in (("best_response_return", methods[:1]), ("return", methods)):
        for method in names:
            own = [(int(r["ego_seat"]), float(r[column])) for r in rows if r["algorithm"] == method]
            by_seat = [[goals for at, goals in own if seat in (None, at)] for seat in (None, *range(len(SEAT_NAMES)))]
            label = method if column == "return" else "the best responses"
            row(label, *(f"{np.mean(goals):.3f}" for goals in by_seat))


def header(*names: str) -> None:
    """Print the head of a table."""
    row(*names)
    row(*["---"] * len(names))


def row(*cells: object) -> None:
    """Print a row of a table."""
    print("|", " | ".join(map(str, cells)), "|")


if __name__ == "__main__":
    main()
