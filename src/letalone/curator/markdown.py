"""Markdown of words that people typed: nothing in them becomes markup."""

import re
from collections.abc import Sequence

MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$^:@-])")


def cell(words: str) -> str:
    """Words in one line, with every sign of markup escaped."""
    return MARKUP.sub(r"\\\1", " ".join(words.split()))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    lines = [heads, ["---"] * len(heads)]
    lines += [[cell(one) for one in row] for row in rows]
    return [f"| {' | '.join(line)} |" for line in lines]
