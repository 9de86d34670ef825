"""Simulated participants, who try a study before real ones do."""
