"""How clones of Hanabi players, and policies held near them, behave beside those they were learnt from.

    interplay import hanabi-humans FOLDER --out humans
    python benchmarks/hanabi_learning/likeness.py --players 2 --people humans --work WORK
    python benchmarks/hanabi_learning/likeness.py --players 3 --bots hanabi/hgroup --work WORK

IPP (of colour and rank, the share that hints had told of the cards played) and communicativeness (of the turns with a
token, the share with a hint): of the people in the imported games, or of bots where clones are of bots, and of each
policy with itself, sampled and (+) by the likeliest move. Points are those before the third bomb. Both are ratios of
sums over all plays and turns. A policy that was measured before, by its file's hash, is not measured again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import roster as table
from roster import RESULTS

import interplay
from interplay.papers.ah2ac2.proxies import behaviour
from interplay.traces import TraceSet


def measured(traces: TraceSet, agent: str | None = None) -> dict[str, float]:
    return {name: round(value, 4) for name, value in behaviour(traces, agent).items()}


def with_itself(agent: Any, game: Any, games: int) -> dict[str, float]:
    traces = interplay.play(game, [agent] * game.num_seats, episodes=games, seed=0)
    scores = [r["value"] for r in interplay.measure(traces, ["score"]).rows if r["metric"] == "score"]
    return measured(traces) | {"points_kept": round(sum(scores) / len(scores), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=2, choices=(2, 3))
    parser.add_argument("--people", type=Path, help="the traces of the imported games")
    parser.add_argument("--bots", help="where clones are of a bot: its name")
    parser.add_argument("--work", type=Path, help="folder of the stages' folders")
    parser.add_argument("--roster", type=Path, default=table.ROSTER)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--out", type=Path, help="default: results/likeness_2p.json")
    given = parser.parse_args()
    path = given.out or RESULTS / f"likeness_{given.players}p.json"
    held = json.loads(path.read_text()) if path.is_file() else {}
    game = interplay.make(f"hanabi/{given.players}p", bomb="keep")
    people = held.get("people")
    if given.people is not None:
        people = measured(TraceSet.open(given.people), "human")
    elif given.bots is not None:
        people = with_itself(interplay.agent(given.bots), game, given.games) | {"who": given.bots}
    if people is None:
        parser.error("beside whom? give --people or --bots")
    print("people", people, flush=True)
    before, clones = held.get("clones", {}), {}
    absent = {name: one for name, one in before.items() if not table.files_of(name.split("/")[0], given.work)}
    for name, stage, file in table.policies(table.read(given.roster), given.players, given.work):
        if stage.removesuffix(f"_{given.players}p") not in ("bc", "bc_turns", "hdr", "hdr_proxies"):
            continue
        for mark, greedy in (("", False), ("+", True)):
            digest, known = table.sha256(file), before.get(name + mark, {})
            if known.get("sha256") != digest or known.get("games", 0) < given.games:
                agent = interplay.agent(str(file), greedy=greedy, any_game=True)
                known = with_itself(agent, game, given.games) | {"games": given.games, "sha256": digest}
            clones[name + mark] = known
            print(name + mark, known, flush=True)
            found = {"kind": "likeness", "players": given.players, "people": people, "clones": before | clones}
            path.write_text(json.dumps(found, indent=1) + "\n")
    found = {"kind": "likeness", "players": given.players, "people": people, "clones": absent | clones}
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
