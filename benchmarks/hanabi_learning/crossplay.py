"""What learned agents and bots of Hanabi score with each other, in every seating.

    python benchmarks/hanabi_learning/crossplay.py --players 2 --work WORK                # all of roster.json
    python benchmarks/hanabi_learning/crossplay.py --players 3 --games 500 hanabi/random mine=FILE.safetensors
    python benchmarks/hanabi_learning/crossplay.py --only --players 2 --search ippo --out search.json ippo=FILE

Agents are those of roster.json (its policies play their likeliest moves) and those that are named: NAME=PATH of a
policy's file or of a training run's folder (its first policy), or a registered name; NAME+ plays its likeliest moves.
A cell (a, b) is a in one seat and b in all others, with a in every seat in turn; with three players these are teams of
one and two. `--search` sits search (SPARTA) on an agent down beside that agent.

Teams that the file has already, of the same agents by their hashes and with as many games, are not played again, so
that an agent more costs its own games alone.

Needs jax, equinox, safetensors and numpy alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import roster as table
from roster import RESULTS

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.rollout.engine import run as play
from interplay.rollout.teams import Team

ROUND = 50  # games that every team plays at a time


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", metavar="NAME=PATH")
    parser.add_argument("--only", action="store_true", help="those that are named, without the roster's")
    parser.add_argument("--players", type=int, default=2, choices=(2, 3))
    parser.add_argument("--work", type=Path, help="folder of the stages' folders")
    parser.add_argument("--roster", type=Path, default=table.ROSTER)
    parser.add_argument("--games", type=int, default=200, help="for each seating")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--search", nargs="*", default=[], help="agents that are also tried with search")
    parser.add_argument("--search-games", type=int, default=50)
    parser.add_argument("--rollouts", type=int, default=2000, help="of search, for each move")
    parser.add_argument("--hands", type=int, default=500, help="of search, drawn before the filter")
    parser.add_argument("--out", type=Path, help="default: results/crossplay_2p.json")
    given = parser.parse_args()
    given.out = given.out or RESULTS / f"crossplay_{given.players}p.json"
    try:
        found = crossed(given)
    except InterplayError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
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
    known = {"sha256": table.sha256(Path(path))} if Path(path).is_file() else {}
    return Agent(name + ("+" if greedy else ""), made.policy, dict(made.config) | known)


def from_roster(path: Path, players: int, work: Path | None) -> list[Agent]:
    """The table's policies that are there, and its bots."""
    roster = table.read(path)
    found = []
    for one in table.listed(roster, players):
        file = table.file_of(one, work) if one.crossplay else None
        if file is not None:
            made = agent(str(file), greedy=True)
            about = {"stage": one.stage, **one.pick, "sha256": table.sha256(file)}
            found.append(Agent(one.name, made.policy, dict(made.config) | about))
    return found + [agent(name) for name in roster[f"{players}p"]["bots"]]


def crossed(given: argparse.Namespace) -> dict[str, Any]:
    game = make(f"hanabi/{given.players}p")
    agents = [] if given.only else from_roster(given.roster, given.players, given.work)
    agents += [named(word) for word in given.agents]
    names = [a.name for a in agents]
    before = json.loads(given.out.read_text()) if given.out.is_file() else {}
    if not agents and not absent(before, names, given):
        raise InterplayError("there is nobody to play: name agents, or leave out --only")
    if len(set(names)) < len(names):
        raise InterplayError(f"two agents have one name: {', '.join(names)}")
    unknown = [name for name in given.search if name not in names]
    if unknown:
        raise InterplayError(f"--search: there is no agent {unknown[0]!r} among {', '.join(names)}")
    import jax

    found: dict[str, Any] = {
        "kind": "crossplay",
        "players": given.players,
        "seed": given.seed,
        "agents": [{"name": a.name, **a.config} for a in agents] + absent(before, names, given),
        "rows": still_true(before, agents, given),
        "search": before.get("search", []),
        "wall_s": before.get("wall_s"),
        "device": jax.devices()[0].device_kind,
    }
    play_cells(game, agents, found, given)
    for name in given.search:
        rest = [r for r in found["search"] if name not in (r["partner"], r["partner"].removesuffix("+"))]
        found["search"] = rest + search_rows(game, agents[names.index(name)], given)
        write(given.out, found)
    return found


def absent(before: dict[str, Any], names: list[str], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Policies of the table that played before and whose files are not here now: their games stay true."""
    if given.only or before.get("seed") != given.seed:
        return []
    listed = {one.name for one in table.listed(table.read(given.roster), given.players) if one.crossplay}
    gone = [a for a in before["agents"] if a["name"] in listed and a["name"] not in names]
    return [a | {"absent": True} for a in gone]


def still_true(before: dict[str, Any], agents: list[Agent], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Rows of agents that are the same by their files' hashes (a bot by its name), with as many games."""
    if before.get("seed") != given.seed:
        return []
    was = {a["name"]: a.get("sha256") for a in before["agents"]}
    same = {a.name for a in agents if a.name in was and was[a.name] == a.config.get("sha256")}
    same |= {a["name"] for a in absent(before, [a.name for a in agents], given)}
    return [r for r in before["rows"] if r["agent"] in same and r["partner"] in same and r["n"] >= given.games]


def team(row: tuple[str, str, int], seats: int) -> tuple[str, ...]:
    """Who sits where. At two players each team is that of two cells."""
    return tuple(row[0] if seat == row[2] else row[1] for seat in range(seats))


def play_cells(game: Any, agents: list[Agent], found: dict[str, Any], given: argparse.Namespace) -> None:
    by_name, seats, began = {a.name: a for a in agents}, game.num_seats, time.time()
    cells = [(a, b, s) for a in by_name for b in by_name for s in range(1 if a == b else seats)]
    done = {(r["agent"], r["partner"], r["seat"]) for r in found["rows"]}
    of_team: dict[tuple[str, ...], list[tuple[str, str, int]]] = {}
    for cell in cells:
        if cell not in done:
            of_team.setdefault(team(cell, seats), []).append(cell)
    todo = sorted(of_team)
    if not todo:
        write(given.out, found)
        return
    teams = [Team.of(game, [by_name[name] for name in names]) for names in todo]
    scores = np.concatenate([round_of(game, teams, r, given) for r in range(-(-given.games // ROUND))], axis=1)
    for names, points in zip(todo, scores[:, : given.games], strict=True):
        found["rows"] += [row(*cell, points) for cell in of_team[names]]
    write(given.out, found | {"wall_s": round(time.time() - began, 1)})


def round_of(game: Any, teams: list[Team], number: int, given: argparse.Namespace) -> np.ndarray:
    """[team, game] scores of a few games of everybody at once, so that one program serves all rounds."""
    seed = given.seed + 1000 * number
    episodes = play(game, teams, episodes=ROUND, seed=seed, batch=len(teams) * ROUND)
    scores = np.array([e.score for e in episodes], float).reshape(len(teams), ROUND)
    print(f"round {number + 1}: {len(teams)} teams", file=sys.stderr, flush=True)
    return scores


def write(path: Path, found: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    order = {a["name"]: i for i, a in enumerate(found["agents"])}
    rows = sorted(found["rows"], key=lambda r: (order[r["agent"]], order[r["partner"]], r["seat"]))
    head = {k: v for k, v in found.items() if k != "rows"}
    told = json.dumps(head, indent=1).removesuffix("\n}")
    lines = ",\n  ".join(json.dumps(r) for r in rows)
    beside = path.with_name(f".{path.name}")
    beside.write_text(f'{told},\n "rows": [\n  {lines}\n ]\n}}\n')
    beside.replace(path)


def row(a: str, b: str, seat: int, points: np.ndarray) -> dict[str, Any]:
    """A cell of the matrix; `counts` has the games that ended with 0, 1, ... points."""
    spread = float(points.std(ddof=1)) if len(points) > 1 else None
    told = {"mean": float(points.mean()), "sd": spread, "median": float(np.median(points)), "n": len(points)}
    counts = np.bincount(np.round(points).astype(int)).tolist()
    return {"agent": a, "partner": b, "seat": seat, **told, "zero": float((points == 0).mean()), "counts": counts}


def search_rows(game: Any, base: Agent, given: Any) -> list[dict[str, Any]]:
    """The policy's likeliest moves with themselves, and with one player in the first seat who searches on them."""
    from interplay.agents.hanabi.sparta import sparta

    with_search = sparta(base, rollouts=given.rollouts, hands=given.hands)
    partner, found = _likeliest(base), []
    for one in (partner, with_search):
        pair = Team.of(game, [one, *[partner] * (game.num_seats - 1)])
        games = play(game, [pair], episodes=given.search_games, seed=given.seed, batch=64)
        points = np.array([e.score for e in games], float)
        found.append(row(one.name, partner.name, 0, points) | {"rollouts": given.rollouts, "hands": given.hands})
    return found


def _likeliest(base: Agent) -> Agent:
    """The agent as its likeliest moves, if it can be told so; a bot is as it is."""
    import equinox as eqx
    import jax.numpy as jnp

    if hasattr(base.policy, "greedy"):
        return Agent(base.name, eqx.tree_at(lambda m: m.greedy, base.policy, jnp.bool_(True)), dict(base.config))
    return base


def matrix(found: dict[str, Any]) -> str:
    """Rows: the agent in one seat; columns: its partners. Means over seatings."""
    names = [a["name"] for a in found["agents"] if not a.get("absent")]
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
