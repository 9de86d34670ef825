"""Numbers that change while training: piecewise linear in the share of the budget that is spent."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError

# (share of the budget, value), by rising share; written as a number if constant
Schedule = tuple[tuple[float, float], ...]


def constant(value: float) -> Schedule:
    """Return the schedule that always has this value."""
    return ((0.0, float(value)),)


def read_schedule(value: object, where: str) -> Schedule:
    """Return the schedule that a number or a list of [share, value] describes.

    Args:
        value: From the configuration.
        where: Its place there, for errors.

    Raises:
        InterplayError: If it is neither, or if shares do not rise from 0 to 1.
    """
    if isinstance(value, bool) or value is None:
        raise InterplayError(f"{where}: {value!r}; give a number or a list of [share of the budget, value]")
    if isinstance(value, int | float):
        return constant(value)
    try:
        points = tuple((float(share), float(number)) for share, number in value)  # type: ignore[union-attr]
    except (TypeError, ValueError):
        raise InterplayError(f"{where}: {value!r}; give a number or a list of [share of the budget, value]") from None
    shares = [share for share, _ in points]
    if not points or shares != sorted(shares) or shares[0] < 0 or shares[-1] > 1:
        raise InterplayError(f"{where}: the shares {shares} have to rise from 0 to 1, such as [[0, 0.2], [1, 0.01]]")
    return points


def at(schedule: Schedule, share):
    """Return the value when this share of the budget is spent."""
    if len(schedule) == 1:
        return jnp.float32(schedule[0][1])
    shares, values = np.array(schedule, np.float32).T
    return jnp.interp(share, shares, values)
