"""The researchers' side of a study: login, monitor, participants, payments, replay, export and erasure."""
