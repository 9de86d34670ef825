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
from interplay.games.hanabi import rules as hanabi


def random_legal(key, legal):
    """One of the legal actions, each as likely as the next. Both engines use this."""
    number = jnp.sum(legal)
    place = jnp.floor(jax.random.uniform(key) * number)
    return jnp.argmax(jnp.cumsum(legal) > place)


def consume(vectors, weight):
    """A number that depends on every entry; the barrier makes the vectors exist, as a network would need them."""
    return jnp.sum(jax.lax.optimization_barrier(vectors) * weight)


def ours(players: int, envs: int) -> tuple[Callable, Callable]:
    game = interplay.make(f"hanabi/{players}p")
    rules = game.rules
    weight = jnp.linspace(0.5, 1.5, game.encodings["hle"].shape[0])

    def move(state, key):
        turn = game.to_move(state)
        action = random_legal(key, jnp.any(game.legal(state) & turn[:, None], axis=0))
        after, result = game.step(state, jnp.where(turn, action, rules.moves.noop), key)
        return after, result.reward.sum(), result.terminated

    def renew(state, deck, over):
        return jax.tree.map(lambda new, old: jnp.where(over, new, old), hanabi.deal(rules, deck), state)

    def step(states, key):
        for_moves, for_decks = jax.random.split(key)
        states, rewards, over = jax.vmap(move)(states, jax.random.split(for_moves, envs))
        states = jax.vmap(renew)(states, fresh_decks(rules, states.deck, over, for_decks), over)
        vectors = jax.vmap(lambda s: game.observe(s, "hle"))(states)
        return states, consume(vectors, weight) + rewards.sum()

    return game.init, step


def fresh_decks(rules, decks, over, key):
    """The decks, those of finished games shuffled. On a CPU only so many are shuffled as are needed."""
    envs = len(decks)
    if jax.default_backend() != "cpu":
        return jax.vmap(lambda k: hanabi.shuffle(rules, k))(jax.random.split(key, envs))
    group = max(1, envs // 8)

    def shuffle_some(carry):
        decks, waiting, key = carry
        key, now = jax.random.split(key)
        which = jnp.nonzero(waiting, size=group, fill_value=envs)[0]
        new = jax.vmap(lambda k: hanabi.shuffle(rules, k))(jax.random.split(now, group))
        return decks.at[which].set(new, mode="drop"), waiting.at[which].set(False, mode="drop"), key

    return jax.lax.while_loop(lambda c: jnp.any(c[1]), shuffle_some, (decks, over, key))[0]


def jaxmarl(players: int, envs: int) -> tuple[Callable, Callable]:
    import jaxmarl as theirs

    env = theirs.make("hanabi", num_agents=players)
    weight = jnp.linspace(0.5, 1.5, env.obs_size)

    def init(key):
        return env.reset(key)[1]

    def move(state, key):
        for_move, for_step = jax.random.split(key)
        legal = env.get_legal_moves(state)
        actions = {a: random_legal(for_move, legal[a]) for a in env.agents}
        obs, state, rewards, _, _ = env.step(for_step, state, actions)  # starts anew by itself
        return state, jnp.stack([obs[a] for a in env.agents]), rewards["__all__"]

    def step(states, key):
        states, vectors, rewards = jax.vmap(move)(states, jax.random.split(key, envs))
        return states, consume(vectors, weight) + rewards.sum()

    return init, step


def measure(engine: tuple[Callable, Callable], envs: int, steps: int, repeats: int) -> dict[str, float]:
    """Steps a second (best of the repeats) and seconds to compile."""
    init, step = engine

    @jax.jit
    def run(states, key):
        def turn(carry, key):
            states, total = carry
            states, number = step(states, key)
            return (states, total + number), None

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
        rows.append(row | measure(engine(args.players, args.envs), args.envs, args.steps, args.repeats))
    ratio = rows[0]["steps_per_s"] / rows[1]["steps_per_s"]
    if args.json:
        print(json.dumps({"rows": rows, "ratio": round(ratio, 2)}))
        return
    for row in rows:
        print(f"{row['engine']:<14} {row['steps_per_s']:>12,} steps/s   compiled in {row['compile_s']} s")
    print(f"ratio {ratio:.1f} at {args.envs} envs, {args.players} players, on {rows[0]['device']}")


if __name__ == "__main__":
    main()
