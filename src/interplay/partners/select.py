"""Select the partners that behave most differently: k-DPP draws, then exchanges until none makes the set better."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from interplay.errors import InterplayError
from interplay.partners.diversity import diversity, log_det
from interplay.partners.features import BehaviourFeatures, Id
from interplay.partners.kdpp import KDPP, check_size
from interplay.table import Table

LEAST_GAIN = 1e-9  # of the log determinant, so that rounding cannot make a search go in circles


@dataclass(frozen=True)
class Selection:
    """The chosen candidates, and how different they are."""

    selected: tuple[Id, ...]
    log_det: float
    rank: int  # of the features: no larger set has a determinant
    candidates: int  # to choose from
    sampled_log_det: float  # of the best k-DPP draw, before exchanges
    table: Table  # a row per selected candidate

    @property
    def det(self) -> float | None:
        """The determinant itself; null where it is beyond a number's range."""
        return math.exp(self.log_det) if self.log_det < 700 else None


def select(features: BehaviourFeatures, k: int, *, draws: int = 500, restarts: int = 24, seed: int = 0) -> Selection:
    """The k candidates with the largest determinant that was found; the same for the same seed.

    `draws` sets are drawn from the k-DPP. The best of them, a greedy set and random sets, `restarts` in all, are
    improved by exchanging one member at a time.
    """
    if draws < 1 or restarts < 1:
        raise InterplayError(f"draws: {draws}, restarts: {restarts}; at least 1 of each")
    rows = features.normalised()
    rank = check_size(rows, k)
    generator = np.random.default_rng(seed)
    process = KDPP(rows, k)
    drawn = {tuple(process.draw(generator)) for _ in range(draws)}
    ranked = sorted(drawn, key=lambda s: (-log_det(rows[list(s)]), s))
    starts = [greedy(rows, k), *(list(s) for s in ranked[: max(1, restarts * 2 // 3)])]
    starts += [process.draw(generator) for _ in range(restarts - len(starts))]
    improved = [exchange(rows, start) for start in starts]
    best = max(improved, key=lambda s: (round(log_det(rows[s]), 9), [-i for i in s]))
    value = log_det(rows[best])
    ids = tuple(features.ids[i] for i in best)
    sampled = log_det(rows[list(ranked[0])])
    return Selection(ids, value, rank, len(rows), sampled, _contributions(features, rows, best, value))


def by_size(
    features: BehaviourFeatures, sizes: Iterable[int], own: BehaviourFeatures | None = None, *, seed: int = 0
) -> Table:
    """BR-Div by the size of a population: the largest log determinant of each size, and P-Div of the same sets.

    `own` are the partners' own features, for P-Div; null without them.
    """
    rows = []
    for k in sizes:
        selection = select(features, k, seed=seed)
        p_div = None if own is None else diversity(own, selection.selected)
        rows.append({"size": k, "br_div": selection.log_det, "p_div": p_div, "selected": list(selection.selected)})
    return Table.of(rows, "Diversity by size (log determinants)")


def greedy(rows: Float[np.ndarray, "item feature"], k: int) -> list[int]:
    """Again and again the row with most of its length outside of what is chosen already."""
    rest, chosen = rows.astype(float).copy(), []
    for _ in range(k):
        lengths = np.sum(rest**2, axis=1)
        lengths[chosen] = -1.0
        item = int(np.argmax(lengths))
        direction = rest[item] / np.linalg.norm(rest[item])
        rest -= np.outer(rest @ direction, direction)
        chosen.append(item)
    return sorted(chosen)


def exchange(rows: Float[np.ndarray, "item feature"], start: list[int]) -> list[int]:
    """Swap a member for an outsider, always the pair that gains most, until no single swap gains."""
    chosen = list(start)
    while True:
        gains = swap_gains(rows, chosen)
        place, outsider = np.unravel_index(int(np.argmax(gains)), gains.shape)
        if gains[place, outsider] <= 1 + LEAST_GAIN:
            return sorted(chosen)
        chosen[place] = int(outsider)


def swap_gains(rows: Float[np.ndarray, "item feature"], chosen: list[int]) -> Float[np.ndarray, "place item"]:
    """By which factor the determinant grows if the member in this place gives way to this item; 0 within the set.

    All at once by the determinant lemma: with A the inverse of the set's kernel, B = A K and s the squared length of
    each item outside of the set's span, it is B[i, j]^2 + A[i, i] s[j]. From a QR of the set's rows, which is more
    exact than the kernel.
    """
    basis, triangle = np.linalg.qr(rows[chosen].T)  # [feature, k], [k, k]
    inverse = np.linalg.inv(triangle)
    along = rows @ basis  # [item, k]
    outside = np.maximum(np.sum(rows**2, axis=1) - np.sum(along**2, axis=1), 0.0)
    gains = (inverse @ along.T) ** 2 + np.sum(inverse**2, axis=1)[:, None] * outside
    gains[:, chosen] = 0.0
    return gains


def _contributions(
    features: BehaviourFeatures, rows: Float[np.ndarray, "item feature"], chosen: list[int], value: float
) -> Table:
    """A row per member: how much of the set's log determinant is lost without it."""
    member_rows = []
    for item in chosen:
        others = [i for i in chosen if i != item]
        loss = value - log_det(rows[others]) if others else value
        member_rows.append({"candidate": features.ids[item], "mean_return": features.returns[item], "adds": loss})
    return Table.of(member_rows, "Selected partners")
