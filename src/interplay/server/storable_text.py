"""What a request may hold: text that every database can store and every answer can repeat."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator

DEEPEST = 12  # of values within values


def check_text(text: str) -> str:
    """The text; an error if it holds what PostgreSQL cannot store or UTF-8 cannot write."""
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("this text holds characters that cannot be stored")
    return text


def check_value(value: Any, depth: int = 0) -> Any:
    """A JSON value, all of whose texts are good and which is not too deep."""
    if depth > DEEPEST:
        raise ValueError("too many values within values")
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, dict):
        for name, one in value.items():
            check_text(name)
            check_value(one, depth + 1)
    elif isinstance(value, list):
        for one in value:
            check_value(one, depth + 1)
    return value


PlainText = Annotated[str, AfterValidator(check_text)]
PlainObject = Annotated[dict[str, Any], AfterValidator(check_value)]
