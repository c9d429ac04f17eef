"""Grants and budgets: requests for access, proposals of larger budgets, and their decisions."""
