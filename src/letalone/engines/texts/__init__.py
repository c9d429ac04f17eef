"""Text in statements: what it is matched with, and what it is made of."""
