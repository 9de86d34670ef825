"""What a hand-over, and a partner as a whole, was worth: the same play with and without it."""

from interplay.metrics.counterfactual.metric import COUNTERFACTUAL
from interplay.metrics.counterfactual.rollout import CounterfactualRollout, Snapshot

__all__ = ["COUNTERFACTUAL", "CounterfactualRollout", "Snapshot"]
