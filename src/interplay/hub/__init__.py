"""Trained agents and panels by name: their files, where these lie on this machine, and whether they are sound."""
