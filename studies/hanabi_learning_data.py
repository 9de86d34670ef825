"""What the scripts of benchmarks/hanabi_learning left behind, read for the page of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "hanabi_learning" / "results"
LINES = 10  # of a curve's end that are averaged


class Found(NamedTuple):
    stages: dict[str, dict[str, Any]]
    evaluation: dict[int, dict[str, Any]]  # by players: what evaluate.py wrote
    crossplay: dict[int, dict[str, Any]]  # by players
    search: list[dict[str, Any]]
    table3: list[dict[str, Any]]
    likeness: dict[str, Any]  # how clones behave beside people


def load(folder: Path = RESULTS) -> Found:
    """All files of the folder, told apart by what they hold; of a stage that is in several, the one with most steps."""
    stages: dict[str, dict[str, Any]] = {}
    crossplay: dict[int, dict[str, Any]] = {}
    evaluation: dict[int, dict[str, Any]] = {}
    search, table3, likeness = [], [], {}
    for path in sorted(folder.glob("*.json")):
        held = json.loads(path.read_text())
        if isinstance(held, dict) and held.get("kind") == "crossplay":
            before = crossplay.get(held["players"])
            if before is None or len(held["agents"]) > len(before["agents"]):
                crossplay[held["players"]] = held
            search += [row | {"players": held["players"]} for row in held["search"]]
        elif isinstance(held, dict) and held.get("kind") == "likeness":
            likeness = held
        elif isinstance(held, dict) and held.get("kind") == "table3":
            table3 = held["rows"]
        elif isinstance(held, dict) and "self_play" in held:
            evaluation[int(held["game"].split("/")[1][0])] = held
        elif isinstance(held, dict):
            for name, told in held.items():
                whole = isinstance(told, dict) and told.get("curve") and "config" in told
                if whole and (name not in stages or trained_steps(told) > trained_steps(stages[name])):
                    stages[name] = told
    return Found(stages, evaluation, crossplay, search, table3, likeness)


def trained_steps(told: dict[str, Any]) -> float:
    return float(told["curve"][-1].get("steps") or 0)


def split(stage: str) -> tuple[str, int | None]:
    """A stage's method and number of players, from a name such as br_bc_2p."""
    method, _, players = stage.rpartition("_")
    if players.endswith("p") and players[:-1].isdigit():
        return method, int(players[:-1])
    return stage, None


def method_of(name: str) -> str:
    """br_bc of br_bc-1, br_bc+ and br_bc_2p/0."""
    method = split(name.split("/")[0])[0] if "/" in name else name
    return method.rstrip("+0123456789-")


def pairs(found: Found, players: int) -> list[tuple[str, str, float]]:
    """Agent, partner and mean score, from either script."""
    if players in found.crossplay:
        return [(r["agent"], r["partner"], r["mean"]) for r in found.crossplay[players]["rows"]]
    crossed = found.evaluation.get(players, {}).get("cross_play")
    if not crossed:
        return []
    names = crossed["agents"]
    return [(a, b, crossed["mean"][i][j]) for i, a in enumerate(names) for j, b in enumerate(names)]
