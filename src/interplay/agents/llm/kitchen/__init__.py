"""Language models in the collaborative kitchen: prompts, and a session with a queue of macro actions."""
