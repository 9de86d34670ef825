"""A kitchen for teams that talk: cooks with different roles make one dish."""
