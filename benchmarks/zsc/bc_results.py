"""Human proxies in one table: `python benchmarks/zsc/bc_results.py RUNS > benchmarks/zsc/results/bc.json`.

RUNS/LAYOUT are the folders of `python -m interplay.training benchmarks/zsc/bc_LAYOUT.json --out RUNS/LAYOUT`.
"""

import json
import sys
from pathlib import Path

from interplay.games.overcooked.human import human_games


def row(folder: Path) -> dict:
    manifest = json.loads((folder / "manifest.json").read_text())
    last, layout = manifest["curve"][-1], manifest["game"]["id"].split("/")[1]
    people = [g.score / g.length * 400 for g in human_games() if g.layout == layout]
    fits = {name: {k: {n: round(v, 3) for n, v in x.items()} for k, x in last[name].items()} for name in FITS}
    return {
        "layout": layout,
        "games": len(people),
        "splits": len(manifest["policies"]),
        **fits,
        "unstuck": manifest["policies"][0]["unstuck"],
        "self_play": [round(r, 1) for r in last["returns"]],
        "people_per_400_steps": round(sum(people) / len(people), 1),
        "sha256": [p["sha256"] for p in manifest["policies"]],
    }


FITS = ("held_out", "chance", "learnt")

if __name__ == "__main__":
    folders = sorted(p for p in Path(sys.argv[1]).iterdir() if (p / "manifest.json").is_file())
    print(json.dumps({"rows": [row(folder) for folder in folders]}, indent=1))
