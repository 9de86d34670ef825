"""Which rows a bootstrap replicate holds, and how often: crossed and nested sampling units drawn with replacement.

A unit is a column whose levels were drawn from a population (training seeds, partners). Units are crossed: a replicate
draws seeds and, on their own, partners, and holds a seed-partner cell as often as the product of the two draws.
Written "population/partner" the second is nested: drawn afresh inside each drawn level of the first. Written
"seed+other_seed" two columns share one population, as in a cross-play matrix. Fixed columns (seats, layouts) are never
resampled. The rows of one cell are its episodes; each drawn copy of a cell draws its own episodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.errors import InterplayError

EPISODE = "episode"  # how results name the rows inside a cell
_CHUNK = 1 << 18  # counts held at once; larger chunks fall out of the cache and run slower


@dataclass(frozen=True)
class ResamplingStep:
    """Levels of one column, contiguous within their parents."""

    name: str
    parent: np.ndarray  # [level], a level of the step above
    start: np.ndarray  # [parent], the first of its levels
    size: np.ndarray  # [parent], how many it has
    fixed: bool

    @property
    def varies(self) -> bool:
        """Whether resampling changes the counts."""
        return not self.fixed and bool((self.size > 1).any())

    def draw(self, above: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Counts [replicate, level] given the counts [replicate, parent] of the step above."""
        if not self.varies:
            return above.take(self.parent, axis=1)
        levels = len(self.parent)
        draws = (above * self.size).ravel()
        first = (self.start + levels * np.arange(len(above))[:, None]).ravel()
        drawn = np.repeat(first, draws)
        among = np.repeat(np.tile(self.size, len(above)), draws) if np.ptp(self.size) else self.size[0]
        drawn += rng.integers(among, size=len(drawn), dtype=np.uint32)
        return np.bincount(drawn, minlength=len(above) * levels).reshape(len(above), levels)


@dataclass(frozen=True)
class ResamplingUnit:
    """A chain of steps from the whole population down to the levels that rows carry."""

    steps: tuple[ResamplingStep, ...]
    leaf: np.ndarray  # [column, row]: more than one column only where columns share a population
    top: np.ndarray  # [column, row], the level of the first step that varies: what a jackknife leaves out
    stratum: np.ndarray  # [top level], levels of one stratum are exchangeable

    def draw(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        """Return counts [replicate, level] of the last step's levels."""
        counts = np.ones((replicates, 1), np.int64)
        for step in self.steps:
            counts = step.draw(counts, rng)
        return counts


@dataclass(frozen=True)
class ResamplingDesign:
    """The sampling structure of a table of N rows."""

    units: tuple[ResamplingUnit, ...]
    cells: ResamplingStep  # rows inside cells
    cell_leaf: tuple[np.ndarray, ...]  # per unit [column, cell]
    row_place: np.ndarray  # [row], its place among the rows ordered by cell
    blocks: np.ndarray  # [row], a replicate must hold a row of every block (the groups that are compared)
    resampled: tuple[str, ...]
    not_resampled: tuple[str, ...]

    def counts(self, replicates: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Counts [some, N], together `replicates` of them; draws that leave a block empty are drawn again."""
        if not self.resampled:
            raise InterplayError(
                "nothing to resample: every unit has one level and every cell one row "
                f"({', '.join(self.not_resampled)}); to see how sure a number is takes at least two of something"
            )
        rows = len(self.row_place)
        most = max(1, _CHUNK // rows)
        done = tried = 0
        while done < replicates:
            part = self._draw(min(most, replicates - done), rng)
            tried += len(part)
            filled = self._filled(part)
            part = part if filled.all() else part[filled]
            done += len(part)
            if tried > 100 + 20 * done:
                raise InterplayError(
                    "most resamples are empty: the levels drawn seldom meet in a row. The design is too sparse to "
                    "resample these units as crossed; nest one in the other ('a/b') or resample one of them only"
                )
            yield part

    def _draw(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        per_cell = np.ones((replicates, len(self.cells.start)), np.int64)
        for unit, leaf in zip(self.units, self.cell_leaf, strict=True):
            drawn = unit.draw(replicates, rng)
            for column in leaf:
                per_cell *= drawn.take(column, axis=1)
        return self.cells.draw(per_cell, rng).take(self.row_place, axis=1)

    def _filled(self, counts: np.ndarray) -> np.ndarray:
        if not self.blocks.any():
            return counts.max(axis=1) > 0
        most_of_block = [counts[:, self.blocks == b].max(axis=1) for b in range(self.blocks.max() + 1)]
        return np.min(most_of_block, axis=0) > 0

    def jackknife_units(self) -> list[ResamplingUnit]:
        """The units that vary, or the rows themselves where none does."""
        varying = [u for u in self.units if any(s.varies for s in u.steps)]
        if varying or not self.cells.varies:
            return varying
        rows = np.arange(len(self.row_place))[None]
        return [ResamplingUnit((self.cells,), rows, rows, self.cells.parent[self.row_place])]


def design(
    columns: Mapping[str, Any],
    rows: int,
    *,
    units: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    episodes: bool = True,
    blocks: np.ndarray | None = None,
) -> ResamplingDesign:
    """The sampling structure of a table, read from its columns. `episodes`: whether rows in a cell are drawn too."""
    units = default_units(columns, fixed) if units is None else units
    codes = _codes(columns, rows, units, fixed)
    built = [_unit(unit, codes, fixed) for unit in units]
    cell_codes = [u.leaf[k] for u in built for k in range(len(u.leaf))] + [codes[f] for f in fixed]
    cell_of = _combine(cell_codes, rows)
    order = np.argsort(cell_of, kind="stable")
    first = order[np.searchsorted(cell_of[order], np.arange(cell_of.max() + 1))]
    place = np.empty(rows, np.int64)
    place[order] = np.arange(rows)
    cells = _step(EPISODE, cell_of[order], fixed=not episodes)
    steps = [s for u in built for s in u.steps if s.name not in fixed] + [cells]
    return ResamplingDesign(
        units=tuple(built),
        cells=cells,
        cell_leaf=tuple(u.leaf[:, first] for u in built),
        row_place=place,
        blocks=np.zeros(rows, np.int64) if blocks is None else blocks,
        resampled=tuple(s.name for s in steps if s.varies),
        not_resampled=tuple(s.name for s in steps if not s.varies),
    )


def default_units(columns: Mapping[str, Any], fixed: Sequence[str]) -> list[str]:
    """Return the columns that are resampled where none are named: all that are not fixed."""
    return [name for name in columns if name not in fixed]


def _codes(columns: Mapping[str, Any], rows: int, units: Sequence[str], fixed: Sequence[str]) -> dict[str, np.ndarray]:
    if isinstance(units, str) or isinstance(fixed, str):
        raise InterplayError("units and fixed are lists of column names, not one string")
    named = [part for unit in units for step in unit.split("/") for part in step.split("+")] + list(fixed)
    codes = {}
    for name in dict.fromkeys(named):
        if name not in columns:
            raise InterplayError(f"unknown factor {name!r}; the columns are {', '.join(columns) or 'none'}")
        column = list(columns[name])
        if len(column) != rows:
            raise InterplayError(f"factor {name!r} has {len(column)} rows, the values have {rows}")
        if any(v is None or v != v for v in column):
            raise InterplayError(f"factor {name!r} has missing levels; name them or leave those rows out")
        index = {level: k for k, level in enumerate(dict.fromkeys(column))}
        codes[name] = np.fromiter((index[v] for v in column), np.int64, rows)
    return codes


def _unit(spec: str, codes: Mapping[str, np.ndarray], fixed: Sequence[str]) -> ResamplingUnit:
    """The chain of "a/b". A level is known by its parents too: seed 1 of one parent is not seed 1 of another."""
    parts = [step.split("+") for step in spec.split("/")]
    width = max(map(len, parts))
    if any(len(p) not in (1, width) for p in parts):
        raise InterplayError(f"unit {spec!r}: the parts around '/' must name one column or equally many")
    stacked = [np.concatenate([codes[p[k % len(p)]] for k in range(width)]) for p in parts]
    above = np.zeros(len(stacked[0]), np.int64)
    steps: list[ResamplingStep] = []
    top, stratum = above, np.zeros(1, np.int64)
    for names, column in zip(parts, stacked, strict=True):
        level = _combine([above, column], len(above))
        parent = np.empty(level.max() + 1, np.int64)
        parent[level] = above
        step = _step("+".join(names), parent, fixed=all(n in fixed for n in names))
        if not any(s.varies for s in steps):
            top, stratum = level, parent
        steps.append(step)
        above = level
    return ResamplingUnit(tuple(steps), above.reshape(width, -1), top.reshape(width, -1), stratum)


def _step(name: str, parent: np.ndarray, *, fixed: bool) -> ResamplingStep:
    parents = int(parent.max()) + 1
    return ResamplingStep(
        name, parent, np.searchsorted(parent, np.arange(parents)), np.bincount(parent, minlength=parents), fixed
    )


def _combine(codes: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """One code per combination, ordered by the first column, then the next: children lie beside their siblings."""
    combined = np.zeros(rows, np.int64)
    for code in codes:
        combined = np.unique(combined * (int(code.max()) + 1) + code, return_inverse=True)[1]
    return combined
