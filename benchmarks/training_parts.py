"""Where the time of an update goes: playing, appraising and improving, each compiled on its own and timed.

python benchmarks/training_parts.py CONFIG.json [place=value ...]
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.games.registry import make
from interplay.training import schedule
from interplay.training.algorithms.hsp import pair_plan
from interplay.training.algorithms.sp import SelfPlay
from interplay.training.collect import collect
from interplay.training.compiled_stage import Program
from interplay.training.config import Experiment
from interplay.training.loader import as_json, build, load, with_settings
from interplay.training.method import Method
from interplay.training.reward_weights import equal_reward_weights
from interplay.training.stage_state import TrainingSetup
from interplay.training.update import ValueEstimates, improve, prepare


def clock(call: Any, *arguments: Any, times: int = 5) -> tuple[float, Any]:
    """The least time of some calls, and what the last one gave."""
    result = jax.block_until_ready(call(*arguments))
    least = float("inf")
    for _ in range(times):
        began = time.perf_counter()
        result = jax.block_until_ready(call(*arguments))
        least = min(least, time.perf_counter() - began)
    return least, result


def parts(experiment: Experiment) -> dict[str, float]:
    game = make(experiment.game.name, **experiment.game.options)
    pairs = experiment.algorithm.name == "hsp_pairs"
    plan = pair_plan(game.num_seats) if pairs else SelfPlay.create(experiment).plan
    weights = equal_reward_weights(game, experiment.rewards, plan.learners, experiment.runs)
    setup = TrainingSetup.create(experiment, game, Method(plan), pays_events=pairs)
    runs = Program(setup).start(None, ())
    keys = jax.random.split(jax.random.key(0), experiment.runs)
    shaping = schedule.at(experiment.rewards.shaping, jnp.float32(0))

    play = jax.jit(jax.vmap(lambda r, t, k: collect(setup, r.members, t, (), r.world, shaping, k)))
    appraise = jax.jit(
        jax.vmap(lambda r, *played: prepare(ValueEstimates(setup, r.members, r.normaliser, r.world, *played)))
    )
    orders = jnp.broadcast_to(jnp.arange(setup.sequences), (experiment.ppo.epochs, setup.sequences))
    learn = jax.jit(
        jax.vmap(lambda r, b, w: improve(setup, r.members, r.optimiser, b, orders, jnp.float32(1e-4), 0.01, w, ()))
    )
    played_s, (after, rollout, cuts, _) = clock(play, runs, weights, keys)
    appraised_s, (batch, *_) = clock(appraise, runs, after, rollout, cuts)
    learnt_s, _ = clock(learn, runs, batch, weights)
    steps = experiment.runs * experiment.envs * experiment.rollout
    total = played_s + appraised_s + learnt_s
    return {
        "play_ms": 1e3 * played_s,
        "appraise_ms": 1e3 * appraised_s,
        "improve_ms": 1e3 * learnt_s,
        "steps_per_s": steps / total,
        "turn_us": 1e6 * played_s / experiment.rollout,
        "gradient_us": 1e6 * learnt_s / (experiment.ppo.epochs * experiment.ppo.minibatches),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("changes", nargs="*")
    options = parser.parse_args()
    experiment = build(Experiment, with_settings(as_json(load(options.config, Experiment)), options.changes))
    took_ms = parts(experiment)
    print(json.dumps({"device": jax.devices()[0].device_kind} | {k: float(np.round(v, 2)) for k, v in took_ms.items()}))


if __name__ == "__main__":
    main()
