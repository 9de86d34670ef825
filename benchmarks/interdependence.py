"""Who helps whom, counted two ways: over symbolic traces, and inside the compiled rollout.

Both count the 76 shipped human games, and generated play on counter circuit. The symbolic count makes the full set of
facts and operators of every step, on one core, from states at hand. The vectorised one steps the game as well. Both
times leave out the first run, which compiles and fills caches.

    python benchmarks/interdependence.py
    python benchmarks/interdependence.py --steps 1000000 --envs 1024 --json
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import interplay
from interplay.games.overcooked import lineage
from interplay.metrics.interdependence import InterdependenceOptions, count
from interplay.symbolic.read import read

BOTH = InterdependenceOptions(channels=lineage.CHANNELS)


def best_of(repeats: int, run: Any) -> float:
    """Seconds of the fastest run."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - began)
    return min(times)


def human(repeats: int) -> list[dict]:
    """The human games: their 91,102 steps counted both ways, and the counts compared."""
    from interplay.traces import replays
    from interplay.traces.importers.overcooked_ai import human_episodes

    by_layout: dict[str, list] = {}
    for episode in human_episodes():
        by_layout.setdefault(episode.game_id, []).append(episode)
    steps = sum(e.length for part in by_layout.values() for e in part)
    games, states, programs = {}, {}, {}
    for name, episodes in by_layout.items():
        games[name] = interplay.make(name, horizon=max(e.length for e in episodes))
        states[name] = [r.states for e in episodes for r in replays(interplay.make(name, **e.options), [e])]
        programs[name] = _vectorised(games[name], episodes, states[name])

    def symbolic() -> int:
        return sum(
            sum(link.kind == "constructive" for link in count(read(games[n], s, e.actions), BOTH).links)
            for n in games
            for e, s in zip(by_layout[n], states[n], strict=True)
        )

    def vectorised() -> Any:
        return [program() for program in programs.values()]

    slow, fast = symbolic(), sum(int(c.sum()) for c in vectorised())
    if slow != fast:
        raise SystemExit(f"the counts differ: symbolic {slow}, vectorised {fast}")
    work = {"games": "76 human games", "steps": steps, "constructive": slow}
    return [
        {**work, "count": "symbolic", "seconds": best_of(repeats, symbolic)},
        {**work, "count": "vectorised", "seconds": best_of(repeats, vectorised)},
    ]


def _vectorised(game: Any, episodes: list, states: list) -> Any:
    """A compiled count of these episodes, padded to the longest."""
    longest = max(e.length for e in episodes)
    actions, played = np.zeros((len(episodes), longest, 2), np.int32), np.zeros((len(episodes), longest), bool)
    for i, episode in enumerate(episodes):
        actions[i, : episode.length], played[i, : episode.length] = episode.actions, True
    start = jax.tree_util.tree_map(lambda *a: jnp.stack([x[0] for x in a]), *states)
    count_all = jax.jit(
        lambda s, a, p: jax.vmap(lambda *one: lineage.track(game.kitchen, *one).counts.constructive)(s, a, p)
    )
    return lambda: count_all(start, actions, played)


def generated(envs: int, steps: int, repeats: int) -> list[dict]:
    """Random play on counter circuit, where half of the actions are interacts; the symbolic count takes a share."""
    game = interplay.make("overcooked/counter_circuit")
    length = game.horizon
    rounds = max(1, -(-steps // (envs * length)))
    start = jax.vmap(game.init)(jax.random.split(jax.random.key(0), envs))

    def draw(key: Any) -> Any:
        moves = jax.random.randint(key, (envs, length, 2), 0, 5)
        return jnp.where(jax.random.bernoulli(jax.random.fold_in(key, 1), 0.5, moves.shape), 5, moves)

    batches = [jax.jit(draw)(jax.random.key(i)) for i in range(rounds)]
    follow = jax.jit(lambda a: jax.vmap(lambda s, j: lineage.track(game.kitchen, s, j).counts)(start, a))
    play = jax.jit(lambda a: jax.vmap(lambda s, j: _states(game, s, j))(start, a))
    jax.block_until_ready(follow(batches[0]))
    fast = best_of(repeats, lambda: [follow(b) for b in batches])

    few = 50
    states = jax.tree_util.tree_map(np.asarray, play(batches[0]))
    episodes = [jax.tree_util.tree_map(lambda x, i=i: x[i], states) for i in range(few)]
    actions = np.asarray(batches[0])

    def symbolic() -> None:
        for i, one in enumerate(episodes):
            count(read(game, one, actions[i]), BOTH)

    symbolic()
    work = {"games": f"random play, {game.id}"}
    return [
        {**work, "count": "symbolic", "steps": few * length, "seconds": best_of(repeats, symbolic)},
        {**work, "count": "vectorised", "steps": rounds * envs * length, "seconds": fast},
    ]


def _states(game: Any, start: Any, actions: Any) -> Any:
    def turn(state: Any, chosen: Any) -> tuple[Any, Any]:
        after, _ = game.step(state, chosen, None)
        return after, after

    _, states = jax.lax.scan(turn, start, actions)
    return jax.tree_util.tree_map(lambda a, b: jnp.concatenate([a[None], b]), start, states)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", type=int, default=1024, help="environments at a time")
    parser.add_argument("--steps", type=int, default=1_000_000, help="generated steps")
    parser.add_argument("--repeats", type=int, default=3, help="runs, of which the fastest counts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    rows = human(options.repeats) + generated(options.envs, options.steps, options.repeats)
    for row in rows:
        row["steps_per_second"] = round(row["steps"] / row["seconds"])
    if options.json:
        print(json.dumps({"rows": rows}))
        return
    for row in rows:
        per = f"{row['steps_per_second']:>12,} steps/s"
        print(f"{row['games']:<42} {row['count']:<11} {row['steps']:>9,} steps {row['seconds']:>7.2f} s {per}")


if __name__ == "__main__":
    main()
