"""Rows as features: declared bounds and values, cell by cell; nothing is read off the data."""
