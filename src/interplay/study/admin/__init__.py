"""The researchers' side of a study: log in, watch, look up, pay, replay, export, erase; all in the audit log."""
