"""Names to things, imported when used: a table of ours, plus entry points and `module:Thing` of users."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError, UnknownName


def load_reference(reference: str) -> Any:
    """The object that `module:Thing` or `folder/file.py:Thing` names."""
    module, _, attribute = reference.partition(":")
    try:
        found = _load_file(Path(module)) if module.endswith(".py") else importlib.import_module(module)
    except ImportError as error:
        raise InterplayError(f"cannot import {module!r}, needed for {reference!r}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise InterplayError(f"module {module!r} has no {attribute!r} (from {reference!r})")
        found = getattr(found, part)
    return found


def _load_file(path: Path) -> Any:
    """The module that a Python file makes; files beside it can be imported while it loads, as in a script."""
    if not path.is_file():
        raise InterplayError(f"no such file: {path}")
    spec = importlib.util.spec_from_file_location(f"user.{path.stem}", path.resolve())
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


class Registry:
    """A table from a name to `module:Thing`; users add to it by entry point or by `register`."""

    def __init__(self, kind: str, *, entry_points: str, table: Mapping[str, str]):
        self.kind = kind
        self._group = entry_points
        self._table = dict(table)

    @cached_property
    def _installed(self) -> dict[str, str]:
        return {e.name: e.value for e in entry_points(group=self._group)}

    def register(self, name: str, reference: str) -> None:
        """Add a name; `reference` is `module:Thing`."""
        self._table[name] = reference

    def names(self) -> list[str]:
        return list(dict.fromkeys([*self._table, *self._installed]))

    def load(self, name: str) -> Any:
        """The thing of this name, or of this `module:Thing`."""
        if ":" in name:
            return load_reference(name)
        reference = self._table.get(name) or self._installed.get(name)
        if reference is None:
            raise UnknownName(self.kind, name, self.names())
        return load_reference(reference)
