"""Keys are of the column's type, none twice, not too many; some need no list."""

from datetime import date, datetime

import numpy as np
import pytest

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.plans.domains import closed_domain
from letalone.plans.expressions import Bin, Expression, case, col
from letalone.plans.keys import check_groupable, product, read_keys
from letalone.plans.types import Type
from letalone.plans.typing import columns_of
from plans.samples import SCHEMA

TEXT, WHOLE, FLAG, DAY = Type.TEXT, Type.INTEGER, Type.BOOLEAN, Type.DATE


@pytest.mark.parametrize(
    ("keys", "types", "read"),
    [
        (["B", "A"], [TEXT], (("B",), ("A",))),
        ([None, ""], [TEXT], ((None,), ("",))),
        ([("A",), "B"], [TEXT], (("A",), ("B",))),
        (np.array([3, 1]), [WHOLE], ((3,), (1,))),
        (range(2), [WHOLE], ((0,), (1,))),
        ([True, False], [FLAG], ((True,), (False,))),
        ([date(2024, 1, 31)], [DAY], ((date(2024, 1, 31),),)),
        ([("A", 1), ("A", 2)], [TEXT, WHOLE], (("A", 1), ("A", 2))),
        (product(["A", "B"], [1, 2]), [TEXT, WHOLE], (("A", 1), ("A", 2), ("B", 1), ("B", 2))),
        (["a", "A", "a "], [TEXT], (("a",), ("A",), ("a ",))),
        (["é", "e\u0301"], [TEXT], (("é",), ("e\u0301",))),
    ],
)
def test_keys_keep_their_order_and_become_plain_values(keys, types, read) -> None:
    found = read_keys(keys, types)
    assert found == read
    assert [[type(k) for k in row] for row in found] == [[type(k) for k in row] for row in read]


@pytest.mark.parametrize(
    ("keys", "types", "words"),
    [
        ("ABC", [TEXT], "must be a list"),
        (7, [WHOLE], "must be a list"),
        ([], [TEXT], "empty list"),
        (["A", "B", "A"], [TEXT], "'A' is listed twice"),
        ([None, None], [TEXT], "missing is listed twice"),
        ([("A", 1), ("A", 1)], [TEXT, WHOLE], "'A', 1 is listed twice"),
        ([1], [TEXT], "must be text"),
        (["1"], [WHOLE], "whole number"),
        ([True], [WHOLE], "whole number"),
        ([1.5], [WHOLE], "whole number"),
        ([2**63], [WHOLE], "64 bits"),
        ([1], [FLAG], "True or False"),
        ([datetime(2024, 1, 31)], [DAY], "a date"),
        (["A"], [TEXT, WHOLE], "tuple of 2 values"),
        ([("A", 1)], [TEXT], "one value"),
        ([b"A"], [TEXT], "constant is"),
        (range(1_000_001), [WHOLE], "at most 1,000,000"),
    ],
)
def test_keys_of_the_wrong_shape_type_or_number_are_refused(keys, types, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        read_keys(keys, types)


def test_a_product_that_is_too_large_is_refused_before_it_is_built() -> None:
    with pytest.raises(ParameterError, match=r"1,000,000,000,000 keys"):
        product(range(10**6), range(10**6))
    with pytest.raises(ParameterError, match="no lists"):
        product()


@pytest.mark.parametrize("kind", [Type.TIMESTAMP, Type.OTHER])
def test_types_without_keys_are_refused_with_what_to_do(kind: Type) -> None:
    with pytest.raises(UnsupportedQuery, match=r"la\.col|Cast"):
        check_groupable(kind, "cost")


@pytest.mark.parametrize(
    ("expression", "domain"),
    [
        (col("ward"), ("A", "B", "C")),
        (col("note"), None),
        (col("age"), None),
        (col("smokes"), (False, True)),
        (col("age") >= 65, (False, True)),
        (col("day").part("weekday"), tuple(range(1, 8))),
        (col("day").part("month"), tuple(range(1, 13))),
        (col("seen").part("hour"), tuple(range(24))),
        (col("day").part("year"), None),
        (Bin(col("age"), 0, 10, 3), (0, 1, 2)),
        (
            case((col("age") < 18, "child"), (col("age") < 65, "adult"), otherwise="child"),
            ("child", "adult"),
        ),
        (case((col("age") < 18, "child")), ("child",)),
        (case((col("age") < 18, col("note")), otherwise="x"), None),
        (case((col("age") < 18, 0.5), otherwise=1), None),
        (col("senior"), (False, True)),
        (col("ward_again"), ("A", "B", "C")),
    ],
)
def test_keys_that_the_question_itself_makes_public(
    expression: Expression, domain: tuple | None
) -> None:
    derived = [("senior", col("age") >= 65), ("ward_again", col("ward"))]
    assert closed_domain(expression, columns_of(SCHEMA, derived=derived)) == domain
