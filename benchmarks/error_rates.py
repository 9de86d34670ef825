"""False positives and coverage of the analyses of a study, in simulated studies whose truth is known.

    python -m benchmarks.error_rates --kind tests        (also: intervals, others, ordinal)
    python -m benchmarks.error_rates --check
    python -m benchmarks.error_rates --table

Six designs, each with partners who are all liked alike and with partners who differ. Linear models are fitted in
batches (benchmarks/batched_reml.py); --check compares them with the shipped functions. Results go to files, so that a
run that was stopped goes on where it was. --page writes docs/results/error_rates.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # matrices are small; threads only wait for one another

import numpy as np  # noqa: E402

from benchmarks.batched_reml import Batch, fit_batch  # noqa: E402
from interplay.stats import clustered_fit, friedman, t_test_paired, t_test_welch  # noqa: E402
from interplay.stats.models import LinearMixedFit, rank_fit  # noqa: E402
from interplay.study.analysis.analysis_list import Ratings, Regression  # noqa: E402
from interplay.study.analysis.interdependence import change_over_games  # noqa: E402
from interplay.study.analysis.mixed import slope_fit  # noqa: E402
from interplay.study.analysis.preferences import strengths  # noqa: E402
from interplay.study.analysis.ranks import above  # noqa: E402
from interplay.study.analysis.ranks import by_person as by_person_of  # noqa: E402
from interplay.study.analysis.ratings import compare_partners  # noqa: E402
from interplay.study.analysis.regress import fit_measure  # noqa: E402
from interplay.study.analysis.result import attempt  # noqa: E402

BATCH = 100  # studies
KINDS = ("tests", "intervals", "ordinal", "others")
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
    "many people": Design(240, 8),
    "partners drawn": Design(60, 12, drawn=3),
    "few partners": Design(40, 4, repeats=2),
    "missing cells": Design(60, 8, missing=0.4),
    "rough scale": Design(24, 6, points=5, middle=4.2, slope_sd=0.15, unequal=True),
}


@dataclass(frozen=True)
class Studies:
    """Simulated studies: what stands in slots [study, person, slot], a slot for every time a partner can be met."""

    design: Design
    partner: np.ndarray  # [slot]
    met: np.ndarray  # [study, person, slot]
    score: np.ndarray
    known: np.ndarray
    latent: np.ndarray

    @property
    def value(self) -> np.ndarray:
        """Answers on the scale."""
        return np.clip(np.round(self.latent), 1, self.design.points)

    def rows(self, study: int, value: np.ndarray) -> list[dict[str, Any]]:
        """Return one study as the shipped functions take it."""
        person, slot = np.nonzero(self.met[study])
        names = ("person", "partner", "value", "latent", "known", "score")
        at = study, person, slot
        columns = (person, self.partner[slot], value[at], self.latent[at], self.known[at], self.score[at])
        listed = zip(*(column.tolist() for column in columns), strict=True)
        return [{"game": "one", **dict(zip(names, row, strict=True))} for row in listed]


def simulate(
    design: Design, liking_sd: float, rng: np.random.Generator, slope: float = 0.0, size: int = BATCH
) -> Studies:
    """Return simulated studies in which a unit of the score is worth `slope`."""
    people, partners = design.people, design.partners
    partner = np.repeat(np.arange(partners), design.repeats)
    own = (size, people, partners)
    met = np.argsort(np.argsort(rng.random(own), axis=2), axis=2) < (design.drawn or partners)
    met &= rng.random(own) >= np.clip(design.missing * 2 * rng.random((size, 1, partners)), 0, 0.9)
    cell = rng.normal(0, 0.4, own) + liking_sd * rng.normal(size=(size, 1, partners))
    shape = (size, people, len(partner))
    # Partners differ in what games with them give, and in a property of their own.
    score = rng.normal(size=(size, 1, partners))[..., partner] + rng.normal(size=shape)
    known = np.broadcast_to(rng.normal(size=(size, 1, partners))[..., partner], shape)
    latent = design.middle + rng.normal(0, 0.7, (size, people, 1)) + cell[..., partner]
    latent = latent + (slope + rng.normal(0, design.slope_sd, (size, people, 1))) * score
    spread = np.exp(rng.normal(0, 0.4 if design.unequal else 0.0, (size, people, 1)))
    latent = latent + spread * rng.normal(size=shape)
    return Studies(design, partner, met[..., partner], score, known, latent)


def fits(studies: Studies, value: np.ndarray, model: str) -> list[LinearMixedFit | None]:
    """Fit one of the shipped models to all studies: game, within, known or partner."""
    mask = studies.met.astype(float)
    one = np.ones((*mask.shape, 1))
    partner = np.broadcast_to(np.eye(studies.design.partners)[studies.partner], (*mask.shape, studies.design.partners))
    own, terms = [one], [0]
    if model in ("game", "within"):
        centre = (studies.score * mask).sum(axis=(1, 2)) / mask.sum(axis=(1, 2))
        own.append((studies.score - centre[:, None, None])[..., None])
        terms.append(1)
    if studies.design.repeats > 1:
        own.append(partner)
        terms += [max(terms) + 1] * studies.design.partners
    random = Batch(np.concatenate(own, axis=-1), np.array(terms), partner, one, value, mask)
    if model == "partner":
        names = ("constant", *(f"partner={k}" for k in range(1, studies.design.partners)))
        made = replace(random, partner=None, x=np.concatenate([one, partner[..., 1:]], axis=-1))
        return fit_batch(made, names, {"partner": tuple(range(studies.design.partners))})
    if model == "within":
        means = (studies.score * mask).sum(axis=2, keepdims=True) / np.maximum(mask.sum(axis=2, keepdims=True), 1)
        columns = [studies.score - means, np.broadcast_to(means, mask.shape)]
    else:
        columns = [studies.score if model == "game" else studies.known]
    names = ("constant", "slope", "mean")[: 1 + len(columns)]
    return fit_batch(replace(random, x=np.concatenate([one, *(c[..., None] for c in columns)], axis=-1)), names)


def tests(design: Design, liking_sd: float, rng: np.random.Generator) -> list[dict[str, float | None]]:
    """Return the p values of simulated studies in which nothing but the partners' liking is planted."""
    studies = simulate(design, liking_sd, rng)
    value = studies.value
    made = {model: fits(studies, value, model) for model in ("game", "within", "known")}
    partner = fits(studies, value, "partner") if not liking_sd else []  # otherwise partners do differ
    by_study = []
    for k in range(len(value)):
        row: dict[str, float | None] = {
            f"regression {NAMES[model]}": fit[k].coefficient("slope").p if fit[k] else None
            for model, fit in made.items()
        }
        rows = studies.rows(k, value)
        if partner and partner[k]:
            row["partners differ"] = partner[k].factor("partner").p
            pairs = [e.p for e in partner[k].pairs("partner").values()]
            row |= {"a pair differs": pairs[0], "any pair, Holm": min(pairs) * len(pairs)}
            orders = _orders(rows)
            row["ranks differ"] = rank_fit(orders).test.p
            whole = [o for o in orders if len(o) == design.partners]
            if len(whole) > 2:
                row["Friedman"] = friedman([[-o.index(j) for j in range(design.partners)] for o in whole]).p
        if k % 8 == 0:  # what was the default before, for comparison
            y, who = [r["value"] for r in rows], [r["person"] for r in rows]
            for what, name in (("game", "score"), ("partner", "known")):
                row[f"clustered by person, on the {what}"] = clustered_fit(y, [r[name] for r in rows], who)[0].p
        by_study.append(row | _of_people(rows, rng))
    return by_study


NAMES = {"game": "on the game", "within": "within people", "known": "on the partner"}


def _orders(rows: list[dict[str, Any]]) -> list[list[int]]:
    by_person: dict[int, dict[int, float]] = {}
    for row in rows:
        by_person.setdefault(row["person"], {})[row["partner"]] = row["latent"]
    return [sorted(values, key=lambda k: -values[k]) for values in by_person.values()]


def _of_people(rows: list[dict[str, Any]], rng: np.random.Generator) -> dict[str, float | None]:
    """Tests of people's means: halves of the ratings, and groups of people, that are alike."""
    side = rng.random(len(rows)) < 0.5
    sums: dict[int, tuple[list[float], list[float]]] = {}
    for row, first in zip(rows, side, strict=True):
        sums.setdefault(row["person"], ([], []))[0 if first else 1].append(row["value"])
    both = [(np.mean(a), np.mean(b)) for a, b in sums.values() if a and b]
    means = np.array([np.mean([*a, *b]) for a, b in sums.values()])
    group = rng.random(len(means)) < 0.4
    p: dict[str, float | None] = {"paired t": t_test_paired(*zip(*both, strict=True)).p if len(both) > 2 else None}
    if 2 < group.sum() < len(means) - 2:
        p["Welch, two groups"] = t_test_welch(means[group], means[~group]).p
    return p


def intervals(design: Design, liking_sd: float, rng: np.random.Generator) -> list[dict[str, bool | None]]:
    """Return whether intervals hold a planted slope, and the difference between two partners."""
    studies = simulate(design, liking_sd, rng, slope=SLOPE)
    flat = studies.latent - SLOPE * studies.score
    planted = {"game": (studies.latent, SLOPE), "within": (studies.latent, SLOPE)}
    planted["known"] = (flat + 0.3 * studies.known, 0.3)
    made = {model: fits(studies, value, model) for model, (value, _) in planted.items()}
    partner = fits(studies, flat + 0.5 * (studies.partner == 0), "partner") if not liking_sd else []
    by_study = []
    for k in range(len(flat)):
        row: dict[str, bool | None] = {}
        for model, fit in made.items():
            one = fit[k].coefficient("slope") if fit[k] else None
            row[f"slope {NAMES[model]}"] = None if one is None else bool(one.low < planted[model][1] < one.high)
        if partner and partner[k]:
            pair = partner[k].pairs("partner")[0, 1]
            row["difference of two partners"] = bool(pair.low < 0.5 < pair.high)
        by_study.append(row)
    return by_study


def check(studies: int = 3) -> float:
    """Return the largest difference between p values here and those of the shipped functions."""
    worst = 0.0
    part = Regression(kind="regression", id="r", of=("q",))
    for at, design in enumerate(DESIGNS.values()):
        drawn = simulate(design, 0.3, np.random.default_rng(at), size=studies)
        made = {model: fits(drawn, drawn.value, model) for model in ("game", "within", "known", "partner")}
        for k in range(studies):
            rows = drawn.rows(k, drawn.value)
            game = fit_measure(rows, "score", part)
            theirs = {"game": game["p"], "within": game["p_within"]}
            theirs["known"] = fit_measure(rows, "known", part.model_copy(update={"slopes": ()}))["p"]
            ours = {
                model: fit[k].coefficient("slope").p for model, fit in made.items() if model != "partner" and fit[k]
            }
            theirs["partner"] = compare_partners(rows, Ratings(kind="ratings", id="r", of=("q",)))[0]["p"]
            if made["partner"][k]:
                ours["partner"] = made["partner"][k].factor("partner").p
            worst = max(worst, *(abs(ours[model] - theirs[model]) for model in ours))
    return worst


def ordinal(design: Design, liking_sd: float, rng: np.random.Generator) -> list[dict[str, float | None]]:
    """Return the p values of ordinal models, which a study file must ask for."""
    studies = simulate(design, liking_sd, rng)
    regression = Regression(kind="regression", id="r", of=("q",), model="ordinal")
    ratings = Ratings(kind="ratings", id="r", of=("q",), model="ordinal")
    by_study = []
    for k in range(BATCH):
        rows = studies.rows(k, studies.value)
        row: dict[str, float | None] = {}
        for what, name in (("game", "score"), ("partner", "known")):
            made = attempt(lambda rows=rows, name=name: {"p": slope_fit(rows, name, model=regression.model)[0].p})
            row[f"ordinal, on the {what}"] = made.get("p")
        if not liking_sd:
            row["ordinal, partners differ"] = compare_partners(rows, ratings)[0]["p"]
        by_study.append(row)
    return by_study


def others(design: Design, liking_sd: float, rng: np.random.Generator) -> list[dict[str, float | None]]:
    """Return the p values of the default analyses that are no mixed models: by the shipped functions."""
    studies = simulate(design, liking_sd, rng)
    return [_other_tests(studies.rows(k, studies.value), design, bool(liking_sd), rng) for k in range(BATCH)]


def _other_tests(
    rows: list[dict[str, Any]], design: Design, differ: bool, rng: np.random.Generator
) -> dict[str, float | None]:
    by_person: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_person.setdefault(row["person"], []).append(row)
    turns = [row | {"turn": turn} for part in by_person.values() for row, turn in _shuffled(part, rng)]
    made: dict[str, float | None] = {
        "change over the session": attempt(lambda: change_over_games(turns, "value")).get("p"),
    }
    pairs = [pair for part in by_person.values() if (pair := _compared(part, rng))]
    names = sorted({name for pair in pairs for name in (pair["first"], pair["second"])})
    by_name = {row["what"]: row.get("p") for row in strengths(pairs, names)}
    made["preference for the second"] = by_name.get("second place")
    whole = [part for part in by_person.values() if len({row["partner"] for row in part}) == design.partners]
    if len(whole) > 2:
        latent, score = (
            np.array([_means(part, name, design.partners) for part in whole]) for name in ("latent", "score")
        )
        places = np.argsort(np.argsort(-latent, axis=1), axis=1) + 1.0
        made["ranks against own scores"] = by_person_of(places, score)["p"]
        if not differ:
            made["one ranked above another"] = above("one", ["0", "1"], places)[0]["p"]
    if not differ:
        made["strength of a partner"] = by_name.get(names[0])
    return made


def _shuffled(part: list[dict[str, Any]], rng: np.random.Generator) -> list[tuple[dict[str, Any], int]]:
    return list(zip(part, (rng.permutation(len(part)) + 1).tolist(), strict=True))


def _means(part: list[dict[str, Any]], name: str, partners: int) -> list[float]:
    return [float(np.mean([row[name] for row in part if row["partner"] == k])) for k in range(partners)]


def _compared(part: list[dict[str, Any]], rng: np.random.Generator) -> dict[str, Any] | None:
    """Return a person's preference between two of the partners met: the difference of two ratings."""
    met = sorted({row["partner"] for row in part})
    if len(met) < 2:
        return None
    first, second = rng.choice(met, 2, replace=False).tolist()
    rated = {row["partner"]: row["value"] for row in part}
    return {
        "person": part[0]["person"],
        "first": str(first),
        "second": str(second),
        "sum": rated[second] - rated[first],
    }


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
    work = {"tests": tests, "intervals": intervals, "ordinal": ordinal, "others": others}[kind]
    (out / kind).mkdir(parents=True, exist_ok=True)
    for file, name, liking, batch in batches(out, kind, studies):
        if batch % parts != part:
            continue
        key = [KINDS.index(kind), [*DESIGNS].index(name), int(liking > 0), batch]
        rng = np.random.default_rng(key)
        rows = work(DESIGNS[name], liking, rng)
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
        cells = []
        for name in DESIGNS:
            values = [_cell(*cells[name, liking], kind) for liking in (0.0, LIKING_SD) if (name, liking) in cells]
            cells.append(" / ".join(values) or "-")
        lines.append(f"| {test} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(share: float, studies: int, kind: str) -> str:
    if not studies:
        return "-"
    low, high = band(studies, 0.95 if kind == "intervals" else 0.05)
    mark = "" if low <= share <= high else ("-" if (share < low) == (kind != "intervals") else "+")
    return f"{100 * share:.1f}{mark}"


TEMPLATE = Path(__file__).with_name("error_rates_template.md")


def page(out: Path) -> str:
    """Return docs/results/error_rates.md from what has been simulated so far."""
    counts: dict[str, int] = {}
    for file in (out / "tests").glob("*.json"):
        cell = file.name.rpartition("-")[0]
        counts[cell] = counts.get(cell, 0) + BATCH
    if len(counts) < 2 * len(DESIGNS):
        raise SystemExit(f"{len(counts)} of {2 * len(DESIGNS)} cells have been simulated; run --kind tests first")
    least, most = min(counts.values()), max(counts.values())
    many = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    done = f"{many} studies in each design and condition."
    low, high = band(least)
    intervals = table(out, "intervals") if (out / "intervals").exists() else "Not simulated yet."
    return TEMPLATE.read_text(encoding="utf-8").format(
        liking=LIKING_SD, done=done, least=f"{least:,}", low=100 * low, high=100 * high, tests=table(out, "tests"),
        others=table(out, "others"), intervals=intervals,
    )  # fmt: skip


def main() -> None:
    """Simulate, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/error_rates"))
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--kind", choices=KINDS, default="tests")
    parser.add_argument("--part", type=int, default=0, help="which of --parts processes this one is")
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page", type=Path, help="write the page of results here")
    args = parser.parse_args()
    if args.page:
        args.page.write_text(page(args.out))
        return
    if args.check:
        print(f"largest difference of a p value from the shipped functions: {check():.1e}")
        return
    if not args.table:
        run(args.out, args.kind, args.studies, args.part, args.parts)
        return
    for kind in KINDS:
        if (args.out / kind).exists():
            print(f"\n{kind}\n\n{table(args.out, kind)}")


if __name__ == "__main__":
    main()
