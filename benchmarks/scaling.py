"""How a full evaluation of zero-shot coordination would scale, on paper, from rates measured on this machine.

    python benchmarks/scaling.py                    # measures, then prints the table for 1 to 1,000 machines
    python benchmarks/scaling.py --cores 64 --episodes 20

The work: 12 layouts x 45 egos (nine methods, five seeds) x 20 partners x 2 seats x 50 episodes of 400 steps. Measured
here, in processor seconds, so that other work beside does not count: what a worker compiles before its first share,
steps a second of two trained networks, episodes that the one writing process takes a second, and, with --ray, what a
task costs Ray's driver. Nothing here runs on more than one machine.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from pathlib import Path

import interplay
from interplay.api import PART
from interplay.rollout.engine import SHARES_A_SLOT, Share, play_share
from interplay.rollout.teams import Team

GAME, EGO = "overcooked/counter_circuit", "trained/overcooked/counter_circuit/hsp-1"
LAYOUTS, EGOS, PARTNERS, SEATS, STEPS = 12, 45, 20, 2, 400
START_S = 5.0  # a Ray worker imports JAX and interplay
RAY_TASK_S = 0.001  # of the driver, for a task and its result; see --ray


def main() -> int:
    """Measure the rates, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, default=32, help="of a machine")
    parser.add_argument("--episodes", type=int, default=50, help="of an ego with a partner in a seat")
    parser.add_argument("--machines", nargs="+", type=int, default=[1, 3, 10, 30, 100, 300, 1000])
    parser.add_argument(
        "--ray", action="store_true", help="measure the cost of a task on a Ray cluster of this machine"
    )
    args = parser.parse_args()
    compiling, rate, writing = measured()
    task = ray_task() if args.ray else RAY_TASK_S
    print(f"compiling {compiling:.1f} s a worker and layout; {rate:,.0f} steps/s a core;")
    print(f"{writing:,.0f} episodes/s written; {1000 * task:.2f} ms a task{'' if args.ray else ' (assumed)'}")
    for name, steps_a_second in (("compiled networks", rate), ("an ego in Python, 1 ms a move", 1000.0)):
        print(f"\n{name}\n")
        print("| machines | cores | playing, s | compiling, s | driver and writing, s | all, s | times one machine |")
        print("|---:|---:|---:|---:|---:|---:|---:|")
        alone = times(args.cores, args.episodes, compiling, steps_a_second, writing, task)["all"]
        for machines in args.machines:
            cores = machines * args.cores
            row = times(cores, args.episodes, compiling, steps_a_second, writing, task)
            parts = " | ".join(f"{row[part]:,.0f}" for part in ("playing", "compiling", "driver", "all"))
            print(f"| {machines:,} | {cores:,} | {parts} | {alone / row['all']:,.1f} |")
    return 0


def times(cores: int, episodes: int, compiling: float, rate: float, writing: float, task: float) -> dict[str, float]:
    """Return the seconds of each part; layouts one after the other, as `crossplay --engine ray` plays them."""
    teams = EGOS * PARTNERS * SEATS
    shares = min(teams * episodes, cores * SHARES_A_SLOT)
    rounds = math.ceil(shares / cores)
    playing = LAYOUTS * rounds * math.ceil(teams * episodes / shares) * STEPS / rate
    driver = LAYOUTS * (teams * episodes / writing + shares * task)
    compiled = START_S + LAYOUTS * compiling
    # Writing goes on while workers play: the slower of the two counts.
    return {
        "playing": playing,
        "compiling": compiled,
        "driver": driver,
        "all": compiled + max(playing, driver),
    }


def measured() -> tuple[float, float, float]:
    """Return seconds of compiling, steps a second of one core, and episodes written a second."""
    game = interplay.make(GAME)
    team = Team.of(game, [EGO, EGO])
    took = []
    for seed in (0, 1):
        began = time.process_time()
        episodes = list(play_share(Share(game, [team], 0, PART, seed, PART)))
        took.append(time.process_time() - began)
    with tempfile.TemporaryDirectory() as folder:
        traces = interplay.TraceSet.create(Path(folder) / "traces")
        traces.append(episodes)
        began = time.process_time()
        traces.append(episodes)
        wrote = time.process_time() - began
    return took[0] - took[1], PART * STEPS / took[1], PART / wrote


def ray_task() -> float:
    """Return the driver's processor seconds for an empty task."""
    from interplay.rollout.ray_engine import RayEngine

    engine = RayEngine()
    list(engine.map(str, range(8)))
    began = time.process_time()
    assert len(list(engine.map(str, range(400)))) == 400
    return (time.process_time() - began) / 400


if __name__ == "__main__":
    sys.exit(main())
