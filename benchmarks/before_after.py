"""The speed of this checkout beside an earlier revision: the same work in a process of each, in turns.

python benchmarks/before_after.py REVISION [--rounds 3]

Prints, for each piece of work, the seconds of both (the best of all rounds) and their ratio. The earlier revision is
checked out into a temporary folder; both use this environment's libraries, and compile whatever they run.
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
WORK = {
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
}


def seconds(checkout: Path, code: str) -> float:
    """Run a piece of work with one checkout and return the seconds that it prints."""
    sources = [checkout / "src", checkout / "packages" / "interplay-agents" / "src"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("JAX_")} | {
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "JAX_PLATFORMS": "cpu",
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{checkout}: {done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def main() -> None:
    """Print a line for each piece of work."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("revision", help="what to compare with, as git names it")
    parser.add_argument("--rounds", type=int, default=3, help="how often each piece of work is timed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", "-q", before, options.revision], check=True)
        try:
            for name, code in WORK.items():
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
