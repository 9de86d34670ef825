"""The rescue benchmark: head-room in every house, trained agents with themselves and with others, who helped whom.

python benchmarks/rescue/results.py                 # prints the page's tables (docs/results/rescue.md)
python benchmarks/rescue/results.py --certify       # searches every placement of the victims again (minutes)
python benchmarks/rescue/results.py --json

Agents are those of the hub, `trained/rescue/HOUSE/METHOD-SEED`. BR-Prox is that of the house's panel, as
`benchmarks/zsc/install.py` measured it; cross-play is in `results/HOUSE/crossplay.csv`, which the pipeline wrote.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import interplay
from interplay.games.rescue import difficulty
from interplay.games.rescue.benchmark import BENCHMARK
from interplay.hub.manifest import AGENT
from interplay.hub.store import local_names
from interplay.partners.panels import panel
from interplay.rollout.engine import run
from interplay.rollout.teams import Team
from interplay.stats import bootstrap
from interplay.table import Row, Table
from interplay.traces import TraceSet

RESULTS = Path(__file__).parent / "results"
LONER, HELPER = SCRIPTED = ("rescue/loner", "rescue/helper")
CHANNELS = {"knowledge": "knowledge", "hands": "hands", "hazards": "hazards", "all": "knowledge+hands+hazards+guard"}


class Played(NamedTuple):
    """The episodes of one team: scores, and means of an episode by metric and channel."""

    scores: list[float]
    help: dict[str, float]


def trained(house: str) -> dict[str, list[str]]:
    """The trained agents of a house by method, a name for each seed."""
    prefix = f"trained/rescue/{house}/"
    methods: dict[str, list[str]] = {}
    for name in sorted(n for n in local_names(AGENT) if n.startswith(prefix)):
        methods.setdefault(name.removeprefix(prefix).rpartition("-")[0], []).append(name)
    return methods


def play(
    house: str, selves: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]], episodes: int
) -> dict[tuple[str, str], Played]:
    """Play all teams of a house at once, since compiling takes longer than playing; count hand-overs of `selves`."""
    game, teams = interplay.make(f"rescue/{house}"), [*selves, *others]
    played = list(run(game, [Team.of(game, t) for t in teams], episodes=episodes, seed=0))
    counted = TraceSet.in_memory(played[: len(selves) * episodes])
    values = interplay.measure(counted, ["interdependence"], channels="each").where(window="unlimited")
    sums: dict[tuple[str, str], dict[str, float]] = {team: {} for team in teams}
    names = {channel: name for name, channel in CHANNELS.items()}
    for row in values:
        name = names.get(row["channel"].removesuffix("+care"))
        if name is None or row["metric"] not in ("constructive", "ignored") or row["value"] is None:
            continue
        of_team, key = sums[teams[row["episode"] // episodes]], f"{row['metric']}_{name}"
        of_team[key] = of_team.get(key, 0.0) + row["value"] / episodes
    scores = [float(episode.score) for episode in played]
    return {t: Played(scores[i * episodes : (i + 1) * episodes], sums[t]) for i, t in enumerate(teams)}


def interval(values: Sequence[float], name: str, units: Sequence[str] | None = None) -> Row:
    """The mean and its interval, over episodes or over units (seeds)."""
    by = {} if units is None else {"seed": list(units)}
    if units is not None and len(set(units)) < 2:
        return {name: sum(values) / len(values), f"{name}_low": None, f"{name}_high": None}
    how = {} if units is None else {"units": ["seed"], "episodes": False}
    made = bootstrap(list(values), by, seed=0, statistic="mean", **how)
    return {name: made.estimate, f"{name}_low": made.low, f"{name}_high": made.high}


def tables(houses: Sequence[str], episodes: int) -> list[Table]:
    """Head-room, and the trained agents, of every house."""
    room, agents = [], []
    for name in houses:
        house = BENCHMARK[name]
        methods = trained(name)
        seeds = [agent for of_method in methods.values() for agent in of_method]
        selves = [(who, who) for who in (*SCRIPTED, *seeds)]
        mixed = [team for agent in seeds for other in SCRIPTED for team in ((agent, other), (other, agent))]
        played = play(name, selves, mixed, episodes)
        row: Row = {"house": name, "horizon": house.horizon, "plan": house.plan, "optimum": 10.0 * house.hidden}
        for who in SCRIPTED:
            row |= interval(played[who, who].scores, who.rpartition("/")[2])
        best = [sum(played[a, a].scores) / episodes for a in seeds]
        room.append(row | {"best_trained": max(best) if best else None})
        proximity = _proximity(name)
        crossed = _crossplay(name)
        for method, own in methods.items():
            row = {"house": name, "method": method, "seeds": len(own)}
            selves = [s for a in own for s in played[a, a].scores]
            row |= interval(selves, "self_play", [a for a in own for _ in range(episodes)])
            for other in SCRIPTED:
                scores = [s for a in own for t in ((a, other), (other, a)) for s in played[t].scores]
                row[f"with_{other.rpartition('/')[2]}"] = sum(scores) / len(scores)
            row["with_other_seeds"] = crossed.get(method)
            row["BR-Prox"] = proximity.get(method)
            for channel in CHANNELS:
                row[f"help_{channel}"] = sum(played[a, a].help.get(f"constructive_{channel}", 0) for a in own) / len(
                    own
                )
            row["ignored"] = sum(played[a, a].help.get("ignored_all", 0) for a in own) / len(own)
            agents.append(row)
    return [Table.of(room, "Head-room: mean points of 20"), Table.of(agents, "Trained agents: mean points of 20")]


def _proximity(house: str) -> dict[str, float]:
    """BR-Prox of every method with the house's panel, where there is one."""
    known = panel(interplay.make(f"rescue/{house}")).baselines
    return {} if known is None else {row["agent"]: row["br_prox"] for row in known["rows"]}


def _crossplay(house: str) -> dict[str, float]:
    """Mean return of a method's seeds with each other's, not with themselves."""
    path = RESULTS / house / "crossplay.csv"
    if not path.is_file():
        return {}
    returns: dict[str, list[float]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            if row["algorithm"] == row["partner"] and row["seed"] != row["partner_seed"]:
                returns.setdefault(row["algorithm"], []).append(float(row["return"]))
    return {method: sum(values) / len(values) for method, values in returns.items()}


def certificates(houses: Sequence[str]) -> Table:
    """What search says of every house and placement."""
    rows = []
    for name in houses:
        house = BENCHMARK[name]
        game = interplay.make(f"rescue/{name}")
        solved = [difficulty.solve(game, start, house.horizon) for start in difficulty.placements(game)]
        for number, one in enumerate(solved):
            row: Row = {"house": name, "class": difficulty.difficulty(solved), "placement": number, "joint": one.joint}
            row |= {"joint_bound": one.joint_bound, "alone_first": one.alone_first.length}
            row |= {"alone_all": one.alone_all.length, "why": one.alone_all.why or None}
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    return Table.of(rows, "Certificates: steps to treat all victims together, and alone within the horizon")


def markdown(table: Table) -> str:
    head = [c for c in table.columns if not c.endswith(("_low", "_high"))]
    lines = [f"**{table.title}**", "", "| " + " | ".join(c.replace("_", " ") for c in head) + " |"]
    lines.append("|" + "|".join("---" for _ in head) + "|")
    for row in table:
        cells = []
        for column in head:
            value, low = row[column], row.get(f"{column}_low")
            digits = 2 if column == "BR-Prox" else 1
            text = "–" if value is None else f"{value:.{digits}f}" if isinstance(value, float) else str(value)
            cells.append(text if low is None else f"{text} [{low:.1f}, {row[f'{column}_high']:.1f}]")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--houses", nargs="*", default=list(BENCHMARK), choices=list(BENCHMARK))
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--certify", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    made = [certificates(args.houses)] if args.certify else tables(args.houses, args.episodes)
    if args.json:
        print(json.dumps({table.title: table.rows for table in made}))
        return
    for table in made:
        print(markdown(table))


if __name__ == "__main__":
    main()
