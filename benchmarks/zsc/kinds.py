"""Other kinds of panels: clones of people, agents of self-play. Best responses to clones; what all egos score there.

    python benchmarks/zsc/kinds.py train runs/kinds --clones runs/bc --egos runs/zsc    # on the machine with the GPU
    python benchmarks/zsc/kinds.py ship runs/kinds --clones runs/bc                     # into package and results

CLONES/LAYOUT are the folders of `python -m interplay.training benchmarks/zsc/bc_LAYOUT.json --out CLONES/LAYOUT`, and
EGOS/LAYOUT/sp those of the pipeline. A panel has every clone (or every seed of self-play), each with a fresh best
response; the rulers of people's panels are therefore what can be reached with an imitation of people, not with people.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "src" / "interplay"
CLONED = ("asymmetric_advantages", "coordination_ring", "counter_circuit", "cramped_room", "forced_coordination")
SELF_PLAY = ("coordination_ring", "forced_coordination", "counter_circuit", "asymmetric_advantages")
KINDS = {"people": ("human proxy", CLONED), "self_play": ("self-play", SELF_PLAY)}
EPISODES = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "ship"))
    parser.add_argument("runs", type=Path)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--egos", type=Path, help="of the pipeline, to train")
    given = parser.parse_args()
    if given.what == "train":
        train(given.runs, given.clones, given.egos)
    else:
        ship(given.runs, given.clones)


def train(runs: Path, clones: Path, egos: Path) -> None:
    plan = json.loads((HERE / "pipeline.json").read_text())
    for name, (kind, layouts) in KINDS.items():
        for layout in layouts:
            partners = clones / layout if name == "people" else egos / layout / "sp"
            inner = {k: plan["training"][k] for k in ("envs", "rollout", "network", "ppo", "rewards")}
            config = {"game": {"name": f"overcooked/{layout}"}, "name": name, "kind": kind, "training": inner}
            start("partners", config | {"partners": [str(partners)], "response_steps": 5e6}, runs / name / layout)
    for layout in CLONED:
        config = plan["training"] | {"game": {"name": f"overcooked/{layout}"}, "steps": 8e6, "runs": 3}
        options = {"partners": [str(clones / layout)]}
        start("training", config | {"algorithm": {"name": "br", "options": options}}, runs / "bc_br" / layout)


def start(room: str, config: dict, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    path = out.with_suffix(".json")
    path.write_text(json.dumps(config, indent=1))
    command = [sys.executable, "-m", f"interplay.{room}", str(path), "--out", str(out), "--quiet"]
    subprocess.run(command, check=True, env=dict(os.environ))


def ship(runs: Path, clones: Path) -> None:
    from interplay.games.registry import make
    from interplay.partners.panel_file import read_panel, write_panel

    for layout in CLONED:
        at = PACKAGE / "agents" / "data" / "overcooked" / layout
        at.mkdir(parents=True, exist_ok=True)
        for method, folder in (("bc", clones / layout), ("bc_br", runs / "bc_br" / layout)):
            for number, one in enumerate(sorted((folder / "policies").glob("*.safetensors")), 1):
                shutil.copy(one, at / f"{method}-{number}.safetensors")
    for name, (_, layouts) in KINDS.items():
        for layout in layouts:
            game = make(f"overcooked/{layout}")
            found = read_panel(runs / name / layout / "panel", game)
            at = PACKAGE / "partners" / "data" / game.id / name
            shutil.rmtree(at, ignore_errors=True)
            write_panel(at, name, game, list(found.members), without_places(found.provenance, layout, name))
            returns(game, read_panel(at, game), HERE / "results" / layout / f"returns_{name}.csv")
            print(game.id, name, flush=True)


def without_places(provenance, layout: str, name: str) -> dict:
    """What a panel tells of itself, without the folder in which it happened to be made."""
    config = dict(provenance["config"]) | {
        "partners": [f"runs/bc/{layout}" if name == "people" else f"runs/zsc/{layout}/sp"]
    }
    return dict(provenance) | {"config": config}


def returns(game, panel, path: Path) -> None:
    """What every shipped ego scores with every partner and seat. No seed of self-play is judged by itself."""
    from returns import rows_of, write

    from interplay.agents.registry import agent
    from interplay.agents.shipped import shipped

    found = [(*name.split("/")[-1].rpartition("-")[::2], name) for name in shipped() if name.startswith(f"{game.id}/")]
    egos = [
        (method, int(seed), dataclasses.replace(agent(f"trained/{name}"), name=f"{method}-{seed}"))
        for method, seed, name in found
        if method != "bc"
    ]
    rows = rows_of(game, panel, egos, EPISODES)
    if panel.name == "self_play":
        itself = {m.agent.name: f"{m.notes['name']}" for m in panel.members}
        rows = [r for r in rows if r["algorithm"] != "sp" or itself[r["partner"]] != f"run{r['seed'] - 1}"]
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, rows)


if __name__ == "__main__":
    main()
