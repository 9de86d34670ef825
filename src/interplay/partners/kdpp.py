"""Exact sampling from a k-DPP: sets of k rows, each with probability proportional to the determinant of its kernel.

The kernel is L = X X^T. A set is drawn in two steps: which k of the eigenvectors carry it, by elementary symmetric
polynomials of the eigenvalues; then its items, one after the other, each by its squared length in what is left of
the space that these eigenvectors span.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from interplay.errors import InterplayError


def rank(rows: Float[np.ndarray, "item feature"]) -> int:
    """The size of the largest set with a determinant other than 0."""
    return int(np.linalg.matrix_rank(rows))


def check_size(rows: Float[np.ndarray, "item feature"], k: int) -> int:
    """The rank; an error if no k rows are independent."""
    independent = rank(rows)
    if k < 1:
        raise InterplayError(f"k: {k}; select at least 1")
    if k > independent:
        raise InterplayError(
            f"k: {k} of {len(rows)} candidates, but only {independent} of them behave independently (the rank of their "
            f"features), so every larger set has the determinant 0; select at most {independent}"
        )
    return independent


class KDPP:
    """A k-DPP, ready to be drawn from."""

    def __init__(self, rows: Float[np.ndarray, "item feature"], k: int):
        present = check_size(rows, k)
        self.k = k
        vectors, singular, _ = np.linalg.svd(rows, full_matrices=False)
        self.vectors = vectors[:, :present]  # [item, eigen]
        # Only ratios of eigenvalues matter; logarithms, since products of many of them leave the range of numbers.
        self.log_values = 2 * (np.log(singular[:present]) - np.log(singular[0]))
        self.log_sums = elementary(self.log_values, k)

    def draw(self, generator: np.random.Generator) -> list[int]:
        """A set, its items in rising order."""
        basis = self.vectors[:, self._carriers(generator)].copy()
        chosen = []
        for left in range(self.k, 0, -1):
            lengths = np.maximum(np.sum(basis**2, axis=1), 0.0)
            lengths[chosen] = 0.0
            item = int(generator.choice(len(lengths), p=lengths / lengths.sum()))
            chosen.append(item)
            if left > 1:
                basis = _without(basis, item)
        return sorted(chosen)

    def _carriers(self, generator: np.random.Generator) -> list[int]:
        """Which eigenvectors carry the set: each is in or out, from the last to the first."""
        carriers, left = [], self.k
        for n in range(len(self.log_values), 0, -1):
            if left == 0:
                break
            if (
                np.log(generator.random())
                < self.log_values[n - 1] + self.log_sums[left - 1, n - 1] - self.log_sums[left, n]
            ):
                carriers.append(n - 1)
                left -= 1
        return carriers


def elementary(log_values: Float[np.ndarray, " value"], k: int) -> Float[np.ndarray, "degree first"]:
    """Logarithms of the elementary symmetric polynomials: [l, n] of degree l in the first n values."""
    sums = np.full((k + 1, len(log_values) + 1), -np.inf)
    sums[0] = 0.0
    for degree in range(1, k + 1):
        for n in range(1, len(log_values) + 1):
            sums[degree, n] = np.logaddexp(sums[degree, n - 1], log_values[n - 1] + sums[degree - 1, n - 1])
    return sums


def _without(basis: Float[np.ndarray, "item dim"], item: int) -> Float[np.ndarray, "item rest"]:
    """An orthonormal basis of what is left of a space when it has to be orthogonal to an item."""
    pivot = int(np.argmax(np.abs(basis[item])))
    rest = np.delete(basis, pivot, axis=1) - np.outer(
        basis[:, pivot], np.delete(basis[item], pivot) / basis[item, pivot]
    )
    return np.linalg.qr(rest)[0]
