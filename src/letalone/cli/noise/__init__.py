"""Commands about noise: to add it, to account for it, and to explain it."""
