"""The whole benchmark of zero-shot coordination for some layouts: panels, populations, egos, and their returns.

Every job is a command of interplay's own (`python -m interplay.training`, `python -m interplay.partners`); this script
starts each as soon as those it needs are done, several beside each other, and writes down when each ran. Jobs resume:
killed, the same command goes on.

    python benchmarks/zsc/pipeline.py coordination_ring --out runs/zsc
    python benchmarks/zsc/pipeline.py coordination_ring forced_coordination --out runs/zsc --beside 12 --mps
    python benchmarks/zsc/pipeline.py coordination_ring --out /tmp/try --scale 0.001        # does it run at all

OUT/LAYOUT/JOB holds a job's folder; OUT/LAYOUT/returns.csv the return of every ego with every partner and seat;
OUT/LAYOUT.tar.gz what is worth keeping: policies, curves, manifests, the panel and the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = ("log.jsonl", "manifest.json", "build.json", "panel.json", "weights.safetensors", "timeline.json", "failed.txt")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layouts", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--plan", default=str(HERE / "pipeline.json"))
    parser.add_argument("--jobs", nargs="*", help="only these")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all steps; environments too, if below 0.1")
    parser.add_argument("--beside", type=int, default=4, help="jobs that run beside each other")
    parser.add_argument("--mps", action="store_true", help="let the processes share the GPU (CUDA's MPS)")
    given = parser.parse_args()
    plan = json.loads(Path(given.plan).read_text())
    if given.mps:
        _share_gpu()
    pending = {(layout, job) for layout in given.layouts for job in (given.jobs or plan["jobs"])}
    everything = frozenset(pending)
    done: set[tuple[str, str]] = set()
    failed: set[tuple[str, str]] = set()
    running: dict[tuple[str, str], tuple[subprocess.Popen, float]] = {}
    timeline: dict[str, list[dict[str, Any]]] = {layout: [] for layout in given.layouts}
    began, order = time.time(), list(plan["jobs"])
    while pending or running:
        for one in [k for k, (process, _) in running.items() if process.poll() is not None]:
            process, started = running.pop(one)
            (done if process.returncode == 0 else failed).add(one)
            took = {"job": one[1], "from_s": round(started - began, 1), "to_s": round(time.time() - began, 1)}
            timeline[one[0]].append(took | {"exit": process.returncode})
            print(json.dumps({"layout": one[0]} | timeline[one[0]][-1]), flush=True)
            if not any(layout == one[0] for layout, _ in pending | set(running)):
                _finish(Path(given.out), one[0], plan, timeline[one[0]])
        for one in sorted(pending, key=lambda k: (given.layouts.index(k[0]), order.index(k[1]))):
            needs = {(one[0], job) for job in plan["jobs"][one[1]].get("after", {}).values()} & everything
            ends = {n for n in everything if n[0] == one[0]} - {one} if "script" in plan["jobs"][one[1]] else set()
            if needs & failed:
                failed.add(one)
                pending.discard(one)
            elif needs <= done and ends <= done | failed and len(running) < given.beside:
                pending.discard(one)
                running[one] = (_start(given, plan, *one), time.time())
        time.sleep(0.2)
    print(f"{time.time() - began:.0f} s", f"failed: {sorted(failed)}" if failed else "", flush=True)
    return 1 if failed else 0


def _start(given: argparse.Namespace, plan: dict, layout: str, name: str) -> subprocess.Popen:
    job, folder = plan["jobs"][name], Path(given.out) / layout
    folder.mkdir(parents=True, exist_ok=True)
    if "script" in job:
        egos = [f"{ego}={seeds}" for ego, seeds in plan["egos"].items()]
        episodes = str(2 if given.scale != 1 else job["episodes"])
        command = [sys.executable, str(HERE / job["script"]), str(folder), *egos, "--episodes", episodes]
        output = (folder / f"{name}.out.txt").open("w")
        return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=_environment(given))
    room, config = (_panel if "partners" in job else _training)(given, plan, layout, name)
    path = folder / f"{name}.config.json"
    path.write_text(json.dumps(config, indent=1))
    command = [sys.executable, "-m", f"interplay.{room}", str(path), "--out", str(folder / name), "--quiet"]
    output = (folder / f"{name}.out.txt").open("w")
    return subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=_environment(given))


def _training(given: argparse.Namespace, plan: dict, layout: str, name: str) -> tuple[str, dict]:
    job, config = plan["jobs"][name], json.loads(json.dumps(plan["training"]))
    options = dict(job.get("options", {}))
    options |= {k: str(Path(given.out) / layout / v) for k, v in job.get("after", {}).items()}
    config["game"]["name"] = f"overcooked/{layout}"
    config["algorithm"] = {"name": job["algorithm"], "options": options}
    if job.get("choices"):
        options |= _choices(layout)
    for place, value in (
        _variant(plan, layout, "training") | job.get("set", {}) | _variant(plan, layout, name)
    ).items():
        _set(config, place, value)
    if given.scale != 1:
        _scaled(config, given.scale)
    return "training", config


def _panel(given: argparse.Namespace, plan: dict, layout: str, name: str) -> tuple[str, dict]:
    inner = {k: plan["training"][k] for k in ("envs", "rollout", "network", "ppo", "rewards")}
    settings = plan["jobs"][name]["partners"]
    config = {"game": {"name": f"overcooked/{layout}"}, "name": "generated", "training": inner} | settings
    config = json.loads(json.dumps(config))
    for place, value in _variant(plan, layout, "training").items():
        _set(config["training"], place, value)
    for place, value in _variant(plan, layout, name).items():
        _set(config, place, value)
    if given.scale != 1:
        _scaled(config, given.scale)
    if given.scale < 0.1:
        for field in ("feature_episodes", "trial_episodes", "ruler_episodes"):
            config[field] = 2
        config |= {"candidates": 6, "k": 2, "least_return": -1.0, "snapshots": 2}
    return "partners", config


def _variant(plan: dict, layout: str, name: str) -> dict[str, Any]:
    """What is different for this layout."""
    found: dict[str, Any] = {}
    for variant in plan.get("variants", []):
        if layout in variant["layouts"]:
            found |= variant["jobs"].get(name, {})
    return found


def _choices(layout: str) -> dict[str, Any]:
    """The game's reward space: what biased players may prefer. Asked in a process of its own, off the GPU."""
    code = (
        "import json, sys; from interplay.games.registry import make; "
        "from interplay.partners.candidates import reward_space; "
        "space = reward_space(make(sys.argv[1])); "
        "print(json.dumps({'choices': dict(space.choices), 'at_most': space.at_most}))"
    )
    off_gpu = dict(os.environ) | {"JAX_PLATFORMS": "cpu"}
    asked = subprocess.run(
        [sys.executable, "-c", code, f"overcooked/{layout}"], env=off_gpu, check=True, capture_output=True
    )
    return json.loads(asked.stdout)


def _set(config: dict, place: str, value: Any) -> None:
    *path, last = place.split(".")
    for step in path:
        config = config.setdefault(step, {})
    config[last] = value


def _scaled(config: Any, scale: float) -> None:
    """All budgets times a number, for a quick look."""
    for name, value in config.items() if isinstance(config, dict) else ():
        if isinstance(value, dict):
            _scaled(value, scale)
        elif name.endswith("steps") and isinstance(value, (int, float)):
            config[name] = value * scale
        elif name.endswith("envs") and scale < 0.1:
            config[name] = max(16, value // 8)
        elif name in ("rollout", "population_rollout") and scale < 0.1:
            config[name] = 20


def _environment(given: argparse.Namespace) -> dict[str, str]:
    share = {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{0.85 / given.beside:.3f}"}
    return {"JAX_COMPILATION_CACHE_DIR": str(Path(given.out) / "compiled")} | share | dict(os.environ)


def _share_gpu() -> None:
    """Kernels of several processes then run at the same time instead of taking turns."""
    folder = Path(os.environ.setdefault("CUDA_MPS_PIPE_DIRECTORY", "/tmp/mps"))
    os.environ.setdefault("CUDA_MPS_LOG_DIRECTORY", str(folder))
    folder.mkdir(exist_ok=True)
    subprocess.run(["nvidia-cuda-mps-control", "-d"], check=False)
    time.sleep(1)


def _finish(out: Path, layout: str, plan: dict, timeline: list[dict]) -> None:
    """What is worth keeping, in one file that appears at once."""
    (out / layout / "timeline.json").write_text(json.dumps(timeline, indent=1))
    partial = out / f"{layout}.part"
    with tarfile.open(partial, "w:gz") as archive:
        for path in sorted((out / layout).rglob("*")):
            inside = path.relative_to(out)
            ego = path.parent.name == "policies" and inside.parts[1] in plan["egos"]
            if path.name in KEPT or ego or path.suffix == ".csv" or path.name.endswith((".csv.gz", ".out.txt")):
                archive.add(path, str(inside))
    partial.rename(out / f"{layout}.tar.gz")


if __name__ == "__main__":
    sys.exit(main())
