"""Intervals of a mean, of a proportion and of an effect in standard deviations, for independent values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats._checks import Missing, Numbers, complete, open_unit
from interplay.stats.bootstrap import Interval


def mean_interval(values: Numbers, *, level: float = 0.95, missing: Missing = "raise") -> Interval:
    """Mean with Student's t interval. For independent values only: episodes of one seed are not."""
    from scipy.special import stdtrit

    (x,) = complete(values, names=["values"], missing=missing, least=2)
    open_unit(level, "level")
    se = float(x.std(ddof=1) / math.sqrt(len(x)))
    half = float(stdtrit(len(x) - 1, (1 + level) / 2)) * se
    centre = float(np.mean(x))
    return Interval(centre, centre - half, centre + half, level, "t", len(x), se=se)


def proportion_interval(successes: int, n: int, *, level: float = 0.95) -> Interval:
    """Share of successes with Wilson's score interval, which stays inside 0 and 1 and holds up for small n."""
    from scipy.stats import binomtest

    if n < 1 or not 0 <= successes <= n or int(successes) != successes or int(n) != n:
        raise InterplayError(f"{successes} successes of {n}: need whole numbers with 0 <= successes <= n and n >= 1")
    share = successes / n
    low, high = binomtest(int(successes), int(n)).proportion_ci(open_unit(level, "level"), method="wilson")
    return Interval(share, low, high, level, "wilson", int(n), se=math.sqrt(share * (1 - share) / n))


def effect_interval(t: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of an effect (mean / sd) of n values or pairs, from its t.

    Where the noncentral t distribution cannot be computed (effects of many standard deviations) it is the large-sample
    one.
    """
    from scipy.optimize import brentq
    from scipy.special import nctdtr, ndtri

    df, root = n - 1, math.sqrt(n)
    tail = (1 - open_unit(level, "level")) / 2

    def bound(share: float, direction: int) -> float:
        def over(centre: float) -> float:  # falls as the centre moves up
            return float(nctdtr(df, centre, t)) - share

        step = 1.0
        while (value := over(t + direction * step)) * direction > 0:
            step *= 1.5
        if math.isnan(value):
            d = t / root
            return root * (d + direction * float(ndtri(1 - tail)) * math.sqrt(1 / n + d * d / (2 * n)))
        ends = sorted((t - direction * 0.999, t + direction * step))
        root_at: Any = brentq(over, ends[0], ends[1])
        return float(root_at)

    return bound(1 - tail, -1) / root, bound(tail, 1) / root
