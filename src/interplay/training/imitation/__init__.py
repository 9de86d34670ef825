"""Learning from what others did: recorded games as arrays, and networks that predict their actions."""
