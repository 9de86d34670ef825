"""Best-response proximity, cell by cell."""
