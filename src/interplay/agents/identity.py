"""Identities of agents for traces and seeds: a declared kind and version, settings and weights.

Nothing here depends on module paths or on names of classes and fields: moving or renaming code changes no identity, and
so no result.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
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
    elif callable(value):
        _feed(digest, source_of(value))
    else:
        digest.update(
            str(value).encode() if type(value).__str__ is not object.__str__ else source_of(type(value)).encode()
        )
