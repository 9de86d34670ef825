"""How many people a study needs, from an assumed effect or from a pilot.

Exact for t tests, by simulation where there is no formula. The number comes with an interval: of the simulation, or of
what the pilot leaves open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats import effect_interval, proportion_interval, t_test_power, t_test_sample_size

TESTS = ("one_sample", "paired", "wilcoxon", "friedman")
MOST = 5000  # people; more is an error
SAFE_LEVEL = 0.6  # the lower end of this interval of a pilot's effect is what a careful plan takes


@dataclass(frozen=True)
class Aim:
    """What is asked for.

    Effects are in standard deviations: of the ratings (one_sample), of the differences (paired, wilcoxon), or of one
    person's noise between the best and the worst of evenly spread partners (friedman).
    """

    test: str
    power: float = 0.8
    alpha: float = 0.05
    tests: int = 1  # made at once: the level is divided among them
    one_sided: bool = False
    partners: int = 4  # ranked (friedman)
    points: float | None = None  # wilcoxon: one sd in points of the scale, to which differences are rounded
    simulations: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise InterplayError(f"test {self.test!r}: it is {', '.join(TESTS)}")
        for name, value in (("power", self.power), ("alpha", self.alpha)):
            if not 0 < value < 1:
                raise InterplayError(f"{name} {value}: between 0 and 1")
        if self.tests < 1 or self.partners < 2 or self.simulations < 100:
            raise InterplayError("tests: at least 1; partners: at least 2; simulations: at least 100")
        if self.one_sided and self.test == "friedman":
            raise InterplayError("Friedman's test has no sides")
        if self.points is not None and (self.test != "wilcoxon" or self.points <= 0):
            raise InterplayError("points: above 0, and for wilcoxon only")

    @property
    def level(self) -> float:
        """The level of each test: alpha divided by the number of tests."""
        return self.alpha / self.tests

    @property
    def simulated(self) -> bool:
        """Whether power is simulated."""
        return self.test in ("wilcoxon", "friedman")


@dataclass(frozen=True)
class Needed:
    """A number of people, its interval, and the power that it gives."""

    n: int
    low: int | None
    high: int | None
    power: float
    power_low: float | None
    power_high: float | None


Draw = Callable[[int, int, np.random.Generator], np.ndarray]  # simulations, people -> [simulation, person, ...]


def needed(aim: Aim, effect: float) -> Needed:
    """Return the smallest number of people that finds an effect; the interval is that of the simulation.

    Raises:
        InterplayError: The effect is 0 or too small to plan for.
    """
    _check_effect(effect)
    if not aim.simulated:
        kind = "one-sample" if aim.test == "one_sample" else "paired"
        n = t_test_sample_size(effect, power=aim.power, kind=kind, alpha=aim.level, one_sided=aim.one_sided)
        got = t_test_power(effect, n, kind=kind, alpha=aim.level, one_sided=aim.one_sided)
        return Needed(n, n, n, got, None, None)
    return _search(aim, _drawn(aim, effect))


def curve(aim: Aim, effect: float, people: Sequence[int]) -> list[dict[str, Any]]:
    """Return the power of some numbers of people."""
    _check_effect(effect)
    rows = []
    draws = None if not aim.simulated else _Sampled(aim, _drawn(aim, effect))
    for n in people:
        if draws is None:
            kind = "one-sample" if aim.test == "one_sample" else "paired"
            got = t_test_power(effect, n, kind=kind, alpha=aim.level, one_sided=aim.one_sided)
            rows.append({"people": n, "power": got, "power_low": None, "power_high": None})
        else:
            low, got, high = draws.power(n)
            rows.append({"people": n, "power": got, "power_low": low, "power_high": high})
    return rows


def from_pilot(aim: Aim, values: Sequence[float]) -> tuple[dict[str, Any], dict[str, Needed | None]]:
    """Return a pilot's effect with its interval, and the numbers of people for it.

    Args:
        aim: The test of one column.
        values: The column in the pilot: ratings less their null value, or differences.

    Returns:
        The effect; and the numbers for the effect itself, for its careful lower end, and for both ends of its interval.
        None: no number is enough, since the pilot leaves open whether there is any effect in this direction.

    Raises:
        InterplayError: Fewer than three people have the column, or all have the same value.
    """
    x = np.asarray(values, float)
    if len(x) < 3 or np.ptp(x) == 0:
        raise InterplayError(
            f"the pilot tells no effect: {len(x)} people have what is tested, at least 3 that differ are needed"
        )
    d = float(x.mean() / x.std(ddof=1))
    t = d * math.sqrt(len(x))
    low, high = effect_interval(t, len(x))
    safe = effect_interval(t, len(x), level=SAFE_LEVEL)
    sign = 1.0 if d >= 0 else -1.0
    near, far = sorted((sign * low, sign * high))
    careful = min(sign * safe[0], sign * safe[1])

    def people_for(size: float) -> Needed | None:
        try:
            return needed(aim, size) if size > 1e-3 else None
        except InterplayError:
            return None

    summary = {"effect": d, "effect_low": low, "effect_high": high, "careful": careful, "pilot": len(x)}
    return summary, {
        "effect": people_for(abs(d)),
        "careful": people_for(careful),
        "fewest": people_for(far),
        "most": people_for(near),
    }


def from_rankings(aim: Aim, places: np.ndarray, *, pilots: int = 40) -> tuple[dict[str, Any], Needed, Needed | None]:
    """Return the numbers of people for Friedman's test, with people drawn from those of a pilot.

    Args:
        aim: The test.
        places: [person, partner] ranks in the pilot.
        pilots: How often the pilot itself is resampled.

    Returns:
        A description of the pilot; the number for the pilot as it is; and the same with the interval that pilots of
        this
        size leave open.

    Raises:
        InterplayError: The pilot has fewer than three rankings.
    """
    from interplay.stats import kendall_w

    table = np.asarray(places, float)
    if len(table) < 3:
        raise InterplayError(f"a pilot of {len(table)} rankings tells too little; at least 3 are needed")
    rng = np.random.default_rng(aim.seed)
    whole = _search(aim, _resampled(table))
    quick = replace(aim, simulations=400)
    numbers = []
    for _ in range(pilots):
        resample = table[rng.integers(len(table), size=len(table))]
        try:
            numbers.append(_search(quick, _resampled(resample)).n)
        except InterplayError:
            numbers.append(MOST)
    low, high = (int(q) for q in np.quantile(numbers, [0.025, 0.975], method="nearest"))
    spread = Needed(whole.n, low, None if high >= MOST else high, whole.power, whole.power_low, whole.power_high)
    return {"w": kendall_w(-table), "pilot": len(table), "partners": table.shape[1]}, whole, spread


def _check_effect(effect: float) -> None:
    if not math.isfinite(effect) or effect == 0:
        raise InterplayError(f"effect {effect}: a number that is not 0; no study finds an effect that is not there")


def _drawn(aim: Aim, effect: float) -> Draw:
    size = abs(effect)
    if aim.test == "friedman":
        means = np.linspace(0.0, size, aim.partners)
        return lambda sims, n, rng: rng.normal(means, 1.0, size=(sims, n, aim.partners))

    def differences(sims: int, n: int, rng: np.random.Generator) -> np.ndarray:
        x = rng.normal(size, 1.0, size=(sims, n))
        return x if aim.points is None else np.rint(x * aim.points)

    return differences


def _resampled(table: np.ndarray) -> Draw:
    return lambda sims, n, rng: -table[rng.integers(len(table), size=(sims, n))]


class _Sampled:
    """Simulated studies. Larger ones begin with the same people, so that power grows with their number."""

    def __init__(self, aim: Aim, draw: Draw):
        self._aim, self._draw, self._size = aim, draw, 0
        self._data: np.ndarray | None = None
        self._known: dict[int, tuple[float, float, float]] = {}

    def power(self, n: int) -> tuple[float, float, float]:
        """Return the power of n people: low end, estimate and high end."""
        if n not in self._known:
            self._grow(n)
            assert self._data is not None
            hits = int(np.sum(self._p(n) < self._aim.level))
            made = proportion_interval(hits, self._aim.simulations)
            self._known[n] = made.low, made.estimate, made.high
        return self._known[n]

    def _grow(self, n: int) -> None:
        while self._size < n:
            more = max(16, self._size)
            part = self._draw(self._aim.simulations, more, np.random.default_rng([self._aim.seed, self._size]))
            if self._aim.test == "friedman":  # ranks are within people, so sums over more people are cumulative
                part = np.cumsum(_friedman_parts(part), axis=1)
                part += 0 if self._data is None else self._data[:, -1:]
            self._data = part if self._data is None else np.concatenate([self._data, part], axis=1)
            self._size += more

    def _p(self, n: int) -> np.ndarray:
        assert self._data is not None
        if self._aim.test == "friedman":
            return _friedman_p(self._data[:, n - 1])
        return _wilcoxon_p(self._data[:, :n], self._aim.one_sided)


def _friedman_parts(scores: np.ndarray) -> np.ndarray:
    """Return centred ranks and the sum of their squares.

    [simulation, person, item + 1] of [simulation, person, item]; ties share their rank.
    """
    from scipy.stats import rankdata

    ranks = rankdata(scores, axis=-1) - (scores.shape[-1] + 1) / 2
    return np.concatenate([ranks, (ranks**2).sum(axis=-1, keepdims=True)], axis=-1)


def _friedman_p(sums: np.ndarray) -> np.ndarray:
    """Return [simulation] p of Friedman's test from sums over people [simulation, item + 1]."""
    from scipy.special import chdtrc

    df = sums.shape[-1] - 2
    spread, within = (sums[:, :-1] ** 2).sum(axis=-1), sums[:, -1]
    return chdtrc(df, df * np.divide(spread, within, out=np.zeros_like(spread), where=within > 0))


def _wilcoxon_p(differences: np.ndarray, one_sided: bool) -> np.ndarray:
    """Return [simulation] p of the signed-rank test of [simulation, person], corrected for ties, without zeros."""
    from scipy.special import ndtr
    from scipy.stats import rankdata

    if differences.shape[1] < 6:
        return np.ones(len(differences))  # no p below .05 exists
    moved = differences != 0
    count = moved.sum(axis=1)
    ranks = np.where(moved, rankdata(np.abs(differences), axis=1) - (~moved).sum(axis=1, keepdims=True), 0.0)
    centre = (ranks * np.sign(differences)).sum(axis=1)  # twice the statistic less its mean
    spread = np.sqrt((ranks**2).sum(axis=1))
    z = np.divide(centre, spread, out=np.zeros(len(centre)), where=(spread > 0) & (count >= 6))
    return ndtr(-z) if one_sided else 2 * ndtr(-np.abs(z))


def _search(aim: Aim, draw: Draw) -> Needed:
    """Return the smallest n whose simulated power reaches the aim, and those that the simulation leaves open."""
    sampled = _Sampled(aim, draw)

    def least(which: int) -> int:
        high = 4
        while sampled.power(high)[which] < aim.power:
            high *= 2
            if high > MOST:
                raise InterplayError(f"more than {MOST} people would be needed; the effect is too small to plan for")
        low = high // 2
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (low, middle) if sampled.power(middle)[which] >= aim.power else (middle, high)
        return high

    n = least(1)
    low, high = least(2), least(0)
    return Needed(n, min(low, n), max(high, n), sampled.power(n)[1], sampled.power(n)[0], sampled.power(n)[2])


def recruits(n: int | None, dropout: float = 0.0, orders: int = 1) -> int | None:
    """Return how many must begin, so that n remain and every order is assigned equally often; None for None."""
    if not 0 <= dropout < 1 or orders < 1:
        raise InterplayError(f"dropout {dropout}: from 0 to below 1; orders {orders}: at least 1")
    return None if n is None else math.ceil(math.ceil(n / (1 - dropout)) / orders) * orders
