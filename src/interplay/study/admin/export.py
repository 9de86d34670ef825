"""Exports for download: the tables of a study and its traces in one zip file."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import IO

from interplay.server import audit
from interplay.server.clock import Clock
from interplay.server.database import Database
from interplay.study.export.columns import Format
from interplay.study.export.files import write_folder
from interplay.study.protocol.model import Protocol


def zipped(
    database: Database,
    clock: Clock,
    protocol: Protocol,
    *,
    format: Format,
    traces: bool,
    participant: str | None,
    by: str,
) -> IO[bytes]:
    """Write an export into an unnamed temporary file, which is gone when it is closed, and note it in the audit log.

    Args:
        database: The study's database.
        clock: Gives the time that is noted.
        protocol: The study.
        format: The format of the tables.
        traces: Whether the games are included as a trace set.
        participant: The public name of the only participant to export; None for all.
        by: Who exports, for the audit log.
    """
    name = protocol.name if participant is None else f"{protocol.name}-{participant}"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / name
        counts = write_folder(
            database, folder, study=protocol.name, format=format, traces=traces, participant=participant
        )
        database.write(
            audit.note, clock, by, "export", participant or protocol.name, format=format, traces=traces, rows=counts
        )
        out = tempfile.TemporaryFile()  # noqa: SIM115  whoever sends it closes it
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                if file.is_file():
                    archive.write(file, Path(name) / file.relative_to(folder))
    out.seek(0)
    return out
