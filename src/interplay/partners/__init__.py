"""Evaluation partners: whom an agent is graded with."""
