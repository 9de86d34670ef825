"""What learned agents and bots of Hanabi score with each other, in every seating.

    python benchmarks/hanabi_learning/crossplay.py --players 2 --games 500 --out $OUT/crossplay_2p.json \
        ippo=runs/ippo_ff_2p/policies/run0.safetensors bc=runs/bc_2p hanabi/smart hanabi/holmes
    python benchmarks/hanabi_learning/crossplay.py --players 2 --search ippo --search-games 50 --out search.json \
        ippo=runs/ippo_ff_2p/policies/run0.safetensors

An agent is NAME=PATH of a policy's file or of a training run's folder (its first policy), or a registered name; NAME+
plays its likeliest moves. A cell (a, b) is a in one seat and b in all others, with a in every seat in turn; with three
players these are teams of one and two. `--search` sits search (SPARTA) on an agent down beside that agent.

Needs jax, equinox, safetensors and numpy alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

import numpy as np

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.play.engine import run as play
from interplay.play.lineups import LineUp


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="+", metavar="NAME=PATH")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--games", type=int, default=500, help="for each seating")
    parser.add_argument("--batch", type=int, default=8192, help="games at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--search", nargs="*", default=[], help="agents that are also tried with search")
    parser.add_argument("--search-games", type=int, default=50)
    parser.add_argument("--rollouts", type=int, default=2000, help="of search, for each move")
    parser.add_argument("--hands", type=int, default=500, help="of search, drawn before the filter")
    parser.add_argument("--out", required=True)
    given = parser.parse_args()
    try:
        found = crossed(given)
    except InterplayError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    Path(given.out).parent.mkdir(parents=True, exist_ok=True)
    Path(given.out).write_text(json.dumps(found, indent=1) + "\n")
    print(matrix(found))
    return 0


def named(word: str) -> Agent:
    """The agent of NAME=PATH or of a registered name."""
    name, equals, path = word.partition("=")
    greedy, name = name.endswith("+"), name.removesuffix("+")
    if not equals:
        return agent(name)
    options: dict[str, Any] = {"greedy": True} if greedy else {}
    if Path(path).is_dir():
        options["member"] = 0
    made = agent(path, **options)
    return Agent(name + ("+" if greedy else ""), made.mind, dict(made.config))


def crossed(given: argparse.Namespace) -> dict[str, Any]:
    game = make(f"hanabi/{given.players}p")
    agents, began = [named(word) for word in given.agents], time.time()
    names = [a.name for a in agents]
    if len(set(names)) < len(names):
        raise InterplayError(f"two agents have one name: {', '.join(names)}")
    cells = [(a, b, s) for a in agents for b in agents for s in range(1 if a is b else given.players)]
    rows = play_cells(game, cells, given.games, given)
    searched = []
    for name in given.search:
        if name not in names:
            raise InterplayError(f"--search: there is no agent {name!r} among {', '.join(names)}")
        searched += search_rows(game, agents[names.index(name)], given)
    import jax

    return {
        "kind": "crossplay",
        "players": given.players,
        "seed": given.seed,
        "agents": [{"name": a.name, **a.config} for a in agents],
        "rows": rows,
        "search": searched,
        "device": jax.devices()[0].device_kind,
        "wall_s": round(time.time() - began, 1),
    }


def play_cells(game: Any, cells: list[tuple[Agent, Agent, int]], each: int, given: Any) -> list[dict[str, Any]]:
    seats = range(game.num_seats)
    line_ups = [LineUp.of(game, [a if s == seat else b for s in seats]) for a, b, seat in cells]
    episodes = play(game, line_ups, episodes=each, seed=given.seed, batch=given.batch)
    scores = np.array([e.score for e in episodes], float).reshape(len(cells), each)
    return [row(a.name, b.name, seat, points) for (a, b, seat), points in zip(cells, scores, strict=True)]


def row(a: str, b: str, seat: int, points: np.ndarray) -> dict[str, Any]:
    spread = float(points.std(ddof=1)) if len(points) > 1 else None
    told = {"mean": float(points.mean()), "sd": spread, "median": float(np.median(points)), "n": len(points)}
    return {"agent": a, "partner": b, "seat": seat, **told, "zero": float((points == 0).mean())}


def search_rows(game: Any, base: Agent, given: Any) -> list[dict[str, Any]]:
    """The policy's likeliest moves with themselves, and with one player in the first seat who searches on them."""
    from interplay.agents.hanabi.sparta import sparta

    with_search = sparta(base, rollouts=given.rollouts, hands=given.hands)
    partner, found = _likeliest(base), []
    for one in (partner, with_search):
        line_up = LineUp.of(game, [one, *[partner] * (game.num_seats - 1)])
        games = play(game, [line_up], episodes=given.search_games, seed=given.seed, batch=64)
        points = np.array([e.score for e in games], float)
        found.append(row(one.name, partner.name, 0, points) | {"rollouts": given.rollouts, "hands": given.hands})
    return found


def _likeliest(base: Agent) -> Agent:
    """The agent as its likeliest moves, if it can be told so; a bot is as it is."""
    import equinox as eqx
    import jax.numpy as jnp

    if hasattr(base.mind, "greedy"):
        return Agent(base.name, eqx.tree_at(lambda m: m.greedy, base.mind, jnp.bool_(True)), dict(base.config))
    return base


def matrix(found: dict[str, Any]) -> str:
    """Rows: the agent in one seat; columns: its partners. Means over seatings."""
    names = [a["name"] for a in found["agents"]]
    cells: dict[tuple[str, str], list[float]] = {}
    for r in found["rows"]:
        cells.setdefault((r["agent"], r["partner"]), []).append(r["mean"])
    width = max(len(n) for n in names) + 2
    lines = ["".ljust(width) + "".join(n[:9].rjust(10) for n in names)]
    for a in names:
        lines.append(a.ljust(width) + "".join(f"{np.mean(cells[a, b]):10.2f}" for b in names))
    lines += [f"{r['agent']} with {r['partner']}: {r['mean']:.2f} ({r['n']} games)" for r in found["search"]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
