"""What the benchmark of zero-shot coordination left behind, read for the pages: one record per layout."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "zsc" / "results"
PANELS = ROOT / "src" / "interplay" / "partners" / "data" / "overcooked"
METHODS = {"sp": "SP", "e3t": "E3T", "fcp": "FCP", "mep": "MEP", "trajedi": "TrajeDi", "hsp": "HSP", "cole": "COLE"}
EPISODES, RULER_EPISODES = 50, 200
SLACK = 1.05  # an ego this far above a best response needs an explanation


@dataclass(frozen=True)
class Yardstick:
    """What a layout is held against. BR-Prox: the best published agent and SP, with the right best responses."""

    title: str
    floor: float  # self-play return
    pair: float  # the best published candidate with its best response
    best: float
    sp: float | None
    call: str  # layouts of one call shared one GPU


YARDSTICKS = {
    "coordination_ring": Yardstick("coordination ring", 220, 332, 0.751, 0.268, "first"),
    "forced_coordination": Yardstick("forced coordination", 190, 317, 0.764, 0.666, "first"),
    "counter_circuit": Yardstick("counter circuit", 170, 269, 0.671, 0.089, "first"),
    "bothway_coordination": Yardstick("bothway coordination", 250, 357, 0.791, None, "second"),
    "blocked_corridor": Yardstick("blocked corridor", 80, 119, 0.764, None, "second"),
    "asymmetric_advantages": Yardstick("asymmetric advantages", 400, 499, 0.951, None, "second"),
}


@dataclass(frozen=True)
class Job:
    """A training job: steps of all its members together, and when it ran."""

    name: str
    steps: float
    from_s: float
    to_s: float


@dataclass(frozen=True)
class Found:
    """One layout."""

    layout: str
    yard: Yardstick
    returns: list[dict[str, str]]
    crossplay: list[dict[str, str]]
    baselines: dict[str, dict[str, Any]]  # by method
    stages: dict[str, Any]  # of the panel's building
    raised: list[dict[str, Any]]
    candidates: dict[int, float]  # return of each able candidate with its best response
    last: dict[str, list[float]]  # by job: the last returns in training, a number per run
    jobs: list[Job]
    experiments: dict[str, dict[str, Any]]  # by job
    device: str

    @property
    def settings(self) -> list[dict[str, Any]]:
        """Network and PPO of every job, whose runs differ in nothing else but the method and its partners."""
        return [{"network": e["network"], "ppo": e["ppo"]} for e in self.experiments.values()]

    @property
    def seconds(self) -> float:
        return max(j.to_s for j in self.jobs) - min(j.from_s for j in self.jobs)

    @property
    def self_play(self) -> list[float]:
        """Of each seed of SP with itself, both seats."""
        by_seed: dict[str, list[float]] = {}
        for row in self.crossplay:
            if row["algorithm"] == row["partner"] == "sp" and row["seed"] == row["partner_seed"]:
                by_seed.setdefault(row["seed"], []).append(float(row["return"]))
        return [sum(v) / len(v) for v in by_seed.values()]

    @property
    def best_pair(self) -> float:
        return max(self.candidates.values())

    @property
    def steps(self) -> float:
        return sum(job.steps for job in self.jobs)

    @property
    def cells(self) -> set[tuple[str, str, str]]:
        return {(r["partner"], r["skill"], r["ego_seat"]) for r in self.returns}

    @property
    def faint(self) -> int:
        """Best responses that deliver less than one soup an episode."""
        return len({c for r, c in zip(self.returns, map(_cell, self.returns), strict=True) if _ruler(r) < 20})

    def above(self, beyond_noise: bool = False) -> list[dict[str, str]]:
        """Cells above 1.05 times the best response; beyond noise, if by more than 1.96 standard errors.

        An ego's episodes are taken to spread as the best response's do, whose interval is known.
        """
        rows = [r for r in self.returns if float(r["return"]) > SLACK * _ruler(r)]
        if not beyond_noise:
            return rows
        return [r for r in rows if float(r["return"]) - SLACK * _ruler(r) > 1.96 * _error(r)]


def _cell(row: dict[str, str]) -> tuple[str, str, str]:
    return row["partner"], row["skill"], row["ego_seat"]


def _ruler(row: dict[str, str]) -> float:
    return float(row["best_response_return"])


def _error(row: dict[str, str]) -> float:
    spread = (float(row["best_response_high"]) - _ruler(row)) / 1.96 * math.sqrt(RULER_EPISODES)
    return spread * math.sqrt(1 / EPISODES + SLACK**2 / RULER_EPISODES)


def load(layout: str) -> Found:
    folder, panel = RESULTS / layout, json.loads((PANELS / layout / "generated" / "panel.json").read_text())
    training = json.loads((folder / "training.json").read_text())
    baselines = json.loads((PANELS / layout / "generated" / "baselines.json").read_text())
    behaviour, stages = panel["provenance"]["behaviour"], training["panel"]["stages"]
    return Found(
        layout=layout,
        yard=YARDSTICKS[layout],
        returns=_rows(folder / "returns.csv"),
        crossplay=_rows(folder / "crossplay.csv"),
        baselines={row["agent"]: row for row in baselines["rows"]},
        stages=stages,
        raised=panel["provenance"]["raised_rulers"],
        candidates=dict(zip(behaviour["candidates"], behaviour["returns"], strict=True)),
        last={name: _last(job["curve"]) for name, job in training.items() if "curve" in job},
        jobs=[_job(line, training, stages) for line in training["timeline"]],
        experiments={name: job["experiment"] for name, job in training.items() if name in METHODS},
        device=panel["provenance"]["made_with"]["device"],
    )


def load_all() -> list[Found]:
    return [load(layout) for layout in YARDSTICKS]


def _last(curve: list[dict[str, Any]]) -> list[float]:
    """The last line in which every run finished an episode."""
    return next(line["returns"] for line in reversed(curve) if None not in line["returns"])


def _job(line: dict[str, Any], training: dict[str, Any], stages: dict[str, Any]) -> Job:
    name = line["job"]
    if name == "panel":
        steps = sum(stages[s]["runs"] * stages[s]["steps_of_each"] for s in ("candidates", "responses"))
    elif name in training:
        steps = training[name]["experiment"]["runs"] * training[name]["experiment"]["steps"]
    else:
        steps = 0.0
    return Job(name, steps, line["from_s"], line["to_s"])


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def ratios(found: Found, method: str) -> np.ndarray:
    """BR-Prox's cells of a method, clipped at 1."""
    rows = [r for r in found.returns if r["algorithm"] == method]
    return np.minimum(1.0, [float(r["return"]) / _ruler(r) for r in rows])
