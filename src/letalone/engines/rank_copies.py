"""Writes and reads the comment of a copy with ranks, on every engine that keeps such copies.

Tested:   tests/engines/conformance/test_side_table.py, tests/on_spark/test_side_table.py
"""

from json import dumps, loads
from typing import cast

from letalone.errors import ParameterError

RANK = "letalone_rank"  # the column of the copy
MARK = "letalone: a copy with ranks. Drop it, and it is made anew. "
CopyFacts = dict[str, object]


def comment_of(facts: CopyFacts) -> str:
    """The comment that says it; `told` names its format."""
    return MARK + dumps(facts)


def read_facts(comment: str, *, written_as: int) -> CopyFacts:
    """What a comment says, of this format; nothing, if it is none of ours."""
    facts = _read_comment(comment)
    return facts if facts.get("format") == written_as else {}


def is_copy(comment: object) -> bool:
    """Whether the comment of a table says that it is a copy, of whatever format."""
    return str(comment).startswith(MARK)


def check_copy(
    facts: CopyFacts, wanted: CopyFacts, words: str, quoted: str, *, has_columns: bool
) -> None:
    """Refuses a copy of another table, unit, version or columns: before any charge.

    words: what the copy is called; quoted: the same as its engine reads it.
    """
    remedy = (
        f"If nobody needs that copy, DROP TABLE {quoted}, and it is made anew; else give"
        " side_table= another name."
    )
    for fact, made in (("of", "from"), ("unit", "by the unit"), ("version", "of version")):
        if facts.get(fact) != wanted[fact]:
            raise ParameterError(
                f"The side table {words!r} was made {made} {facts.get(fact)!r}, and the data set is"
                f" {made} {wanted[fact]!r}. {remedy}"
            )
    if not has_columns:
        raise ParameterError(
            f"The table has other columns than when its side table {words!r} was made. {remedy}"
        )


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
