"""Ridge regression with the penalty chosen by cross-validation inside the training rows, for many outcomes at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

PENALTIES = np.array([*np.logspace(-3, 3, 13), np.inf])  # per row; the last one predicts the mean of the training rows


@dataclass(frozen=True)
class Prepared:
    """Predictors of the training rows, centred and scaled, in their singular value decomposition."""

    centre: Float[np.ndarray, " metric"]
    scale: Float[np.ndarray, " metric"]  # 0 where a metric does not vary: it then plays no part
    u: Float[np.ndarray, "row rank"]
    s: Float[np.ndarray, " rank"]
    v: Float[np.ndarray, "metric rank"]

    @classmethod
    def of(cls, x: Float[np.ndarray, "row metric"]) -> Prepared:
        """Centre, scale and decompose the predictors."""
        centre, scale = x.mean(axis=0), x.std(axis=0)
        scale = np.where(scale > 1e-12 * np.maximum(1e-300, np.abs(x).max(axis=0)), scale, 0.0)
        u, s, vt = np.linalg.svd(_scaled(x, centre, scale), full_matrices=False)
        return cls(centre, scale, u, s, vt.T)

    def coefficients(self, y: Float[np.ndarray, "row outcome"], penalty: Float[np.ndarray, "*p"]) -> np.ndarray:
        """[*penalty, metric, outcome], on scaled metrics. Penalties are per row: they mean the same in any sample."""
        centred = self.u.T @ (y - y.mean(axis=0))
        square = self.s**2
        shrink = np.where(square > 1e-20 * square.max(initial=1e-300), self.s, 0.0) / np.maximum(
            square + np.asarray(penalty)[..., None] * len(self.u), 1e-300
        )
        return np.einsum("mk,...k,ko->...mo", self.v, shrink, centred)

    def predict(self, x: Float[np.ndarray, "new metric"], y: np.ndarray, penalty: np.ndarray) -> np.ndarray:
        """Return predictions [*penalty, new, outcome]."""
        return _scaled(x, self.centre, self.scale) @ self.coefficients(y, penalty) + y.mean(axis=0)


def _scaled(x: np.ndarray, centre: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.divide(x - centre, scale, out=np.zeros_like(x, dtype=float), where=scale > 0)


def choose(x: np.ndarray, y: Float[np.ndarray, "row outcome"], fold: Int[np.ndarray, " row"]) -> np.ndarray:
    """[outcome] The penalty whose predictions of the folds left out err least; of equals, the largest."""
    error = np.zeros((len(PENALTIES), y.shape[1]))
    for left_out in np.unique(fold):
        test = fold == left_out
        guess = Prepared.of(x[~test]).predict(x[test], y[~test], PENALTIES)
        error += ((guess - y[test]) ** 2).sum(axis=1)
    best = error <= error.min(axis=0) * (1 + 1e-9)
    return PENALTIES[len(PENALTIES) - 1 - np.argmax(best[::-1], axis=0)]


def fit_predict(x: np.ndarray, y: np.ndarray, new: np.ndarray, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Predictions [new, outcome] with the chosen penalties [outcome]."""
    penalty = choose(x, y, inner)
    prepared = Prepared.of(x)
    guess = np.empty((len(new), y.shape[1]))
    for value in np.unique(penalty):
        of = penalty == value
        guess[:, of] = prepared.predict(new, y[:, of], np.array(value))
    return guess, penalty
