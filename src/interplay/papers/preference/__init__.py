"""Objective metrics of Hanabi agents and what people prefer (Allen et al. 2025): Tables 3 and 5, and the figures."""
