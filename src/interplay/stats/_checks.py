"""Input checks that the modules of this package share. Missing values raise or are dropped by request, never 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError

Missing = Literal["raise", "drop"]
Seed = int | np.random.Generator
Numbers = ArrayLike | Sequence[float | None]  # null and NaN are missing


def generator(seed: Seed) -> np.random.Generator:
    """The generator itself, or a fresh one from an integer: there is no hidden source of randomness."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InterplayError(f"seed must be a non-negative integer or a numpy Generator, not {seed!r}")
    return np.random.default_rng(int(seed))


def complete(
    *columns: Numbers, names: Sequence[str], missing: Missing = "raise", least: int = 1
) -> tuple[np.ndarray, ...]:
    """Columns of numbers of one length, all present; with missing="drop" a row goes if any of its values is missing."""
    arrays = [_numbers(c, n) for c, n in zip(columns, names, strict=True)]
    keep = present(*arrays, names=names, missing=missing)
    columns_kept = tuple(a[keep] for a in arrays)
    if len(columns_kept[0]) < least:
        raise InterplayError(f"{' and '.join(names)}: {len(columns_kept[0])} values, at least {least} needed")
    return columns_kept


def rows_present(
    values: Numbers, factors: Mapping[str, Any], missing: Missing = "raise"
) -> tuple[np.ndarray, dict[str, list[Any]]]:
    """The values and, row by row beside them, the levels of the factors."""
    raw = _numbers(values, "values")
    columns = {name: list(column) for name, column in factors.items()}
    for name, column in columns.items():
        if len(column) != len(raw):
            raise InterplayError(f"factor {name!r} has {len(column)} rows, the values have {len(raw)}")
    places = np.flatnonzero(present(raw, names=["values"], missing=missing))
    if len(places) == 0:
        raise InterplayError("values: no values to work on")
    return raw[places], {name: [column[i] for i in places] for name, column in columns.items()}


def present(*arrays: np.ndarray, names: Sequence[str], missing: Missing = "raise") -> np.ndarray:
    """Which rows hold a number in every column."""
    if missing not in ("raise", "drop"):
        raise InterplayError(f"missing must be 'raise' or 'drop', not {missing!r}")
    if len({len(a) for a in arrays}) > 1:
        sizes = ", ".join(f"{n} has {len(a)}" for n, a in zip(names, arrays, strict=True))
        raise InterplayError(f"columns of unequal length: {sizes}")
    keep = ~np.logical_or.reduce([np.isnan(a) for a in arrays])
    if missing == "raise" and not keep.all():
        raise InterplayError(
            f"{' and '.join(names)}: {int((~keep).sum())} of {len(keep)} rows are missing (null or NaN); "
            "pass missing='drop' to leave them out, and say so where you report the result"
        )
    return keep


def _numbers(column: Numbers, name: str) -> np.ndarray:
    try:
        array = np.asarray(cast(ArrayLike, column), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InterplayError(f"{name}: not a column of numbers ({error})") from None
    if array.ndim != 1:
        raise InterplayError(f"{name}: expected one dimension, got shape {array.shape}")
    if np.isinf(array).any():
        raise InterplayError(f"{name}: {int(np.isinf(array).sum())} values are infinite")
    return array


def varying(array: np.ndarray, name: str) -> np.ndarray:
    """The column, unless it is constant (up to rounding), where a correlation or a slope is not defined."""
    if np.ptp(array) <= 1e-13 * np.abs(array).max():
        raise InterplayError(f"{name}: all {len(array)} values are {array[0]:g}; this needs values that vary")
    return array


def open_unit(value: float, name: str) -> float:
    """A confidence level, a power or a significance level: strictly between 0 and 1."""
    if not 0 < value < 1:
        raise InterplayError(f"{name} must lie strictly between 0 and 1, not {value!r}")
    return float(value)


def one_of(value: str, known: Sequence[str], name: str) -> str:
    if value not in known:
        raise InterplayError(f"unknown {name} {value!r}; known: {', '.join(known)}")
    return value
