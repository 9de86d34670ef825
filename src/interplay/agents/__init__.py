"""Who acts: policies in JAX, players of any kind."""

from interplay.agents.api import Agent, FunctionPlayer, Info, Move, Player, Policy, TraceEvent, View, as_agent

__all__ = ["Agent", "FunctionPlayer", "Info", "Move", "Player", "Policy", "TraceEvent", "View", "as_agent"]
