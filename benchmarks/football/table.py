"""The table of football in the light engine: all egos with every ordered set of partners, in every seat.

    python benchmarks/football/table.py partners runs/football/keepaway --out runs/football/partners
    python benchmarks/football/table.py play runs/football/keepaway runs/football/partners --out runs/football/played
    python benchmarks/football/table.py returns runs/football/played --out benchmarks/football/results/returns.csv
    interplay brprox benchmarks/football/results/returns.csv
    python benchmarks/football/table.py curves benchmarks/football/results/training.json

`partners` makes players with preferences out of self-play agents, without training: the bias of the last layer is
moved for some actions, so that one never passes, one never shoots, one passes and one shoots at any time. They stand in
for what `python -m interplay.partners` trains by rewards, where there is no accelerator for it. `play` lets every agent
play; several calls may share the work (--part 0/3, --part s for the scripted ones). `returns` takes for each set the
agent that did best in the first half of the episodes, over both orders of the partners and all seats, as the best
response, and its mean in the second half as its return in each cell: whoever is known competes, and no choice is judged
by the episodes that it was made in. Egos are judged by the second half, too. `curves` prints how training went.
"""

from __future__ import annotations

import argparse
import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.games.football.pitch import HIGH_PASS, LONG_PASS, SHORT_PASS, SHOT
from interplay.games.registry import make
from interplay.partners.evaluate import PolicyStack, play_pairs
from interplay.partners.known import named_agents, policy_stacks
from interplay.partners.panel import ReturnEstimate
from interplay.partners.returns import write_rows

GAME = "football/keepaway"
PASSES = (LONG_PASS, HIGH_PASS, SHORT_PASS)
# Name, the self-play run that it is made of, the actions, and what is added to their logits. Each ego of FCP has met
# one or two of these runs in training, as they were before.
PREFERENCES = (
    ("never_passes", 0, PASSES, -8.0),
    ("never_shoots", 3, (SHOT,), -8.0),
    ("passes", 6, PASSES, 2.0),
    ("shoots", 1, (SHOT,), 2.0),
)
SCRIPTED = ("football/passer", "football/shooter", "football/positioner")
EGOS = ("sp=sp#9-11", "egos", "e3t=e3t", "cole=cole")
OTHERS = ("more=sp#0-8",)  # compete as best responses alone
CHUNK = 50  # episodes that are written at a time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("partners", "play", "returns", "curves"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--episodes", type=int, default=200, help="of every agent, set and seat")
    parser.add_argument("--part", default="0/1", help="NUMBER/PARTS of the agents; s: the scripted ones")
    given = parser.parse_args()
    if given.what == "curves":
        return curves(given.folders[0])
    if given.out is None:
        parser.error("--out: name where the result goes")
    if given.what == "partners":
        make_partners(given.folders[0], given.out)
    elif given.what == "play":
        play(*given.folders, given.out, given.episodes, given.part)
    else:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        write_rows(given.out, returns(given.folders[0]))
    return None


def make_partners(runs: Path, out: Path) -> None:
    """Write the players with preferences as files of policies."""
    from safetensors import safe_open

    out.mkdir(parents=True, exist_ok=True)
    for name, run, actions, change in PREFERENCES:
        source = runs / "sp" / "policies" / f"run{run}.safetensors"
        arrays = dict(load_file(source))
        arrays["head.bias"] = arrays["head.bias"].copy()
        arrays["head.bias"][list(actions)] += change
        with safe_open(source, "np") as file:
            about = file.metadata()
        save_file(arrays, out / f"{name}.safetensors", about)


def partners_of(folder: Path) -> list[Agent]:
    return [replace(agent(str(folder / f"{name}.safetensors")), name=name) for name, *_ in PREFERENCES]


def named(runs: Path, names: tuple[str, ...]) -> list[Agent]:
    found = []
    for name in names:
        method, equals, where = name.rpartition("=")
        found += named_agents(f"{method}{equals}{runs / where}")
    return found


def play(runs: Path, partners: Path, out: Path, episodes: int, part: str) -> None:
    """Write scores [agent, set, seat, episode] of a part of the agents, a file for each chunk of episodes."""
    game, beside = make(GAME), partners_of(partners)
    if part == "s":
        agents = [agent(name) for name in SCRIPTED]
    else:
        number, parts = map(int, part.split("/"))
        agents = [*named(runs, EGOS), *named(runs, OTHERS), *beside][number::parts]
    sets = list(itertools.product(range(len(beside)), repeat=game.num_seats - 1))
    stack = PolicyStack.of_agents(game, beside)
    out.mkdir(parents=True, exist_ok=True)
    for chunk in range(-(-episodes // CHUNK)):
        for kind, egos in enumerate(policy_stacks(game, agents)):
            pairs = [(*s, ego) for ego in range(len(egos)) for s in sets]
            played = play_pairs(game, stack, egos, pairs, episodes=CHUNK, seed=1000 + chunk)
            scores = played.scores.reshape(len(egos), len(sets), game.num_seats, CHUNK)
            file = out / f"{part.replace('/', 'of')}-{kind}-{chunk}.npz"
            np.savez_compressed(file, names=egos.names, scores=scores.astype(np.float32))
            print(file, flush=True)


def returns(folder: Path) -> list[dict]:
    """Rows as `interplay brprox` reads them."""
    chunks: dict[str, dict[int, np.ndarray]] = {}
    for file in folder.glob("*.npz"):
        with np.load(file) as data:
            for name, scores in zip(data["names"], data["scores"], strict=True):
                chunks.setdefault(str(name), {})[int(file.stem.rpartition("-")[2])] = scores
    whole = min(max(of) + 1 for of in chunks.values()) // 2 * 2
    if not whole:
        raise SystemExit(f"{folder}: every agent needs two chunks of episodes at least")
    halves = [
        {n: np.concatenate([of[c] for c in range(first, first + whole // 2)], axis=-1) for n, of in chunks.items()}
        for first in (0, whole // 2)
    ]
    names = list(chunks)
    trial = np.stack([halves[0][name].mean(axis=-1) for name in names])  # [agent, set, seat]
    members = [name for name, *_ in PREFERENCES]
    sets = list(itertools.product(members, repeat=2))
    together = trial.mean(axis=2)  # [agent, set] over seats
    together = np.stack([(together[:, s] + together[:, sets.index((b, a))]) / 2 for s, (a, b) in enumerate(sets)])
    rows = []
    for ego in sorted(n for n in names if not n.startswith("more") and n not in members):
        method, _, seed = ego.rpartition("-") if "-" in ego else (ego.rpartition("/")[2], "", "1")
        for s, beside in enumerate(sets):
            for seat in range(trial.shape[2]):
                best = names[int(together[s].argmax())]
                worth, mine = ReturnEstimate.of(halves[1][best][s, seat]), halves[1][ego][s, seat]
                rows.append(
                    {
                        "algorithm": method,
                        "seed": int(seed),
                        "partner_a": beside[0],
                        "partner_b": beside[1],
                        "ego_seat": seat,
                        "return": round(float(mine.mean()), 4),
                        "return_se": round(float(mine.std(ddof=1) / len(mine) ** 0.5), 4),
                        "best_response_return": round(worth.mean, 4),
                        "best_response_low": round(max(worth.low, 0.0), 4),
                        "best_response_high": round(worth.high, 4),
                        "best_response": best,
                    }
                )
    return rows


def curves(file: Path) -> None:
    """Print for each training job the mean goals of its runs at some of its steps."""
    for name, job in json.loads(file.read_text()).items():
        lines = job.get("curve", [])
        if not lines:
            continue
        marks = [lines[round(share * (len(lines) - 1))] for share in (0, 0.125, 0.25, 0.5, 0.75, 1)]
        goals = [f"{np.mean(m['returns']):.3f} at {m['steps'] / 1e6:.1f} M" for m in marks]
        print(f"{name} ({len(marks[0]['returns'])} runs):", ", ".join(goals))


if __name__ == "__main__":
    main()
