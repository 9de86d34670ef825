"""The rescue benchmark: head-room in every house, trained agents with themselves and with others, who helped whom.

python benchmarks/rescue/results.py                 # prints the page's tables (docs/results/rescue.md)
python benchmarks/rescue/results.py --certify       # searches every placement of the victims again (minutes)
python benchmarks/rescue/results.py --json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

import interplay
from interplay.games.rescue import difficulty
from interplay.games.rescue.benchmark import BENCHMARK
from interplay.hub.manifest import AGENT
from interplay.hub.store import local_names
from interplay.stats import bootstrap
from interplay.table import Row, Table

SCRIPTED = ("rescue/loner", "rescue/helper")
TEAMS = {"loner": ("rescue/loner", "rescue/loner"), "helper": ("rescue/helper", "rescue/helper")}


def trained(house: str) -> list[str]:
    prefix = f"trained/rescue/{house}/"
    return sorted(name for name in local_names(AGENT) if name.startswith(prefix))


def played(house: str, team: Sequence[str], episodes: int) -> Row:
    """Mean score with an interval over episodes, and constructive help of an episode by channel."""
    traces = interplay.play(f"rescue/{house}", list(team), episodes=episodes, seed=0)
    scores = [e.score for e in traces]
    made = bootstrap(scores, {}, seed=0, statistic="mean")
    row: Row = {"score": made.estimate, "low": made.low, "high": made.high}
    values = interplay.measure(traces, ["interdependence"], channels="each").where(window="unlimited")
    for channel in ("knowledge", "hands", "hazards", "knowledge+hands+hazards+guard+care"):
        for metric in ("constructive", "ignored"):
            known = [r["value"] for r in values.where(channel=channel, metric=metric) if r["value"] is not None]
            name = "all" if "+" in channel else channel
            row[f"{metric}_{name}"] = sum(known) / episodes if known else None
    return row


def headroom(episodes: int) -> Table:
    """Loners, helpers and the optimum (every victim, by a plan) in every house."""
    rows = []
    for name, house in BENCHMARK.items():
        row: Row = {"house": name, "horizon": house.horizon, "optimum": 10.0 * house.hidden}
        for word, team in TEAMS.items():
            result = played(name, team, episodes)
            row |= {word: result["score"], f"{word}_low": result["low"], f"{word}_high": result["high"]}
        rows.append(row)
    return Table.of(rows, "Head-room: mean points of 20")


def agents(episodes: int) -> Table:
    """Trained agents with themselves and, in both seats, with others: scripted partners and other trained agents."""
    rows = []
    for name in BENCHMARK:
        own = trained(name)
        for agent in own:
            others = [*SCRIPTED, *(a for a in own if a != agent)]
            row: Row = {"house": name, "agent": agent.rpartition("/")[2]}
            result = played(name, (agent, agent), episodes)
            row |= {"self_play": result["score"], "help_all": result["constructive_all"]}
            row |= {f"help_{c}": result[f"constructive_{c}"] for c in ("knowledge", "hands", "hazards")}
            row["ignored"] = result["ignored_all"]
            for word, partners in (("loner", others[:1]), ("helper", others[1:2]), ("trained", others[2:])):
                scores = [played(name, team, episodes)["score"] for p in partners for team in ((agent, p), (p, agent))]
                row[f"with_{word}"] = sum(scores) / len(scores) if scores else None
            rows.append(row)
    return Table.of(rows, "Trained agents: mean points of 20")


def certificates() -> Table:
    """What search says of every house and placement."""
    rows = []
    for name, house in BENCHMARK.items():
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
            text = "–" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)
            cells.append(text if low is None else f"{text} [{low:.1f}, {row[f'{column}_high']:.1f}]")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--certify", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    tables = [certificates()] if args.certify else [headroom(args.episodes), agents(args.episodes)]
    if args.json:
        print(json.dumps({table.title: table.rows for table in tables}))
        return
    for table in tables:
        print(markdown(table))


if __name__ == "__main__":
    main()
