"""Mean scores of the Hanabi bots in self-play at 2 to 5 players, under both conventions for the third bomb.

Bots do not know the convention, so each game is played once, with points kept, and scored twice.

    python benchmarks/hanabi_bots.py --games 10000 --bots smart holmes
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import jax
import numpy as np

import interplay
from interplay.agents.registry import names
from interplay.games.hanabi import rules as hanabi
from interplay.rollout.engine import run
from interplay.rollout.teams import Team

# Public means with points kept; the study's AIs and the lists of rules have none at 3 to 5 players.
PUBLIC = {
    "blind": (1.25, 1.25, 1.25, 1.25),
    "simple": (16.92, 18.48, 19.32, 18.50),
    "value": (19.79, 19.43, 19.39, 17.76),
    "holmes": (20.75, 20.86, 20.46, 18.40),
    "smart": (23.09, 23.30, 22.44, 20.69),
    "info": (20.00, 24.26, 24.86, 24.89),
    "cheat": (24.90, 24.98, 24.97, 24.95),
}


def play(bot: str, players: int, games: int, seed: int) -> dict:
    """One row of the table."""
    game = interplay.make(f"hanabi/{players}p", bomb="keep")
    begun = time.perf_counter()
    team = Team.of(game, [interplay.agent(f"hanabi/{bot}")] * players)
    episodes = list(run(game, [team], episodes=games, seed=seed))
    kept = np.array([e.score for e in episodes])
    zero = np.where(bombed(game, episodes), 0, kept)
    public = PUBLIC.get(bot)
    return {
        "bot": bot,
        "players": players,
        "games": games,
        "kept": round(float(kept.mean()), 3),
        "kept_se": round(float(kept.std(ddof=1) / games**0.5), 3),
        "public_kept": public[players - 2] if public else None,
        "zero": round(float(zero.mean()), 3),
        "zero_se": round(float(zero.std(ddof=1) / games**0.5), 3),
        "perfect": round(float((kept == 25).mean()), 4),
        "moves": round(float(np.mean([e.length for e in episodes])), 1),
        "seconds": round(time.perf_counter() - begun, 1),
    }


def bombed(game, episodes) -> np.ndarray:
    """Which games lost their last life, found by replaying them."""
    actions = np.zeros((len(episodes), game.horizon, game.num_seats), np.int32)
    for row, episode in zip(actions, episodes):
        row[: episode.length] = episode.actions

    def lives(deck, actions, length):
        def turn(state, move):
            t, joint = move
            after = hanabi.step(game.rules, state, joint)
            return jax.tree.map(lambda a, b: jax.numpy.where(t < length, a, b), after, state), None

        start = game.init(jax.random.key(0), deck=deck)
        return jax.lax.scan(turn, start, (np.arange(game.horizon), actions))[0].lives

    decks = np.stack([e.start["deck"] for e in episodes])
    lengths = np.array([e.length for e in episodes])
    return np.asarray(jax.jit(jax.vmap(lives))(decks, actions, lengths)) == 0


def markdown(rows: list[dict]) -> str:
    lines = [
        "| bot | players | points kept | public | zero on bombs | perfect | moves |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        public = "" if r["public_kept"] is None else f"{r['public_kept']:.2f}"
        lines.append(
            f"| {r['bot']} | {r['players']} | {r['kept']:.2f} ± {r['kept_se']:.2f} | {public} "
            f"| {r['zero']:.2f} ± {r['zero_se']:.2f} | {100 * r['perfect']:.1f} % | {r['moves']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    known = [n.removeprefix("hanabi/") for n in names() if n.startswith("hanabi/")]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bots", nargs="*", default=known, choices=known, metavar="BOT")
    parser.add_argument("--players", nargs="*", type=int, default=[2, 3, 4, 5])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    rows = json.loads(args.out.read_text())["rows"] if args.out.exists() else []
    for bot in args.bots:
        for players in args.players:
            row = play(bot, players, args.games, args.seed)
            print(markdown([row]).splitlines()[-1], file=sys.stderr, flush=True)
            rows = [r for r in rows if (r["bot"], r["players"]) != (bot, players)] + [row]
            rows.sort(key=lambda r: (known.index(r["bot"]), r["players"]))
            args.out.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    print(markdown(rows))


if __name__ == "__main__":
    main()
