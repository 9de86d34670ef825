"""Language models in Hanabi: prompts and a session."""
