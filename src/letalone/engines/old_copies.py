"""Refuses the copies with ranks that earlier versions made on servers: they are no data sets.

A copy is told by its comment, and on Spark also by its column of ranks.

  Tested:   tests/engines/conformance/test_server.py, tests/on_spark/test_copies.py
"""

from json import loads
from typing import cast

from letalone.errors import ParameterError

RANK = "letalone_rank"  # the column of the copy
MARK = "letalone: a copy with ranks. Drop it, and it is made anew. "
CopyFacts = dict[str, object]


def is_copy(comment: object) -> bool:
    """Whether the comment of a table says that it is a copy, of whatever format."""
    return str(comment).startswith(MARK)


def check_is_no_copy(comment: object, name: str) -> None:
    """Refuses a copy as a data set of its own: it would have a budget beside that of its rows."""
    if not is_copy(comment):
        return
    original = _read_comment(str(comment)).get("of")
    is_named = isinstance(original, str)
    which = f"of {original!r} with ranks; open that one" if is_named else "with ranks"
    raise ParameterError(
        f"{name!r} is letalone's copy {which}: its rows are those of another data set, and have"
        " that one's budget."
    )


def _read_comment(comment: str) -> CopyFacts:
    try:
        facts = loads(comment.removeprefix(MARK)) if is_copy(comment) else None
    except (ValueError, RecursionError):
        return {}
    return cast("CopyFacts", facts) if isinstance(facts, dict) else {}
