"""Patterns of text and of dates, as questions write them."""
