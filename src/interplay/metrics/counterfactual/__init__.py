"""The worth of a hand-over, and of a partner as a whole: continuations with it compared with continuations without."""

from interplay.metrics.counterfactual.metric import COUNTERFACTUAL
from interplay.metrics.counterfactual.rollout import CounterfactualRollout, Snapshot

__all__ = ["COUNTERFACTUAL", "CounterfactualRollout", "Snapshot"]
