"""Errors for people: what is wrong, where, and what to do about it."""


class InterplayError(ValueError):
    """Input that interplay cannot use. The message is meant to be read by the user."""


class UnknownName(InterplayError):
    """A name that no registry knows; the message lists the nearest ones."""

    def __init__(self, kind: str, name: str, known: list[str]):
        import difflib

        name = name if len(name) <= 100 else f"{name[:100]}..."
        near = difflib.get_close_matches(name, known, n=4, cutoff=0.4)
        hint = f"did you mean {', '.join(near)}?" if near else f"known: {', '.join(known[:12])}"
        super().__init__(f"unknown {kind} {name!r}; {hint}")


class IllegalAction(InterplayError):
    """An agent chose an action that its game does not allow."""


class TraceError(InterplayError):
    """A trace set that cannot be read, or whose replay disagrees with its record."""


class ContractError(InterplayError):
    """A game or an agent that breaks a promise of its contract: which clause, what it asks for and what was found."""

    def __init__(self, subject: str, clause: str, expected: str, found: str):
        self.subject, self.clause, self.expected, self.found = subject, clause, expected, found
        super().__init__(f"{subject} breaks the clause {clause!r}: expected {expected}; found {found}")
