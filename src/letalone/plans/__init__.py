"""Frozen questions about a table, with its schema: data only, no database."""
