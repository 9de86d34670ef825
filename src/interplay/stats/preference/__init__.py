"""What people think of a partner, against what the partner does: one metric at a time, and all of them together."""

from interplay.stats.preference.metric_regression import relations
from interplay.stats.preference.rating_prediction import RatingPrediction, predict_ratings

__all__ = ["RatingPrediction", "predict_ratings", "relations"]
