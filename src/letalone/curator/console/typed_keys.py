"""Reads groups as people type them, one in each line, by the type of what is grouped.

2019 is a number where years are grouped, and text where names are. JSON is taken as it is.

  Tested:   tests/curator/console/test_typed_keys.py
"""

from json import loads
from re import fullmatch
from typing import Any

from letalone.curator.console.forms import number_typed
from letalone.curator.http.problems import problem_error
from letalone.errors import LetaloneError, ParameterError
from letalone.plans.plan import expression_of
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.plans.typing import columns_of
from letalone.sql.question import read_question

TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
NO_KEYS = 'keys: Write one group in each line, or JSON such as ["A", "B"].'
WANTED = {Type.INTEGER: "a whole number such as 2019", Type.BOOLEAN: "yes or no"}


def typed_keys(typed: str, sql: str, schema: Schema) -> Any:
    """The groups that were typed for a question; None where there are none."""
    if typed[:1] in ("[", "{"):
        try:
            return loads(typed)
        except (ValueError, RecursionError):
            raise problem_error("not-valid", NO_KEYS) from None
    lines = [line.strip() for line in typed.splitlines() if line.strip()]
    kind = _kind(sql, schema) if lines else None
    return [_key(line, kind) for line in lines] or None


def _kind(sql: str, schema: Schema) -> Type | None:
    """The type of the one group column; None where there is not one, or the SQL is refused."""
    try:
        groups = read_question(sql, schema).groups
        kinds = [columns_of(schema).type_of(expression_of(group)).type.of_keys for group in groups]
    except LetaloneError:  # said when the question is asked
        return None
    return kinds[0] if len(kinds) == 1 else None


def _key(text: str, kind: Type | None) -> str | int | bool:
    """A group; dates stay text, which is read as one."""
    if kind not in WANTED:
        return text
    key = TRUTHS.get(text.casefold()) if kind is Type.BOOLEAN else _whole(text)
    if key is None:
        raise ParameterError(f"Groups: {text[:80]!r} is not one. Write {WANTED[kind]}.")
    return key


def _whole(text: str) -> int | None:
    typed = number_typed(text)
    return int(typed) if fullmatch(r"[-+]?[0-9]{1,30}", typed) else None
