"""Columns of a mixed model: fixed effects as a matrix, and the levels of random effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from interplay.errors import InterplayError


@dataclass(frozen=True)
class FixedEffects:
    """A design matrix with a constant, numeric columns as they are and factors in treatment coding."""

    matrix: np.ndarray  # [row, column]
    names: tuple[str, ...]  # `constant`, a numeric column's name, or `factor=level`
    levels: Mapping[str, tuple[Any, ...]]  # of every factor; the first is the one without a column

    def weights(self, name: str) -> np.ndarray:
        """Return the contrast that picks one column of the matrix."""
        if name not in self.names:
            raise InterplayError(f"the model has no coefficient {name!r}; it has {', '.join(self.names)}")
        return np.array([float(column == name) for column in self.names])

    def mean_weights(self, factor: str) -> np.ndarray:
        """Return [level, column] contrasts that give the marginal mean of every level of a factor.

        Levels of other factors weigh equally, numeric columns are held at their means.
        """
        if factor not in self.levels:
            raise InterplayError(f"{factor!r} is no factor of the model; it has {', '.join(self.levels) or 'none'}")
        base = np.zeros(len(self.names))
        for at, name in enumerate(self.names):
            other = name.partition("=")[0] if "=" in name else ""
            if other in self.levels:
                base[at] = 0.0 if other == factor else 1 / len(self.levels[other])
            else:
                base[at] = 1.0 if name == "constant" else float(self.matrix[:, at].mean())
        rows = np.tile(base, (len(self.levels[factor]), 1))
        for row, level in zip(rows, self.levels[factor], strict=True):
            name = f"{factor}={level}"
            if name in self.names:
                row[self.names.index(name)] = 1.0
        return rows

    def pair_weights(self, factor: str) -> tuple[list[tuple[Any, Any]], np.ndarray]:
        """Return all pairs of levels of a factor, and [pair, column] contrasts of their difference."""
        means = self.mean_weights(factor)
        at = list(combinations(range(len(means)), 2))
        pairs = [(self.levels[factor][i], self.levels[factor][j]) for i, j in at]
        return pairs, np.array([means[i] - means[j] for i, j in at]).reshape(len(at), len(self.names))

    def factor_weights(self, factor: str) -> np.ndarray:
        """Return [level - 1, column] contrasts that are all 0 where the levels of a factor do not differ."""
        means = self.mean_weights(factor)
        return means[1:] - means[0]


def fixed_effects(columns: Mapping[str, Any], rows: int) -> FixedEffects:
    """Return the design of a constant, numeric columns and factors.

    Args:
        columns: Numbers (a numeric effect) or anything else (a factor), by name.
        rows: How many rows each column must have.

    Raises:
        InterplayError: A column has another length, a missing number or a single level, or the columns depend on
            one another.
    """
    parts, names, levels = [np.ones(rows)], ["constant"], {}
    for name, values in columns.items():
        column = list(values)
        if len(column) != rows:
            raise InterplayError(f"{name}: {len(column)} rows, and there are {rows} values to explain")
        number = np.asarray(column)
        if number.ndim == 1 and number.dtype.kind in "iuf":
            number = number.astype(float)
            if not np.isfinite(number).all():
                raise InterplayError(f"{name}: missing or infinite values; leave those rows out first")
            if np.ptp(number) <= 1e-13 * max(1.0, float(np.abs(number).max())):
                raise InterplayError(f"{name}: all {rows} values are the same")
            parts.append(number)
            names.append(name)
            continue
        kinds = tuple(dict.fromkeys(column))
        if len(kinds) < 2:
            raise InterplayError(f"{name}: one level only, nothing to compare")
        levels[name] = kinds
        for kind in kinds[1:]:
            parts.append(np.array([float(v == kind) for v in column]))
            names.append(f"{name}={kind}")
    matrix = np.column_stack(parts)
    scaled = matrix / np.linalg.norm(matrix, axis=0)
    if np.linalg.matrix_rank(scaled, tol=1e-9) < matrix.shape[1]:
        raise InterplayError("the fixed effects depend on one another, so they cannot be told apart")
    return FixedEffects(matrix, tuple(names), levels)


def crossed(*columns: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the combinations of levels of several columns, row by row: the cells of a design."""
    return list(zip(*columns, strict=True))


@dataclass(frozen=True)
class RandomTerm:
    """One random effect: a level for every row, and by what it is multiplied (1 for an intercept)."""

    name: str
    codes: np.ndarray  # [row] int
    levels: tuple[Any, ...]
    by: np.ndarray  # [row]

    def columns(self) -> np.ndarray:
        """Return the effect's design [row, level]."""
        matrix = np.zeros((len(self.codes), len(self.levels)))
        matrix[np.arange(len(self.codes)), self.codes] = self.by
        return matrix

    def sums(self, columns: np.ndarray) -> np.ndarray:
        """Return [level, column] sums of columns [row, column] over the rows of each level."""
        order = np.argsort(self.codes, kind="stable")
        starts = np.searchsorted(self.codes[order], np.arange(len(self.levels)))
        return np.add.reduceat((columns * self.by[:, None])[order], starts, axis=0)


def random_terms(groups: Mapping[str, Any], rows: int, slopes: Mapping[str, Any] | None = None) -> list[RandomTerm]:
    """Return random intercepts for every grouping, and slopes that vary over the levels of some.

    Args:
        groups: The level of every row, by the name of the grouping.
        rows: How many rows there are.
        slopes: A numeric column by the name of a grouping over whose levels its slope varies, independently of the
            intercept.

    Raises:
        InterplayError: A grouping has another length, one level only, or a level for every row.
    """
    if not groups:
        raise InterplayError("a mixed model needs at least one grouping, such as person or partner")
    terms = []
    for name, values in groups.items():
        column = list(values)
        if len(column) != rows:
            raise InterplayError(f"{name}: {len(column)} rows, and there are {rows} values to explain")
        levels = tuple(dict.fromkeys(column))
        if len(levels) < 2:
            raise InterplayError(f"{name}: one level only, so nothing is known of how levels differ")
        if len(levels) == rows:
            raise InterplayError(f"{name}: a level for every row, which cannot be told from the residual")
        index = {level: at for at, level in enumerate(levels)}
        codes = np.array([index[v] for v in column])
        terms.append(RandomTerm(name, codes, levels, np.ones(rows)))
        if slopes and name in slopes:
            by = np.asarray(slopes[name], float)
            terms.append(RandomTerm(f"{name} slope", codes, levels, by - by.mean()))
    return terms
