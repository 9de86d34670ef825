"""What both hosts share: database, keys, sessions, limits, sockets, signatures, audit log. Study and challenge stand
on it, and never on each other."""
