"""How many seeds, partners and episodes make an interval so narrow. For the mean; an IQM is some per cent wider."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats._checks import open_unit
from interplay.stats.resampling_design import EPISODE
from interplay.stats.variance_decomposition import VarianceComponents

_BATCH = 4096  # designs whose t quantile is computed at once, cheapest first


@dataclass(frozen=True)
class DesignPlan:
    """A design and what to expect of it."""

    levels: dict[str, int]  # random factor -> how many
    episodes: int  # per cell of all factors, fixed ones included
    half_width: float
    level: float
    se: float
    df: float
    total_episodes: int
    cost: float
    sources: dict[str, float]  # source -> its share of the squared standard error


def expected_width(
    components: VarianceComponents, levels: Mapping[str, int], episodes: int, *, level: float = 0.95
) -> DesignPlan:
    """The half-width to expect of a t interval (Satterthwaite's degrees of freedom) for the mean of this design."""
    open_unit(level, "level")
    sizes = _sizes(components, levels)
    if episodes < 1:
        raise InterplayError(f"episodes must be at least 1, not {episodes}")
    return _plan(components, {**sizes, EPISODE: int(episodes)}, level, {EPISODE: 1.0})


def cheapest_design(
    components: VarianceComponents,
    half_width: float,
    *,
    costs: Mapping[str, float] | None = None,
    most: Mapping[str, int] | None = None,
    least: Mapping[str, int] | None = None,
    level: float = 0.95,
) -> DesignPlan:
    """The cheapest design whose expected half-width is at most the target.

    `costs`: of one more level of a factor (training a seed) and of one "episode"; default 1 per episode, 0 else.
    `most` and `least` bound what is searched (defaults 100 and 2 levels, 100 and 1 episodes).
    """
    if not half_width > 0:
        raise InterplayError(f"the target half-width must be positive, not {half_width!r}")
    open_unit(level, "level")
    prices = _named(components, costs or {}, "costs", default=0.0) | {EPISODE: (costs or {}).get(EPISODE, 1.0)}
    top = _named(components, most or {}, "most", default=100) | {EPISODE: (most or {}).get(EPISODE, 100)}
    bottom = _named(components, least or {}, "least", default=2) | {EPISODE: (least or {}).get(EPISODE, 1)}
    axes = [np.arange(bottom[name], top[name] + 1) for name in [*components.factors, EPISODE]]
    if any(len(axis) == 0 for axis in axes) or min(int(axis[0]) for axis in axes) < 1:
        raise InterplayError("every factor needs at least one level, and `least` must not exceed `most`")
    if math.prod(map(len, axes)) > 20_000_000:
        raise InterplayError("too many designs to search; lower `most`")
    grid = dict(zip([*components.factors, EPISODE], np.meshgrid(*axes, indexing="ij", sparse=True), strict=True))
    return _search(components, grid, prices, half_width, level)


def _search(
    components: VarianceComponents,
    grid: dict[str, np.ndarray],
    prices: Mapping[str, float],
    half_width: float,
    level: float,
) -> DesignPlan:
    from scipy.special import ndtri

    full = {name: np.broadcast_arrays(*grid.values())[k].ravel() for k, name in enumerate(grid)}
    cost = np.asarray(_cost(components, full, prices))
    variance = np.asarray(sum(_contributions(components, full).values()))
    # the normal quantile is a lower bound on the t quantile, and cheap: only designs that pass it are looked at
    hopeful = np.flatnonzero(ndtri((1 + level) / 2) * np.sqrt(variance) <= half_width)
    hopeful = hopeful[np.argsort(cost[hopeful], kind="stable")]
    for start in range(0, len(hopeful), _BATCH):
        batch = hopeful[start : start + _BATCH]
        widths = _precision(components, {name: column[batch] for name, column in full.items()}, level)[0]
        if (widths <= half_width).any():
            first = batch[np.argmax(widths <= half_width)]
            at = {name: int(column[first]) for name, column in full.items()}
            return _plan(components, at, level, prices)
    best = _plan(components, {name: int(axis.max()) for name, axis in grid.items()}, level, prices)
    raise InterplayError(
        f"no design within the bounds reaches a half-width of {half_width:g}; the largest one gives "
        f"{best.half_width:.4g}. Raise `most`, or accept a wider interval"
    )


def _contributions(components: VarianceComponents, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """What each source adds to the variance of the mean. Sources of fixed factors alone add nothing."""
    counts = {**components.fixed, **sizes}
    parts: dict[str, Any] = {}
    for source, variance in components.variances.items():
        names = list(counts) if source == EPISODE else source.split(":")
        if all(name in components.fixed for name in names):
            continue
        number = math.prod(counts[name] for name in names if name != EPISODE)
        parts[source] = variance / (number * counts[EPISODE] if source == EPISODE else number)
    return parts


def _plan(
    components: VarianceComponents, sizes: Mapping[str, int], level: float, prices: Mapping[str, float]
) -> DesignPlan:
    counts = {**components.fixed, **sizes}
    parts = {source: float(v) for source, v in _contributions(components, counts).items()}
    variance = sum(parts.values())
    half_width, df = _precision(components, counts, level)
    return DesignPlan(
        levels={name: int(counts[name]) for name in components.factors},
        episodes=int(counts[EPISODE]),
        half_width=float(half_width),
        level=level,
        se=math.sqrt(variance),
        df=float(df),
        total_episodes=math.prod(counts.values()),
        cost=float(_cost(components, counts, prices)),
        sources={source: v / variance if variance else 0.0 for source, v in parts.items()},
    )


def _precision(components: VarianceComponents, sizes: Mapping[str, Any], level: float) -> tuple[np.ndarray, np.ndarray]:
    """Half-width and Satterthwaite's degrees of freedom, from those of every source in a balanced table."""
    from scipy.special import stdtrit

    counts = {name: np.asarray(n) for name, n in {**components.fixed, **sizes}.items()}
    cells = math.prod(n for name, n in counts.items() if name != EPISODE)
    variance, below = np.asarray(0.0), np.asarray(0.0)
    for source, part in _contributions(components, counts).items():
        if source == EPISODE:
            own = np.where(counts[EPISODE] > 1, cells * (counts[EPISODE] - 1), cells - 1)
        else:
            own = math.prod(np.maximum(counts[name] - 1, 1) for name in source.split(":"))
        variance = variance + part
        below = below + part**2 / np.maximum(own, 1)
    df = np.divide(variance**2, below, out=np.full(np.shape(below), np.inf), where=below > 0)
    return stdtrit(np.minimum(df, 1e9), (1 + level) / 2) * np.sqrt(variance), df


def _cost(components: VarianceComponents, counts: Mapping[str, Any], prices: Mapping[str, float]) -> Any:
    played = math.prod([*components.fixed.values(), counts[EPISODE], *(counts[n] for n in components.factors)])
    return played * prices[EPISODE] + sum(counts[n] * prices.get(n, 0.0) for n in components.factors)


def _sizes(components: VarianceComponents, levels: Mapping[str, int]) -> dict[str, int]:
    if set(levels) != set(components.factors):
        raise InterplayError(f"levels must name {', '.join(components.factors)}; got {', '.join(levels) or 'nothing'}")
    for name, n in levels.items():
        if n < 1:
            raise InterplayError(f"{name!r} needs at least one level, not {n}")
    return {**components.fixed, **levels}


def _named(components: VarianceComponents, values: Mapping[str, float], what: str, *, default: Any) -> dict[str, Any]:
    unknown = set(values) - {*components.factors, EPISODE}
    if unknown:
        raise InterplayError(f"{what}: unknown factor {sorted(unknown)[0]!r}; known: {', '.join(components.factors)}")
    return {name: values.get(name, default) for name in components.factors}
