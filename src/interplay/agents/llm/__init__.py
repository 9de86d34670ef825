"""Language models as agents: `interplay.agent("llm:openai/gpt-4o")` sits in the kitchen, in Hanabi and in Overcooked.

`chat` is our small protocol; `client` speaks it to every OpenAI-compatible endpoint, `scripted` without any model.
"""
