"""Numbers that change while training: piecewise linear in the share of the budget that is spent."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError

Schedule = tuple[
    tuple[float, float], ...
]  # (share of the budget, value), by rising share; written as a number if constant


def constant(value: float) -> Schedule:
    return ((0.0, float(value)),)


def read_schedule(given: object, where: str) -> Schedule:
    """A schedule from a number or a list of [share, value]."""
    if isinstance(given, bool) or given is None:
        raise InterplayError(f"{where}: {given!r}; give a number or a list of [share of the budget, value]")
    if isinstance(given, int | float):
        return constant(given)
    try:
        points = tuple((float(share), float(value)) for share, value in given)  # type: ignore[union-attr]
    except (TypeError, ValueError):
        raise InterplayError(f"{where}: {given!r}; give a number or a list of [share of the budget, value]") from None
    shares = [share for share, _ in points]
    if not points or shares != sorted(shares) or shares[0] < 0 or shares[-1] > 1:
        raise InterplayError(f"{where}: the shares {shares} have to rise from 0 to 1, such as [[0, 0.2], [1, 0.01]]")
    return points


def at(schedule: Schedule, share):
    """The value when this share of the budget is spent."""
    if len(schedule) == 1:
        return jnp.float32(schedule[0][1])
    shares, values = np.array(schedule, np.float32).T
    return jnp.interp(share, shares, values)
