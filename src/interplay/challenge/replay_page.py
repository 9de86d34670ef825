"""Replay of a challenge's game, the partners under aliases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.challenge.results import CANDIDATE, aliased, unpack
from interplay.metrics.measured_traces import MeasuredTraces
from interplay.reports.document import Report, ReportReplay
from interplay.reports.trace_report import show_episode
from interplay.traces import TraceSet
from interplay.traces.export import from_record

HINT = "Space plays and pauses, the arrow keys step and jump between marks."


def page(packed: bytes, details: Mapping[str, Any]) -> str:
    """Return the replay of a stored game as one HTML file.

    Args:
        packed: The stored game.
        details: Title, subtitle and `seats`: the partner's number by seat, None for the candidate's.
    """
    record = unpack(packed)
    names = seat_names(details["seats"])
    agents = [
        agent if agent["name"] == CANDIDATE else aliased(agent, name)
        for agent, name in zip(record["agents"], names, strict=True)
    ]
    episode = from_record({**record, "agents": agents})
    data = show_episode(MeasuredTraces(TraceSet.in_memory([episode]), shown=[0]), 0)
    data["title"] = details["title"]
    return Report(details["title"], [ReportReplay([data], "", HINT)], details["subtitle"]).html()


def seat_names(seats: Sequence[int | None]) -> list[str]:
    """Return who sat where, partners by their number in the challenge."""
    return [CANDIDATE if partner is None else f"partner {partner + 1}" for partner in seats]
