"""How much of a law each stage tries: little at once, more with LETALONE_ALL=1."""

import os

ALL = os.environ.get("LETALONE_ALL") == "1"


def pick(first: int, second: int) -> int:
    """So many examples or draws in the first stage, and so many in the second."""
    return second if ALL else first
