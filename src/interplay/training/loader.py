"""Configurations from JSON: nested records, with errors that say where and what was expected."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from interplay.errors import InterplayError, UnknownName
from interplay.training.schedule import Schedule, read_schedule

T = TypeVar("T")


def load(path: str | Path, kind: type[T]) -> T:
    """The record that a JSON file holds."""
    path = Path(path)
    try:
        values = json.loads(path.read_text())
    except FileNotFoundError:
        raise InterplayError(f"there is no configuration {path}") from None
    except json.JSONDecodeError as error:
        raise InterplayError(f"{path}: line {error.lineno}, column {error.colno} is no JSON: {error.msg}") from None
    return build(kind, values, "")


def build(kind: type[T], values: Any, where: str = "") -> T:
    """A record from plain JSON values; `where` is its place in the configuration, for errors."""
    if not isinstance(values, Mapping):
        raise InterplayError(f"{where or 'the configuration'}: expected an object with the fields of {kind.__name__}")
    hints = get_type_hints(kind)
    fields = {f.name: f for f in dataclasses.fields(kind) if f.init}  # type: ignore[arg-type]
    given = {}
    for name, value in values.items():
        place = f"{where}.{name}" if where else name
        if name not in fields:
            raise UnknownName(f"setting {place!r}, as", name, list(fields))
        given[name] = _read(hints[name], value, place)
    missing = [n for n, f in fields.items() if n not in given and _required(f)]
    if missing:
        raise InterplayError(f"{where or 'the configuration'}: {', '.join(missing)} must be given")
    return kind(**given)


def _required(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _read(hint: Any, value: Any, where: str) -> Any:
    if hint == Schedule:
        return read_schedule(value, where)
    if dataclasses.is_dataclass(hint):
        return build(hint, value, where)  # type: ignore[arg-type]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return None if value is None else _read(next(a for a in arguments if a is not type(None)), value, where)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise InterplayError(f"{where}: {value!r}; expected a list")
        return tuple(_read(arguments[0], v, f"{where}[{i}]") for i, v in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise InterplayError(f"{where}: {value!r}; expected an object")
        return {k: v if arguments[1] is Any else _read(arguments[1], v, f"{where}.{k}") for k, v in value.items()}
    return _plain(hint, value, where)


def _plain(hint: Any, value: Any, where: str) -> Any:
    if hint is Any:
        return value
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, float) and value.is_integer():  # 1e7 is a whole number too
        return int(value)
    if isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise InterplayError(f"{where}: {value!r}; expected {'a number' if hint is float else hint.__name__}")


def with_settings(values: dict[str, Any], settings: list[str]) -> dict[str, Any]:
    """Plain values with changes such as `ppo.epochs=8`; what stands after = is JSON, or else text."""
    changed = json.loads(json.dumps(values))
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals:
            raise InterplayError(f"{setting!r}: write a change as place=value, such as ppo.epochs=8")
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = text
        *parents, name = path.split(".")
        place = changed
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = value
    return changed


def as_json(record: Any) -> Any:
    """A record as plain JSON values, which `build` reads again."""
    return json.loads(json.dumps(dataclasses.asdict(record)))
