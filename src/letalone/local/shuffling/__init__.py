"""Batches of reports in random order."""
