"""Whether people rank items alike, from whole and partial rankings: a linear model of ranks with people as blocks.

Ranks within one ranking add up to a constant, so people have no level of their own to be drawn: they are blocks, and
the tests are the F and t tests of the linear model. For whole rankings the F test is Iman and Davenport's (1980) form
of Friedman's, whose chi-squared form is too careful with few people. Partial rankings, which Friedman's test must drop,
are used as well.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats.models.inference import Estimate, JointTest


@dataclass(frozen=True)
class RankFit:
    """Items' strengths, higher is better, in standard deviations of a rank drawn at random; they sum to 0."""

    strengths: Mapping[Any, Estimate]
    pairs: Mapping[tuple[Any, Any], Estimate]
    test: JointTest  # of all strengths being equal
    rankings: int


def rank_fit(orders: Sequence[Sequence[Hashable]]) -> RankFit:
    """Fit the strengths of items to rankings, one for each person.

    Args:
        orders: Items from best to worst; a ranking need not hold all items.

    Raises:
        InterplayError: There are fewer than two rankings of two items, or rankings fall into groups that share no item.
    """
    used = [list(order) for order in orders if len(order) > 1]
    names = list(dict.fromkeys(name for order in used for name in order))
    if len(used) < 2:
        raise InterplayError(f"{len(used)} rankings of two items or more are too few for a test")
    at = {name: k for k, name in enumerate(names)}
    rows, values = [], []
    for order in used:
        size = len(order)
        block = np.zeros((size, len(names)))
        block[np.arange(size), [at[name] for name in order]] = 1.0
        rows.append(block - block.mean(axis=0))
        values.append(((size - 1) / 2 - np.arange(size)) / math.sqrt((size * size - 1) / 12))
    design, y = np.concatenate(rows), np.concatenate(values)
    basis = np.vstack([np.eye(len(names) - 1), -np.ones(len(names) - 1)])  # strengths that sum to 0
    reduced = design @ basis
    if np.linalg.matrix_rank(reduced) < len(names) - 1:
        raise InterplayError("the rankings fall into groups that share no item, so that these cannot be compared")
    bread = np.linalg.inv(reduced.T @ reduced)
    beta = bread @ reduced.T @ y
    df = len(y) - len(used) - len(names) + 1
    if df < 1:
        raise InterplayError(f"{len(used)} rankings are too few for {len(names)} items")
    residual = float(np.sum((y - reduced @ beta) ** 2)) / df
    if residual <= 1e-12:
        raise InterplayError("all rankings are the same: there is no disagreement to compare the order with")
    strength, covariance = basis @ beta, residual * basis @ bread @ basis.T

    def estimate(weights: np.ndarray) -> Estimate:
        return Estimate(float(weights @ strength), math.sqrt(float(weights @ covariance @ weights)), float(df))

    units = np.eye(len(names))
    f = float(beta @ reduced.T @ reduced @ beta) / (len(names) - 1) / residual
    return RankFit(
        {name: estimate(units[k]) for name, k in at.items()},
        {(a, b): estimate(units[at[a]] - units[at[b]]) for a, b in combinations(names, 2)},
        JointTest(f, len(names) - 1, float(df)),
        len(used),
    )
