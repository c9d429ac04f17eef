"""Keys that need no list, because the question itself says which there can be.

Proven:   by the semantics of each node: months are 1 to 12 in every table
Tested:   tests/plans/test_domains.py
"""

from collections.abc import Collection
from typing import cast

from letalone.plans import expressions as nodes
from letalone.plans.expressions import Expression
from letalone.plans.texts.date_patterns import PART_RANGE, all_texts
from letalone.plans.types import Key, Type
from letalone.plans.typing import MISSING, ColumnTypes


def closed_domain(expression: Expression, columns: ColumnTypes) -> tuple[Key, ...] | None:
    """All keys that an expression can have, where that is public; None where it is not.

    Public are declared keys, the two truth values, quarters, months, days, weekdays, hours, their
    names, the numbers of ranges and the constants of a case.
    """
    match cast("nodes.Node", expression):
        case nodes.ColumnRef(name) if name in columns.derived:
            return closed_domain(columns.derived[name], columns)
        case nodes.ColumnRef(name) if name in columns.declared and columns.declared[name].keys:
            return columns.declared[name].keys
        case nodes.DatePart(part) if part in PART_RANGE:
            lower, upper = PART_RANGE[part]
            return tuple(range(lower, upper + 1))
        case nodes.DateText(pattern):
            return all_texts(pattern)
        case nodes.Bin(count=count):
            return tuple(range(count))
        case nodes.Case(branches, otherwise):
            return _constants([*(value for _, value in branches), otherwise], columns)
        case _:
            return (False, True) if columns.type_of(expression).type is Type.BOOLEAN else None


def is_covered(expression: Expression, columns: ColumnTypes, keys: Collection[Key]) -> bool:
    """Whether each row has one of these keys, as far as the question and the schema tell.

    Declared keys do not tell: a column may hold others.
    """
    if columns.type_of(expression).nullable and None not in keys:
        return False
    inlined = nodes.inline_columns(expression, columns.derived)
    kind = columns.type_of(inlined).type
    if isinstance(inlined, nodes.ColumnRef | nodes.Bin) and kind is not Type.BOOLEAN:
        return False
    domain = closed_domain(inlined, columns)
    return domain is not None and set(domain) <= set(keys)


def _constants(results: list[Expression], columns: ColumnTypes) -> tuple[Key, ...] | None:
    if not all(isinstance(result, nodes.Literal) for result in results):
        return None
    types = [columns.type_of(result) for result in results]
    # A number may be no whole one, and then it is no key.
    if not all(
        typed == MISSING or (typed.type.is_groupable and typed.type is not Type.NUMBER)
        for typed in types
    ):
        return None
    values = [cast("Key", cast("nodes.Literal", result).value) for result in results]
    return tuple(dict.fromkeys(value for value in values if value is not None))
