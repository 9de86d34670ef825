"""Configurations from JSON: nested frozen dataclasses, with errors that say where and what was expected."""

from __future__ import annotations

import dataclasses
import json
import tomllib
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from interplay.errors import InterplayError, UnknownName
from interplay.untrusted_files import read_json

T = TypeVar("T")
Readers = Mapping[Any, Callable[[Any, str], Any]]  # by type annotation: (value, where) -> what the field holds


def load(path: str | Path, kind: type[T], readers: Readers | None = None) -> T:
    """Read the record that a JSON file holds."""
    return build(kind, read_json(path), "", readers)


def build(kind: type[T], values: Any, where: str = "", readers: Readers | None = None) -> T:
    """Make a record from plain JSON values.

    Args:
        kind: A dataclass; the annotations of its fields say what they may hold.
        values: An object with some of its fields, and all of those without a default.
        where: The record's place in the configuration, for errors.
        readers: How to read fields whose annotation is none of the plain types.

    Raises:
        InterplayError: A field is unknown, missing or of another type; the message names its place.
    """
    if not isinstance(values, Mapping):
        raise InterplayError(f"{where or 'the configuration'}: expected an object with the fields of {kind.__name__}")
    hints = get_type_hints(kind)
    fields = {f.name: f for f in dataclasses.fields(kind) if f.init}  # type: ignore[arg-type]
    arguments = {}
    for name, value in values.items():
        place = f"{where}.{name}" if where else str(name)
        if name not in fields:
            raise UnknownName(f"option {place!r}, as" if where else "option", str(name), list(fields))
        arguments[name] = _read(hints[name], value, place, readers or {})
    missing = [n for n, f in fields.items() if n not in arguments and f.default is f.default_factory is MISSING]
    if missing:
        raise InterplayError(f"{where or 'the configuration'}: {', '.join(missing)} must be given")
    return kind(**arguments)


def _read(hint: Any, value: Any, where: str, readers: Readers) -> Any:
    if hint in readers:
        return readers[hint](value, where)
    if dataclasses.is_dataclass(hint):
        return build(hint, value, where, readers)  # type: ignore[arg-type]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return _read(next(a for a in arguments if a is not type(None)), value, where, readers)
    if origin is Literal:
        if value not in arguments:
            raise InterplayError(f"{where}: {value!r}; one of {', '.join(map(repr, arguments))}")
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise InterplayError(f"{where}: {value!r}; expected a list")
        return tuple(_read(arguments[0], v, f"{where}[{i}]", readers) for i, v in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise InterplayError(f"{where}: {value!r}; expected an object")
        kind = arguments[1]
        return {k: v if kind is Any else _read(kind, v, f"{where}.{k}", readers) for k, v in value.items()}
    return _plain(hint, value, where)


_WORDS = {float: "a number", int: "a whole number", bool: "true or false", str: "text"}


def _plain(hint: Any, value: Any, where: str) -> Any:
    if hint is Any:
        return value
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, float) and value.is_integer():  # 1e7 is a whole number too
        return int(value)
    if isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise InterplayError(f"{where}: {value!r}; expected {_WORDS.get(hint, hint.__name__)}")


def with_settings(values: dict[str, Any], settings: list[str]) -> dict[str, Any]:
    """Plain values with changes such as `ppo.epochs=8`; what stands after = is JSON, or else text."""
    changed = json.loads(json.dumps(values))
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals:
            raise InterplayError(f"{setting!r}: write a change as place=value, such as ppo.epochs=8")
        *parents, name = path.split(".")
        place = changed
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = json_or_text(text)
    return changed


def options(pairs: Iterable[str]) -> dict[str, Any]:
    """Return what `name=value` pairs say; a value is JSON where it can be, text otherwise.

    Raises:
        InterplayError: A pair has no name or no value.
    """
    values = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise InterplayError(f"cannot read the option {pair!r}: write name=value, as in horizon=200")
        values[name] = json_or_text(text)
    return values


def json_or_text(text: str) -> Any:
    """Return the JSON value that a text writes, such as 0.1 or true, or else the text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def as_json(record: Any) -> Any:
    """A record as plain JSON values, which `build` reads again."""
    return json.loads(json.dumps(dataclasses.asdict(record)))


def toml_beside(module: str) -> dict[str, Any]:
    """Return what the TOML file beside a module holds, the one of its name.

    Args:
        module: The module's `__file__`.
    """
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
