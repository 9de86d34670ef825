"""What messages achieve: requests read from talk, each settled by what the partner then did."""

from interplay.metrics.communication.foreign import parse_transcripts, read_transcripts, write_transcripts
from interplay.metrics.communication.judge import judge
from interplay.metrics.communication.measures import detail, rows
from interplay.metrics.communication.records import (
    CATEGORIES,
    REASONS,
    Act,
    Event,
    Judged,
    Role,
    Settings,
    Task,
    Transcript,
    Unit,
)

__all__ = [
    "CATEGORIES", "REASONS", "Act", "Event", "Judged", "Role", "Settings", "Task", "Transcript", "Unit", "detail",
    "judge", "parse_transcripts", "read_transcripts", "rows", "write_transcripts",
]  # fmt: skip
