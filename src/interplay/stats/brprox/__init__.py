"""Best-response proximity of agents: intervals, best-response returns, ranks."""
