"""False positives and coverage of the analyses of a study, in simulated studies whose truth is known.

    python benchmarks/error_rates.py --out out/error_rates --studies 2000
    python benchmarks/error_rates.py --out out/error_rates --table

Six designs, each with partners who are all liked alike and with partners who differ. Results go to one file for each
design in batches, so that a run that was stopped goes on where it was. --table prints what docs/results/error_rates.md
holds. Two hours of one busy core for all.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # matrices are small; threads only wait for one another

import numpy as np  # noqa: E402

from interplay.errors import InterplayError  # noqa: E402
from interplay.stats import clustered_fit, friedman, t_test_paired, t_test_welch  # noqa: E402
from interplay.study.analysis.plan import Ratings, Regression  # noqa: E402
from interplay.study.analysis.ranks import compare_ranks  # noqa: E402
from interplay.study.analysis.ratings import compare_partners  # noqa: E402
from interplay.study.analysis.regress import fit_measure  # noqa: E402

BATCH = 50
LIKING_SD = 0.5  # by how much partners differ in liking, where they do, in points of the scale
SLOPE = 0.2  # planted, for coverage


@dataclass(frozen=True)
class Design:
    """Who rates whom, and on what scale."""

    people: int
    partners: int
    drawn: int | None = None  # partners that a person meets; None: all
    repeats: int = 1  # ratings of a partner by a person
    missing: float = 0.0  # share of the cells, more of some partners than of others
    points: int = 7
    middle: float = 4.0  # of the answers
    slope_sd: float = 0.0  # by how much the worth of a unit of the measure differs between people
    unequal: bool = False  # whether people differ in how much their answers spread


DESIGNS = {
    "all meet all": Design(60, 8),
    "many people": Design(160, 8),
    "partners drawn": Design(60, 12, drawn=3),
    "few partners": Design(40, 4, repeats=2),
    "missing cells": Design(60, 8, missing=0.4),
    "rough scale": Design(24, 6, points=5, middle=4.2, slope_sd=0.15, unequal=True),
}


def simulate(design: Design, liking_sd: float, rng: np.random.Generator, slope: float = 0.0) -> list[dict[str, Any]]:
    """Return ratings with person, partner, game, value, and measures of the partner and of the game."""
    people, partners = design.people, design.partners
    partner_x, game_x = rng.normal(size=(2, partners))  # partners differ in what games with them give
    liking = liking_sd * rng.normal(size=partners)
    met = np.argsort(rng.random((people, partners)), axis=1) < (design.drawn or partners)
    met &= rng.random((people, partners)) >= np.clip(design.missing * 2 * rng.random(partners), 0, 0.9)
    person, partner = np.nonzero(met)
    person, partner = np.repeat(person, design.repeats), np.repeat(partner, design.repeats)
    score = game_x[partner] + rng.normal(size=len(person))
    latent = design.middle + rng.normal(0, 0.7, people)[person] + liking[partner]
    latent += rng.normal(0, 0.4, (people, partners))[person, partner]
    latent += (slope + rng.normal(0, design.slope_sd, people)[person]) * score
    latent += np.exp(rng.normal(0, 0.4 if design.unequal else 0.0, people))[person] * rng.normal(size=len(person))
    value = np.clip(np.round(latent), 1, design.points)
    names = ("person", "partner", "latent", "value", "known", "score")
    columns = (
        person.tolist(),
        partner.tolist(),
        latent.tolist(),
        value.tolist(),
        partner_x[partner].tolist(),
        score.tolist(),
    )
    return [{"game": "one", **dict(zip(names, row, strict=True))} for row in zip(*columns, strict=True)]


def tests(design: Design, liking_sd: float, rng: np.random.Generator) -> dict[str, float | None]:
    """Return the p values of one simulated study in which nothing but the partners' liking is planted."""
    rows = simulate(design, liking_sd, rng)
    found: dict[str, float | None] = {}
    mixed = Regression(kind="regression", id="r", of=("q",))
    game = fit_measure(rows, "score", mixed)
    found["regression on the game"] = game.get("p")
    found["regression within people"] = game.get("p_within")
    found["regression on the partner"] = fit_measure(rows, "known", mixed.model_copy(update={"slopes": ()})).get("p")
    if rng.random() < 0.25:  # what was the default before, for comparison
        y, who = [r["value"] for r in rows], [r["person"] for r in rows]
        for what, name in (("game", "score"), ("partner", "known")):
            found[f"clustered by person, on the {what}"] = clustered_fit(y, [r[name] for r in rows], who)[0].p
    if not liking_sd:  # otherwise partners do differ
        test, pairs = compare_partners(rows, Ratings(kind="ratings", id="r", of=("q",)))
        found["partners differ"] = test["p"]
        found["a pair differs"] = pairs[0]["p"] if pairs else None
        found["any pair, Holm"] = min(min(p["p"] for p in pairs) * len(pairs), 1.0) if pairs else None
        orders = _orders(rows)
        found["ranks differ"] = compare_ranks(orders)[0]["p"]
        whole = [o for o in orders if len(o) == design.partners]
        if len(whole) > 2:
            found["Friedman"] = friedman([[-o.index(k) for k in range(design.partners)] for o in whole]).p
    found |= _of_people(rows, design, rng)
    return found


def _orders(rows: list[dict[str, Any]]) -> list[list[int]]:
    by_person: dict[int, dict[int, float]] = {}
    for row in rows:
        by_person.setdefault(row["person"], {})[row["partner"]] = row["latent"]
    return [sorted(values, key=lambda k: -values[k]) for values in by_person.values()]


def _of_people(rows: list[dict[str, Any]], design: Design, rng: np.random.Generator) -> dict[str, float | None]:
    """Tests of people's means, which speak of these partners: halves of the games, and groups of people, are alike."""
    side = rng.random(len(rows)) < 0.5
    sums: dict[int, tuple[list[float], list[float]]] = {}
    for row, first in zip(rows, side, strict=True):
        sums.setdefault(row["person"], ([], []))[0 if first else 1].append(row["value"])
    both = [(np.mean(a), np.mean(b)) for a, b in sums.values() if a and b]
    means = [float(np.mean([*a, *b])) for a, b in sums.values()]
    group = rng.random(len(means)) < 0.4
    found: dict[str, float | None] = {"paired t": t_test_paired(*zip(*both, strict=True)).p if len(both) > 2 else None}
    if 2 < group.sum() < len(means) - 2:
        found["Welch, two groups"] = t_test_welch(np.array(means)[group], np.array(means)[~group]).p
    return found


def intervals(design: Design, liking_sd: float, rng: np.random.Generator) -> dict[str, bool | None]:
    """Return whether intervals hold a planted slope, and the difference between two partners."""
    rows = [{**row, "value": row["latent"]} for row in simulate(design, liking_sd, rng, slope=SLOPE)]
    made = fit_measure(rows, "score", Regression(kind="regression", id="r", of=("q",)))
    held: dict[str, bool | None] = {
        "slope on the game": made["slope_low"] < SLOPE < made["slope_high"] if made.get("p") is not None else None,
        "slope within people": made["within_low"] < SLOPE < made["within_high"] if made.get("p_within") else None,
    }
    flat = [{**row, "value": row["latent"] - SLOPE * row["score"] + 0.3 * row["known"]} for row in rows]
    known = fit_measure(flat, "known", Regression(kind="regression", id="r", of=("q",), slopes=()))
    held["slope on the partner"] = (
        known["slope_low"] < 0.3 < known["slope_high"] if known.get("p") is not None else None
    )
    shifted = [{**row, "value": row["latent"] - SLOPE * row["score"] + 0.5 * (row["partner"] == 0)} for row in rows]
    if not liking_sd:
        pairs = compare_partners(shifted, Ratings(kind="ratings", id="r", of=("q",)))[1]
        pair = next((p for p in pairs if {p["a"], p["b"]} == {"0", "1"}), None)
        truth = 0.5 if pair and pair["a"] == "0" else -0.5
        held["difference of two partners"] = (
            bool(pair["difference_low"] < truth < pair["difference_high"]) if pair else None
        )
    return {name: None if value is None else bool(value) for name, value in held.items()}


def ordinal(design: Design, liking_sd: float, rng: np.random.Generator) -> dict[str, float | None]:
    """Return the p values of ordinal models, which a study file must ask for."""
    rows = simulate(design, liking_sd, rng)
    part = Regression(kind="regression", id="r", of=("q",), model="ordinal")
    found: dict[str, float | None] = {
        f"ordinal, on the {what}": fit_measure(rows, name, part).get("p")
        for what, name in (("game", "score"), ("partner", "known"))
    }
    if not liking_sd:
        found["ordinal, partners differ"] = compare_partners(
            rows, Ratings(kind="ratings", id="r", of=("q",), model="ordinal")
        )[0]["p"]
    return found


def batches(out: Path, kind: str, studies: int) -> Iterator[tuple[Path, str, float, int]]:
    """Yield the batches that are still to be done, each with its file."""
    for batch in range(math.ceil(studies / BATCH)):
        for name in DESIGNS:
            for liking in (0.0, LIKING_SD):
                file = out / kind / f"{name.replace(' ', '_')}-{liking:g}-{batch}.json"
                if not file.exists():
                    yield file, name, liking, batch


def run(out: Path, kind: str, studies: int, part: int, parts: int) -> None:
    """Simulate what is still to be done."""
    work = {"tests": tests, "intervals": intervals, "ordinal": ordinal}[kind]
    (out / kind).mkdir(parents=True, exist_ok=True)
    for file, name, liking, batch in batches(out, kind, studies):
        if batch % parts != part:
            continue
        key = [("tests", "intervals", "ordinal").index(kind), [*DESIGNS].index(name), int(liking > 0), batch]
        rng = np.random.default_rng(key)
        rows = []
        for _ in range(BATCH):
            try:
                rows.append(work(DESIGNS[name], liking, rng))
            except InterplayError as error:
                rows.append({"failed": str(error)})
        file.with_suffix(".part").write_text(json.dumps(rows))
        file.with_suffix(".part").rename(file)


def band(studies: int, rate: float = 0.05) -> tuple[float, float]:
    """Return the shares between which a true rate falls in 99 of 100 simulations of this size."""
    from scipy.stats import binom

    low, high = binom.ppf([0.005, 0.995], studies, rate) / studies
    return float(low), float(high)


def table(out: Path, kind: str) -> str:
    """Return the shares in Markdown: designs in columns, without and with differences between partners."""
    shares: dict[str, dict[tuple[str, float], tuple[float, int]]] = {}
    for name in DESIGNS:
        for liking in (0.0, LIKING_SD):
            rows = []
            for file in sorted((out / kind).glob(f"{name.replace(' ', '_')}-{liking:g}-*.json")):
                rows += json.loads(file.read_text())
            for test in dict.fromkeys(key for row in rows for key in row if key != "failed"):
                values = [row[test] for row in rows if row.get(test) is not None]
                hits = [v if kind == "intervals" else v < 0.05 for v in values]
                shares.setdefault(test, {})[name, liking] = (float(np.mean(hits)), len(hits)) if hits else (math.nan, 0)
    lines = ["| test | " + " | ".join(DESIGNS) + " |", "|---|" + "---|" * len(DESIGNS)]
    for test, cells in shares.items():
        told = []
        for name in DESIGNS:
            values = [_cell(*cells[name, liking], kind) for liking in (0.0, LIKING_SD) if (name, liking) in cells]
            told.append(" / ".join(values) or "-")
        lines.append(f"| {test} | " + " | ".join(told) + " |")
    return "\n".join(lines)


def _cell(share: float, studies: int, kind: str) -> str:
    if not studies:
        return "-"
    low, high = band(studies, 0.95 if kind == "intervals" else 0.05)
    mark = "" if low <= share <= high else ("-" if (share < low) == (kind != "intervals") else "+")
    return f"{100 * share:.1f}{mark}"


def main() -> None:
    """Simulate, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/error_rates"))
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--kind", choices=("tests", "intervals", "ordinal"), default="tests")
    parser.add_argument("--part", type=int, default=0, help="which of --parts processes this one is")
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if not args.table:
        run(args.out, args.kind, args.studies, args.part, args.parts)
        return
    for kind in ("tests", "intervals", "ordinal"):
        if (args.out / kind).exists():
            print(f"\n{kind}\n\n{table(args.out, kind)}")


if __name__ == "__main__":
    main()
