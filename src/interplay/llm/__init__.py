"""Runs of language-model teams: pairings by levels into a trace set that resumes, solo play, and the Inspect task."""

from interplay.llm.run import Plan, Run, run
from interplay.llm.solo import solo
from interplay.llm.tables import summary

__all__ = ["Plan", "Run", "run", "solo", "summary"]
