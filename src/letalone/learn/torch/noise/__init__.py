"""The noise of steps: where it is drawn, and how it is correlated."""
