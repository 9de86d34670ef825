"""Logs of the servers: one line an event, as text or JSON, without secrets."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Literal

LogFormat = Literal["text", "json"]
_STANDARD = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {"message", "asctime"}
_SECRETS = (
    (re.compile(r"\b([a-z]+\.[0-9a-f]{16})\.[\w-]{30,}"), r"\1.…"),  # keys: what comes after the public part
    (re.compile(r"(?i)\b((?:set-)?cookie|authorization|x-csrf)(\W+)[^\s,}]+"), r"\1\2…"),
    (re.compile(r"(?i)\b(PROLIFIC_PID|workerId|prolific_token|signature|enter|key|csrf|password)=[^&\s\"']+"), r"\1=…"),
    (re.compile(r"(\w+://[^:/\s]+):[^@/\s]+@"), r"\1:…@"),  # passwords in addresses of databases
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b(?!/)"), "…"),  # people's addresses
    (re.compile(r"(?i)(?<![\w:])(?:(?:[0-9a-f]{1,4}:){7}|(?:[0-9a-f]{1,4}:){1,6}:|::)[0-9a-f:]*(?![\w:])"), "…"),
)


def scrubbed(text: str) -> str:
    """Return a text without keys, cookies, recruiters' ids, passwords and network addresses."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object a line; what is passed as `extra` becomes fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": scrubbed(record.getMessage()),
        }
        extra = {name: value for name, value in record.__dict__.items() if name not in _STANDARD}
        for name, value in extra.items():
            line[name] = value if isinstance(value, int | float | None) else scrubbed(str(value))
        if record.exc_info:
            line["error"] = scrubbed(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    """Formats a record as plain text, scrubbed."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with the traceback of an error after it."""
        return scrubbed(super().format(record))


def log_to_stderr(format: LogFormat = "text") -> None:
    """Send the servers' logs to standard error, one line an event."""
    handler = logging.StreamHandler(sys.stderr)
    plain = TextLines("%(asctime)s %(levelname)s %(name)s %(message)s")
    handler.setFormatter(JsonLines() if format == "json" else plain)
    logger = logging.getLogger("interplay")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logging.getLogger("uvicorn").handlers[:] = [handler]
