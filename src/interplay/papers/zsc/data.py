"""What the benchmark of zero-shot coordination left behind, read for the pages: one record per layout.

Some layouts and methods (`ANEW`) were trained by the plan of benchmarks/zsc/pipeline.json as it is now; the others by
an earlier one with fewer steps, one population for all seeds, and no gates.
"""

from __future__ import annotations

import csv
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from interplay.config import toml_beside
from interplay.errors import InterplayError
from interplay.hub.store import require
from interplay.partners.returns import dead_egos, egos_that_failed

ROOT = Path(__file__).parents[4]
RESULTS = ROOT / "benchmarks" / "zsc" / "results"
PUBLIC = Path(__file__).with_name("public_br_prox.json")
METHODS = {"sp": "SP", "e3t": "E3T", "fcp": "FCP", "mep": "MEP", "trajedi": "TrajeDi", "hsp": "HSP", "cole": "COLE"}
VARIANTS = {"hsp_states": "hsp", "fcp_states": "fcp"}  # trained with states met by others -> the method without
FIVE = ("sp", "e3t", "fcp", "mep", "hsp")
ANEW: dict[str, tuple[str, ...]] = {
    "coordination_ring": FIVE,
    "counter_circuit": FIVE,
    "forced_coordination": (*FIVE, "trajedi"),
    "blocked_corridor": (*FIVE, "trajedi"),
}  # by layout: the methods that the present plan trained, and the panel
EGOS_ANEW = {"counter_circuit_multi": ("sp", "fcp", "mep", "hsp")}  # by layout: methods; the panel is the earlier one
GREEDY = "greedy"
EPISODES, RULER_EPISODES = 50, 200
SLACK = 1.05  # an ego this far above a best response needs an explanation


@dataclass(frozen=True)
class LayoutReference:
    """The published values that a layout is compared with; BR-Prox is with the right best responses."""

    title: str
    pair: float  # the best published candidate with its best response
    best: float
    egos: float  # steps that egos had here
    population: int  # runs of SP
    floor: float | None = None  # self-play return
    sp: float | None = None


REFERENCES = {layout: LayoutReference(**values) for layout, values in toml_beside(__file__).items()}
ORDER: tuple[str, ...] = (
    "pairs",
    "sp",
    "mep_population",
    "trajedi_population",
    "egos",
    "egos_states",
    "e3t",
    "trajedi",
    "draft",
    "panel",
    "self_play",
    "people",
    "chefs",
)  # of jobs
KINDS = {
    "people": "clones of people",
    "self_play": "self-play agents",
    "chefs": "scripted chefs",
}  # panels beside the generated ones


@dataclass(frozen=True)
class Job:
    """A training job: steps of all its members together, and the seconds that it trained."""

    name: str
    steps: float
    seconds: float
    end_s: float  # on the clock of its call

    @property
    def million(self) -> float:
        """Steps in millions."""
        return self.steps / 1e6


@dataclass(frozen=True)
class LayoutResults:
    """One layout."""

    layout: str
    reference: LayoutReference
    returns: list[dict[str, str]]  # of the egos that are alive, as are those of crossplay
    crossplay: list[dict[str, str]]
    dead: dict[tuple[str, int], float]  # egos that deliver less than one soup with themselves -> what they score
    all_returns: list[dict[str, str]]  # the dead among them
    baselines: dict[str, dict[str, Any]]  # by method
    stages: dict[str, Any]  # of the panel's building
    raised: list[dict[str, Any]]  # cells whose best response is a known agent
    failed: frozenset[tuple[str, int]]  # egos that did not pass their gate at the second try either; not measured
    retrained: int  # egos that did not pass their gate at the first try, where there was one
    exceeded: int | None  # cells in which a known agent did better than the trained responses; None: not counted
    candidates: dict[int, float]  # return of each able candidate with its best response
    last: dict[str, list[float]]  # by job: the last returns in training, a number per run
    jobs: list[Job]
    experiments: dict[str, dict[str, Any]]  # by job
    device: str

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """The baselines that are methods of training with a seed that is alive."""
        return {name: self.baselines[name] for name in METHODS if self.baselines[name]["br_prox"] is not None}

    def count_dead(self, method: str) -> int:
        """Return how many seeds of a method are dead."""
        return sum(name == method for name, _ in self.dead)

    @property
    def settings(self) -> list[dict[str, Any]]:
        """Network and PPO of every job, whose runs differ in nothing else but the method and its partners."""
        return [{"network": e["network"], "ppo": e["ppo"]} for e in self.experiments.values()]

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
        """The highest return of a candidate with its best response."""
        return max(self.candidates.values())

    @property
    def steps(self) -> float:
        """Steps of all jobs together."""
        return sum(job.steps for job in self.jobs)

    @property
    def cells(self) -> set[tuple[str, str, str]]:
        """Partners, skills and seats that were measured."""
        return {(r["partner"], r["skill"], r["ego_seat"]) for r in self.returns}

    @property
    def faint(self) -> int:
        """Best responses that deliver less than one soup an episode."""
        return len({_cell(r) for r in self.returns if is_faint(r)})

    def above(self, beyond_noise: bool = False) -> list[dict[str, str]]:
        """Cells above 1.05 times the best response; beyond noise, if by more than 1.96 standard errors.

        An ego's episodes are taken to spread as the best response's do, whose interval is known.
        """
        rows = [r for r in self.returns if float(r["return"]) > SLACK * _ruler(r)]
        if not beyond_noise:
            return rows
        return [r for r in rows if float(r["return"]) - SLACK * _ruler(r) > 1.96 * _error(r)]


def is_faint(row: dict[str, str]) -> bool:
    """Return whether a best response delivers less than one soup."""
    return _ruler(row) < 20


def _cell(row: dict[str, str]) -> tuple[str, str, str]:
    return row["partner"], row["skill"], row["ego_seat"]


def _ruler(row: dict[str, str]) -> float:
    return float(row["best_response_return"])


def _error(row: dict[str, str]) -> float:
    spread = (float(row["best_response_high"]) - _ruler(row)) / 1.96 * math.sqrt(RULER_EPISODES)
    return spread * math.sqrt(1 / EPISODES + SLACK**2 / RULER_EPISODES)


def load(layout: str) -> LayoutResults:
    """Return what was measured of a layout.

    Raises:
        InterplayError: The results of training are not here: they are in a checkout of the project, not in its wheel.
    """
    if not (RESULTS / layout).is_dir():
        raise InterplayError(f"{RESULTS / layout} is not here: results of training come with a checkout of the project")
    folder, at = RESULTS / layout, require(f"overcooked/{layout}:generated")
    panel = json.loads((at / "panel.json").read_text())
    training = json.loads((folder / "training.json").read_text())
    baselines = json.loads((at / "baselines.json").read_text())
    provenance = panel["provenance"]
    behaviour, stages = provenance["behaviour"], training["panel"]["stages"]
    if "draft" in training:
        stages = training["draft"]["stages"] | stages
    contest = stages.get("contest", {})
    returns, crossplay = _rows(folder / "returns.csv"), _rows(folder / "crossplay.csv")
    failed = egos_that_failed(training)
    dead = dead_egos(crossplay) | failed
    return LayoutResults(
        layout=layout,
        reference=REFERENCES[layout],
        returns=[r for r in returns if (r["algorithm"], int(r["seed"])) not in dead],
        crossplay=[
            r
            for r in crossplay
            if not {(r["algorithm"], int(r["seed"])), (r["partner"], int(r["partner_seed"]))} & dead.keys()
        ],
        dead=dead,
        all_returns=returns,
        baselines={row["agent"]: row for row in baselines["rows"]},
        stages=stages,
        raised=provenance["raised_rulers"] if "raised_rulers" in provenance else contest["not_closed"],
        failed=frozenset(failed),
        retrained=_retrained(training),
        exceeded=contest.get("open"),
        candidates=dict(zip(behaviour["candidates"], behaviour["returns"], strict=True)),
        last=_last_returns(training),
        jobs=_jobs(training, stages),
        experiments=_experiments(training),
        device=_first_made(provenance)["made_with"]["device"],
    )


def load_all() -> list[LayoutResults]:
    """Return the results of all layouts."""
    return [load(layout) for layout in REFERENCES]


def _retrained(training: dict[str, Any]) -> int:
    gates = [job["gate"] for job in training.values() if isinstance(job, dict) and job.get("gate")]
    return sum(len(gate["retrained"]) for gate in gates)


def _last_returns(training: dict[str, Any]) -> dict[str, list[float]]:
    """By method or job: the last returns in training, a number for each run."""
    results = {name: _last(job["curve"]) for name, job in training.items() if "curve" in job}
    for job in ("egos", "egos_states"):
        for run in training.get(job, {}).get("runs", ()):
            results.setdefault(run["algorithm"], []).append(run["return"])
    return results


def _last(curve: list[dict[str, Any]]) -> list[float]:
    """The last line in which every run finished an episode."""
    return next(line["returns"] for line in reversed(curve) if None not in line["returns"])


def _experiments(training: dict[str, Any]) -> dict[str, dict[str, Any]]:
    results = {name: job["experiment"] for name, job in training.items() if name in METHODS}
    for run in training.get("egos", {}).get("runs", ()):
        results[run["algorithm"]] = training["egos"]["experiment"]
    return results


def _jobs(training: dict[str, Any], stages: dict[str, Any]) -> list[Job]:
    if "times" not in training:
        return [_earlier_job(line, training, stages) for line in training["timeline"]]
    made = []
    for name, time in training["times"].items():
        if name not in training:
            continue  # games alone
        if "experiment" in training[name]:
            steps = training[name]["experiment"]["runs"] * training[name]["experiment"]["steps"]
        else:
            trained = (s for s in training[name]["stages"].values() if "steps_of_each" in s)
            steps = sum(s["runs"] * s["steps_of_each"] for s in trained)
        made.append(Job(name, steps, time["seconds"], time["at"]))
    return sorted(made, key=lambda job: ORDER.index(job.name))


def _earlier_job(line: dict[str, Any], training: dict[str, Any], stages: dict[str, Any]) -> Job:
    name = line["job"]
    if name == "panel":
        steps = sum(stages[s]["runs"] * stages[s]["steps_of_each"] for s in ("candidates", "responses"))
    elif name in training:
        steps = training[name]["experiment"]["runs"] * training[name]["experiment"]["steps"]
    else:
        steps = 0.0
    inside = (
        sum(stage["wall_s"] for stage in stages.values()) if name == "panel" else training.get(name, {}).get("wall_s")
    )
    return Job(name, steps, inside or 0.0, line["to_s"])


def published(layout: str) -> dict[str, list[float]]:
    """By method: BR-Prox of the public results in every size of population, undefined cells left out."""
    values: dict[str, list[float]] = {}
    for row in json.loads(PUBLIC.read_text())["layouts"].get(layout, ()):
        values.setdefault(row["algorithm"], []).append(row["excluding_undefined"])
    return values


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def ratios(results: LayoutResults, method: str) -> np.ndarray:
    """BR-Prox's cells of a method, clipped at 1."""
    return ratios_of(results.returns, method)


def other_panels(layout: str) -> dict[str, list[dict[str, str]]]:
    """By kind: what every ego scores with every partner of a panel of that kind, where there is one."""
    paths = {kind: RESULTS / layout / f"returns_{kind}.csv" for kind in KINDS}
    return {kind: _rows(path) for kind, path in paths.items() if path.exists()}


def ratios_of(rows: list[dict[str, str]], method: str, seed: int | None = None) -> np.ndarray:
    """Return the clipped ratios of a method's rows, or of one of its seeds."""
    mine = [r for r in rows if r["algorithm"] == method and seed in (None, int(r["seed"]))]
    return np.minimum(1.0, [float(r["return"]) / _ruler(r) for r in mine])


def _first_made(provenance: dict[str, Any]) -> dict[str, Any]:
    """Return where a panel comes from that was closed again, as often as that was."""
    while "before" in provenance:
        provenance = provenance["before"]
    return provenance
