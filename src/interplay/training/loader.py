"""Configurations of training from JSON: records whose fields may be schedules."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from interplay import config
from interplay.config import as_json, with_settings
from interplay.training.schedule import Schedule, read_schedule

__all__ = ["as_json", "build", "load", "with_settings"]

T = TypeVar("T")
_READERS = {Schedule: read_schedule}


def load(path: str | Path, kind: type[T]) -> T:
    """Read the record that a JSON file holds."""
    return config.load(path, kind, _READERS)


def build(kind: type[T], values: Any, where: str = "") -> T:
    """Make a record from plain JSON values; `where` is its place in the configuration, for errors."""
    return config.build(kind, values, where, _READERS)
