"""Exports as one file to download: the records as tables and the games as a trace set, in a zip."""

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
    """A zip in a temporary file that has no name, so that it is gone when it is closed, whatever happens. That it was
    made is in the audit log."""
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
