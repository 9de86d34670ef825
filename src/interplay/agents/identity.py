"""Identities of agents for traces and seeds: a declared kind and version, settings and weights.

Nothing here depends on module paths or on names of classes and fields: moving or renaming code changes no identity, and
so no result.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
import linecache
from collections.abc import Callable, Mapping
from types import CellType, CodeType
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

if TYPE_CHECKING:
    from interplay.agents.api import Agent
from interplay.games.records import key_as_bits


def content_hash(agent: Agent) -> str:
    """Return a short hash that identifies an agent.

    It is taken over the agent's kind (its registered name, or what its policy declares as `identity_kind`), the
    `version` of that kind, its configuration, and what `fingerprint()` of its policy or player returns: settings and
    weights under stable names. A policy that declares no kind is identified by the source of its class and the values
    of its fields.
    """
    policy: Any = agent.policy
    kind = agent.kind or getattr(policy, "identity_kind", "")
    digest = hashlib.sha256()
    _feed(digest, [kind, getattr(policy, "version", 1) or 1, dict(agent.config)])
    if not kind:
        _feed(digest, source_of(type(policy)))
    if hasattr(policy, "fingerprint"):
        _feed(digest, policy.fingerprint())
    elif not kind:
        _feed(digest, policy)
    return digest.hexdigest()[:16]


def fingerprint_of(policy: Any) -> Any:
    """Return what identifies a policy that another one contains."""
    return policy.fingerprint() if hasattr(policy, "fingerprint") else policy


def source_of(thing: Callable[..., Any] | type) -> str:
    """Return the source of a function or class; its byte code or name where there is no source."""
    try:
        return inspect.cleandoc(inspect.getsource(thing))
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        if code is not None:
            return repr((code.co_code, code.co_names, [c for c in code.co_consts if not hasattr(c, "co_code")]))
        return getattr(thing, "__qualname__", type(thing).__qualname__)


def function_facts(function: Callable[..., Any]) -> Any:
    """Return what tells a function from others: its source, and the fixed values that it was made with.

    These are the values of a closure, defaults, a partial's arguments, and the attributes of a callable object:
    numbers, words, arrays, tuples of them, and functions by their source. Lists, tables and other objects are left
    out, since calls may change them.
    """
    if isinstance(function, functools.partial):
        return [function_facts(function.func), _fixed(dict(enumerate(function.args)) | function.keywords)]
    source, values = source_of(function), {}
    if inspect.ismethod(function):
        values = getattr(function.__self__, "__dict__", {})
    elif inspect.isfunction(function):
        source = _lambda_source(function.__code__) or source
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        closure = {name: cell.cell_contents for name, cell in cells if cell != CellType()}  # an empty one has no value
        values = closure | dict(enumerate(function.__defaults__ or ())) | (function.__kwdefaults__ or {})
    elif hasattr(function, "__dict__"):
        source, values = source_of(type(function)), vars(function)
    fixed = _fixed(values)
    return [source, fixed] if fixed else source


def _fixed(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the fixed ones of these values by name, arrays as they are now."""
    sources = {name: source_of(value) if inspect.isfunction(value) else value for name, value in values.items()}
    kept = {str(name): value for name, value in sources.items() if _is_fixed(value)}
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in kept.items()}


def _is_fixed(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_fixed(item) for item in value)
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    return value is None or isinstance(value, bool | int | float | str | np.generic | jax.Array)


def _lambda_source(code: CodeType) -> str | None:
    """The parameters and the body of a lambda, which may share its line with others; None for other functions."""
    spans = [[n or 0 for n in span] for span in code.co_positions() if None not in span and span[2:] != (0, 0)]
    if code.co_name != "<lambda>" or not spans:
        return None
    (first, start), (last, end) = min((s[0], s[2]) for s in spans), max((s[1], s[3]) for s in spans)
    lines = [line.encode() for line in linecache.getlines(code.co_filename)[first - 1 : last]]
    if not lines:
        return None
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return f"{code.co_varnames[: code.co_argcount]}: {b''.join(lines).decode()}"


def _feed(digest: Any, value: Any) -> None:
    """Feed a value into the digest: numbers, strings, arrays, and collections and records of them."""
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        array = np.asarray(key_as_bits(value))
        digest.update(f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            digest.update(f"{key}:".encode())
            _feed(digest, value[key])
    elif isinstance(value, list | tuple):
        digest.update(f"[{len(value)}".encode())
        for item in value:
            _feed(digest, item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        _feed(digest, [getattr(value, field.name) for field in dataclasses.fields(value)])
    elif value is None or isinstance(value, bool | int | float | str):
        digest.update(json.dumps(value).encode())
    elif inspect.isfunction(value):
        _feed(digest, function_facts(value))
    elif callable(value):
        _feed(digest, source_of(value))
    else:
        digest.update(
            str(value).encode() if type(value).__str__ is not object.__str__ else source_of(type(value)).encode()
        )
