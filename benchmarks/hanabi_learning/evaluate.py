"""What the policies of run.py's stages are worth: with themselves, with each other, and as a guess at people.

    python benchmarks/hanabi_learning/evaluate.py bc_2p hdr_2p ippo_ff_2p --work WORK --games humans.npz --out results
    python benchmarks/hanabi_learning/evaluate.py --agents hanabi/smart hanabi/iggi hdr_2p --work WORK --players 2

WORK holds the stages' folders (or, from the tar files, STAGE/*.safetensors). Policies play their likeliest action.
OUT/evaluation_2p.json holds for every policy its games with itself (mean, perfect, zero, least), for every pair in both
seatings the mean score, and for those that read what clones read how well they foresee people in the games that their
clone was not trained on: nats and shares per decision, with a bootstrap interval over games.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "src"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*")
    parser.add_argument("--work", required=True, help="folder of the stages' folders")
    parser.add_argument("--agents", nargs="*", default=[], help="other agents by name, such as hanabi/smart")
    parser.add_argument("--games", help="recorded games of people, .npz")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--self-play", type=int, default=5000, help="games of each policy with itself")
    parser.add_argument("--cross-play", type=int, default=500, help="games of each line-up")
    parser.add_argument("--splits", type=int, help="of the games that clones held out (default: as many as clones)")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    given = parser.parse_args()
    from interplay.agents.registry import agent
    from interplay.games.registry import make

    game = make(f"hanabi/{given.players}p")
    policies = found_policies(given, game)
    found: dict[str, Any] = {"game": game.id, "policies": {name: dict(a.config) for name, a in policies.items()}}
    out = Path(given.out)
    out.mkdir(parents=True, exist_ok=True)

    def keep(**more: Any) -> None:
        found.update(more)
        (out / f"evaluation_{given.players}p.json").write_text(json.dumps(found, indent=1))

    if given.games:
        keep(foreseen=foreseen(given, game, policies))
    everybody = list(policies.values()) + [agent(name) for name in given.agents]
    keep(self_play=self_play(game, everybody, given.self_play))
    keep(cross_play=cross_play(game, everybody, given.cross_play))
    return 0


def found_policies(given: argparse.Namespace, game: Any) -> dict[str, Any]:
    """The stages' policies, each called STAGE/run, or STAGE/λ where it was held near a clone."""
    from interplay.agents import neural
    from interplay.agents.api import Agent

    found = {}
    for stage in given.stages:
        folder = Path(given.work) / stage
        files = sorted(folder.glob("policies/*.safetensors")) or sorted(folder.glob("*.safetensors"))
        for file in files:
            loaded = neural.load(file, greedy=True)
            about = dict(loaded.config)
            name = f"{stage}/{about['hold']:g}" if "hold" in about else f"{stage}/{about.get('run', file.stem)}"
            if about["game"] == game.id:
                found[name] = Agent(name, loaded.mind, about)
    return found


def self_play(game: Any, agents: list[Any], episodes: int) -> dict[str, dict[str, float]]:
    from interplay.play.engine import run
    from interplay.play.lineups import LineUp

    found = {}
    for agent in agents:
        one = LineUp.of(game, [agent] * game.num_seats)
        scores = np.array([e.score for e in run(game, [one], episodes=episodes, seed=7, batch=8192)])
        found[agent.name] = {
            "mean": float(scores.mean()),
            "se": float(scores.std(ddof=1) / np.sqrt(len(scores))),
            "median": float(np.median(scores)),
            "perfect": float((scores == game.rules.max_score).mean()),
            "zero": float((scores == 0).mean()),
            "min": float(scores.min()),
            "games": len(scores),
        }
        print(json.dumps({agent.name: found[agent.name]["mean"]}), flush=True)
    return found


def cross_play(game: Any, agents: list[Any], episodes: int) -> dict[str, Any]:
    """[row, column] the mean score of the row's agent in one seat and the column's in all others, over all seats."""
    from interplay.play.engine import run
    from interplay.play.lineups import LineUp

    seats, began = range(game.num_seats), time.time()
    places = [(i, j, s) for i, j in itertools.product(range(len(agents)), repeat=2) for s in seats]
    line_ups = [LineUp.of(game, [agents[i] if s == seat else agents[j] for s in seats]) for i, j, seat in places]
    scores = np.array([e.score for e in run(game, line_ups, episodes=episodes, seed=11, batch=16384)])
    means = scores.reshape(len(places), episodes).mean(axis=1)
    total = np.zeros((len(agents), len(agents)))
    for (i, j, _), mean in zip(places, means, strict=True):
        total[i, j] += mean / len(seats)
    names = [agent.name for agent in agents]
    return {
        "agents": names,
        "mean": total.round(3).tolist(),
        "games": episodes,
        "wall_s": round(time.time() - began, 1),
    }


def foreseen(given: argparse.Namespace, game: Any, policies: dict[str, Any]) -> dict[str, Any]:
    """By policy: cross-entropy, accuracy and first choices on the games that its clone never saw."""
    import jax
    import jax.numpy as jnp

    from interplay.play.recorded import load
    from interplay.training.imitation.clone import TEST, splits
    from interplay.training.imitation.recordings import replayed
    from interplay.training.loss import chosen, log_probs

    data = replayed(game, load(given.games), "belief")
    number = given.splits or sum(name.startswith("bc") for name in policies) or 5
    roles = splits(data.games, number, 0, data.person)
    arrays = tuple(jnp.asarray(x) for x in (data.seen, data.legal, data.action, data.turn, data.start))

    @jax.jit
    def judged(core: Any, arrays: Any) -> tuple:
        def one(part: tuple) -> tuple:
            seen, legal, action, turn, start = part
            odds = log_probs(core.outputs(core.unroll(core.start(), seen, start)[1], seen), legal)
            own = chosen(odds, action)
            above = jnp.sum(odds > own[:, None], axis=-1)
            hits = [jnp.sum((above < k) & turn) for k in (1, 2, 4)]
            return jnp.sum(-own * turn), *hits, jnp.sum(turn)

        return jax.lax.map(one, arrays, batch_size=256)

    found = {}
    for name, agent in policies.items():
        if agent.mind.reads != "belief":
            continue
        split = held_out_by(name, agent.config)
        sums = np.stack([np.asarray(x, float) for x in judged(agent.mind.core, arrays)], axis=1)
        held = np.ones(data.games, bool) if split is None else roles[split] == TEST
        found[name] = _shares(sums[held[data.game]]) | {"split": split}
        print(json.dumps({name: found[name]["cross_entropy"]}), flush=True)
    return found


def held_out_by(name: str, config: Any) -> int | None:
    """The split whose held-out games a policy never saw: that of its clone, `run3` of a stage or the shipped `bc-4`."""
    if name.startswith("bc"):
        return int(config["run"])
    clone = str(config.get("clone", ""))
    if "/bc-" in clone:
        return int(clone.rsplit("-", 1)[1]) - 1
    return int(clone.removeprefix("run")) if clone.startswith("run") else None


def _shares(sums: np.ndarray, draws: int = 400) -> dict[str, Any]:
    """[sequence, (loss, hits..., decisions)] -> means per decision and their 95 % bootstrap intervals over games."""
    generator = np.random.default_rng(0)
    chosen = generator.integers(0, len(sums), (draws, len(sums)))
    resampled = sums[chosen].sum(axis=1)
    names = ("cross_entropy", "accuracy", "top_10_percent", "top_20_percent")
    whole = sums.sum(axis=0)
    found: dict[str, Any] = {"decisions": int(whole[-1]), "games": len(sums)}
    for column, name in enumerate(names):
        low, high = np.percentile(resampled[:, column] / resampled[:, -1], [2.5, 97.5])
        mean = whole[column] / whole[-1]
        found[name] = {"mean": round(float(mean), 4), "low": round(float(low), 4), "high": round(float(high), 4)}
    return found


if __name__ == "__main__":
    sys.exit(main())
