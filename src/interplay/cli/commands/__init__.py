"""One module a command: a dataclass whose fields are its arguments and whose `run` does it."""
