"""Who foresees what people do: rule bots, levels of skill, clones, proxies and trained agents in one table.

    interplay import hanabi-humans FOLDER --out humans
    python benchmarks/hanabi_learning/people.py humans --agent human --split 3
    interplay import ah2ac2 FILE --out challenge
    python benchmarks/hanabi_learning/people.py challenge --players 3

Works on any imported games of Hanabi. Every policy is fed the games and says what it would do (the metric
`prediction`), with a share of its opinion spread evenly over the legal moves: for each half of the games the share that
fits the other half best. Nats and accuracy are per decision of `--agent`, or of everybody. Policies are all rule bots,
`random`, those of roster.json that the package (or WORK) holds, and any that are named.

The clones here learnt from the games of 2017, so on these their `--split` has to be named: then only the games that its
clone was not trained on count, and policies of other splits are left out. The result goes to results/people_2p.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import roster as table
from foreseen import held_out_by
from roster import RESULTS

import interplay
from interplay.agents.api import Agent
from interplay.traces import TraceSet

SPLITS = 5  # of the clones
PRIVILEGED = ("hanabi/cheat",)


def held_out(traces: TraceSet, names: list[str] | None, split: int | None) -> TraceSet:
    """The episodes with these agents in them; of a split, those that its clone was not trained on."""
    from interplay.traces.recorded import recorded_games
    from interplay.training.imitation.clone import TEST, splits
    from interplay.training.imitation.recordings import persons_of

    episodes = list(traces)
    games = recorded_games(episodes, names)
    numbers = np.array([int(one.name.removeprefix("episode ")) for one in games])
    if split is not None:
        numbers = numbers[splits(len(games), SPLITS, 0, persons_of(games))[split] == TEST]
    return TraceSet.in_memory([episodes[i] for i in numbers])


def policies(args: argparse.Namespace) -> list[Agent]:
    """All whose opinion is asked."""
    bots = [f"hanabi/{name}" for name in sorted(bot_names())]
    chosen = [interplay.agent(name) for name in ["random", *bots, *args.policies] if name not in PRIVILEGED]
    for one in table.listed(table.read(args.roster), args.players):
        file = table.file_of(one, args.work)
        if file is None:
            continue
        loaded = interplay.agent(str(file), any_game=True)
        whose = held_out_by(one.stage, loaded.config)
        if args.split is None or whose in (None, args.split):
            chosen.append(Agent(one.name, loaded.policy, dict(loaded.config)))
    return chosen


def bot_names() -> list[str]:
    from interplay.agents.hanabi.registry import HanabiAgents

    return HanabiAgents.variants()


def measured(args: argparse.Namespace) -> dict[str, Any]:
    names = [args.agent] if args.agent else None
    traces = held_out(TraceSet.open(args.traces), names, args.split)
    rows: dict[str, dict[str, Any]] = {}
    for agent in policies(args):
        told = interplay.measure(traces, ["prediction"], policies=[agent], smoothing="best").rows
        mine = [r for r in told if r["agent"] == args.agent]
        by_game: dict[str, list[Any]] = {}
        for row in mine:
            by_game.setdefault(row["metric"], []).append(row)
        rows[agent.name] = {metric: pooled(some) for metric, some in by_game.items()}
        rows[agent.name]["steps"] = agent.config.get("steps")
        print(line(agent.name, rows[agent.name]), flush=True)
    order = sorted(rows, key=lambda name: rows[name]["cross_entropy"]["mean"])
    found = {"kind": "people", "players": args.players, "split": args.split, "agent": args.agent}
    return found | {"games": len(traces), "policies": {name: rows[name] for name in order}}


def pooled(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One number of the rows of several rule sets, by their decisions."""
    weights = np.array([r["n"] for r in rows], float)
    shares = weights / weights.sum()
    values = [r["value"] for r in rows]
    if any(v is None for v in values):
        return {"mean": None, "se": None, "n": int(weights.sum()), "smoothing": None}
    error = float(np.sqrt(sum((w * (r["se"] or 0.0)) ** 2 for w, r in zip(shares, rows, strict=True))))
    smoothing = float(sum(w * r["smoothing"] for w, r in zip(shares, rows, strict=True)))
    return {
        "mean": round(float(shares @ np.array(values)), 4),
        "se": round(error, 4),
        "n": int(weights.sum()),
        "smoothing": round(smoothing, 3),
    }


def line(name: str, row: dict[str, Any]) -> str:
    nats, right = row["cross_entropy"], row["accuracy"]
    return (
        f"{name:28} {nats['mean']:.3f} ± {1.96 * nats['se']:.3f} nats, accuracy {right['mean']:.3f} ± "
        f"{1.96 * right['se']:.3f}, softened by {nats['smoothing']:.2f}, {nats['n']:,} decisions"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=Path, help="imported games, a trace set")
    parser.add_argument("policies", nargs="*", help="further agents: names or files")
    parser.add_argument("--players", type=int, default=2, choices=(2, 3))
    parser.add_argument("--agent", help="whose decisions count, such as human; default: everybody's")
    parser.add_argument("--split", type=int, help="of the clones: only games that this one was not trained on")
    parser.add_argument("--work", type=Path, help="folder of the stages' folders")
    parser.add_argument("--roster", type=Path, default=table.ROSTER)
    parser.add_argument("--out", type=Path, help="default: results/people_2p.json")
    args = parser.parse_args()
    found = measured(args)
    print()
    for name, row in found["policies"].items():
        print(line(name, row))
    path = args.out or RESULTS / f"people_{args.players}p.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
