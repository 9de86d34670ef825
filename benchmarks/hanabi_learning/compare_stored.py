"""Do policies play as before when their files are stored otherwise? Scores and equal moves, file by file.

    python benchmarks/hanabi_learning/compare_stored.py BEFORE AFTER --games 200

BEFORE and AFTER are folders with files of the same names (2p/NAME.safetensors). Both play the same deals with
themselves by their likeliest moves; points are kept after the third bomb. In the games of BEFORE, AFTER looks on: the
share of decisions in which it has the same likeliest move is printed too, and the mean absolute difference of the
logarithms of the odds of the move made.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import roster  # noqa: F401 - finds the sources
from jaxtyping import Array

from interplay.agents import neural
from interplay.agents.basic import masked
from interplay.games.registry import make
from interplay.training.algorithms.bc import forgiving, greedy_scores


def moves(game: Any, cores: tuple[Any, Any], encoding: str, games: int, seed: int) -> tuple[Array, Array, Array]:
    """Of every step and game of the first network with itself: decision, equal likeliest moves, difference of odds."""
    keys = jax.random.split(jax.random.key(seed), games)
    state = jax.vmap(lambda key: game.init(jax.random.fold_in(key, 0)))(keys)
    memory = tuple(jnp.zeros((games, game.num_seats, *core.start().shape), jnp.float32) for core in cores)

    def turn(carry: tuple, t: Array) -> tuple[tuple, tuple[Array, Array, Array]]:
        state, memory, over = carry
        seen, legal = jax.vmap(lambda s: (game.observe(s, encoding), game.legal(s)))(state)
        chooses = jnp.sum(legal, axis=-1) > 1
        after, odds = [], []
        for core, own in zip(cores, memory, strict=True):
            new, logits = jax.vmap(jax.vmap(core.step))(own, seen)
            after.append(jnp.where(chooses[..., None], new, own) if core.shape.own_turns else new)
            odds.append(jax.nn.log_softmax(masked(logits, legal)))
        actions = jnp.argmax(odds[0], axis=-1)
        equal = actions == jnp.argmax(odds[1], axis=-1)
        of_move = [jnp.take_along_axis(x, actions[..., None], axis=-1)[..., 0] for x in odds]
        decision = chooses & ~over[:, None]
        state, step = jax.vmap(game.step)(state, actions, jax.vmap(lambda key: jax.random.fold_in(key, t + 1))(keys))
        over = over | step.terminated | step.truncated
        return (state, tuple(after), over), (decision, equal, jnp.abs(of_move[0] - of_move[1]))

    start = (state, memory, jnp.zeros(games, bool))
    return jax.lax.scan(turn, start, jnp.arange(game.horizon))[1]


def compared(before: Path, after: Path, games: int) -> dict[str, Any]:
    """One file's row."""
    about, first, _ = neural.read_networks(before)
    _, second, _ = neural.read_networks(after)
    game, encoding = forgiving(make(about["game"]["id"], **about["game"]["options"])), about["encoding"]
    play = jax.jit(lambda core: greedy_scores(game, core, encoding, games, 0))
    scores = [np.asarray(play(core)) for core in (first, second)]
    both = jax.jit(lambda a, b: moves(game, (a, b), encoding, games, 0))
    decision, equal, apart = (np.asarray(x) for x in both(first, second))
    difference = scores[1] - scores[0]
    return {
        "bytes": [before.stat().st_size, after.stat().st_size],
        "score": [round(float(np.mean(s)), 3) for s in scores],
        "difference": round(float(np.mean(difference)), 3),
        "se": round(float(np.std(difference, ddof=1) / np.sqrt(games)), 3),
        "equal_moves": round(float(np.mean(equal[decision])), 4),
        "log_odds_apart": round(float(np.mean(apart[decision])), 4),
        "decisions": int(decision.sum()),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--out", type=Path, help="a JSON file")
    args = parser.parse_args()
    rows = {}
    for file in sorted(args.before.glob("*/*.safetensors")):
        name = file.relative_to(args.before).with_suffix("").as_posix()
        rows[name] = compared(file, args.after / f"{name}.safetensors", args.games)
        print(name, json.dumps(rows[name]), flush=True)
    if args.out:
        args.out.write_text(json.dumps({"kind": "stored", "games": args.games, "policies": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
