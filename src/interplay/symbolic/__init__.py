"""Symbolic domains: facts and operators of played episodes, searches for plans, and PDDL."""
