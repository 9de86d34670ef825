"""Policies (pure JAX functions) and players (any Python object) that act in games."""

from interplay.agents.api import Agent, FunctionPlayer, Info, Move, Player, Policy, TraceEvent, View, as_agent

__all__ = ["Agent", "FunctionPlayer", "Info", "Move", "Player", "Policy", "TraceEvent", "View", "as_agent"]
