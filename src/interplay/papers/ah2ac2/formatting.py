"""Numbers as text, for the page of learned Hanabi agents."""

from __future__ import annotations

from typing import Any


def number(value: Any, digits: int = 2) -> str:
    """Return a number as text; a dash for none."""
    return "–" if value is None else f"{value:.{digits}f}"


def interval(one: dict[str, float] | None, digits: int = 3) -> str:
    """Return a mean with its interval as text."""
    if one is None:
        return "–"
    if one["low"] is None:  # of a single split
        return f"{one['mean']:.{digits}f}"
    return f"{one['mean']:.{digits}f} [{one['low']:.{digits}f}, {one['high']:.{digits}f}]"


def steps(value: float) -> str:
    """1e9, 3.2e8: no plus signs and no zeros that say nothing."""
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"
