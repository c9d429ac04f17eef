"""What the comment of a copy with ranks says of it, on every engine that keeps such copies.

Tested:   tests/engines/conformance/test_side_table.py, tests/on_spark/test_side_table.py
"""

from json import dumps, loads
from typing import cast

RANK = "letalone_rank"  # the column of the copy
MARK = "letalone: a copy with ranks. Drop it, and it is made anew. "
Told = dict[str, object]


def comment_of(told: Told) -> str:
    """The comment that says it; `told` names its format."""
    return MARK + dumps(told)


def told_by(comment: str, *, written_as: int) -> Told:
    """What a comment says, of this format; nothing, if it is none of ours."""
    try:
        found = loads(comment.removeprefix(MARK)) if comment.startswith(MARK) else None
    except (ValueError, RecursionError):
        return {}
    told = cast("Told", found) if isinstance(found, dict) else {}
    return told if told.get("format") == written_as else {}
