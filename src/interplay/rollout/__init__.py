"""Play: agents take their seats and games are stepped, in compiled batches, in Python, in dialogue, and live."""
