"""Agents that others trained: a file of another framework as a policy, each with the encoding that it reads."""
