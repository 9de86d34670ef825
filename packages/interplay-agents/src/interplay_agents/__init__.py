"""Trained agents and panels for interplay: data and the manifest that describes them, no code."""
