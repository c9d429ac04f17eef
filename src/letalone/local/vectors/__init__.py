"""Unit vectors."""
