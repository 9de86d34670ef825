"""How fast PPO learns Hanabi at two players, beside JaxMARL's feed-forward IPPO at the same sizes on the same chip.

    python benchmarks/hanabi_learning/speed.py --out results                      # all configurations of speed.json
    python benchmarks/hanabi_learning/speed.py ff_bf16_by_turns --flags plain graphs
    python benchmarks/hanabi_learning/speed.py ff --parts                         # where the time of an update goes

An update is 1,024 environments x 128 steps, 4 epochs, 4 minibatches: compiled once, then timed over some updates with
all of their work (play, advantages, gradients, resets). `ff` learns from both seats' rows as JaxMARL does, the half of
them without a choice included; `by_turns` leaves those out. Every configuration runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "src"))
sys.path.insert(0, str(HERE.parent))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configurations", nargs="*")
    parser.add_argument("--plan", default=str(HERE / "speed.json"))
    parser.add_argument("--flags", nargs="*", default=["plain"], help="names of sets of XLA flags in the plan")
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--parts", action="store_true", help="also time play, appraisal and improvement apart")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    parser.add_argument("--seconds", type=float, default=150.0, help="after which a configuration is given up")
    parser.add_argument(
        "--change", nargs="*", default=[], metavar="place=value", help="for a small try, such as envs=8"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    plan = json.loads(Path(given.plan).read_text())
    if given.one:
        print(json.dumps(measure(_experiment(plan, given.one, given.change), given.updates, given.parts)))
        return 0
    rows, out = [], Path(given.out)
    out.mkdir(parents=True, exist_ok=True)
    for name in given.configurations or plan["configurations"]:
        for flags in given.flags:
            rows.append({"configuration": name, "flags": flags} | _in_own_process(given, plan, name, flags))
            row = rows[-1]
            if "steps_per_s" in row:
                row["times_jaxmarl"] = round(row["steps_per_s"] / plan["jaxmarl"]["steps_per_s"], 2)
            print(json.dumps(row), flush=True)
            (out / "speed.json").write_text(json.dumps({"jaxmarl": plan["jaxmarl"], "rows": rows}, indent=1))
    return 0


def _in_own_process(given: argparse.Namespace, plan: dict, name: str, flags: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", name, "--plan", given.plan, "--updates", str(given.updates)]
    command += ["--parts"] if given.parts else []
    command += ["--change", *given.change] if given.change else []
    together = f"{os.environ.get('XLA_FLAGS', '')} {plan['flags'][flags]}".strip()
    try:
        done = subprocess.run(
            command,
            env=dict(os.environ) | {"XLA_FLAGS": together},
            capture_output=True,
            text=True,
            timeout=given.seconds,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not done within {given.seconds:g} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no word"])[-1][:400]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def _experiment(plan: dict, name: str, changes: list[str]) -> tuple[Any, Any]:
    from interplay.training.config import Experiment
    from interplay.training.loader import as_json, build, with_settings

    config = plan["common"] | plan["configurations"][name]
    hold = config.pop("hold", None)
    return build(Experiment, with_settings(as_json(build(Experiment, config)), changes)), hold


def measure(given: tuple[Any, Any], updates: int, parts: bool) -> dict[str, Any]:
    """Steps a second of all runs together, compilation apart."""
    import jax
    import jax.numpy as jnp

    from interplay.games.registry import make
    from interplay.training.algorithms.hdr import HumanDataRegularised
    from interplay.training.algorithms.sp import SelfPlay
    from interplay.training.compiled_stage import Program
    from interplay.training.stage_state import TrainingSetup

    experiment, hold = given
    game = make(experiment.game.name, **experiment.game.options)
    kind, fields = (SelfPlay, {}) if hold is None else (HumanDataRegularised, {"anchor_weights": tuple(hold)})
    by_turns = bool(experiment.algorithm.options.get("by_turns"))
    method = kind.create(experiment, by_turns=by_turns, **fields)
    weights = method.reward_weights(game, experiment)
    program = Program(TrainingSetup.create(experiment, method.wrap_game(game), method, pays_events=False))
    began = time.perf_counter()
    runs, _ = program.chunk(program.start(None, ()), weights, (), jnp.int32(0), jnp.int32(2))
    jax.block_until_ready(runs.members)
    compiled = time.perf_counter() - began
    began = time.perf_counter()
    runs, _ = program.chunk(runs, weights, (), jnp.int32(2), jnp.int32(updates))
    jax.block_until_ready(runs.members)
    took = time.perf_counter() - began
    steps = updates * experiment.runs * experiment.envs * experiment.rollout
    found = {
        "device": jax.devices()[0].device_kind,
        "steps_per_s": round(steps / took),
        "update_ms": round(1e3 * took / updates, 2),
        "compile_s": round(compiled, 1),
    }
    if parts:
        found |= _parts(program, runs, weights)
    return found


def _parts(program: Any, runs: Any, weights: Any) -> dict[str, float]:
    """Each part compiled on its own, without the anchor's."""
    import jax
    import jax.numpy as jnp
    from training_parts import clock

    from interplay.training.collect import collect
    from interplay.training.update import ValueEstimates, improve, prepare

    setup, experiment = program.setup, program.experiment
    keys = jax.random.split(jax.random.key(0), experiment.runs)
    play = jax.jit(jax.vmap(lambda r, t, k: collect(setup, r.members, t, (), r.world, jnp.float32(0), k)))
    judge = jax.jit(
        jax.vmap(lambda r, a, p, c: prepare(ValueEstimates(setup, r.members, r.normaliser, r.world, a, p, c)))
    )
    orders = jnp.broadcast_to(jnp.arange(setup.sequences), (experiment.ppo.epochs, setup.sequences))
    rate = jnp.float32(1e-4)
    learn = jax.jit(jax.vmap(lambda r, b, w: improve(setup, r.members, r.optimiser, b, orders, rate, 0.01, w, ())))
    play_s, (after, rollout, cuts, _) = clock(play, runs, weights, keys)
    judge_s, (batch, *_) = clock(judge, runs, after, rollout, cuts)
    learn_s, _ = clock(learn, runs, batch, weights)
    named = {"play_ms": play_s, "appraise_ms": judge_s, "improve_ms": learn_s}
    return {name: round(1e3 * seconds, 2) for name, seconds in named.items()}


if __name__ == "__main__":
    sys.exit(main())
