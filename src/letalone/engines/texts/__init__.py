"""Text: what a cell of it stands for, what it is matched with, and what it is made of."""
