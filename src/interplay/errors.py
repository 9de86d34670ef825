"""Errors for people: what is wrong, where, and what to do about it."""


class InterplayError(ValueError):
    """Input that interplay cannot use. The message is meant to be read by the user."""


class UnknownName(InterplayError):
    """A name that no registry knows; the message lists the nearest ones."""

    def __init__(self, kind: str, name: str, known: list[str]):
        import difflib

        near = difflib.get_close_matches(name, known, n=4, cutoff=0.4)
        hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(known[:12])}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class IllegalAction(InterplayError):
    """An agent chose an action that its game does not allow."""


class TraceError(InterplayError):
    """A trace set that cannot be read, or whose replay disagrees with its record."""
