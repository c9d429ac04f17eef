"""Calls with more arguments than sqlglot keeps: found in the words of a query, not in its tree.

Of the quantile functions it drops what comes after the second argument, and says nothing, so
that QUANTILE_CONT(cost, 0.5, weight) would be answered as if no weight had been asked for.

  Tested:   tests/sql/test_calls.py: of all functions that sqlglot knows, no other loses one
"""

from collections.abc import Sequence
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
OF_TWO = (
    "APPROX_PERCENTILE",
    "APPROX_QUANTILE",
    "PERCENTILE",
    "PERCENTILE_APPROX",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
    "QUANTILE",
    "QUANTILE_CONT",
    "QUANTILE_DISC",
)


def overfull(tokens: Sequence[Token]) -> Token | None:
    """The name of the first quantile function that is called with more than two arguments."""
    for place, (name, bracket) in enumerate(pairwise(tokens)):
        call = name.text.upper() in OF_TWO and bracket.token_type is TokenType.L_PAREN
        if call and _commas(tokens[place + 2 :]) > 1:
            return name
    return None


def _commas(tokens: Sequence[Token]) -> int:
    """How many separate the arguments of a call whose bracket has just been opened."""
    depth = commas = 0
    for token in tokens:
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        if depth < 0:
            break
        commas += depth == 0 and token.token_type is TokenType.COMMA
    return commas
