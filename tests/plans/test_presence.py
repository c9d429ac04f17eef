"""What a filter makes sure of, against every row of a small table."""

from itertools import product

import pytest

from evaluator import evaluate
from letalone.plans.expressions import And, Expression, Not, OneOf, Or, case, col
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.plans.typing import surely_present

NAMES, TEXTS = ("a", "b"), ("s", "t")
SCHEMA = Schema("flags", tuple(Column(name, Type.BOOLEAN) for name in NAMES))
TEXT_SCHEMA = Schema("texts", tuple(Column(name, Type.TEXT) for name in TEXTS))
TEXT_ROWS = [dict(zip(TEXTS, row, strict=True)) for row in product([None, "", "a"], repeat=2)]
S, T = map(col, TEXTS)
TEXT_CONDITIONS = {
    S.like("%"): {"s"},
    ~S.ilike("a"): {"s"},
    S.concat(T) != "b": {"s", "t"},
    S.length() == T.substr(1).length(): {"s", "t"},
    S.if_null(T) == "a": set(),
    S.concat(T).is_null(): set(),
}
ROWS = [dict(zip(NAMES, row, strict=True)) for row in product([None, False, True], repeat=2)]
A, B = map(col, NAMES)
SIMPLE: list[Expression] = [
    A,
    A == B,
    A.is_null(),
    (A == B).is_null(),
    OneOf(B, (True,)),
    case((A, B), otherwise=True),
]
ONCE = [*SIMPLE, *map(Not, SIMPLE)]
CONDITIONS = [
    *ONCE,
    *(kind(pair) for kind in (And, Or) for pair in product(ONCE, repeat=2)),
    *(Not(kind(pair)) for kind in (And, Or) for pair in product(SIMPLE, repeat=2)),
]


def truly_present(condition: Expression) -> set[str]:
    kept = [row for row in ROWS if evaluate(condition, row, SCHEMA) is True]
    return {name for name in NAMES if all(row[name] is not None for row in kept)}


def test_nothing_is_said_to_be_present_that_is_missing_in_a_kept_row() -> None:
    for condition in CONDITIONS:
        assert surely_present(condition) <= truly_present(condition), condition


@pytest.mark.parametrize(
    ("condition", "present"),
    [
        (None, set()),
        (A == B, {"a", "b"}),
        (~(A == B), {"a", "b"}),
        (~A.is_null(), {"a"}),
        (A.is_null(), set()),
        (A & B, {"a", "b"}),
        (A | B, set()),
        ((A == B) | A, {"a"}),
        (A | ~A, {"a"}),
        ((A | B) & ~B.is_null(), {"b"}),
    ],
)
def test_what_is_plainly_present_is_found(condition: Expression | None, present: set[str]) -> None:
    assert surely_present(condition) == present


@pytest.mark.parametrize("condition", TEXT_CONDITIONS, ids=repr)
def test_functions_of_text_are_missing_where_their_text_is(condition: Expression) -> None:
    kept = [row for row in TEXT_ROWS if evaluate(condition, row, TEXT_SCHEMA) is True]
    assert kept
    present = TEXT_CONDITIONS[condition]
    assert surely_present(condition) == present
    assert all(row[name] is not None for row in kept for name in present)
