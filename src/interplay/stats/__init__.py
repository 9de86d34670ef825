"""What the numbers say and how sure they are: intervals, tests, correlations, ranks, sample sizes.

Everything is seeded, works on plain columns, and treats missing as missing. scipy is imported when used.
"""

from interplay.stats.bootstrap import Interval, bootstrap
from interplay.stats.clustered import Coefficient, clustered_fit, design_fit, within_fit
from interplay.stats.comparison import GroupComparison, compare, probability_of_improvement
from interplay.stats.correlation import Correlation, correlation_interval, kendall, pearson, spearman
from interplay.stats.design_planning import DesignPlan, cheapest_design, expected_width
from interplay.stats.estimators import iqm, iqr, mean, median, optimality_gap, quantile, sd, share_above
from interplay.stats.hypothesis_tests import (
    TestResult,
    mann_whitney,
    permutation_test,
    t_test_one_sample,
    t_test_paired,
    t_test_pooled,
    t_test_welch,
    wilcoxon,
)
from interplay.stats.interval_tables import interval_table
from interplay.stats.intervals import effect_interval, mean_interval, proportion_interval
from interplay.stats.multiple_testing import benjamini_hochberg, bonferroni, bonferroni_threshold, holm
from interplay.stats.power import t_test_power, t_test_sample_size
from interplay.stats.preference import RatingPrediction, predict_ratings, relations
from interplay.stats.ranks import Friedman, RankStability, friedman, kendall_w, rank_shares, rank_stability, ranks
from interplay.stats.regression import LinearFit, QuadraticFit, linear_fit, quadratic_fit, slope_interval
from interplay.stats.scale_reliability import Alpha, cronbach_alpha
from interplay.stats.variance_decomposition import VarianceComponents, assumed_components, variance_components

__all__ = [
    "Alpha",
    "Coefficient",
    "Correlation",
    "DesignPlan",
    "Friedman",
    "GroupComparison",
    "Interval",
    "LinearFit",
    "QuadraticFit",
    "RankStability",
    "RatingPrediction",
    "TestResult",
    "VarianceComponents",
    "assumed_components",
    "benjamini_hochberg",
    "bonferroni",
    "bonferroni_threshold",
    "bootstrap",
    "cheapest_design",
    "clustered_fit",
    "compare",
    "correlation_interval",
    "cronbach_alpha",
    "design_fit",
    "effect_interval",
    "expected_width",
    "friedman",
    "holm",
    "interval_table",
    "iqm",
    "iqr",
    "kendall",
    "kendall_w",
    "linear_fit",
    "mann_whitney",
    "mean",
    "mean_interval",
    "median",
    "optimality_gap",
    "pearson",
    "permutation_test",
    "predict_ratings",
    "probability_of_improvement",
    "proportion_interval",
    "quadratic_fit",
    "quantile",
    "rank_shares",
    "rank_stability",
    "ranks",
    "relations",
    "sd",
    "share_above",
    "slope_interval",
    "spearman",
    "t_test_one_sample",
    "t_test_paired",
    "t_test_pooled",
    "t_test_power",
    "t_test_sample_size",
    "t_test_welch",
    "variance_components",
    "wilcoxon",
    "within_fit",
]  # fmt: skip
