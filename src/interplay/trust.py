"""The trust boundary: which names may run code.

A name that a person typed, on a command line or in a call of the library, may be a reference to any Python object:
``module:Thing`` or ``folder/file.py:thing``. A name that was read from data (a trace, a panel, a study or challenge
file, a checkpoint, a server's reply) stands for something registered, or for nothing.

Front doors call `admit` with what a person typed. Everything else resolves names through `Registry.load` or `resolve`,
which import a reference only if it was admitted, or if the person said that this data may run code (`trust_data`,
`--trust`), and then with a warning that names what runs.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from interplay.errors import InterplayError

_admitted: set[str] = set()
_run_on_trust: set[str] = set()
_data_is_trusted = False


class TrustWarning(UserWarning):
    """Code is about to run because data named it and a person allowed that."""


class UntrustedName(InterplayError):
    """Data named code that no person asked for."""

    def __init__(self, reference: str):
        super().__init__(
            f"{reference!r} names code, and names that come from data do not run code: they stand for registered games "
            "and agents only. If you trust whoever made this data, run the command with --trust, or make the thing "
            f"yourself first, as in interplay.make({reference!r}); a package registers its own by an entry point"
        )


def is_reference(name: str) -> bool:
    """Whether a name has the form of a reference to code, ``module:Thing`` or ``file.py:thing``."""
    module, colon, attribute = name.rpartition(":")
    return bool(colon and module) and all(part.isidentifier() for part in attribute.split("."))


def admit(names: Iterable[Any]) -> None:
    """Record what a person typed: references among these names may be imported from now on, in this process.

    Args:
        names: Anything a person gave; what is no text is passed over. A reference may stand behind ``setting=`` or a
            prefix such as ``greedy:``, and before noise such as ``+0.1`` or options such as ``?scale=0.1``.
    """
    for name in names:
        if isinstance(name, str):
            parts = name.partition("?")[0].rpartition("=")[2].partition("+")[0].split(":")
            _admitted.update(":".join(parts[first:]) for first in range(len(parts) - 1))


def admitted() -> list[str]:
    """The references that may be imported, for a worker process that takes over this one's trust."""
    return sorted(_admitted | (_run_on_trust if _data_is_trusted else set()))


def trust_data(trusted: bool = True) -> bool:
    """Let names from data run code in this process (or no longer); returns what held before."""
    global _data_is_trusted
    before, _data_is_trusted = _data_is_trusted, trusted
    return before


def resolve(reference: str) -> Any:
    """Import the object that a reference names, if a person typed it or trusts the data that did.

    Raises:
        UntrustedName: Neither is the case.
        InterplayError: There is no such module, file or object.
    """
    if reference not in _admitted:
        if not _data_is_trusted:
            raise UntrustedName(reference)
        _run_on_trust.add(reference)
        warnings.warn(f"running code that the data names: {reference}", TrustWarning, stacklevel=2)
    return import_object(reference)


def import_object(reference: str) -> Any:
    """Import what a reference names. For references that stand in this package or in an installed one."""
    module, _, attribute = reference.rpartition(":")
    try:
        target: Any = _import_file(Path(module)) if module.endswith(".py") else importlib.import_module(module)
    except ImportError as error:
        raise InterplayError(f"cannot import {module!r}, needed for {reference!r}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(target, part):
            raise InterplayError(f"module {module!r} has no {attribute!r} (from {reference!r})")
        target = getattr(target, part)
    return target


def _import_file(path: Path) -> ModuleType:
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
