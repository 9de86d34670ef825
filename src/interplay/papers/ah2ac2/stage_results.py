"""What the scripts of benchmarks/hanabi_learning left behind, read for the page of results."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[4]
RESULTS = ROOT / "benchmarks" / "hanabi_learning" / "results"
ROSTER = ROOT / "benchmarks" / "hanabi_learning" / "roster.json"
LINES = 10  # of a curve's end that are averaged


class StageResults(NamedTuple):
    """The files that the benchmark's scripts wrote."""

    stages: dict[str, dict[str, Any]]  # by name, the attempt with the highest return
    earlier: dict[str, list[dict[str, Any]]]  # and those before it
    evaluation: dict[int, dict[str, Any]]  # by players: what evaluate.py wrote
    crossplay: dict[int, dict[str, Any]]  # by players
    search: list[dict[str, Any]]
    table3: dict[int, list[dict[str, Any]]]  # by players
    likeness: dict[int, dict[str, Any]]  # by players: how clones behave beside people
    speed: dict[str, Any]
    proxies: dict[int, list[str]]  # by players: who stands for people
    people: dict[int, dict[str, Any]]  # by players: how well agents predict people


def load(folder: Path = RESULTS, roster: Path = ROSTER) -> StageResults:
    """All files of the folder; stages/ has one for each stage."""
    listed = json.loads(roster.read_text())
    proxies = {players: list(listed[f"{players}p"]["proxies"]) for players in (2, 3)}
    results = StageResults({}, {}, {}, {}, [], {}, {}, {}, proxies, {})
    for path in sorted((folder / "stages").glob("*.json")):
        record = json.loads(path.read_text())
        first, *rest = record["attempts"]
        results.stages[record["stage"]] = first
        results.earlier[record["stage"]] = rest
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text())
        kind = record.get("kind") if isinstance(record, dict) else None
        if kind == "crossplay":
            results.crossplay[record["players"]] = complete(record)
            results.search.extend(row | {"players": record["players"]} for row in record["search"])
        elif kind == "likeness":
            results.likeness[record["players"]] = record
        elif kind == "people":
            results.people[record["players"]] = record
        elif kind == "table3":
            results.table3[record["players"]] = record["rows"]
        elif kind == "evaluation":
            results.evaluation[int(record["game"].split("/")[1][0])] = record
        elif path.name == "speed.json":
            results.speed.update(record)
    return results


def complete(matrix: dict[str, Any]) -> dict[str, Any]:
    """Return the matrix without agents that lack games with some others, as their files were written later."""
    met = {(r["agent"], r["partner"]) for r in matrix["rows"]}
    kept: list[dict[str, Any]] = []
    for one in sorted(matrix["agents"], key=lambda a: bool(a.get("absent"))):
        names = [a["name"] for a in kept] + [one["name"]]
        if all((a, one["name"]) in met and (one["name"], a) in met for a in names):
            kept.append(one)
    names = {a["name"] for a in kept}
    rows = [r for r in matrix["rows"] if r["agent"] in names and r["partner"] in names]
    return matrix | {"agents": [a for a in matrix["agents"] if a["name"] in names], "rows": rows, "all": matrix}


def trained_steps(record: dict[str, Any]) -> float:
    """Return the environment steps of a stage."""
    return float(record["curve"][-1].get("steps") or 0)


def split(stage: str) -> tuple[str, int | None]:
    """A stage's method and number of players, from a name such as br_bc_2p."""
    method, _, players = stage.rpartition("_")
    if players.endswith("p") and players[:-1].isdigit():
        return method, int(players[:-1])
    return stage, None


def method_of(name: str) -> str:
    """br_bc of br_bc-1 and br_bc_2p/0; obl1 of obl1-1."""
    return split(name.split("/")[0])[0] if "/" in name else name.rpartition("-")[0] or name


def is_bot(name: str) -> bool:
    """Return whether a name is that of a rule bot."""
    return name.startswith("hanabi/")


def cells(results: StageResults, players: int) -> dict[tuple[str, str], float]:
    """(agent, partner) -> the mean score over seatings."""
    by_cell: dict[tuple[str, str], list[float]] = {}
    for r in results.crossplay.get(players, {}).get("rows", []):
        by_cell.setdefault((r["agent"], r["partner"]), []).append(r["mean"])
    return {key: sum(values) / len(values) for key, values in by_cell.items()}


class Together(NamedTuple):
    """The mean score of two runs of one method with each other."""

    names: tuple[str, str]
    mean: float
    half_width: float  # of the 95 % interval
    games: int
    alone: float  # the mean of the two with themselves
    steps: float | None  # of training, each


def intra_method(results: StageResults, players: int) -> list[Together]:
    """Pairs of runs of one method that met, those included that others never met."""
    matrix = results.crossplay.get(players, {}).get("all", {"rows": [], "agents": []})
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for r in matrix["rows"]:
        rows.setdefault((r["agent"], r["partner"]), []).append(r)
    names = [a["name"] for a in matrix["agents"] if not is_bot(a["name"])]
    trained = {a["name"]: a.get("steps") for a in matrix["agents"]}
    pairs = []
    for a, b in combinations(names, 2):
        if method_of(a) != method_of(b) or (a, b) not in rows or (a, a) not in rows or (b, b) not in rows:
            continue
        # The other order is the same games at two players.
        mine = rows[a, b] + (rows[b, a] if players > 2 else [])
        games = sum(r["n"] for r in mine)
        variance = sum(r["n"] * (r["sd"] or 0.0) ** 2 for r in mine) / games
        alone = (rows[a, a][0]["mean"] + rows[b, b][0]["mean"]) / 2
        mean = sum(r["n"] * r["mean"] for r in mine) / games
        pairs.append(Together((a, b), mean, 1.96 * (variance / games) ** 0.5, games, alone, trained[a]))
    return pairs


def counts(results: StageResults, players: int, agent: str, partners: list[str]) -> list[int]:
    """Games of an agent with these partners, by their points."""
    total: list[int] = []
    for r in results.crossplay.get(players, {}).get("rows", []):
        if r["agent"] == agent and r["partner"] in partners and r["partner"] != agent:
            total += [0] * (len(r["counts"]) - len(total))
            for points, games in enumerate(r["counts"]):
                total[points] += games
    return total


def median(of: list[int]) -> float:
    """The median of counted points."""
    from statistics import median as middle

    return float(middle(points for points, games in enumerate(of) for _ in range(games)))
