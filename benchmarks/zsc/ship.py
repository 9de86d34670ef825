"""From the folders of a pipeline to what the package ships: panel, egos, baselines and the table of returns.

    python benchmarks/zsc/ship.py runs/zsc coordination_ring forced_coordination

For every layout:
- rulers: where an ego beats a partner's best response beyond noise (its own 200 fresh episodes above the ruler's
  interval), that ego becomes the ruler: a weak best response flatters everyone. Which, is written into the panel.
- the panel goes to src/interplay/partners/data, the egos' policies to src/interplay/agents/data;
- baselines.json: BR-Prox of every method over its seeds, and who helped whom in a few episodes with every partner;
- benchmarks/zsc/results/LAYOUT: returns, cross-play, curves, times and the settings of every job.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np

from interplay.agents.api import Agent
from interplay.games.registry import make
from interplay.metrics.brprox_table import read_table
from interplay.partners.baselines import measure_baselines
from interplay.partners.evaluate import Cast, play_pairs
from interplay.partners.panel import Estimate, Response
from interplay.partners.panel_file import read_panel, write_baselines, write_panel
from interplay.partners.proximity import headline
from interplay.stats.brprox import summarise
from interplay.training.algorithms.br import partners_of

HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "src" / "interplay"
SUSPECT = 1.0  # ratios above it are looked at
EPISODES = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs")
    parser.add_argument("layouts", nargs="+")
    parser.add_argument("--episodes", type=int, default=2, help="with every partner and seat, to see who helps whom")
    given = parser.parse_args()
    for layout in given.layouts:
        ship(Path(given.runs) / layout, layout, given.episodes)


def ship(folder: Path, layout: str, episodes: int) -> None:
    game = make(f"overcooked/{layout}")
    egos = egos_of(folder)
    panel = read_panel(folder / "panel" / "panel", game)
    rows = list(csv.DictReader((folder / "returns.csv").open()))
    raised = raise_rulers(game, panel, egos, rows)
    members = [
        dataclasses.replace(m, responses=tuple(raised.get((m.agent.name, r.seat), r) for r in m.responses))
        for m in panel.members
    ]
    notes = [{"partner": p, "seat": s, "by": r.how, "worth": r.worth.mean} for (p, s), r in raised.items()]
    at = PACKAGE / "partners" / "data" / game.id / "generated"
    shutil.rmtree(at, ignore_errors=True)
    write_panel(at, "generated", game, members, dict(panel.provenance) | {"raised_rulers": notes})
    panel = read_panel(at, game)
    results = HERE / "results" / layout
    results.mkdir(parents=True, exist_ok=True)
    write_returns(results / "returns.csv", rows, panel)
    shutil.copy(folder / "crossplay.csv", results / "crossplay.csv")
    (results / "training.json").write_text(json.dumps(curves(folder), indent=1) + "\n")
    keep_policies(folder, game.id)
    found = summarise(read_table(results / "returns.csv"), seed=0)
    first = {name: agents[:1] for name, agents in egos.items()}
    helped = {row["agent"]: row for row in measure_baselines(panel, game, first, episodes=episodes).rows}
    table = [
        {"agent": name, "seeds": len(agents)}
        | headline(found, name)
        | {"mean": mean_return(rows, name)}
        | {k: helped[name][k] for k in ("gives", "gets", "ignored_percent")}
        for name, agents in egos.items()
    ]
    write_baselines(at, panel, table, episodes=50, helped_episodes=episodes, seed=0)
    print(layout, f"{len(raised)} rulers raised")
    for row in sorted(table, key=lambda r: -(r["br_prox"] or 0)):
        print("  ", {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()})


def egos_of(folder: Path) -> dict[str, list[Agent]]:
    seeds = json.loads((HERE / "pipeline.json").read_text())["egos"]
    found = {job: partners_of(str(folder / job))[:many] for job, many in seeds.items() if (folder / job).is_dir()}
    return {
        job: [Agent(f"{job}-{i}", a.policy, a.config) for i, a in enumerate(agents, 1)] for job, agents in found.items()
    }


def raise_rulers(game, panel, egos, rows) -> dict[tuple[str, int], Response]:
    """(partner, seat) -> the ego that does better there than any best response."""
    names = {(str(m.candidate), m.skill or ""): m.agent.name for m in panel.members}
    best: dict[tuple[str, int], tuple[float, str]] = {}
    for row in rows:
        if float(row["return"]) > SUSPECT * float(row["best_response_return"]):
            cell = names[row["partner"], row["skill"]], int(row["ego_seat"])
            best[cell] = max(best.get(cell, (0.0, "")), (float(row["return"]), f"{row['algorithm']}-{row['seed']}"))
    if not best:
        return {}
    everyone = [agent for agents in egos.values() for agent in agents]
    by_name, partners = [a.name for a in everyone], [m.agent.name for m in panel.members]
    pairs = sorted({(partners.index(p), by_name.index(name)) for (p, _), (_, name) in best.items()})
    cast, own = Cast.of_agents(game, everyone), Cast.of_agents(game, list(panel.partners))
    played = play_pairs(game, own, cast, pairs, episodes=EPISODES, seed=99)
    found = {}
    for (partner, seat), (_, name) in best.items():
        pair = partners.index(partner), by_name.index(name)
        worth = Estimate.of(played.scores[pairs.index(pair), seat])
        ruler = panel.members[pair[0]].response(seat)
        if ruler is not None and worth.low > ruler.worth.mean:
            found[partner, seat] = Response(seat, everyone[pair[1]], f"an ego that did better: {name}", worth)
    return found


def write_returns(path: Path, rows: list[dict], panel) -> None:
    """The returns beside the rulers of the panel that is shipped."""
    rulers = {(str(m.candidate), m.skill or "", r.seat): r.worth for m in panel.members for r in m.responses}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            worth = rulers[row["partner"], row["skill"], int(row["ego_seat"])]
            told = {"return": worth.mean, "low": worth.low, "high": worth.high}
            writer.writerow(row | {f"best_response_{k}": round(v, 3) for k, v in told.items()})


def mean_return(rows: list[dict], name: str) -> float:
    return float(np.mean([float(r["return"]) for r in rows if r["algorithm"] == name]))


def curves(folder: Path) -> dict:
    """Of every job: its settings, the curve and the seconds it took; of the panel: its stages."""
    told = {}
    for log in sorted(folder.glob("*/log.jsonl")):
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        manifest = json.loads((log.parent / "manifest.json").read_text())
        told[log.parent.name] = {
            "experiment": _told(manifest["experiment"]),
            "wall_s": round(sum(line["wall_s"] for line in lines), 1),
            "curve": [{"steps": line["steps"], "returns": line["returns"]} for line in lines],
        }
    build = json.loads((folder / "panel" / "build.json").read_text())
    told["panel"] = {"settings": build["config"], "stages": build["stages"]}
    timeline = folder / "timeline.json"
    told["timeline"] = json.loads(timeline.read_text()) if timeline.exists() else None
    return told


def _told(experiment: dict) -> dict:
    """Settings without the place where the pipeline happened to run, which need not be where it is now."""
    place = str(Path(experiment["output"]["folder"]).parents[1])
    return json.loads(json.dumps(experiment).replace(f"{place}/", "runs/"))


def keep_policies(folder: Path, game_id: str) -> None:
    at = PACKAGE / "agents" / "data" / game_id
    shutil.rmtree(at, ignore_errors=True)
    at.mkdir(parents=True)
    for job, agents in egos_of(folder).items():
        listed = json.loads((folder / job / "manifest.json").read_text())["policies"][: len(agents)]
        for number, one in enumerate(listed, 1):
            shutil.copy(folder / job / one["file"], at / f"{job}-{number}.safetensors")


if __name__ == "__main__":
    main()
