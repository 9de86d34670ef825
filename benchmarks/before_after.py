"""The speed of this checkout beside an earlier revision: the same work in a process of each, in turns.

    python benchmarks/before_after.py REVISION [--rounds 3]
    python benchmarks/before_after.py REVISION --only server --rounds 1

Prints, for each piece of work, the time of both (the best of all rounds) and their ratio. The earlier revision is
checked out into a temporary folder; both use this environment's libraries, and compile whatever they run. Of the
servers' load tests the processor time is compared, which other work beside them changes little.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TIMED = """
import time, interplay
def timed(run, repeats):
    run(1000)                                   # compiles, and loads what is loaded once
    began = time.perf_counter()
    for n in range(repeats):
        run(n)
    print((time.perf_counter() - began) / repeats)
"""
# A load test prints a table; the mean of one of its columns, counted from the end, is compared.
TABLE = """
import subprocess, sys
done = subprocess.run([sys.executable, *{command!r}], capture_output=True, text=True)
cells = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ")]
rows = [row for row in cells if row[1].strip() in {first!r}]
if done.returncode or not rows:
    sys.exit(done.stderr[-2000:])
print(sum(float(row[{column}]) for row in rows) / len(rows) / 1000)
"""
WORK = {
    "overcooked.py, 1,024 environments, a million steps": "from benchmarks.overcooked import ours, rate\n"
    + "print(1e6 / rate(ours(1024, 400, 'planes_first', 'stored'), 1024 * 400, 5))",
    "hanabi.py, 1,024 environments, a million steps": "from benchmarks.hanabi import measure, ours\n"
    + "print(1e6 / measure(ours(2, 1024), 1024, 200, 5)['steps_per_s'])",
    "kitchen, random | random, an episode of 20 steps": TIMED
    + "g = interplay.make('kitchen/original', horizon=20)\n"
    + "timed(lambda n: list(interplay.play(g, ['random', 'random'], episodes=1, seed=n)), 5)",
    "kitchen, an episode of 100 steps": TIMED
    + "g = interplay.make('kitchen/original', horizon=100)\n"
    + "timed(lambda n: list(interplay.play(g, ['random', 'random'], episodes=1, seed=n)), 5)",
    "Hanabi, 200 games of hanabi/smart": TIMED
    + "g = interplay.make('hanabi/2p')\n"
    + "timed(lambda n: list(interplay.play(g, ['hanabi/smart', 'hanabi/smart'], episodes=200, seed=n)), 3)",
    "Overcooked, 200 episodes of overcooked/greedy": TIMED
    + "g = interplay.make('overcooked/counter_circuit')\n"
    + "timed(lambda n: list(interplay.play(g, ['overcooked/greedy'] * 2, episodes=200, seed=n)), 3)",
    "a player in Python, one Overcooked episode": TIMED
    + "g = interplay.make('overcooked/counter_circuit')\n"
    + "from interplay.agents.api import Agent, FunctionPlayer\n"
    + "p = Agent('p', FunctionPlayer(lambda planes, legal: 4, encoding='planes'))\n"
    + "timed(lambda n: list(interplay.play(g, [p, 'overcooked/greedy'], episodes=1, seed=n)), 3)",
    "study server (study_load.py), 50 games of 20 s, processor time of a game's second": TABLE.format(
        command=["benchmarks/study_load.py", "--games", "50", "--seconds", "20"], first=("50",), column=-3
    ),
    "challenge server (challenge_load.py), processor time of a game": TABLE.format(
        command=["benchmarks/challenge_load.py"], first=("ours", "published"), column=-3
    ),
}


def seconds(checkout: Path, code: str) -> float:
    """Run a piece of work with one checkout and return the seconds that it prints."""
    sources = [checkout / "src", checkout / "packages" / "interplay-agents" / "src"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")} | {
        "PYTHONPATH": os.pathsep.join(map(str, [*sources, checkout])),
        "JAX_PLATFORMS": "cpu",
    }
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{checkout}: {done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def main() -> None:
    """Print a line for each piece of work."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("revision", help="what to compare with, as git names it")
    parser.add_argument("--rounds", type=int, default=3, help="how often each piece of work is timed")
    parser.add_argument("--only", default="", help="only work whose name holds this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", "-q", before, options.revision], check=True)
        try:
            for name, code in ((name, code) for name, code in WORK.items() if options.only in name):
                times = {"before": float("inf"), "after": float("inf")}
                for _ in range(options.rounds):
                    for label, checkout in (("before", before), ("after", ROOT)):
                        times[label] = min(times[label], seconds(checkout, code))
                print(
                    f"{name}: {times['before']:.4f} s -> {times['after']:.4f} s, "
                    f"{times['before'] / times['after']:.2f} times as fast",
                    flush=True,
                )
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", before], check=True)


if __name__ == "__main__":
    main()
