"""How different the members of a set are: the determinant of the kernel of their features.

BR-Div takes the features of the members' best responses: partners are different if they have to be answered
differently. P-Div takes the members' own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from interplay.partners.features import BehaviourFeatures, Id


def log_det(rows: Float[np.ndarray, "item feature"]) -> float:
    """Return log det of X X^T, -inf for a singular one.

    It is computed by singular values of X, which are exact where X X^T is not.
    """
    if len(rows) > rows.shape[1]:
        return float("-inf")
    singular = np.linalg.svd(rows, compute_uv=False)
    if singular[-1] <= singular[0] * max(rows.shape) * np.finfo(float).eps:
        return float("-inf")
    return float(2 * np.sum(np.log(singular)))


def diversity(features: BehaviourFeatures, members: Sequence[Id]) -> float:
    """The log determinant of a set's kernel, its features normalised over all candidates.

    It is BR-Div if the features are those of best responses, and P-Div if they are the partners' own.
    """
    places = [features.ids.index(i) for i in features.of(members).ids]
    return log_det(features.normalised()[places])
