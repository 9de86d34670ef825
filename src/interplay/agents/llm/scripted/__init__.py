"""Scripted models: the reference team and its degraded versions, and models that answer badly on purpose."""
