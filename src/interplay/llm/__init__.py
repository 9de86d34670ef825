"""Runs of language-model teams: pairings by levels into a trace set that resumes, solo play, and the Inspect task."""

from interplay.llm.game_plan import GamePlan
from interplay.llm.game_tables import game_summary
from interplay.llm.plan import RunPlan
from interplay.llm.run import LLMRun, Service, run
from interplay.llm.solo import solo
from interplay.llm.tables import summary

__all__ = ["GamePlan", "LLMRun", "RunPlan", "Service", "game_summary", "run", "solo", "summary"]
