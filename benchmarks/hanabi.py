"""Steps a second of Hanabi: ours and JaxMARL's in one process, doing the same.

Random legal moves; in every step both seats' full vectors (658 numbers each, float32) are computed and consumed;
finished games start anew with a fresh deck. One step is one move of one game.

    python benchmarks/hanabi.py --envs 1024 --steps 200
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import interplay


def random_legal(key, legal):
    """One of the legal actions, each as likely as the next. Both engines use this."""
    number = jnp.sum(legal)
    place = jnp.floor(jax.random.uniform(key) * number)
    return jnp.argmax(jnp.cumsum(legal) > place)


def consume(vectors, weight):
    """A number that depends on every entry, so that none can be left out."""
    return jnp.sum(vectors * weight)


def ours(players: int) -> tuple[Callable, Callable]:
    game = interplay.make(f"hanabi/{players}p")
    noop = game.rules.moves.noop
    weight = jnp.linspace(0.5, 1.5, game.encodings["hle"].shape[0])

    def step(state, key):
        for_move, for_deck = jax.random.split(key)
        legal = game.legal(state)
        turn = game.to_move(state)
        action = random_legal(for_move, jnp.any(legal & turn[:, None], axis=0))
        after, result = game.step(state, jnp.where(turn, action, noop), for_move)
        fresh = game.init(for_deck)
        after = jax.tree.map(lambda a, b: jnp.where(result.terminated, a, b), fresh, after)
        return after, consume(game.observe(after, "hle"), weight) + result.reward.sum()

    return game.init, step


def jaxmarl(players: int) -> tuple[Callable, Callable]:
    import jaxmarl as theirs

    env = theirs.make("hanabi", num_agents=players)
    weight = jnp.linspace(0.5, 1.5, env.obs_size)

    def init(key):
        return env.reset(key)[1]

    def step(state, key):
        for_move, for_step = jax.random.split(key)
        legal = env.get_legal_moves(state)
        actions = {a: random_legal(for_move, legal[a]) for a in env.agents}
        obs, state, rewards, _, _ = env.step(for_step, state, actions)  # starts anew by itself
        return state, consume(jnp.stack([obs[a] for a in env.agents]), weight) + rewards["__all__"]

    return init, step


def measure(engine: tuple[Callable, Callable], envs: int, steps: int, repeats: int) -> dict[str, float]:
    """Steps a second (best of the repeats) and seconds to compile."""
    init, step = engine

    @jax.jit
    def run(states, key):
        def turn(carry, key):
            states, total = carry
            states, numbers = jax.vmap(step)(states, jax.random.split(key, envs))
            return (states, total + jnp.sum(numbers)), None

        (states, total), _ = jax.lax.scan(turn, (states, jnp.float32(0)), jax.random.split(key, steps))
        return states, total

    states = jax.jit(jax.vmap(init))(jax.random.split(jax.random.key(0), envs))
    begun = time.perf_counter()
    compiled = run.lower(states, jax.random.key(1)).compile()
    compile_s = time.perf_counter() - begun
    best = 0.0
    for repeat in range(repeats + 1):
        begun = time.perf_counter()
        states, total = compiled(states, jax.random.key(repeat))
        jax.block_until_ready(total)
        if repeat:  # the first run warms up
            best = max(best, envs * steps / (time.perf_counter() - begun))
    return {"steps_per_s": round(best), "compile_s": round(compile_s, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, default=1024, help="games side by side")
    parser.add_argument("--steps", type=int, default=200, help="steps of each game in a timed run")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3, help="timed runs; the best counts")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name, engine in (("interplay", ours), ("jaxmarl 0.2.0", jaxmarl)):
        row = {"engine": name, "device": jax.devices()[0].device_kind, "envs": args.envs, "players": args.players}
        rows.append(row | measure(engine(args.players), args.envs, args.steps, args.repeats))
    ratio = rows[0]["steps_per_s"] / rows[1]["steps_per_s"]
    if args.json:
        print(json.dumps({"rows": rows, "ratio": round(ratio, 2)}))
        return
    for row in rows:
        print(f"{row['engine']:<14} {row['steps_per_s']:>12,} steps/s   compiled in {row['compile_s']} s")
    print(f"ratio {ratio:.1f} at {args.envs} envs, {args.players} players, on {rows[0]['device']}")


if __name__ == "__main__":
    main()
