"""Scripted agents for the rescue game."""
