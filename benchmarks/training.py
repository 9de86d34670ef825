"""Training beside JaxMARL's own IPPO: coordination ring, the same sizes, one GPU.

Ours is measured here. JaxMARL's numbers are those of its own script at this configuration on one H200 (16
environments, 128 steps, 4 epochs, 4 minibatches, two layers of 64 units, 5e6 steps): they are printed beside ours.

    python benchmarks/training.py                 # 32 seeds, the whole budget
    python benchmarks/training.py --runs 1        # one seed
    python benchmarks/training.py --steps 2e5     # a quick look
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import jax

from interplay.training.algorithms import sp
from interplay.training.config import Experiment
from interplay.training.loader import as_json, build, load

CONFIG = Path(__file__).parent / "zsc" / "jaxmarl_ring.json"
PUBLISHED = {32: {"wall_s": 92.0, "steps_per_s": 1.74e6, "return": 209.0}, 1: {"wall_s": 39.0}}
GOAL = 200.0  # the mean return at which the clock is read


def measure(experiment: Experiment) -> dict:
    began = time.perf_counter()
    trained = sp.train(experiment)
    wall = time.perf_counter() - began
    curve, steps = trained.curve, experiment.runs * trained.curve[-1]["steps"]
    # The first line holds the compilation; the rate is that of the others.
    training = sum(line["wall_s"] for line in curve[1:])
    after_first = experiment.runs * (curve[-1]["steps"] - curve[0]["steps"])
    reached = next((i for i, line in enumerate(curve) if (line["return"] or 0) >= GOAL), None)
    return {
        "device": jax.devices()[0].device_kind,
        "runs": experiment.runs,
        "steps": steps,
        "wall_s": wall,
        "compile_s": curve[0]["wall_s"] - (training / max(len(curve) - 1, 1)),
        "steps_per_s": after_first / training if training else steps / wall,
        "return": curve[-1]["return"],
        "wall_s_to_goal": None if reached is None else sum(line["wall_s"] for line in curve[: reached + 1]),
        "curve": [{k: line[k] for k in ("steps", "return", "wall_s")} for line in curve],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default=str(CONFIG))
    parser.add_argument("--runs", type=int, default=32)
    parser.add_argument("--steps", type=float, default=5e6)
    parser.add_argument("--json", help="also write the results to this file")
    options = parser.parse_args()
    values = as_json(load(options.config, Experiment)) | {"runs": options.runs, "steps": options.steps}
    measured = measure(build(Experiment, values))
    peer = PUBLISHED.get(options.runs, {})
    for name, value in measured.items():
        if name == "curve":
            continue
        beside = f"   JaxMARL {peer[name]:,.2f}" if name in peer else ""
        print(f"{name:<16} {value if isinstance(value, str) or value is None else f'{value:,.2f}'}{beside}")
    if "steps_per_s" in peer:
        print(f"{'ratio':<16} {measured['steps_per_s'] / peer['steps_per_s']:.2f} times its steps/s")
    if options.json:
        Path(options.json).write_text(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
