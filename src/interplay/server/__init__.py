"""What the study and challenge servers share: database, keys, sessions, limits, sockets, signatures, audit log.

Study and challenge are built on it, and never on each other.
"""
