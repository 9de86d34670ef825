"""Language models as agents of every game: `interplay.agent("llm:openai/gpt-4o")`.

`chat` is a small protocol; `client` speaks it to every OpenAI-compatible endpoint, `scripted` answers without a model.
"""
