"""The objective metrics of the metrics paper's Table 3 for the agents of roster.json as one pool.

    python benchmarks/hanabi_learning/table3.py --players 2 --work WORK --episodes 25

Every pair plays in every seating (at three players one of the one and two of the other), points kept after the third
bomb, policies by their likeliest moves. results/table3_2p.json holds a row for each agent. Needs the whole package: the
metrics are not there where training runs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

import roster as table
from roster import RESULTS

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.games.registry import make
from interplay.rollout.engine import run
from interplay.rollout.teams import Team


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=2, choices=(2, 3))
    parser.add_argument("--work", type=Path, help="folder of the stages' folders")
    parser.add_argument("--roster", type=Path, default=table.ROSTER)
    parser.add_argument("--episodes", type=int, default=25, help="games of each seating of each pair")
    parser.add_argument("--out", type=Path, help="default: results/table3_2p.json")
    given = parser.parse_args()
    began, path = time.time(), given.out or RESULTS / f"table3_{given.players}p.json"
    agents = pool(given.roster, given.players, given.work)
    known = len(json.loads(path.read_text())["rows"]) if path.is_file() else 0
    if len(agents) < known:
        raise SystemExit(f"error: {path} has a pool of {known}, here are {len(agents)}: name --work, or another --out")
    rows = measured(agents, given.players, given.episodes)
    found = {"kind": "table3", "players": given.players, "episodes": given.episodes, "rows": rows}
    path.write_text(json.dumps(found | {"wall_s": round(time.time() - began, 1)}, indent=1) + "\n")
    print(f"{len(rows)} agents, {time.time() - began:.0f} s")
    return 0


def pool(path: Path, players: int, work: Path | None) -> list[Agent]:
    """The table's policies that are there, and its bots."""
    roster, found = table.read(path), []
    for one in table.listed(roster, players):
        file = table.file_of(one, work) if one.crossplay else None
        if file is not None:  # the same game but for what becomes of points after the third bomb
            made = agent(str(file), greedy=True, any_game=True)
            found.append(Agent(one.name, made.policy, {"algorithm": one.stage}))
    return found + [agent(name) for name in roster[f"{players}p"]["bots"]]


def measured(agents: list[Agent], players: int, episodes: int) -> list[dict[str, Any]]:
    import interplay
    from interplay.metrics.hanabi.agent_pool import wide
    from interplay.traces import TraceSet

    game = make(f"hanabi/{players}p", bomb="keep")
    seats = range(players)
    places = itertools.product(range(len(agents)), range(len(agents)), seats)
    teams = {tuple(i if s == seat else j for s in seats) for i, j, seat in places}
    teams = [Team.of(game, [agents[i] for i in team]) for team in sorted(teams)]
    games = TraceSet.in_memory(list(run(game, teams, episodes=episodes, seed=0, batch=1 << 15)))
    return [dict(row) for row in wide(interplay.measure(games, ["hanabi/pool"]))]


if __name__ == "__main__":
    sys.exit(main())
