"""Boosted trees of one feature each."""
