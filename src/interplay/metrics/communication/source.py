"""Transcripts from wherever they are: a trace set, its export, or JSON lines from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from interplay.errors import InterplayError
from interplay.metrics.api import samples
from interplay.metrics.communication.collab_overcooked_logs import is_experiment_log, read_experiment_logs
from interplay.metrics.communication.episodes import readable
from interplay.metrics.communication.foreign import read_transcripts
from interplay.metrics.communication.metric import transcripts
from interplay.metrics.communication.records import Transcript
from interplay.traces import TraceSet, read_jsonl
from interplay.traces.schema import FORMAT, MANIFEST
from interplay.untrusted_files import lines, parse_json


def open_source(source: TraceSet | str | os.PathLike[str]) -> TraceSet | list[Transcript]:
    """A trace set (a folder, or its export as JSON lines), or the transcripts of events or of experiment logs."""
    if isinstance(source, TraceSet):
        return source
    path = Path(source)
    if is_experiment_log(path):
        return read_experiment_logs(path)
    if path.is_dir() and not (path / MANIFEST).exists():
        raise InterplayError(
            f"{path} holds nothing to audit: neither a trace set ({MANIFEST}) nor experiment logs of Collab-Overcooked"
        )
    if not path.is_file():
        return TraceSet.open(path)
    return TraceSet.in_memory(read_jsonl(path)) if _is_export(path) else read_transcripts(path)


def transcripts_of(
    source: TraceSet | list[Transcript], progress: Callable[[int], None] | None = None
) -> Iterator[Transcript]:
    """Every episode, ready to be judged."""
    if isinstance(source, list):
        yield from source
        return
    if len(source) == 0:
        raise InterplayError(f"{source.name} holds no episodes, so there is nothing to audit")
    kitchens = source.select(game="kitchen/*")
    if len(kitchens) == 0:
        games = ", ".join(sorted({row["game"] for row in source.summary()}))
        raise InterplayError(f"{source.name} holds no kitchen, only {games}: the audit reads talk over cooking")
    for sample in samples(kitchens, {}):
        if readable(sample.game):
            yield from transcripts(sample)
        if progress:
            progress(len(sample.numbers))


def _is_export(path: Path) -> bool:
    """Whether the first line is an episode of a trace set rather than a header of events."""
    try:
        record = parse_json(next((line for _, line in lines(path) if line.strip()), ""), str(path))
    except InterplayError:
        return False  # the reader of events says what is wrong
    return isinstance(record, dict) and record.get("format") == FORMAT
