"""Data sets: registering, renewing and retiring them, and the rows that are kept."""
