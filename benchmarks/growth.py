"""What growth costs: cross-play of many agents, trace sets of many episodes, reports of many episodes.

    python benchmarks/growth.py crossplay --sizes 10 30 100
    python benchmarks/growth.py traces --sizes 10000 100000 1000000
    python benchmarks/growth.py report --sizes 100 1000 10000

Every step runs in a process of its own, so that its peak memory is its own; wall and processor seconds include starting
Python and compiling. Rows are printed as Markdown. Work goes to a temporary folder, or to --folder, where what an
earlier call played is used again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LAYOUT = "overcooked/cramped_room"
HORIZON = 50  # steps of an episode, so that 10^6 of them can be played on two cores
CHEFS = ("greedy", "onion_passer", "onion_receiver", "onion_only", "dish_only")


def crossplay(folder: Path, size: int) -> list[tuple[str, list[str], Path | None]]:
    """All ordered pairs of `size` agents: five scripted chefs, each with `size / 5` shares of random moves."""
    agents = [f"overcooked/{CHEFS[i % 5]}+{0.005 * (i // 5):.3f}" for i in range(size)]
    out = folder / f"crossplay{size}"
    game = ["--game", LAYOUT, "--episodes", "4"]
    return [("crossplay, 4 episodes a pair", ["crossplay", *game, "--agents", *agents, "--out", str(out)], out)]


def played(folder: Path, size: int) -> tuple[str, list[str], Path]:
    """One team, `size` episodes of 50 steps."""
    out = folder / f"traces{size}"
    agents = ["--agents", "overcooked/greedy+0.1", "overcooked/onion_passer+0.1"]
    arguments = ["play", "--game", f"{LAYOUT}", "--options", f"horizon={HORIZON}", *agents]
    return "play", [*arguments, "--episodes", str(size), "--out", str(out)], out


def traces(folder: Path, size: int) -> list[tuple[str, list[str], Path | None]]:
    """Play, measure, ask, verify."""
    out = str(folder / f"traces{size}")
    return [
        played(folder, size),
        ("measure score, mean", ["measure", out, "--metrics", "score", "--mean"], None),
        ("measure events, to Parquet", ["measure", out, "--metrics", "events", "--out", f"{out}.parquet"], None),
        ("measure interdependence, mean", ["measure", out, "--metrics", "interdependence", "--mean"], None),
        ("sql", ["sql", out, "select agents, avg(score), count(*) from episodes group by agents"], None),
    ]


def report(folder: Path, size: int) -> list[tuple[str, list[str], Path | None]]:
    """Play, then one HTML file."""
    out = folder / f"traces{size}.html"
    return [played(folder, size), ("report", ["report", str(folder / f"traces{size}"), "--out", str(out)], out)]


PARTS = {"crossplay": crossplay, "traces": traces, "report": report}


def main() -> int:
    """Run the chosen part at all sizes and print a row for each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--sizes", nargs="+", type=int, required=True)
    parser.add_argument("--folder", type=Path)
    parser.add_argument(
        "--only", default="", help="only steps whose name contains this; what they read is there already"
    )
    args = parser.parse_args()
    print(
        "| size | step | seconds | processor seconds | peak memory, MB | on disk, MB |\n|---:|---|---:|---:|---:|---:|"
    )
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for size in args.sizes:
            for name, command, written in PARTS[args.part](folder, size):
                done = folder / f"{name}{size}.done"
                if args.only in name and not (name == "play" and done.exists()):
                    if step(size, name, command, written):
                        done.touch()
                    else:
                        failed += 1
    return int(failed > 0)


def step(size: int, name: str, command: list[str], written: Path | None) -> bool:
    """Run one command in a process of its own and print what it took."""
    program = f"import sys; from interplay.cli.main import main; main({command!r})"
    began = time.perf_counter()
    with open(os.devnull, "w") as silent:
        child = subprocess.Popen([sys.executable, "-c", program], stdout=silent, stderr=subprocess.PIPE, text=True)
        message = (child.stderr.read() if child.stderr else "")[-300:]
        _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - began
    if status:
        print(f"| {size:,} | {name} | FAILED: {message!r} | | | |", flush=True)
        return False
    disk = "" if written is None else f"{_bytes(written) / 1e6:,.1f}"
    row = f"{seconds:,.1f} | {used.ru_utime + used.ru_stime:,.1f} | {used.ru_maxrss / 1024:,.0f} | {disk}"
    print(f"| {size:,} | {name} | {row} |", flush=True)
    return True


def _bytes(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


if __name__ == "__main__":
    sys.exit(main())
