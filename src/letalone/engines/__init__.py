"""Engines: exact, bounded aggregates of a table, as whole numbers."""
