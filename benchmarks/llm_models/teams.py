"""What came of the teams in every trace set of a kitchen below a folder, by dish and team: deliveries, steps, requests.

python benchmarks/llm_models/teams.py FOLDER

Requests followed are those that the audit calls effective or assisted, by the speaker's role. Calls and tokens are the
models' own, without those of scripts; kept are the tokens that the server had read before, seconds those of wall clock
that a call took in the mean.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from interplay.reports.communication import audit
from interplay.rollout.episode import Episode
from interplay.stats.intervals import proportion_interval
from interplay.traces import TraceSet

COLUMNS = ("part", "dish", "chef", "assistant", "delivered", "steps", "calls", "tokens", "kept", "s a call")


def short(name: str) -> str:
    """A model's name without its options: qwen2.5-coder-1.5b of llm:qwen/qwen2.5-coder-1.5b[prompts=4]."""
    return name.removeprefix("llm:").partition("[")[0].rpartition("/")[2].partition(":")[0]


def numbers(episodes: list[Episode]) -> list[str]:
    events = [event for episode in episodes for event in episode.events]
    calls = [event.payload for event in events if event.kind == "call"]
    calls = [call for call in calls if not call["model"].startswith("scripted/")]
    kept = sum(call["tokens_cached"] or 0 for call in calls)
    tokens = sum((call["tokens_in"] or 0) + (call["tokens_out"] or 0) for call in calls)
    seconds = sum(call["latency_s"] for call in calls) / max(1, len(calls))
    delivered = sum(bool(episode.rewards.sum() > 0) for episode in episodes)
    share = proportion_interval(delivered, len(episodes))
    interval = f" [{share.low:.2f}, {share.high:.2f}]" if len(episodes) > 2 else ""
    lengths = [episode.length for episode in episodes]
    steps = ", ".join(map(str, lengths)) if len(lengths) < 6 else f"{sum(lengths) / len(lengths):.1f} in the mean"
    counts = [str(len(calls)), str(tokens), str(kept), f"{seconds:.0f}"]
    return [f"{delivered} of {len(episodes)}{interval}", steps, *counts]


def main() -> None:
    root = Path(sys.argv[1])
    print(f"| {' | '.join(COLUMNS)} | chef's requests followed | assistant's |")
    for manifest in sorted(root.rglob("manifest.json")):
        traces, part = TraceSet.open(manifest.parent), str(manifest.parent.relative_to(root))
        cells: dict[tuple[str, ...], list[Episode]] = defaultdict(list)
        for episode in traces:
            if "dish" in episode.options:
                cells[str(episode.options["dish"]), *(agent.name for agent in episode.agents)].append(episode)
        if not cells or manifest.parent.name == "set-aside":
            continue
        followed: dict[tuple[str, ...], list[bool]] = defaultdict(list)
        for one in audit(traces).judged:
            if one["category"] != "unstructured":
                team = (one["dish"], *one["agents"].split(" | "))
                followed[*team, one["speaker"]].append(one["category"] in ("effective", "assisted"))
        for cell, episodes in sorted(cells.items()):
            asked = [followed[*cell, role] for role in ("chef", "assistant")]
            shares = [f"{sum(made)} of {len(made)}" if made else "" for made in asked]
            print("|", " | ".join((part, cell[0], *map(short, cell[1:]), *numbers(episodes), *shares)), "|")


if __name__ == "__main__":
    main()
