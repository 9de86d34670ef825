"""Cache of a run's answers by request key; it also serves to resume a run and to replay it offline.

One JSON line per answer, on disk before the answer is used, so that a run that is stopped asks nothing twice.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

from interplay import untrusted_files
from interplay.agents.llm.chat import Answer, ChatRequest, Model, ModelRefusal
from interplay.errors import InterplayError


class ResponseCache:
    """Answers by key, in memory and, with a path, in a file that is only appended to."""

    def __init__(self, path: str | os.PathLike[str] | None = None, *, write: bool = True):
        self.path = Path(path) if path is not None else None
        self._known: dict[str, dict[str, Any]] = _read(self.path) if self.path else {}
        self._file: TextIO | None = None
        self._write = write and self.path is not None

    def __len__(self) -> int:
        return len(self._known)

    def find(self, key: str) -> Answer | None:
        """Return the cached answer; None if there is none."""
        line = self._known.get(key)
        return Answer(**line["answer"], cached=True) if line else None

    def keep(self, key: str, model: str, request: ChatRequest, answer: Answer) -> None:
        """Store an answer, and write it to disk at once."""
        fields = {k: v for k, v in asdict(answer).items() if k != "cached"}
        line = {
            "key": key,
            "model": model,
            "game": request.game,
            "episode": request.episode,
            "seat": request.seat,
            "ordinal": request.ordinal,
            "purpose": request.purpose,
            "answer": fields,
        }
        self._known[key] = line
        if self._write and self.path is not None:
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                _end_last_line(self.path)
                self._file = self.path.open("a", encoding="utf-8")
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()
            self._file = None


class CachedModel:
    """A model that looks into the cache first. Offline, it asks nothing else."""

    def __init__(self, model: Model, cache: ResponseCache, *, offline: bool = False):
        self.name = model.name
        self._model, self._cache, self._offline = model, cache, offline

    async def chat(self, request: ChatRequest) -> Answer:
        """Return the cached answer, or ask the model and cache its answer.

        Raises:
            ModelRefusal: Offline, and the cache has no answer.
        """
        key = request.key(self.name)
        known = self._cache.find(key)
        if known:
            return known
        if self._offline:
            raise ModelRefusal(
                f"{self._cache.path} has no answer of {self.name} to question {request.ordinal} of seat {request.seat} "
                f"({request.purpose}): a transcript replays only with the settings and seed with which it was made"
            )
        answer = await self._model.chat(request)
        self._cache.keep(key, self.name, request, answer)
        return replace(answer, cached=False)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    if path.is_dir():
        raise InterplayError(f"{path} is a folder; a journal of answers is a file of JSON lines")
    known = {}
    for number, line in untrusted_files.lines(path):
        try:
            entry = untrusted_files.parse_json(line, f"{path}, line {number}")
        except InterplayError:
            continue  # half a line of a program that was killed: its answer is asked for again
        try:
            Answer(**entry["answer"])
            known[str(entry["key"])] = entry
        except (KeyError, TypeError) as error:
            raise InterplayError(f"{path}, line {number}: not an answer of a journal ({error!r})") from None
    return known


def _end_last_line(path: Path) -> None:
    """End a line that a killed program left half written."""
    if path.exists() and path.stat().st_size:
        with path.open("rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
