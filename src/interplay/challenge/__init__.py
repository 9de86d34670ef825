"""The hosted evaluation: hidden partners, exact budgets, a signed leaderboard."""
