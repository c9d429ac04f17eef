"""Trees print as what they mean: brackets where sqlglot would leave them out, names quoted."""

import pytest
from sqlglot import exp

from letalone.engines.core import syntax
from letalone.engines.duckdb.lockdown import LockedDuck

DUCK = LockedDuck(threads=1)


def value(sql):
    row = DUCK.run(exp.Select(expressions=[sql]))
    return row[0][0]


def test_a_product_of_sums_is_not_a_sum_of_products():
    two, three = syntax.double(2), syntax.double(3)
    total = syntax.operation(exp.Add, two, three)
    assert value(syntax.operation(exp.Mul, total, total)) == 25
    assert value(syntax.operation(exp.Sub, two, syntax.operation(exp.Sub, two, three))) == 3
    assert value(syntax.minus(syntax.minus(two))) == 2


def test_not_binds_to_all_of_its_operand():
    both = syntax.join_conditions(exp.And, [exp.Boolean(this=False), exp.Boolean(this=False)])
    either = syntax.join_conditions(exp.Or, [exp.Boolean(this=True), exp.Boolean(this=False)])
    assert value(syntax.negate(both)) is True
    assert value(syntax.negate(either)) is False
    assert value(syntax.join_conditions(exp.And, [either, exp.Boolean(this=False)])) is False


@pytest.mark.parametrize(
    "word", ["it's", '"', "\\", "\n", "\x00", "--", "/*", "$1", "?", "ä", "{}", "%s"]
)
def test_text_and_names_come_through_as_they_are(word):
    assert value(syntax.text(word)) == word
    named = syntax.select([syntax.alias(syntax.whole(1), word)], syntax.table("one"))
    DUCK.run(
        exp.Create(
            this=syntax.table("one"),
            kind="TABLE",
            replace=True,
            expression=exp.Select(expressions=[syntax.alias(syntax.whole(1), "x")]),
        )
    )
    DUCK.run(named)
    outer = syntax.select([syntax.column(word)], syntax.subquery(named, "inner"))
    assert DUCK.run(outer) == [(1,)]


@pytest.mark.parametrize("number", [0.1, -0.0, 1e308, 5e-324, 1 / 3, 123456789.123, -2.5, 2.0**53])
def test_doubles_come_through_bit_by_bit(number):
    found = value(syntax.double(number))
    assert found.hex() == number.hex()


@pytest.mark.parametrize("number", [0, -1, 2**31, -(2**31), 2**63 - 1, -(2**63)])
def test_whole_numbers_come_through(number):
    assert value(syntax.whole(number)) == number
