"""The whole benchmark of zero-shot coordination: populations, egos, panels, and their returns, in order of worth.

The plan (JSON) says what is trained in which layouts; of another family than Overcooked where it names one.

Every job is a command of interplay's own (`python -m interplay.training`, `python -m interplay.partners`); this script
starts each as soon as those it needs are done, several beside each other, until the time is up. The same command goes
on: what is done is not done again, and what was cut goes on from its checkpoint.

    python benchmarks/zsc/pipeline.py --out runs/zsc                                # the plan's whole schedule
    python benchmarks/zsc/pipeline.py coordination_ring --jobs sp egos --out runs/zsc
    python benchmarks/zsc/pipeline.py --out runs/zsc --minutes 9.4 --beside 3 --mps --pack $OUT
    python benchmarks/zsc/pipeline.py --out runs/zsc --list                         # jobs, steps, estimated seconds
    python benchmarks/zsc/pipeline.py coordination_ring --out /tmp/try --scale 0.001     # does it run at all
    python benchmarks/zsc/pipeline.py --plan benchmarks/football/pipeline.json --out runs/football

OUT/LAYOUT/JOB is a job's folder, OUT/LAYOUT/JOB.done.json says that it is done. What is worth keeping goes to
PACK/runs.tar.gz.00, .01, ... (parts of at most 15 MiB). Then, as far as 60 MiB go: what unfinished jobs need of
finished ones to PACK/population-LAYOUT.tar.gz.00, ..., what jobs that failed or were cut have made so far to
unfinished-LAYOUT, and the states from which those go on to states-LAYOUT. `--restore PACK/*.tar.gz.*` brings it back.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PART, FILES, ROOM = 15 * 2**20, 8, 60 * 2**20  # bytes of a part of an archive, parts, and bytes of all
GRACE = 5.0  # seconds that a job has to end when the time is up
COMPILING = 20.0  # seconds until a job goes on where it was cut
KEPT = re.compile(r"(log\.jsonl|manifest\.json|build\.json|panel\.json|weights\.safetensors|timeline\.json)$")
KEPT_ENDS = (".csv", ".csv.gz", ".out.txt", ".config.json", ".done.json")
SHORT = 20  # steps of an episode where everything is small
REFERENCE = re.compile(r"@(\??)(\w+)")  # @job: its folder, which is needed; @?job: if it is done or to be done


@dataclass(frozen=True)
class Job:
    """A command, and what has to be done before."""

    layout: str
    name: str
    command: list[str]
    config: dict[str, Any]
    needs: frozenset[str]
    seconds: float  # estimated, alone on one NVIDIA H200, with compiling
    million_steps: float

    @property
    def key(self) -> tuple[str, str]:
        return self.layout, self.name


@dataclass
class Progress:
    """What runs, what is done, what failed."""

    running: dict[tuple[str, str], tuple[subprocess.Popen, float]] = field(default_factory=dict)
    done: set[tuple[str, str]] = field(default_factory=set)
    failed: set[tuple[str, str]] = field(default_factory=set)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layouts", nargs="*", help="default: as the plan's schedule says, in its order")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--plan", default=HERE / "pipeline.json", type=Path)
    parser.add_argument("--jobs", nargs="*", help="only these")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all steps; everything is small below 0.1")
    parser.add_argument("--beside", type=int, default=3, help="jobs that run beside each other")
    parser.add_argument("--mps", action="store_true", help="let the processes share the GPU (CUDA's MPS)")
    parser.add_argument("--minutes", type=float, help="after so long running jobs are cut, to go on another time")
    parser.add_argument("--last", action="store_true", help="begin nothing that its estimate says will not be done")
    parser.add_argument("--pack", type=Path, help="folder for the archive of what is worth keeping")
    parser.add_argument("--restore", nargs="*", type=Path, default=[], help="parts of an earlier archive")
    parser.add_argument("--agents", type=Path, help="folder LAYOUT/METHOD-SEED.safetensors of agents known before")
    parser.add_argument("--panels", type=Path, help="folder LAYOUT/NAME of panels that are there already")
    parser.add_argument("--list", action="store_true", help="print the jobs and do nothing")
    given = parser.parse_args()
    given.began = time.time()
    plan = json.loads(given.plan.read_text())
    jobs = listed(plan, given)
    if given.list:
        show(jobs)
        return 0
    given.out.mkdir(parents=True, exist_ok=True)
    restore(given.out, given.restore)
    if given.mps:
        share_gpu()
    needed = {(job.layout, name) for job in jobs for name in job.needs}  # may be done without being listed
    progress = Progress(done={k for k in needed | {j.key for j in jobs} if marker(given.out, k).exists()})
    work(jobs, progress, given)
    left = [job.key for job in jobs if job.key not in progress.done | progress.failed]
    if given.pack:
        pack(given.out, given.pack, plan, jobs, progress.done)
    told = {"done": len(progress.done), "failed": sorted(progress.failed), "left": left}
    print(json.dumps(told | {"seconds": round(time.time() - given.began, 1)}), flush=True)
    return 1 if progress.failed else 0


# --- what there is to do


def listed(plan: dict, given: argparse.Namespace) -> list[Job]:
    """The jobs in order of worth."""
    schedule: list[dict[str, Any]] = plan.get("schedule") or [{"jobs": list(plan["jobs"])}]
    if given.layouts:
        every: list[tuple[str, str]] = []
        for layout in given.layouts:
            own = [part for part in schedule if part.get("layout") == layout] or schedule  # or all that is planned
            every += [(layout, name) for name in given.jobs or [n for part in own for n in part["jobs"]]]
    else:
        every = [(part["layout"], n) for part in schedule for n in part["jobs"] if n in (given.jobs or part["jobs"])]
    wanted = [(layout, name) for layout, name in dict.fromkeys(every) if has_panels(plan, given, layout, name)]
    return [job_of(plan, given, layout, name, {n for at, n in wanted if at == layout}) for layout, name in wanted]


def has_panels(plan: dict, given: argparse.Namespace, layout: str, name: str) -> bool:
    """Whether the panels that a job copies (%name) are there."""
    names = [n[1:] for n in plan["jobs"][name].get("partners", {}).get("partners", ()) if n.startswith("%")]
    return all(given.panels is not None and (given.panels / layout / n).is_dir() for n in names)


def job_of(plan: dict, given: argparse.Namespace, layout: str, name: str, beside: set[str]) -> Job:
    """`beside` are the layout's jobs that are to be done or done, for references that may be absent."""
    job, folder = plan["jobs"][name], given.out / layout
    there = beside | {n for n in plan["jobs"] if marker(given.out, (layout, n)).exists()}
    resolve = Resolve(folder, there, None if given.panels is None else given.panels / layout)
    egos = job.get("egos") or [*plan.get("known", []), *earlier(given, layout, plan, there)]
    if "script" in job:
        panels = resolve(job.get("panels", []))
        episodes = str(2 if given.scale < 0.1 else job["episodes"])
        command = [str(HERE / job["script"]), str(folder), "--known", *resolve(egos), "--episodes", episodes]
        command += ["--game", game_name(plan, layout)]
        command += ["--horizon", str(SHORT)] if given.scale < 0.1 else []
        config, command = {}, [*command, "--panel", *panels, *job.get("arguments", [])]
    else:
        config = resolve((panel_config if "partners" in job else training_config)(plan, layout, name))
        if "partners" in job and job.get("known"):
            config["known"] = resolve(egos)
        if given.scale != 1:
            scaled(config, given.scale)
        package = "partners" if "partners" in job else "training"
        path = folder / f"{name}.config.json"
        command = ["-m", f"interplay.{package}", str(path), "--out", str(folder / name), "--quiet"]
    seconds = variant(plan, layout, name).get("seconds", job.get("seconds", 0.0))
    return Job(layout, name, command, config, frozenset(resolve.needs), seconds, million_steps(config))


class Resolve:
    """References become paths: @job that of its folder, %name that of a panel that is there already. Remembers which
    jobs are needed."""

    def __init__(self, folder: Path, there: set[str], panels: Path | None):
        self.folder, self.there, self.panels, self.needs = folder, there, panels, set()

    def __call__(self, value: Any) -> Any:
        if isinstance(value, dict):
            made = {k: self(v) for k, v in value.items()}
            return {k: v for k, v in made.items() if v is not None or value[k] is None}
        if isinstance(value, list):
            return [made for v in value if (made := self(v)) is not None or v is None]
        if isinstance(value, str) and value.startswith("%"):
            return None if self.panels is None else str(self.panels / value[1:])
        if not isinstance(value, str) or (found := REFERENCE.search(value)) is None:
            return value
        optional, name = found.groups()
        if optional and name not in self.there:
            return None
        self.needs.add(name)
        return value.replace(found.group(), str(self.folder / name))


def earlier(given: argparse.Namespace, layout: str, plan: dict, there: set[str]) -> list[str]:
    """Agents that were known before, of methods that are not trained anew: METHOD-SEED=FILE."""
    if given.agents is None:
        return []
    anew = {m for job, methods in plan.get("egos", {}).items() if job in there for m in methods}
    files = sorted((given.agents / layout).glob("*.safetensors"))
    return [f"{f.stem}={f}" for f in files if f.stem.rpartition("-")[0] not in anew | {"bc"}]


def training_config(plan: dict, layout: str, name: str) -> dict[str, Any]:
    job, config = plan["jobs"][name], json.loads(json.dumps(plan["training"]))
    config["game"]["name"] = game_name(plan, layout)
    config["algorithm"] = {"name": job["algorithm"], "options": json.loads(json.dumps(job.get("options", {})))}
    for place, value in (variant(plan, layout, "training") | job.get("set", {}) | variant(plan, layout, name)).items():
        if place != "seconds":
            put(config, place, value)
    return config


def panel_config(plan: dict, layout: str, name: str) -> dict[str, Any]:
    inner = {k: plan["training"][k] for k in ("envs", "rollout", "network", "ppo", "rewards")}
    config = {"game": {"name": game_name(plan, layout)}, "training": inner} | plan["jobs"][name]["partners"]
    config = json.loads(json.dumps(config))
    for place, value in variant(plan, layout, "training").items():
        if place.partition(".")[0] != "gate":  # which asks egos to play with themselves; a panel has `least_return`
            put(config["training"], place, value)
    for place, value in (plan["jobs"][name].get("set", {}) | variant(plan, layout, name)).items():
        if place != "seconds":
            put(config, place, value)
    return config


def game_name(plan: dict, layout: str) -> str:
    return f"{plan.get('family', 'overcooked')}/{layout}"


def variant(plan: dict, layout: str, name: str) -> dict[str, Any]:
    """What is different for this layout."""
    found: dict[str, Any] = {}
    for one in plan.get("variants", []):
        if layout in one["layouts"]:
            found |= one["jobs"].get(name, {})
    return found


def put(config: dict, place: str, value: Any) -> None:
    *path, last = place.split(".")
    for step in path:
        config = config.setdefault(step, {})
    config[last] = value


def scaled(config: Any, scale: float) -> None:
    """All budgets times a number; below 0.1 everything is so small that it only shows whether it runs."""
    small = scale < 0.1
    for name, value in list(config.items()):
        if name == "game" and small:
            value["options"] = {"horizon": SHORT}  # else no episode would end, and no run could be judged
        elif name == "gate" and small:
            config[name] = {"least_return": -1.0, "retries": 1, "rounds": 1}
        elif isinstance(value, dict):
            scaled(value, scale)
        elif name.endswith("steps") and isinstance(value, int | float):
            config[name] = value * scale
        elif name.endswith("envs") and small:
            config[name] = max(16, value // 8)
        elif name in ("rollout", "population_rollout") and small:
            config[name] = 20
        elif name == "logs" and small:
            config[name] = 3
        elif name == "least_return" and small:
            config[name] = -1.0
    if small and "training" in config:
        config |= dict.fromkeys(("feature_episodes", "trial_episodes", "ruler_episodes"), 2)
        config |= {"least_return": -1.0, "closing_steps": 640.0}
        config |= {name: config[name][:2] for name in ("partners", "known") if name in config}
        if not config.get("partners"):
            config |= {"candidates": 6, "k": 2, "snapshots": 2}


def million_steps(config: dict[str, Any]) -> float:
    """Environment steps of all runs and members of a job, in millions; of a panel those that are known beforehand."""
    if not config:
        return 0.0
    options = config.get("algorithm", {}).get("options", {})
    if "training" in config:
        made = 0 if config.get("partners") else config["candidates"] * config["steps"]
        return (made + 2 * config.get("k", 0) * (0 if config.get("partners") else config["response_steps"])) / 1e6
    if config["algorithm"]["name"].endswith("_population"):
        return config["runs"] * options["population"] * options["population_steps"] / 1e6
    return config["runs"] * config["steps"] * max(1, len(options.get("methods", ()))) / 1e6


def show(jobs: list[Job]) -> None:
    for job in jobs:
        needs = f"  after {', '.join(sorted(job.needs))}" if job.needs else ""
        print(f"{job.layout:<26} {job.name:<20} {job.million_steps:>7.0f} M steps  {job.seconds:>5.0f} s{needs}")
    total = sum(job.seconds for job in jobs)
    print(f"{len(jobs)} jobs, {sum(job.million_steps for job in jobs):.0f} M steps, {total:.0f} s one after the other")


# --- doing it


def work(jobs: list[Job], progress: Progress, given: argparse.Namespace) -> None:
    """Until all is done, or the time is up."""
    end = None if given.minutes is None else given.began + 60 * given.minutes
    pending = [job for job in jobs if job.key not in progress.done]
    keys = {job.key for job in jobs}
    while pending or progress.running:
        reap(progress, given)
        left = float("inf") if end is None else end - time.time()
        if left <= 0:
            cut(progress, given)
            return
        for job in list(pending):
            needs = {(job.layout, name) for name in job.needs}
            if needs & progress.failed or needs - keys - progress.done:
                progress.failed.add(job.key)
                pending.remove(job)
            elif needs <= progress.done and len(progress.running) < given.beside:
                if given.last and still_needed(job, given.out) > left:
                    continue
                pending.remove(job)
                progress.running[job.key] = (start(job, given), time.time())
        if given.last and not progress.running:
            return
        time.sleep(0.1)


def still_needed(job: Job, out: Path) -> float:
    """Estimated seconds of a job, less what was done before it was cut."""
    manifest = out / job.layout / job.name / "manifest.json"
    if not manifest.exists():
        return job.seconds
    told = json.loads(manifest.read_text())
    experiment = told["experiment"]
    updates = experiment["steps"] // (experiment["envs"] * experiment["rollout"])
    return COMPILING + job.seconds * (1 - told["state"]["update"] / updates)


def start(job: Job, given: argparse.Namespace) -> subprocess.Popen:
    folder = given.out / job.layout
    folder.mkdir(parents=True, exist_ok=True)
    if job.config:
        (folder / f"{job.name}.config.json").write_text(json.dumps(job.config, indent=1))
    output = (folder / f"{job.name}.out.txt").open("a")
    share = {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{0.85 / given.beside:.3f}"}
    threads = {"OPENBLAS_NUM_THREADS": "1"}  # whose threads wait for each other at work, where cores are few
    environment = {"JAX_COMPILATION_CACHE_DIR": str(given.out / "compiled")} | share | threads | dict(os.environ)
    command = [sys.executable, *job.command]
    return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)


def reap(progress: Progress, given: argparse.Namespace) -> None:
    for key in [k for k, (process, _) in progress.running.items() if process.poll() is not None]:
        process, started = progress.running.pop(key)
        facts = {"seconds": round(time.time() - started, 1), "at": round(time.time() - given.began, 1)}
        (progress.done if process.returncode == 0 else progress.failed).add(key)
        if process.returncode == 0:
            marker(given.out, key).write_text(json.dumps(facts) + "\n")
        else:
            text = (given.out / key[0] / f"{key[1]}.out.txt").read_text()
            facts |= {"exit": process.returncode, "said": text[-600:]}
        note(given, key, facts)


def cut(progress: Progress, given: argparse.Namespace) -> None:
    """End what runs; its checkpoints are there."""
    for process, _ in progress.running.values():
        process.terminate()
    until = time.time() + GRACE
    for key, (process, started) in progress.running.items():
        try:
            process.wait(max(0.1, until - time.time()))
        except subprocess.TimeoutExpired:
            process.kill()
        note(given, key, {"cut_after": round(time.time() - started, 1), "at": round(time.time() - given.began, 1)})
    progress.running.clear()


def note(given: argparse.Namespace, key: tuple[str, str], facts: dict[str, Any]) -> None:
    line = json.dumps({"layout": key[0], "job": key[1], **facts})
    print(line, flush=True)
    with (given.out / "timeline.json").open("a") as file:
        file.write(line + "\n")


def marker(out: Path, key: tuple[str, str]) -> Path:
    return out / key[0] / f"{key[1]}.done.json"


def share_gpu() -> None:
    """Kernels of several processes then run at the same time instead of taking turns."""
    folder = Path(os.environ.setdefault("CUDA_MPS_PIPE_DIRECTORY", "/tmp/mps"))
    os.environ.setdefault("CUDA_MPS_LOG_DIRECTORY", str(folder))
    folder.mkdir(exist_ok=True)
    subprocess.run(["nvidia-cuda-mps-control", "-d"], check=False)
    time.sleep(1)


# --- what is kept


def pack(out: Path, into: Path, plan: dict, jobs: list[Job], done: set[tuple[str, str]]) -> None:
    """Write what is worth keeping as one archive; then, as far as there is room, layout by layout what unfinished jobs
    need of populations, what they made themselves, and their states. Archives are cut into parts."""
    needed = {(job.layout, name) for job in jobs if job.key not in done for name in job.needs} & done
    begun = {job.key for job in jobs if job.key not in done}
    kinds: dict[str, list[Path]] = {"runs": []} | {f"population-{layout}": [] for layout, _ in sorted(needed)}
    kinds |= {f"{kind}-{layout}": [] for kind in ("unfinished", "states") for layout, _ in sorted(begun)}
    for path in sorted(p for p in out.rglob("*") if p.is_file()):
        inside = path.relative_to(out)
        if worth_keeping(inside, plan, done):
            kinds["runs"].append(path)
        elif len(inside.parts) > 3 and inside.parts[:2] in needed and inside.parent.name in ("policies", "snapshots"):
            kinds[f"population-{inside.parts[0]}"].append(path)
        elif len(inside.parts) > 2 and inside.parts[:2] in begun:
            # A manifest without its state would keep a job from beginning anew.
            made = inside.name == "build.json" or inside.name.endswith(KEPT_ENDS) or inside.parent.name == "policies"
            kinds[f"{'unfinished' if made else 'states'}-{inside.parts[0]}"].append(path)
    into.mkdir(parents=True, exist_ok=True)
    written: dict[str, int] = {}
    left_out: list[str] = []
    for name, paths in kinds.items():
        if not paths and name != "runs":
            continue
        data = archived(out, paths)
        parts = -(-len(data) // PART)
        if (
            sum(written.values()) + len(data) > ROOM
            or sum(-(-size // PART) for size in written.values()) + parts > FILES
        ):
            left_out.append(name)
            continue
        written[name] = len(data)
        for number in range(parts):
            (into / f"{name}.tar.gz.{number:02d}").write_bytes(data[number * PART : (number + 1) * PART])
    print(json.dumps({"packed_bytes": written, "no_room_for": left_out}), flush=True)


def archived(out: Path, paths: list[Path]) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=3) as tar:
        for path in paths:
            tar.add(path, str(path.relative_to(out)))
    return archive.getvalue()


def worth_keeping(inside: Path, plan: dict, done: set[tuple[str, str]]) -> bool:
    """Tables, curves, manifests, panels, and the policies of egos."""
    if inside.parts[0] == "compiled":
        return False
    if len(inside.parts) < 3:
        return inside.name.endswith(KEPT_ENDS) or bool(KEPT.search(inside.name))
    key = (inside.parts[0], inside.parts[1])
    if key not in done:
        return inside.name == "log.jsonl"
    if inside.parent.name == "policies":
        return key[1] in plan.get("egos", {})
    return bool(KEPT.search(inside.name)) or inside.name.endswith(KEPT_ENDS)


def restore(out: Path, parts: list[Path]) -> None:
    """Unpack archives, each from all of its parts."""
    for name in sorted({part.name.rpartition(".")[0] for part in parts}):
        data = b"".join(p.read_bytes() for p in sorted(parts) if p.name.rpartition(".")[0] == name)
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
            tar.extractall(out, filter="data")


if __name__ == "__main__":
    sys.exit(main())
