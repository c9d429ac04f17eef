"""Choosing the parameters of a model, and paying for it."""
