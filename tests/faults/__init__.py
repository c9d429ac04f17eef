"""Faults put into the source on purpose, and the tests that must notice each."""
