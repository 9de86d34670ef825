"""Answers of a fixed shape: the JSON schema that is asked for, and the reader that trusts no server to keep it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TEXT = "text"
TEXTS = "texts"


@dataclass(frozen=True)
class AnswerShape:
    """Named fields, in the order in which the model writes them: reasoning first, or it comes too late to help.

    A field is TEXT, TEXTS (a list), or a tuple of the texts it may be.
    """

    fields: Mapping[str, str | tuple[str, ...]]
    most: int = 12  # entries of a list
    longest: int = 800  # characters of a text: asked for, so that a small model comes to an end, but not insisted on

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {name: self._one(kind) for name, kind in self.fields.items()},
            "required": list(self.fields),
            "additionalProperties": False,
        }

    def _one(self, kind: str | tuple[str, ...]) -> dict[str, Any]:
        if isinstance(kind, tuple):
            return {"type": "string", "enum": list(kind)}
        if kind == TEXTS:
            return {"type": "array", "items": {"type": "string", "maxLength": 120}, "maxItems": self.most}
        return {"type": "string", "maxLength": self.longest}

    def read(self, text: str, finish: str = "stop") -> ParsedAnswer:
        """The fields of an answer, or what is wrong with it in words that a model can act on."""
        if finish == "length":
            return ParsedAnswer(None, "the answer was cut off: it is too long. Write a shorter one", False)
        value, repaired = _find_object(text)
        if value is None:
            return ParsedAnswer(
                None, f"the answer is not a JSON object with the fields {', '.join(self.fields)}", False
            )
        found: dict[str, Any] = {}
        for name, kind in self.fields.items():
            if name not in value:
                return ParsedAnswer(None, f"the field {name!r} is missing", repaired)
            given = value[name]
            problem = _problem(name, kind, given)
            if problem:
                return ParsedAnswer(None, problem, repaired)
            found[name] = given if kind == TEXTS else str(given).strip()
        if any(len(v) > self.most for v in found.values() if isinstance(v, list)):
            return ParsedAnswer(None, f"a list has more than {self.most} entries", repaired)
        return ParsedAnswer(found, None, repaired)


def loosened(schema: Any) -> Any:
    """A schema without bounds on lengths, which some servers refuse."""
    if not isinstance(schema, Mapping):
        return schema
    return {k: loosened(v) for k, v in schema.items() if k not in ("maxLength", "maxItems")}


@dataclass(frozen=True)
class ParsedAnswer:
    """An answer as read: its fields, or the error; `repaired` if the JSON had to be dug out of other text."""

    fields: Mapping[str, Any] | None
    error: str | None
    repaired: bool

    @property
    def ok(self) -> bool:
        return self.fields is not None


def _problem(name: str, kind: str | tuple[str, ...], given: Any) -> str | None:
    if kind == TEXTS:
        fine = isinstance(given, list) and all(isinstance(v, str) for v in given)
        return None if fine else f"the field {name!r} must be a list of texts"
    if not isinstance(given, str):
        return f"the field {name!r} must be a text"
    if isinstance(kind, tuple) and given.strip() not in kind:
        return f"the field {name!r} must be one of: {_some(kind)}; it is {given[:60]!r}"
    return None


def _some(names: Sequence[str], most: int = 40) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _find_object(text: str) -> tuple[dict[str, Any] | None, bool]:
    """The JSON object of an answer; True if other text stands around it."""
    try:
        value = json.loads(text)
        return (value, False) if isinstance(value, dict) else (None, False)
    except (json.JSONDecodeError, RecursionError):
        pass
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, _ = decoder.raw_decode(text, at)
            if isinstance(value, dict):
                return value, True
        except (json.JSONDecodeError, RecursionError):
            pass
        at = text.find("{", at + 1)
    return None, False
