"""Names to things, imported when used: a table of ours, plus entry points of installed packages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any

from interplay import trust
from interplay.errors import UnknownName


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
        """Every registered name, ours first."""
        return list(dict.fromkeys([*self._table, *self._installed]))

    def load(self, name: str) -> Any:
        """Import the thing of this name, or what a reference names that a person typed (see `interplay.trust`).

        Raises:
            UnknownName: Nothing is registered under this name.
            UntrustedName: The name is a reference to code that no person typed.
        """
        reference = self._table.get(name) or self._installed.get(name)
        if reference is not None:
            return trust.import_object(reference)
        if trust.is_reference(name):
            return trust.resolve(name)
        raise UnknownName(self.kind, name, self.names())
