"""Calls that sqlglot's tree does not show as they were typed: found in the words of a query.

Of the quantile functions, and of DATE_TRUNC, it drops what comes after the arguments that it
knows, and says nothing, so that QUANTILE_CONT(cost, 0.5, weight) would be answered as if no weight
had been asked for. And it takes DATE_TRUNC(day, month) for DATE_TRUNC('day', month), and the weeks
of TIMESTAMP_TRUNC(at, WEEK), which begin on Sunday, for those of DATE_TRUNC('week', at).

  Tested:   tests/sql/test_calls.py: of all functions that sqlglot knows, no other loses one
"""

from collections.abc import Iterator, Sequence
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
TRUNCATING = ("DATE_TRUNC", "DATETRUNC", "TIMESTAMP_TRUNC", "DATETIME_TRUNC", "TRUNC")
PERIOD_FIRST = ("DATE_TRUNC", "DATETRUNC")  # but in BigQuery
FROM_SUNDAY = ("TIMESTAMP_TRUNC", "DATETIME_TRUNC")  # their weeks, in BigQuery, which has them


def overfull(tokens: Sequence[Token]) -> Token | None:
    """The name of the first of these functions that is called with more than two arguments."""
    for name, arguments in _calls(tokens, (*OF_TWO, *TRUNCATING)):
        if _commas(arguments) > 1:
            return name
    return None


def unquoted(tokens: Sequence[Token]) -> Token | None:
    """The name of the first DATE_TRUNC that does not begin with a period in quotes."""
    for name, arguments in _calls(tokens, PERIOD_FIRST):
        if not arguments or arguments[0].token_type is not TokenType.STRING:
            return name
    return None


def week_from_sunday(tokens: Sequence[Token]) -> Token | None:
    """The name of the first of BigQuery's functions that is called with WEEK."""
    for name, arguments in _calls(tokens, FROM_SUNDAY):
        if any(token.text.upper() == "WEEK" for token in _inside(arguments)):
            return name
    return None


def _calls(
    tokens: Sequence[Token], names: Sequence[str]
) -> Iterator[tuple[Token, Sequence[Token]]]:
    """The name of each call, and all that comes after its bracket."""
    for place, (name, bracket) in enumerate(pairwise(tokens)):
        if name.text.upper() in names and bracket.token_type is TokenType.L_PAREN:
            yield name, tokens[place + 2 :]


def _commas(tokens: Sequence[Token]) -> int:
    """How many separate the arguments of a call whose bracket has just been opened."""
    depth = commas = 0
    for token in _inside(tokens):
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        commas += depth == 0 and token.token_type is TokenType.COMMA
    return commas


def _inside(tokens: Sequence[Token]) -> Iterator[Token]:
    """Those before the bracket that closes the call."""
    depth = 0
    for token in tokens:
        depth += (token.token_type in OPENING) - (token.token_type in CLOSING)
        if depth < 0:
            return
        yield token
