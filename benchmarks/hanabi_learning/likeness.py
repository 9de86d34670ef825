"""How clones of Hanabi players behave beside the people they were learnt from.

    interplay import hanabi-humans FOLDER --out humans
    python benchmarks/hanabi_learning/likeness.py humans --out benchmarks/hanabi_learning/results/likeness_2p.json

IPP (of colour and rank, the share that hints had told of the cards played) and communicativeness (of the turns with a
token, the share with a hint): of the people in the imported games, and of each shipped clone with itself, sampled and
(+) by the likeliest move. Points are those before the third bomb. Both are ratios of sums over all plays and turns.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import interplay
from interplay.agents.shipped import shipped
from interplay.traces import TraceSet

GAME = "hanabi/2p"


def behaviour(traces: Any, agents: str | None = None) -> dict[str, float]:
    """The two ratios over all rows of these agents, weighed by how often each could happen."""
    rows = interplay.measure(traces, ["hanabi/behaviour"]).rows
    mine = [r for r in rows if r["value"] is not None and (agents is None or agents in str(r["agent"]))]
    wanted = {"ipp": ("ipp", "told"), "communicativeness": ("communicativeness", None)}
    made = {}
    for name, (metric, known) in wanted.items():
        held = [r for r in mine if r["metric"] == metric and (known is None or r["known"] == known)]
        made[name] = sum(r["value"] * r["n"] for r in held) / sum(r["n"] for r in held)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("people", type=Path, help="the traces of the imported games")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    clones = {}
    game = interplay.make(GAME, bomb="keep")
    for name in (n for n in shipped() if n.startswith(f"{GAME}/bc-")):
        for mark, greedy in (("", False), ("+", True)):
            clone = interplay.agent(f"trained/{name}", greedy=greedy, any_game=True)
            traces = interplay.play(game, [clone, clone], episodes=given.games, seed=0)
            scores = [r["value"] for r in interplay.measure(traces, ["score"]).rows if r["metric"] == "score"]
            told = behaviour(traces) | {"points_kept": sum(scores) / len(scores)}
            clones[name.split("/")[-1] + mark] = {k: round(v, 4) for k, v in told.items()}
            print(name, mark, clones[name.split("/")[-1] + mark], flush=True)
    people = {k: round(v, 4) for k, v in behaviour(TraceSet.open(given.people), "human").items()}
    print("people", people)
    if given.out:
        found = {"kind": "likeness", "games": given.games, "people": people, "clones": clones}
        given.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
