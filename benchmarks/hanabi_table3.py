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
from pathlib import Path

import interplay
from interplay.metrics.hanabi.pool import COLUMNS, wide

BOTS = (
    "blind", "simple", "value", "holmes", "smart", "info", "hgroup", "iggi", "piers", "vandenbergh", "internal",
    "outer", "intentional", "full",
)  # fmt: skip
POOL = ["random", *(f"hanabi/{bot}" for bot in BOTS)]
PAGE_COLUMNS = (
    "self_play", "inter_xp", "ad_entropy", "ard_entropy", "ic", "ci", "g1", "g2", "g3", "ipp", "communicativeness",
)  # fmt: skip

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


def page(found, games: int, episodes: int) -> str:
    """The pool as a page of the docs, the published rows below ours where the paper has the agent."""
    lines = [
        "# A pool of Hanabi bots by objective metrics",
        "",
        f"Every pair of these bots played {episodes} games in each seating ({games:,} games in all, two players, "
        "points kept after the third bomb). Made by "
        "`python benchmarks/hanabi_table3.py --page docs/results/hanabi_pool.md`; "
        "the metrics are defined in [Hanabi metrics](../guide/hanabi_metrics.md). Rows marked *published* are Table 3 "
        "of the study of objective metrics and human preference. Scores with others, entropies, IC, CI and G depend on "
        "the pool, and that study's pool also had learning and search agents: only self-play compares directly.",
    ]
    for known, messages in (("public", "actions"), ("seen", "kinds")):
        table = wide(found, known=known, messages=messages)
        lines += ["", f"## Known: {known}; messages: {messages}", ""]
        lines += [f"| agent | {' | '.join(PAGE_COLUMNS)} |", f"|---|{'---:|' * len(PAGE_COLUMNS)}"]
        for row in sorted(table, key=lambda r: -(r["self_play"] or 0)):
            name = row["agent"].removeprefix("hanabi/")
            lines.append(f"| {name} | {' | '.join(cell(row[c], None) for c in PAGE_COLUMNS)} |")
            theirs = PUBLISHED.get(row["agent"])
            if theirs:
                shown = [cell(theirs[c][0], None) if c in theirs else "" for c in PAGE_COLUMNS]
                lines.append(f"| *{name}, published* | {' | '.join(shown)} |")
    return "\n".join([*lines, "", FINDINGS, ""])


FINDINGS = """## What it says
- Self-play agrees with the published means where we share the agent. Nothing was tuned to it.
- Cross-play is far below self-play for every convention bot: a high self-play score says little about a partner.
- G2 and the random bot's ARD-entropy part from the published values most. We follow the written definitions; the
  paper does not say what counts as known, so both senses are shown.
- IC is biased upwards in small samples; `ic_corrected` (Miller-Madow) is beside it in the metric's rows."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", default=POOL, help="the pool")
    parser.add_argument("--episodes", type=int, default=125, help="games for each seating of each pair")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", help="also write a page of the docs")
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
    if given.page:
        Path(given.page).write_text(page(found, len(games), given.episodes))
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
