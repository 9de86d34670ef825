"""How simulated participants compare with people: scores, lengths, ratings.

    python benchmarks/simulated_people.py overcooked         # against the 76 shipped games of two people
    python benchmarks/simulated_people.py hanabi FOLDER      # against HanabiData: FOLDER holds games.jsonl.gz
    python benchmarks/simulated_people.py ratings FOLDER     # and surveys.csv

Prints a table of each. The simulated participants are those of `interplay.study.simulation`. In Overcooked the share of
random moves was set by three kitchens (asymmetric advantages, coordination ring, counter circuit), so the other two are
the test; clones were learnt from the very games that they are compared with. In Hanabi nothing was learnt from the
games; how bold and careless a card player is was set by the first half of them, so the second half is the test.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import interplay
from interplay.games.overcooked.human import human_games
from interplay.hub.store import local_names
from interplay.study.simulation.participants import BOLD, CARELESS, CHEF, AnswerModel, CardPlayer, softened_chef

STEPS = 400
AIS = ("outer", "intentional", "full")


def spread(values: Sequence[float]) -> str:
    """Mean and standard deviation."""
    return f"{np.mean(values):.1f} ± {np.std(values, ddof=1):.1f}"


def overcooked(pairs: int) -> None:
    """Points in 400 steps of two people, of two simulated ones, of two clones of people, of two greedy chefs."""
    head = ("kitchen", "games", "two people", "two simulated people", "two clones", "two greedy chefs")
    print(f"| {' | '.join(head)} |\n|---|---:|---|---|---|---|")
    by_layout: dict[str, list[float]] = {}
    for game in human_games():
        by_layout.setdefault(game.layout, []).append(game.score * STEPS / game.length)
    chance = random.Random(0)
    for layout, scores in by_layout.items():
        world = interplay.make(f"overcooked/{layout}", horizon=STEPS)
        clones = [name for name in local_names("agent", world.id) if name.rpartition("/")[2].startswith("bc-")]
        teams = {
            "simulated": [[softened_chef(chance), softened_chef(chance)] for _ in range(pairs)],
            "clones": [[name, clones[(place + 1) % len(clones)]] for place, name in enumerate(clones)],
            "greedy": [[CHEF, CHEF]],
        }
        cells = [spread(scores)]
        for kind, listed in teams.items():
            each = {"simulated": 1, "clones": 4, "greedy": 4}[kind]
            played = [interplay.play(world, team, episodes=each, seed=n) for n, team in enumerate(listed)]
            cells.append(spread([float(episode.score) for part in played for episode in part]) if played else "none")
        print(f"| {layout} | {len(scores)} | {' | '.join(cells)} |", flush=True)


def play_cards(world: Any, ai: str, seed: int, bold: float, careless: float) -> tuple[float, int, bool]:
    """One game of a simulated card player, in seat 1, with an AI; score, moves, and whether the last life was lost."""
    import jax

    from interplay.agents.registry import agent
    from interplay.rollout.seat import Seat, ask_all, view_of
    from interplay.study.live.browser_views import HANABI

    person, bot = CardPlayer(1, random.Random(seed), bold, careless), Seat(world, agent(ai), 0, jax.random.key(seed))
    state, t, done, score = world.init(jax.random.key(seed)), 0, False, 0.0
    table: Any = SimpleNamespace(state=state, notes=None, done=False)
    watch = HANABI.watch(world)
    while not done:
        table.state, table.legal, table.turn = state, np.asarray(world.legal(state)), np.asarray(world.to_move(state))
        joint = np.full(2, len(world.action_names) - 1, np.int32)
        if table.turn[1]:
            joint[1] = world.action_names.index(person.choose(t, HANABI.view(world, table, 1)))
        else:
            joint[0] = ask_all([(bot, view_of(world, state, t, 0, table.legal[0], bot.encoding), True)])[0].action
        after, step = world.step(state, joint, jax.random.key(t))
        watch(table, state, after, joint)
        score += float(np.sum(step.reward))
        state, t, done = after, t + 1, bool(step.terminated) or bool(step.truncated)
    return score, t, int(state.lives) == 0


def hanabi(folder: Path, games: int, bold: float, careless: float) -> None:
    """Scores, moves and lost games of people with three AIs, and of simulated participants with the same."""
    world = interplay.make("hanabi/2p", bomb="keep")  # as their program scored
    lines = gzip.decompress((folder / "games.jsonl.gz").read_bytes()).decode().splitlines()
    records = [json.loads(line) for line in lines]
    print(f"bold {bold}, careless {careless}")
    print("| partner | who | games | points | moves | last life lost |\n|---|---|---:|---|---|---:|")
    for ai in AIS:
        mine = [(g["score"], len(g["actions"]), g["lives"] == 0) for g in records if g["ai"] == ai]
        played = [play_cards(world, f"hanabi/{ai}", seed, bold, careless) for seed in range(games)]
        for who, part in (
            ("people, first half", mine[::2]),
            ("people, second half", mine[1::2]),
            ("simulated", played),
        ):
            points, moves, lost = zip(*part, strict=True)
            print(
                f"| {ai} | {who} | {len(part)} | {spread(points)} | {spread(moves)} | {np.mean(lost):.2f} |", flush=True
            )


def ratings(folder: Path) -> None:
    """Spread of ratings on five points after one game, and their correlation with its score."""
    with (folder / "surveys.csv").open(newline="") as file:
        rows = [{key: value.strip() for key, value in row.items()} for row in csv.DictReader(file)]
    print("| question | who | n | mean ± sd | share of 1 to 5 | r with the score |\n|---|---|---:|---|---|---:|")
    for question in ("intention", "skill", "like"):
        _rating_row(question, "people", [(float(r[question]), float(r["score"])) for r in rows if r[question]])
    chance, pairs = random.Random(0), []
    for row in rows:
        model = AnswerModel(random.Random(chance.random()))
        model.played("a", float(row["score"]))
        pairs.append((float(model.answer_question({"type": "likert", "points": 5})), float(row["score"])))
    _rating_row("any", "simulated", pairs)


def _rating_row(question: str, who: str, pairs: list[tuple[float, float]]) -> None:
    values = [value for value, _ in pairs]
    shares = " ".join(f"{np.mean([v == point for v in values]):.2f}" for point in range(1, 6))
    r = np.corrcoef(values, [score for _, score in pairs])[0, 1]
    print(f"| {question} | {who} | {len(values)} | {spread(values)} | {shares} | {r:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["overcooked", "hanabi", "ratings"])
    parser.add_argument("folder", type=Path, nargs="?", help="of HanabiData")
    parser.add_argument("--games", type=int, default=60, help="of the simulated, for each kitchen or AI")
    parser.add_argument("--bold", type=float, default=BOLD, help="of the card player, to try other values")
    parser.add_argument("--careless", type=float, default=CARELESS, help="of the card player, to try other values")
    args = parser.parse_args()
    if args.what != "overcooked" and args.folder is None:
        parser.error(f"{args.what} needs the folder of HanabiData")
    if args.what == "overcooked":
        overcooked(args.games)
    elif args.what == "hanabi":
        hanabi(args.folder, args.games, args.bold, args.careless)
    else:
        ratings(args.folder)


if __name__ == "__main__":
    main()
