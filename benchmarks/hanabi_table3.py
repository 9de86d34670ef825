"""Objective metrics of a pool of Hanabi agents, beside the published ones of agents that we share.

    python benchmarks/hanabi_table3.py                      # our rule bots, 125 games for each seating of each pair
    python benchmarks/hanabi_table3.py --agents random hanabi/smart --episodes 25

Published values: Table 3 of the study of objective metrics and human preference (two players, 125 games for each
permutation of a pair, points kept after the third bomb, a pool of rule bots, search and learning agents). Scores with
others, entropies, IC, CI and G depend on the pool, which is another one here; self-play does not.
"""

from __future__ import annotations

import argparse
import time

import interplay
from interplay.metrics.hanabi.pool import COLUMNS, wide

POOL = ["random", *(f"hanabi/{bot}" for bot in ("simple", "value", "holmes", "smart"))]

# agent: {metric: (mean, spread)}
PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "random": {
        "self_play": (1.180, 1.231), "inter_xp": (1.641, 1.561), "ci": (0.101, 0.005), "ic": (0.023, 0.011),
        "ad_entropy": (2.912, 0.011), "ard_entropy": (4.109, 0.315), "g1": (0.041, 0.010), "g2": (0.001, 0.001),
        "g3": (0.045, 0.009),
    },
    "hanabi/holmes": {
        "self_play": (20.684, 2.667), "inter_xp": (6.197, 4.056), "ci": (0.118, 0.007), "ic": (0.450, 0.029),
        "ad_entropy": (2.560, 0.061), "ard_entropy": (4.271, 0.169), "g1": (0.005, 0.004), "g2": (0.002, 0.003),
        "g3": (0.067, 0.027),
    },
    "hanabi/smart": {
        "self_play": (23.288, 1.795), "inter_xp": (10.393, 6.409), "ci": (0.105, 0.006), "ic": (0.370, 0.047),
        "ad_entropy": (2.727, 0.060), "ard_entropy": (4.636, 0.281), "g1": (0.004, 0.002), "g2": (0.008, 0.006),
        "g3": (0.092, 0.034),
    },
}  # fmt: skip


def cell(value: float | None, spread: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" + (f" ± {spread:.3f}" if spread is not None else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", default=POOL, help="the pool")
    parser.add_argument("--episodes", type=int, default=125, help="games for each seating of each pair")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()

    game = interplay.make("hanabi/2p", bomb="keep")
    began = time.perf_counter()
    games = interplay.crossplay(game, given.agents, episodes=given.episodes, seed=given.seed)
    played = time.perf_counter()
    found = interplay.measure(games, ["hanabi/pool"])
    measured = time.perf_counter()
    print(
        f"{len(games)} games played in {played - began:.0f} s and measured in {measured - played:.0f} s, with compiling"
    )
    for known, messages in (("public", "actions"), ("seen", "kinds")):
        table = wide(found, known=known, messages=messages)
        print(f"\n{table.title}")
        for row in table:
            print(f"\n  {row['agent']:<16}{'here':>18}{'published':>18}")
            for metric in COLUMNS:
                theirs = PUBLISHED.get(row["agent"], {}).get(metric)
                published = cell(*theirs) if theirs else ""
                print(f"    {metric:<20}{cell(row[metric], row[f'{metric}_sd']):>16}{published:>18}")


if __name__ == "__main__":
    main()
