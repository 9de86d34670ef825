"""What people think of a partner, against what the partner does: one metric at a time, and all of them together."""

from interplay.stats.preference.prediction import Prediction, predict_ratings
from interplay.stats.preference.relations import relations

__all__ = ["Prediction", "predict_ratings", "relations"]
