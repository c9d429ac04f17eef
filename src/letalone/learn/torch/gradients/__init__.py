"""Gradients of units: read from layers, measured, clipped and added up."""
