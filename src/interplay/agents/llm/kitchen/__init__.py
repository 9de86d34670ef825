"""Language models in the kitchen: prompts, and a session with a queue of macro actions."""
