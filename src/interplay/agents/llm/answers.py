"""Answers of a fixed shape: the JSON schema that is asked for, and a parser that checks it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TEXT = "text"
TEXTS = "texts"


@dataclass(frozen=True)
class AnswerShape:
    """Named fields of an answer, in the order in which the model writes them.

    Reasoning comes first, so that the choice can follow from it. A field is TEXT, TEXTS (a list), or a tuple of the
    texts it may be.
    """

    fields: Mapping[str, str | tuple[str, ...]]
    most: int = 12  # entries of a list
    longest: int = 800  # characters of a text; in the schema, so that small models stop, but not enforced

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the answer."""
        return {
            "type": "object",
            "properties": {name: self._field_schema(kind) for name, kind in self.fields.items()},
            "required": list(self.fields),
            "additionalProperties": False,
        }

    def _field_schema(self, kind: str | tuple[str, ...]) -> dict[str, Any]:
        if isinstance(kind, tuple):
            return {"type": "string", "enum": list(kind)}
        if kind == TEXTS:
            return {"type": "array", "items": {"type": "string", "maxLength": 120}, "maxItems": self.most}
        return {"type": "string", "maxLength": self.longest}

    def read(self, text: str, finish: str = "stop") -> ParsedAnswer:
        """Parse an answer into its fields, or say what is wrong in words that a model can act on."""
        if finish == "length":
            return ParsedAnswer(None, "the answer was cut off: it is too long. Write a shorter one", False)
        value, repaired = _find_object(text)
        if value is None:
            return ParsedAnswer(
                None, f"the answer is not a JSON object with the fields {', '.join(self.fields)}", False
            )
        fields: dict[str, Any] = {}
        for name, kind in self.fields.items():
            if name not in value:
                return ParsedAnswer(None, f"the field {name!r} is missing", repaired)
            entry = value[name]
            problem = _problem(name, kind, entry)
            if problem:
                return ParsedAnswer(None, problem, repaired)
            fields[name] = entry if kind == TEXTS else str(entry).strip()
        if any(len(v) > self.most for v in fields.values() if isinstance(v, list)):
            return ParsedAnswer(None, f"a list has more than {self.most} entries", repaired)
        return ParsedAnswer(fields, None, repaired)


def loosened(schema: Any) -> Any:
    """Return a schema without bounds on lengths, which some servers refuse."""
    if not isinstance(schema, Mapping):
        return schema
    return {k: loosened(v) for k, v in schema.items() if k not in ("maxLength", "maxItems")}


@dataclass(frozen=True)
class ParsedAnswer:
    """A parsed answer: its fields, or the error; `repaired` if other text stood around the JSON."""

    fields: Mapping[str, Any] | None
    error: str | None
    repaired: bool

    @property
    def ok(self) -> bool:
        """Whether the answer could be parsed."""
        return self.fields is not None


def _problem(name: str, kind: str | tuple[str, ...], value: Any) -> str | None:
    if kind == TEXTS:
        fine = isinstance(value, list) and all(isinstance(v, str) for v in value)
        return None if fine else f"the field {name!r} must be a list of texts"
    if not isinstance(value, str):
        return f"the field {name!r} must be a text"
    if isinstance(kind, tuple) and value.strip() not in kind:
        return f"the field {name!r} must be one of: {_some(kind)}; it is {value[:60]!r}"
    return None


def _some(names: Sequence[str], most: int = 40) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _find_object(text: str) -> tuple[dict[str, Any] | None, bool]:
    """Find the JSON object of an answer; the flag is True if other text stands around it."""
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
