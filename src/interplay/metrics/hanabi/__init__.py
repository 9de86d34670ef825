"""Metrics of Hanabi: what a player knew of the card it used, what its hints gave, and which conventions it followed."""
