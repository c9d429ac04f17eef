"""Commands to check on others and on letalone itself, and to let others ask."""
