"""Language models in Overcooked: macro actions, walked out step by step beside a bot, a trained policy or a person."""
