"""What the columns of our tables mean: the glossary that ends every report, with its sentences in `glossary.toml`."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path


@functools.cache
def _sentences() -> Mapping[str, Mapping[str, str]]:
    """Return what `measures`, their `parts`, `columns` and names `made_of_others` mean."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def meaning(name: str) -> str | None:
    """Return what a column or a measure means; None for one that is not ours.

    Args:
        name: The column, or a measure with further parts after it: `ipp/told`, `constructive/unlimited/counters`.
    """
    sentences = _sentences()
    if name in sentences["columns"]:
        return sentences["columns"][name]
    measure, *parts = name.split("/")
    if measure not in sentences["measures"]:
        return _by_rule(name)
    words = [sentences["parts"].get(part, part) for part in parts]
    return sentences["measures"][measure] + (f" ({', '.join(words)})" if words else "")


def _by_rule(name: str) -> str | None:
    for pattern, sentence in _sentences()["made_of_others"].items():
        if match := re.fullmatch(pattern, name):
            parts = [part or "" for part in match.groups()]
            return sentence.format(*((meaning(part) if part else None) or part.replace("_", " ") for part in parts))
    return None
