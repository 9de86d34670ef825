"""Answers of a fixed shape: the JSON schema that is asked for, and a parser that checks it."""

from __future__ import annotations

import json
import re
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
        text, thought = without_thinking(text)
        if finish == "length":
            what = "thinking took all the room: think less" if thought and not text.strip() else "it is too long"
            return ParsedAnswer(None, f"the answer was cut off: {what}. Write a shorter one", False)
        value, repaired = find_object(text)
        repaired = repaired or (thought and value is not None)
        if value is None:
            return ParsedAnswer(
                None, f"the answer is not a JSON object with the fields {', '.join(self.fields)}", False
            )
        fields: dict[str, Any] = {}
        for name, kind in self.fields.items():
            if name not in value:
                return ParsedAnswer(None, f"the field {name!r} is missing", repaired)
            entry = value[name]
            if kind == TEXTS and isinstance(entry, str):
                entry, repaired = split_calls(entry), True
            elif kind == TEXTS and isinstance(entry, list):
                separate = [part for item in entry for part in separate_calls(item)]
                entry, repaired = separate, repaired or separate != entry
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


def without_thinking(text: str) -> tuple[str, bool]:
    """Return what stands after the thinking of a reasoning model, and whether it thought.

    Some chat templates put `<think>` into the prompt, so that only its end stands in the answer.
    """
    _before, end, after = text.rpartition("</think>")
    if end:
        return after, True
    start = text.find("<think>")
    return (text[:start], True) if start >= 0 else (text, False)


def find_object(text: str) -> tuple[dict[str, Any] | None, bool]:
    """Find the last complete JSON object of an answer; the flag is True if something had to be overlooked.

    Overlooked are text around it, other objects before it, and commas before a closing bracket.
    """
    try:
        value = json.loads(text)
        return (value, False) if isinstance(value, dict) else (None, False)
    except (json.JSONDecodeError, RecursionError):
        pass
    last, at = None, text.find("{")
    while at >= 0:
        value, end = _object_at(text, at)
        if value is not None:
            last = value
        at = text.find("{", end)
    return last, last is not None


def _object_at(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """Read the object that begins here; also return where to look on: behind it, or behind the bracket."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, at)
        return value, end
    except (json.JSONDecodeError, RecursionError):
        pass
    plain, end = _without_trailing_commas(text, at)
    if end is not None:
        try:
            value = json.loads(plain)
            return (value, end) if isinstance(value, dict) else (None, at + 1)
        except (json.JSONDecodeError, RecursionError):
            pass
    return None, at + 1


def _without_trailing_commas(text: str, at: int) -> tuple[str, int | None]:
    """Copy up to the bracket that closes the first, commas before closing brackets left out; None: never closed."""
    kept: list[str] = []
    depth, inside, escaped = 0, False, False
    for place in range(at, len(text)):
        letter = text[place]
        if inside:
            inside = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            inside = True
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
            while kept and (kept[-1].isspace() or kept[-1] == ","):
                kept.pop()
        kept.append(letter)
        if depth == 0:
            return "".join(kept), place + 1
    return "", None


def separate_calls(item: Any) -> list[Any]:
    """An entry of a list that holds several calls, or a call and a comma, as one entry for each call; others as is."""
    parts = split_calls(item) if isinstance(item, str) else []
    calls = [part for part in parts if re.fullmatch(r"[a-z_]+\(.*\)", part)]
    return parts if parts and len(calls) == len(parts) else [item]


def split_calls(text: str) -> list[str]:
    """Split a plan that is one text: at semicolons, new lines, and commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter in ";\n" or (letter == "," and depth <= 0):
            parts.append(current)
            current = ""
        else:
            current += letter
    found = (part.strip().lstrip("-*0123456789. ").strip() for part in [*parts, current])
    return [part for part in found if part]
