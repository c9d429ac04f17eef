"""Reports that are split between two counters, neither of which can read them."""
