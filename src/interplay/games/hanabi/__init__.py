"""Hanabi: partners see each other's cards and not their own, and may only speak in hints."""
