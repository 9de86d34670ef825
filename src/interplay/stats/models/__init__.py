"""Mixed models with crossed random effects: people, partners and items, each drawn from a population of its own.

`linear_mixed` is for scores and sums of ratings, `ordinal_mixed` for single answers on a scale. Both give contrasts,
marginal means, and tests that hold their level with few partners; see the guide on statistics for measured rates.
"""

from interplay.stats.models.design import FixedEffects, crossed, fixed_effects
from interplay.stats.models.inference import BayesFactor, Equivalence, Estimate, JointTest
from interplay.stats.models.linear_mixed_model import LinearMixedFit, linear_mixed
from interplay.stats.models.ordinal_mixed_model import OrdinalMixedFit, ordinal_mixed
from interplay.stats.models.rank_model import RankFit, rank_fit

__all__ = [
    "BayesFactor",
    "Equivalence",
    "Estimate",
    "FixedEffects",
    "JointTest",
    "LinearMixedFit",
    "OrdinalMixedFit",
    "RankFit",
    "crossed",
    "fixed_effects",
    "linear_mixed",
    "ordinal_mixed",
    "rank_fit",
]
