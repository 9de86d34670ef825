"""The ad-hoc human-AI coordination challenge (Dizdarević et al. 2025): its tables beside ours."""
