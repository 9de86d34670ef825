"""Cross-play of the scripted chefs on every layout, both seatings, as a page of the docs.

python benchmarks/scripted_crossplay.py                 # 100 episodes a pairing, the page in docs/results
python benchmarks/scripted_crossplay.py --episodes 5 --layouts cramped_room --out /dev/stdout
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import interplay
from interplay.agents.registry import names
from interplay.games.overcooked.layouts import ONE_RECIPE, SEVERAL_RECIPES
from interplay.rollout.engine import run
from interplay.rollout.teams import all_teams

PAGE = Path(__file__).parent.parent / "docs" / "results" / "scripted_crossplay.md"
SEED = 0


def scores(layout: str, agents: list[str], episodes: int, batch: int) -> np.ndarray:
    """[agent in the first seat, agent in the second seat, episode]"""
    game = interplay.make(f"overcooked/{layout}")
    played = run(game, all_teams(game, agents), episodes=episodes, seed=SEED, batch=batch)
    return np.array([episode.score for episode in played]).reshape(len(agents), len(agents), episodes)


def grid(scored: np.ndarray, agents: list[str]) -> list[str]:
    short = [a.removeprefix("overcooked/") for a in agents]
    lines = [f"| first seat \\ second seat | {' | '.join(short)} |", f"|---|{'---:|' * len(agents)}"]
    means = scored.mean(axis=2)
    for row, name in zip(means, short, strict=True):
        lines.append(f"| {name} | {' | '.join(f'{v:.0f}' for v in row)} |")
    return lines


def section(layout: str, agents: list[str], episodes: int, batch: int) -> list[str]:
    began = time.perf_counter()
    scored = scores(layout, agents, episodes, batch)
    means, error = scored.mean(axis=2), scored.std(axis=2, ddof=1) / np.sqrt(episodes)
    own, others = np.diag(means), (means.sum(axis=1) - np.diag(means)) / (len(agents) - 1)
    best = int(np.argmax((means.mean(axis=0) + means.mean(axis=1)) / 2))
    took = time.perf_counter() - began
    print(f"{layout}: {scored.size} episodes in {took:.0f} s", flush=True)
    summary = (
        f"Best self-play: {agents[int(np.argmax(own))].removeprefix('overcooked/')} ({own.max():.0f}). Best on average "
        "over "
        f"partners and seats: {agents[best].removeprefix('overcooked/')}. Self-play averages {own.mean():.0f}, "
        f"cross-play {others.mean():.0f}. Largest standard error of a cell: {error.max():.1f}."
    )
    return [f"## {layout}", "", *grid(scored, agents), "", summary, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--layouts", nargs="*", default=[*ONE_RECIPE, *SEVERAL_RECIPES])
    parser.add_argument("--batch", type=int, default=2048, help="episodes at a time; changes no result")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    agents = [*(name for name in names() if name.startswith("overcooked/")), "random"]
    lines = [
        "# Cross-play of the scripted chefs",
        "",
        f"Mean score over {options.episodes} episodes of 400 steps for every pair in both seatings, on every shipped "
        "layout. "
        "Rows sit in the first seat, columns in the second. The chefs are described in "
        "[Scripted chefs](../agents/overcooked.md). Made by `python benchmarks/scripted_crossplay.py`.",
        "",
    ]
    for layout in options.layouts:
        lines += section(layout, agents, options.episodes, options.batch)
        options.out.write_text("\n".join(lines))  # what is done is kept


if __name__ == "__main__":
    main()
