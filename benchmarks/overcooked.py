"""Overcooked beside its peers, in one process on the same work.

Many environments: ours and JaxMARL, counter circuit, random actions, both seats' 26 planes made and read at every
step, episodes begun anew at the horizon of 400. One environment from Python: ours and overcooked-ai, each with its
observation.

    python benchmarks/overcooked.py                      # 1,024 environments
    python benchmarks/overcooked.py --envs 65536         # a GPU
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import time

import jax
import jax.numpy as jnp
import numpy as np

import interplay

HORIZON = 400


# What happens to the observations, the same on both sides; every number counts, at every step.
# "stored": they are written to memory, where a learner would find them. "summed": they go straight into a sum.
READ = {
    "stored": (lambda seen: seen, lambda before, now: jax.tree_util.tree_map(jnp.bitwise_xor, before, now)),
    "summed": (
        lambda seen: jax.tree_util.tree_map(_total, seen),
        lambda before, now: jax.tree_util.tree_map(lambda b, n: b + _total(n), before, now),
    ),
}


def _total(values):
    return jnp.sum(values, axis=tuple(range(1, values.ndim)), dtype=jnp.int32)


def ours(envs: int, steps: int, encoding: str, use: str):
    first, read = READ[use]
    game = interplay.make("overcooked/counter_circuit")
    start = jax.vmap(game.init)(jax.random.split(jax.random.key(0), envs))

    def turn(carry, key):
        state, seen, points = carry
        actions = jax.random.randint(key, (envs, 2), 0, 6)
        state, step = jax.vmap(lambda s, a: game.step(s, a, None))(state, actions)
        over = step.truncated
        state = jax.tree_util.tree_map(
            lambda now, new: jnp.where(over.reshape(-1, *[1] * (now.ndim - 1)), new, now), state, start
        )
        now = jax.vmap(lambda s: game.observe(s, encoding))(state)
        return (state, read(seen, now), points + step.reward.sum()), None

    def play(key):
        seen = first(jax.vmap(lambda s: game.observe(s, encoding))(start))
        return jax.lax.scan(turn, (start, seen, 0.0), jax.random.split(key, steps))[0]

    return jax.jit(play)


def jaxmarl(envs: int, steps: int, use: str):
    first, read = READ[use]
    with contextlib.redirect_stdout(io.StringIO()):  # it prints at import
        from jaxmarl.environments.overcooked import Overcooked, overcooked_layouts
    env = Overcooked(layout=overcooked_layouts["counter_circuit"], max_steps=HORIZON)

    def turn(carry, key):
        state, seen, points = carry
        actions = jax.random.randint(key, (envs, 2), 0, 6)
        joint = {"agent_0": actions[:, 0], "agent_1": actions[:, 1]}
        now, state, reward, _, _ = jax.vmap(env.step)(jax.random.split(key, envs), state, joint)
        return (state, read(seen, now), points + reward["agent_0"].sum()), None

    def play(key):
        seen, state = jax.vmap(env.reset)(jax.random.split(key, envs))
        return jax.lax.scan(turn, (state, first(seen), 0.0), jax.random.split(key, steps))[0]

    return jax.jit(play)


def rate(program, work: int, repeats: int) -> float:
    """Steps per second, the best of some runs after a first one that compiles."""
    jax.block_until_ready(program(jax.random.key(0)))
    times = []
    for repeat in range(repeats):
        began = time.perf_counter()
        jax.block_until_ready(program(jax.random.key(repeat + 1)))
        times.append(time.perf_counter() - began)
    return work / min(times)


def one_of_ours(steps: int, encoding: str) -> float:
    game = interplay.make("overcooked/counter_circuit")
    actions = np.random.default_rng(0).integers(0, 6, (steps, 2)).astype(np.int32)
    start = game.init(None)

    def play():
        state = start
        for t in range(steps):
            state, step = game.step(state, actions[t], None)
            seen = game.observe(state, encoding)
            if (t + 1) % HORIZON == 0:
                state = start
        return np.asarray(seen), float(step.reward.sum())

    return _best(play, steps)


def one_of_theirs(steps: int) -> float:
    with contextlib.redirect_stderr(io.StringIO()):
        from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld
    world = OvercookedGridworld.from_layout_name("counter_circuit_o_1order")
    choices = [(0, -1), (0, 1), (1, 0), (-1, 0), (0, 0), "interact"]
    actions = np.random.default_rng(0).integers(0, 6, (steps, 2))

    def play():
        state = world.get_standard_start_state()
        for t in range(steps):
            state, _ = world.get_state_transition(state, [choices[a] for a in actions[t]])
            world.lossless_state_encoding(state)
            if (t + 1) % HORIZON == 0:
                state = world.get_standard_start_state()

    return _best(play, steps)


def _best(play, steps: int) -> float:
    play()
    times = []
    for _ in range(3):
        began = time.perf_counter()
        play()
        times.append(time.perf_counter() - began)
    return steps / min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--single-steps", type=int, default=2000, help="0 leaves the one-environment part out")
    parser.add_argument("--json", help="also write the results to this file")
    options = parser.parse_args()
    work = options.envs * options.steps
    rates = {"device": jax.devices()[0].device_kind, "envs": options.envs}
    for use in READ:
        rates[f"ours, {use}"] = rate(ours(options.envs, options.steps, "planes_first", use), work, options.repeats)
        try:
            rates[f"jaxmarl, {use}"] = rate(jaxmarl(options.envs, options.steps, use), work, options.repeats)
            rates[f"ratio, {use}"] = rates[f"ours, {use}"] / rates[f"jaxmarl, {use}"]
        except ImportError as error:
            print(f"no peer here: {error}")
    if options.single_steps:
        rates["one env, ours"] = one_of_ours(options.single_steps, "planes_first")
        rates["one env, overcooked-ai"] = one_of_theirs(options.single_steps)
        rates["one env, ratio"] = rates["one env, ours"] / rates["one env, overcooked-ai"]
    for name, value in rates.items():
        print(f"{name:<24} {value if isinstance(value, str | int) else f'{value:,.2f}'}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rates, file, indent=1)


if __name__ == "__main__":
    main()
