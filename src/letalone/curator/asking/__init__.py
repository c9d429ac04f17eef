"""Asking: questions of analysts, their prices, answers and receipts, and their pages."""
