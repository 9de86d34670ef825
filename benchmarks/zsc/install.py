"""From the folders of the pipeline to what the package ships: panels, egos, baselines, and tables of results.

    python benchmarks/zsc/install.py runs/zsc                          # every layout whose panel is done
    python benchmarks/zsc/install.py runs/zsc counter_circuit --package /tmp/try --results /tmp/try/results
    python benchmarks/zsc/install.py --measure blocked_corridor        # of what is installed: baselines measured anew

Nothing is decided here: panels are kept as `python -m interplay.partners` made them, and so are the egos that passed
their gate. Methods that were trained take the place of earlier agents of theirs; others stay. An ego that scores less
than the plan's gate (one soup) with itself (crossplay.csv) is not shipped, and counted in the tables as dead. For every
layout:

- PACKAGE/panels/FAMILY/LAYOUT/PANEL and PACKAGE/agents/FAMILY/LAYOUT/METHOD-SEED.safetensors; what the main
  package has as its demonstration stays there, made anew, and the manifest of the hub is written;
- baselines.json beside the panel: BR-Prox of every method over its seeds, scripted agents among them, and who helped
  whom in a few episodes with every partner;
- RESULTS/LAYOUT: returns.csv, returns_PANEL.csv, crossplay.csv, training.json (settings, curves, gates, times).
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pipeline import game_name
from returns import by_method

from interplay.agents.api import Agent
from interplay.agents.registry import agent
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.hub.store import CHECKOUT, DEMONSTRATION, write_index
from interplay.metrics.brprox.table import read_table
from interplay.metrics.interdependence.metric import counted_channels
from interplay.partners.baselines import measure_baselines
from interplay.partners.known import scripted_agents
from interplay.partners.leaderboard import HANDOVERS
from interplay.partners.panel import Panel
from interplay.partners.panel_file import PANEL, read_panel, write_baselines, write_panel
from interplay.partners.proximity import headline
from interplay.partners.returns import dead_egos, egos_that_failed, write_rows
from interplay.stats.brprox.summary import summarise
from interplay.table import Table
from interplay.training.saved_stages import parse_run_range

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PANELS = ("panel", "self_play", "chefs", "people")  # jobs whose folder holds a panel
DEFAULT = "generated"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="?", help="the pipeline's folder; with --measure a layout")
    parser.add_argument("layouts", nargs="*")
    parser.add_argument(
        "--measure", action="store_true", help="measure baselines of installed layouts; install nothing"
    )
    parser.add_argument("--plan", type=Path, default=HERE / "pipeline.json")
    parser.add_argument("--package", type=Path, default=CHECKOUT)
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--episodes", type=int, default=2, help="with every partner and seat, to see who helps whom")
    given = parser.parse_args()
    plan = json.loads(given.plan.read_text())
    if given.measure:
        layouts = [*([str(given.runs)] if given.runs else []), *given.layouts]
        work, there = partial(measure, plan=plan), sorted(p.parent.name for p in given.results.glob("*/returns.csv"))
    else:
        there = sorted(p.parents[2].name for p in given.runs.glob(f"*/panel/panel/{PANEL}"))
        work, layouts = partial(install, plan=plan), given.layouts
    demonstration = gathered() if given.package == CHECKOUT else []
    try:
        for layout in layouts or there:
            work(given, layout=layout)
    finally:
        for path in demonstration:
            move(CHECKOUT / path, DEMONSTRATION / path)
    if given.package == CHECKOUT:
        write_index()


def gathered() -> list[Path]:
    """Move the demonstration of the main package to where all other files are; gives their paths."""
    files = [path.relative_to(DEMONSTRATION) for path in sorted(DEMONSTRATION.rglob("*")) if path.is_file()]
    for path in files:
        move(DEMONSTRATION / path, CHECKOUT / path)
    return files


def move(source: Path, target: Path) -> None:
    if source.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)


def install(given: argparse.Namespace, *, plan: dict[str, Any], layout: str) -> None:
    game, folder, results = make(game_name(plan, layout)), given.runs / layout, given.results / layout
    results.mkdir(parents=True, exist_ok=True)
    keep_egos(plan, folder, given.package / "agents" / game.id)
    for job in PANELS:
        if (folder / job / "panel" / PANEL).is_file():
            keep_panel(folder / job / "panel", game, given)
    anew = {name.rpartition("-")[0] for name, _ in ego_files(plan, folder)}
    methods = {file.stem.rpartition("-")[0] for file in (given.package / "agents" / game.id).glob("*.safetensors")}
    same_partners = not (folder / "draft.done.json").exists()
    if same_partners and (results / "returns.csv").exists():
        trained = json.loads((results / "training.json").read_text()).keys()
        methods |= {row["algorithm"] for row in read_rows(results / "returns.csv")} & trained
        panel = read_panel(given.package / "panels" / game.id / DEFAULT, game)
        keep_earlier_rows(folder, results, panel, methods - anew)
    else:
        for source in sorted(folder.glob("returns_*.csv")):
            shutil.copy(source, results / ("returns.csv" if source.stem == f"returns_{DEFAULT}" else source.name))
        if (folder / "crossplay.csv").exists():
            shutil.copy(folder / "crossplay.csv", results / "crossplay.csv")
    told = trained_before(results / "training.json", methods - anew, same_partners) | training(folder)
    text = json.dumps(told, separators=(",", ":"))
    (results / "training.json").write_text(text.replace(f"{given.runs}/", "runs/") + "\n")
    measure(given, plan=plan, layout=layout)


def measure(given: argparse.Namespace, *, plan: dict[str, Any], layout: str) -> None:
    """Remove the dead egos of an installed layout, and write the baselines of its panel."""
    game, results = make(game_name(plan, layout)), given.results / layout
    agents = given.package / "agents" / game.id
    dead = read_dead(results, plan.get("least_score", plan["training"].get("gate", {}).get("least_return", 0.0)))
    for method, seed in dead:
        (agents / f"{method}-{seed}.safetensors").unlink(missing_ok=True)
    panel = given.package / "panels" / game.id / DEFAULT
    episodes = {"episodes": plan["jobs"]["returns"]["episodes"], "helped_episodes": given.episodes}
    rows = baselines(game, panel, results, egos_by_method(agents), dead, episodes)
    print(layout, f"{len(dead)} dead")
    for row in sorted(rows, key=lambda r: -(r["br_prox"] or 0)):
        print("  ", {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()})


def read_dead(results: Path, least: float) -> dict[tuple[str, int], float]:
    """Return the egos that score less than `least` with themselves, those that their gate left out among them."""
    failed = egos_that_failed(json.loads((results / "training.json").read_text()))
    with (results / "crossplay.csv").open() as file:
        return dead_egos(csv.DictReader(file), least) | failed


def keep_panel(source: Path, game: Game, given: argparse.Namespace) -> str:
    """Write a panel into the package as it was made, but for the folder that its provenance names; gives its name."""
    panel = read_panel(source, game)
    at = given.package / "panels" / game.id / panel.name
    shutil.rmtree(at, ignore_errors=True)
    provenance = json.loads(json.dumps(panel.provenance).replace(f"{given.runs}/", "runs/"))
    write_panel(at, panel.name, game, panel.members, provenance, panel.sets)
    return panel.name


def keep_egos(plan: Mapping[str, Any], folder: Path, at: Path) -> None:
    """Copy the egos that were trained; earlier ones of their methods go."""
    at.mkdir(parents=True, exist_ok=True)
    files = dict(ego_files(plan, folder))
    anew = {name.rpartition("-")[0] for name in files}
    for file in at.glob("*.safetensors"):
        if file.stem.rpartition("-")[0] in anew:
            file.unlink()
    for name, file in files.items():
        shutil.copy(file, at / f"{name}.safetensors")


def egos_by_method(at: Path) -> dict[str, list[Agent]]:
    """All egos of a layout that are installed, clones of people left out."""
    stems = sorted(file.stem for file in at.glob("*.safetensors") if not file.stem.startswith("bc-"))
    found = [agent(str(at / f"{stem}.safetensors")) for stem in stems]
    return by_method([Agent(stem, a.policy, a.config) for stem, a in zip(stems, found, strict=True)])


def ego_files(plan: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, Path]]:
    """(METHOD-SEED, file) of every ego of the layout's jobs that are done, as the plan's `known` names them."""
    for name in plan["known"]:
        method, _, reference = name.rpartition("=")
        at, runs = parse_run_range(reference.replace("@?", "@").removeprefix("@"))
        job = folder / at
        if not job.with_name(f"{job.name}.done.json").exists():
            continue
        policies = json.loads((job / "manifest.json").read_text())["policies"]
        chosen = [one for one in policies if runs is None or one["run"] in runs]
        for number, one in enumerate(chosen, 1):
            own = f"{method}-{number}" if method else f"{one['algorithm']}-{one['ego'] + 1}"
            yield own, job / one["file"]


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open() as file:
        return list(csv.DictReader(file))


def keep_earlier_rows(folder: Path, results: Path, panel: Panel, earlier: set[str]) -> None:
    """Where new egos met the partners of before: their rows, and those of methods that were not trained anew.

    All are beside the panel's best responses as they are now.
    """
    best = {
        (str(m.agent.name if m.candidate is None else m.candidate), m.skill or "", str(r.seat)): r.worth
        for m in panel.members
        for r in m.responses
    }
    before = [row for row in read_rows(results / "returns.csv") if row["algorithm"] in earlier]
    kept = {row["algorithm"] for row in before}
    after = [row for row in read_rows(folder / f"returns_{DEFAULT}.csv") if row["algorithm"] not in kept]
    cells = {cell_of(row): row for row in after}
    rows = []
    for row in [*after, *before]:
        if worth := best.get(cell_of(row)):
            values = {"return": worth.mean, "low": worth.low, "high": worth.high}
            measured = {f"best_response_{name}": round(value, 3) for name, value in values.items()}
            about = {name: cells[cell_of(row)][name] for name in ("prefers", "self_play_return")}  # of the partner
            rows.append({name: (row | measured | about).get(name, "") for name in after[0]})
    write_rows(results / "returns.csv", rows)
    sides = ("algorithm", "partner")
    met = [r for r in read_rows(results / "crossplay.csv") if all(r[side] in kept for side in sides)]
    met += [r for r in read_rows(folder / "crossplay.csv") if not all(r[side] in kept for side in sides)]
    write_rows(results / "crossplay.csv", met)


def cell_of(row: Mapping[str, str]) -> tuple[str, str, str]:
    """Partner, skill and seat."""
    return row["partner"], row["skill"], row["ego_seat"]


def trained_before(path: Path, methods: set[str], same_partners: bool) -> dict[str, Any]:
    """What the file tells of how agents of these methods were trained, their populations included.

    If the panel's partners are those of before, also of how these were: a panel that was closed again has them as its
    draft.
    """
    told = json.loads(path.read_text()) if path.exists() else {}
    kept = {name: job for name, job in told.items() if name.removesuffix("_population") in methods}
    if same_partners and "panel" in told:
        kept |= {"draft": told.get("draft", told["panel"]), "panel": told["panel"]}
    return kept


def training(folder: Path) -> dict[str, Any]:
    """Of every job: settings, curve, who died, seconds; of panels their stages."""
    told: dict[str, Any] = {}
    for path in sorted(folder.glob("*/manifest.json")):
        if not path.parent.with_name(f"{path.parent.name}.done.json").exists():
            continue
        manifest = json.loads(path.read_text())
        lines = [json.loads(line) for line in (path.parent / "log.jsonl").read_text().splitlines()]
        told[path.parent.name] = {
            "experiment": manifest["experiment"],
            "runs": [
                {
                    k: p[k]
                    for k in ("run", "algorithm", "ego", "retry", "return", "chosen_from", "dead_members")
                    if k in p
                }
                for p in manifest["policies"]
            ],
            "gate": manifest.get("gate"),
            "wall_s": round(sum(line["wall_s"] for line in lines), 1),
            "curve": [{"steps": line["steps"], "returns": rounded(line["returns"])} for line in lines],
        }
    for path in sorted(folder.glob("*/build.json")):
        if not path.parent.with_name(f"{path.parent.name}.done.json").exists():
            continue
        build = json.loads(path.read_text())
        told[path.parent.name] = {"settings": build["config"], "stages": build["stages"]}
    times = {name: json.loads((folder / f"{name}.done.json").read_text()) for name in told}
    timeline = folder.with_name("timeline.json")
    for line in map(json.loads, timeline.read_text().splitlines() if timeline.exists() else ()):
        if line["layout"] == folder.name and line["job"] in times:  # what earlier calls had of a job that was cut
            times[line["job"]]["seconds"] = round(times[line["job"]]["seconds"] + line.get("cut_after", 0.0), 1)
    return told | {"times": times}


def rounded(returns: list[float | None]) -> list[float | None]:
    return [None if r is None else round(r, 1 if abs(r) >= 2 else 3) for r in returns]


def baselines(
    game: Game,
    at: Path,
    results: Path,
    egos: Mapping[str, list[Agent]],
    dead: Mapping[tuple[str, int], float],
    episodes: Mapping[str, int],
) -> list[dict[str, Any]]:
    """Every method's numbers with the panel over its living seeds, and who helped whom in a few episodes."""
    panel = read_panel(at, game)
    cells = read_table(results / "returns.csv")
    methods = dict.fromkeys(row["algorithm"] for row in cells.table)
    alive = [row for row in cells.table if (row["algorithm"], int(row["seed"])) not in dead]
    found = summarise(replace(cells, table=Table(cells.table.columns, alive)), seed=0)
    known = dict(egos) | {a.name.rpartition("/")[2]: [a] for a in scripted_agents(game)}
    known = {name: agents for name, agents in known.items() if name in methods}
    first = {name: agents[:1] for name, agents in known.items()}
    helped = {
        row["agent"]: row for row in measure_baselines(panel, game, first, episodes=episodes["helped_episodes"]).rows
    }
    rows = []
    for name in methods:
        count = sum(method == name for method, _ in dead)
        if name not in known:
            rows.append({"agent": name, "seeds": 0, "dead": count, "br_prox": None})
            continue
        returns = [row["return"] for row in alive if row["algorithm"] == name]
        rows.append(
            {"agent": name, "seeds": len(known[name]), "dead": count}
            | headline(found, name)
            | {"mean": statistics.fmean(returns)}
            | {k: helped[name].get(k) for k in HANDOVERS}
        )
    write_baselines(at, panel, rows, **episodes, seed=0, channels=counted_channels(game))
    return rows


if __name__ == "__main__":
    main()
