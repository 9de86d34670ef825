"""What every ego of a layout scores: with every partner of the panel in every seat, and with every other ego.

    python benchmarks/zsc/returns.py runs/zsc/coordination_ring sp=5 fcp=3 --episodes 50

Writes returns.csv (what `interplay brprox` reads) and crossplay.csv into the layout's folder. Needs no room but
training and partners, so that it runs where training runs.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from interplay.agents.api import Agent
from interplay.games.registry import make
from interplay.partners.evaluate import Cast, all_pairs, play_pairs
from interplay.partners.panel_file import read_panel
from interplay.training.algorithms.br import partners_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("egos", nargs="+", metavar="JOB=SEEDS")
    parser.add_argument("--panel", default="panel/panel")
    parser.add_argument("--game", help="default: by the folder's name")
    parser.add_argument("--episodes", type=int, default=50)
    given = parser.parse_args()
    folder = Path(given.folder)
    game = make(given.game or f"overcooked/{folder.name}")
    panel = read_panel(folder / given.panel, game)
    egos: list[tuple[str, int, Agent]] = []
    for word in given.egos:
        job, _, many = word.partition("=")
        if (folder / job / "manifest.json").exists():
            found = partners_of(str(folder / job))[: int(many)]
            egos += [(job, seed, agent) for seed, agent in enumerate(found, 1)]
    cast = Cast.of_agents(game, [agent for _, _, agent in egos])
    write(folder / "returns.csv", rows_of(game, panel, egos, given.episodes))
    crossed = play_pairs(game, cast, cast, all_pairs(len(cast), len(cast)), episodes=25, seed=11)
    table = crossed.returns.reshape(len(cast), len(cast), game.num_seats)
    rows = [
        {"algorithm": a[0], "seed": a[1], "partner": b[0], "partner_seed": b[1], "ego_seat": s}
        | {"return": round(float(table[j, i, s]), 3)}
        for i, a in enumerate(egos)
        for j, b in enumerate(egos)
        for s in range(game.num_seats)
    ]
    write(folder / "crossplay.csv", rows)


def rows_of(game, panel, egos: list[tuple[str, int, Agent]], episodes: int) -> list[dict]:
    """A row for every ego (method, seed, agent), partner and seat in which somebody scores with that partner."""
    cast = Cast.of_agents(game, [agent for _, _, agent in egos])
    partners = Cast.of_agents(game, list(panel.partners))
    played = play_pairs(game, partners, cast, all_pairs(len(partners), len(cast)), episodes=episodes, seed=7)
    returns = played.returns.reshape(len(partners), len(cast), game.num_seats)
    return [
        {
            "algorithm": job,
            "population": "",
            "seed": seed,
            "partner": member.candidate if member.candidate is not None else member.agent.name,
            "skill": member.skill or "",
            "ego_seat": ruler.seat,
            "return": round(float(returns[p, e, ruler.seat]), 3),
            "best_response_return": round(ruler.worth.mean, 3),
            "best_response_low": round(ruler.worth.low, 3),
            "best_response_high": round(ruler.worth.high, 3),
            "self_play_return": "" if member.self_play is None else round(member.self_play.mean, 3),
        }
        for p, member in enumerate(panel.members)
        for e, (job, seed, _) in enumerate(egos)
        for ruler in member.responses
    ]


def write(path: Path, rows: list[dict]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
