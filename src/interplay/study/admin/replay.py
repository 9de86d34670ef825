"""A game of a study to watch: our replay page, with the presses of buttons marked on its bar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.metrics.measured import MeasuredTraces
from interplay.reports.assemble import show_episode
from interplay.reports.document import Report, ReportReplay
from interplay.study.admin.unfinished import rebuilt
from interplay.study.db.game_rows import unpack
from interplay.traces import TraceSet

QUIET = ("deadline", "join", "leave")  # remarks that say nothing about the play

# The page carries its script with it. It is shut into a place of its own: it can neither read cookies nor ask anything
# of the server in the researcher's name.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; " \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"  # fmt: skip


def page(packed: bytes, told: Mapping[str, Any]) -> str:
    """The replay of a stored game as one HTML file. `told`: title, subtitle, labels of flags, provenance; and of a game
    that is not over what is known `so_far`."""
    episode = rebuilt(told["so_far"]) if told.get("so_far") else unpack(packed)
    data = show_episode(MeasuredTraces(TraceSet.in_memory([episode]), shown=[0]), 0)
    labels = told.get("flags", {})
    data["title"] = told["title"]
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
        told["title"], [ReportReplay([data], "", hint)], told.get("subtitle", ""), told.get("provenance", {})
    )
    return report.html()
