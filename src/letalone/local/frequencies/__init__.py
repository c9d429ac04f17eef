"""Shares of values: oracles, which of them is best, and values that nobody can list."""
