"""Language models at Hanabi: prompts and a session."""
