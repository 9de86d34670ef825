"""Language models in Overcooked: macro actions carried out step by step beside any partner."""
