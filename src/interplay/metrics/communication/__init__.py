"""What messages achieve: requests read from talk, each settled by what the partner then did."""

from interplay.metrics.communication.foreign import parse_transcripts, read_transcripts, write_transcripts
from interplay.metrics.communication.measures import detail, rows
from interplay.metrics.communication.records import (
    CATEGORIES,
    REASONS,
    AuditSettings,
    JudgedRequest,
    ObservedAct,
    Transcript,
    TranscriptEvent,
    TranscriptRole,
    TranscriptTask,
    TranscriptUnit,
)
from interplay.metrics.communication.request_outcomes import judge

__all__ = [
    "CATEGORIES",
    "REASONS",
    "AuditSettings",
    "JudgedRequest",
    "ObservedAct",
    "Transcript",
    "TranscriptEvent",
    "TranscriptRole",
    "TranscriptTask",
    "TranscriptUnit",
    "detail",
    "judge",
    "parse_transcripts",
    "read_transcripts",
    "rows",
    "write_transcripts",
]  # fmt: skip
