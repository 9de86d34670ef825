"""Scripted chefs for any kitchen: one policy with different prices of jobs (`roles.py`)."""
