"""Replay of a study's game: the usual replay page, with button presses marked on its timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.metrics.measured_traces import MeasuredTraces
from interplay.reports.document import Report, ReportReplay
from interplay.reports.trace_report import show_episode
from interplay.study.admin.unfinished_games import rebuilt
from interplay.study.db.game_rows import unpack
from interplay.traces import TraceSet

QUIET = ("deadline", "join", "leave")  # events that say nothing about the play


def page(packed: bytes, details: Mapping[str, Any]) -> str:
    """Return the replay of a stored game as one HTML file.

    Args:
        packed: The stored episode; not read where `details` has `so_far`.
        details: Title, subtitle, labels of flags and provenance; for an unfinished game also `so_far`, which
            `unfinished.so_far` returns.
    """
    episode = rebuilt(details["so_far"]) if details.get("so_far") else unpack(packed)
    data = show_episode(MeasuredTraces(TraceSet.in_memory([episode]), shown=[0]), 0)
    labels = details.get("flags", {})
    data["title"] = details["title"]
    marks = [
        {
            "t": min(int(event.payload.get("seen", event.t)), episode.length),
            "seat": event.seat,
            "kind": "flag",
            "label": labels.get(event.payload.get("id"), str(event.payload.get("id"))),
        }
        for event in episode.events
        if event.kind == "flag"
    ]
    data["marks"] = sorted([*data["marks"], *marks], key=lambda mark: mark["t"])
    spoken = [remark for remark in data["remarks"] if remark["kind"] not in (*QUIET, "flag")]
    pressed = [{"t": m["t"], "seat": m["seat"], "kind": "flag", "text": f"pressed: {m['label']}"} for m in marks]
    data["remarks"] = sorted([*spoken, *pressed], key=lambda remark: remark["t"])
    hint = "Space plays and pauses, the arrow keys step and jump between marks."
    report = Report(
        details["title"], [ReportReplay([data], "", hint)], details.get("subtitle", ""), details.get("provenance", {})
    )
    return report.html()
