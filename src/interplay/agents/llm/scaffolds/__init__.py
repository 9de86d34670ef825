"""Scaffolds: what is inferred about the partner before a decision, and added to the prompt."""
