"""Power of t tests and the sample sizes they need."""

from __future__ import annotations

import math

from interplay.errors import InterplayError
from interplay.stats._checks import one_of, open_unit

KINDS = ("one-sample", "paired", "two-sample")


def t_test_power(
    effect: float, n: int, *, kind: str = "two-sample", alpha: float = 0.05, one_sided: bool = False
) -> float:
    """The chance to find an effect of so many standard deviations. n counts people, pairs, or values per group."""
    from scipy.special import nctdtr, stdtrit

    one_of(kind, KINDS, "kind")
    open_unit(alpha, "alpha")
    if n < 2 or not math.isfinite(effect):
        raise InterplayError(f"power needs n >= 2 and a finite effect, got n={n} and effect={effect}")
    df, scale = (2 * n - 2, math.sqrt(n / 2)) if kind == "two-sample" else (n - 1, math.sqrt(n))
    shift = abs(effect) * scale
    if one_sided:
        return float(1 - nctdtr(df, shift, stdtrit(df, 1 - alpha)))
    bound = float(stdtrit(df, 1 - alpha / 2))
    return float(1 - nctdtr(df, shift, bound) + nctdtr(df, shift, -bound))


def t_test_sample_size(
    effect: float, *, power: float = 0.8, kind: str = "two-sample", alpha: float = 0.05, one_sided: bool = False
) -> int:
    """The smallest n (people, pairs, or values per group) with at least this power."""
    open_unit(power, "power")
    if effect == 0 or not math.isfinite(effect):
        raise InterplayError(f"the effect must be finite and not 0, got {effect!r}: no sample finds an absent effect")

    def enough(n: int) -> bool:
        return t_test_power(effect, n, kind=kind, alpha=alpha, one_sided=one_sided) >= power

    high = 2
    while not enough(high):
        high *= 2
        if high > 1 << 30:
            raise InterplayError(f"an effect of {effect:g} would need more than a billion values")
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
