"""Commands to check on others and on letalone itself, and to let others ask."""

FOUND = 7  # the exit code of a check that found something
