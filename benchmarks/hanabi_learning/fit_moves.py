"""Clones of people that score moves one by one, and the proxies made from them.

    interplay import hanabi-humans FOLDER --out humans
    interplay export humans --to recorded --learn human --out humans.npz
    python benchmarks/hanabi_learning/fit_moves.py humans.npz --split 3 --seed 0 --out WORK/bc-1
    python benchmarks/hanabi_learning/fit_moves.py humans.npz --split 3 --network WORK/bc-1 --rules 0 1 2 --care 8

The first form trains on the games of people that a split does not hold out and writes WORK/bc-1.safetensors and .json.
The second prints, for each number that the H-Group bot's move gets on top of its score and for --care on the last life,
nats and accuracy on held-out people and, with --self-play, scores by the likeliest move and by sampling; with --out it
writes the file of the last one. With --bot-games it also prints `bot_move`, how likely the bot's move is, on average
over the decisions of H-Group bots that lapse a tenth as often as people do, at a table of --players.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import roster  # noqa: F401 - finds the sources

from interplay.agents.api import Agent
from interplay.agents.hanabi.move_features import DECIDED
from interplay.agents.hanabi.move_network import MoveNetwork, MovePolicy, save
from interplay.agents.neural import load as load_agent
from interplay.agents.registry import agent
from interplay.games.registry import make
from interplay.rollout.engine import run as play
from interplay.rollout.recorded_games import Recorded, load
from interplay.rollout.teams import Team
from interplay.training.imitation.clone import LEARN, SELECT, TEST, splits
from interplay.training.imitation.move_clone import (
    MoveCloning,
    MoveDecisions,
    clone_moves,
    decisions_of,
    judged,
    log_odds,
)
from interplay.training.imitation.recordings import persons_of

SPLITS = 5


def by_role(path: Path, split: int) -> dict[int, MoveDecisions]:
    """Decisions of people to learn from, to select by and to test with; each person has one role."""
    games = load(path)
    person = persons_of(games)
    data = decisions_of(make("hanabi/2p"), games)
    role = splits(len(games), SPLITS, 0, person)[split][data.game]
    return {r: data.of(np.flatnonzero(role == r)) for r in (LEARN, SELECT, TEST)}


def self_play(network: MoveNetwork, rules: float, care: float, games: int) -> dict[str, dict[str, float]]:
    """Scores at two and three tables, by the likeliest move and by sampling."""
    told: dict[str, dict[str, float]] = {}
    for players in (2, 3):
        game = make(f"hanabi/{players}p")
        for how, greedy in (("greedy", True), ("sampled", False)):
            seated = Agent(how, MovePolicy(network, rules=rules, care=care, greedy=greedy), {})
            scores = [e.score for e in play(game, [Team.of(game, [seated] * players)], episodes=games, seed=0)]
            told.setdefault(f"{players}p", {})[how] = round(float(np.mean(scores)), 2)
    return told


def bot_decisions(players: int, games: int) -> MoveDecisions:
    """Decisions of H-Group bots that lapse a tenth as often as people do."""
    game, bot = make(f"hanabi/{players}p"), agent("hanabi/hgroup-regular", scale=0.1)
    played = play(game, [Team.of(game, [bot] * players)], episodes=games, seed=1)
    return decisions_of(game, [Recorded("", e.actions, e.start, e.score, e.game_id, dict(e.options)) for e in played])


def odds_of_bot_move(network: MoveNetwork, data: MoveDecisions, rules: float, care: float) -> float:
    """Mean probability of the move that the H-Group bot would make."""
    odds = 0.0
    for rows in np.array_split(np.arange(len(data.action)), len(data.action) // 2000 + 1):
        part = data.of(rows)
        decided = part.legal & (part.moves[..., DECIDED] > 0)
        odds += float(np.sum(np.exp(log_odds(network, part, rules, care)) * decided))
    return odds / len(data.action)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, help="recorded games of people, .npz")
    parser.add_argument("--split", type=int, default=3, help="which of five parts of the people is held out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--network", type=Path, help="a clone that was trained before")
    parser.add_argument("--clone", help="its name, if the file has another")
    parser.add_argument("--rules", type=float, nargs="+", default=[0.0])
    parser.add_argument("--care", type=float, default=0.0)
    parser.add_argument("--self-play", type=int, default=0, help="games")
    parser.add_argument("--bot-games", type=int, default=0, help="games of bots")
    parser.add_argument("--players", type=int, default=2, help="of the game that the file names, and of the bots'")
    parser.add_argument("--out", type=Path, help="the file to write, without its ending")
    args = parser.parse_args()
    began, data = time.time(), by_role(args.games, args.split)
    print(f"replayed in {time.time() - began:.0f} s: {[len(x.action) for x in data.values()]} decisions", flush=True)
    training: dict[str, Any] = {"algorithm": "move clone", "split": args.split, "run": args.seed, "seed": args.seed}
    if args.network is None:
        how = MoveCloning(seed=args.seed, epochs=args.epochs)
        network, _ = clone_moves(data[LEARN], data[SELECT], how, lambda e, f: print(e, f, flush=True))
    else:
        policy: Any = load_agent(args.network.with_suffix(".safetensors")).policy
        network = policy.network
    bots = bot_decisions(args.players, args.bot_games) if args.bot_games else None
    rows = []
    for rules in args.rules:
        fit = judged(network, data[TEST], rules, args.care)
        row = {"rules": rules, "care": args.care, **{k: round(v, 4) for k, v in fit._asdict().items()}}
        if bots is not None:
            row["bot_move"] = round(odds_of_bot_move(network, bots, rules, args.care), 4)
        row |= self_play(network, rules, args.care, args.self_play) if args.self_play else {}
        rows.append(row)
        print(json.dumps(row), f"{time.time() - began:.0f} s", flush=True)
    if args.out is not None:
        last = rows[-1]
        fit = {"held_out_cross_entropy": last["cross_entropy"], "held_out_accuracy": last["accuracy"]}
        if args.self_play:
            scores = last[f"{args.players}p"]
            fit |= {"return": scores["sampled"], "greedy_return": scores["greedy"], "games": args.self_play}
        if args.network is not None:
            fit |= {"algorithm": "move proxy", "clone": args.clone or args.network.stem}
        rules, game = float(args.rules[-1]), make(f"hanabi/{args.players}p")
        save(args.out.with_suffix(".safetensors"), network, game, rules=rules, care=args.care, training=training | fit)
        args.out.with_suffix(".json").write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
