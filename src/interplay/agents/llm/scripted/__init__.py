"""Models without a model: the reference team and its degraded versions, and models that answer badly on purpose."""
