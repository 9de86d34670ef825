"""270 episodes of scripted teams (9 pairings x 3 levels x 10), run, kept and audited: how long does it take?

python benchmarks/llm_episodes.py [--episodes 10]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from interplay.llm import RunPlan, run, summary

MODELS = ("scripted/reference", "scripted/chatty", "scripted/clumsy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10)
    arguments = parser.parse_args()
    plan = RunPlan(chefs=MODELS, assistants=MODELS, levels=(1, 2, 3), episodes=arguments.episodes)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        result = run(plan, Path(folder) / "out")
        played = time.perf_counter()
        audited = _audit(Path(folder) / "out")
        ended = time.perf_counter()
        rows = summary(result.traces).rows
    solved = sum(r["success"] * r["episodes"] for r in rows)
    print(f"episodes {result.played}, delivered {solved:.0f}, model calls {result.meter.calls:,}")
    print(f"played and kept in {played - began:.1f} s, {audited:,} values audited in {ended - played:.1f} s")


def _audit(folder: Path) -> int:
    import interplay

    return len(interplay.measure(folder, ["communication"]))


if __name__ == "__main__":
    main()
