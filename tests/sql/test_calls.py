"""No argument of a call is lost, and a call without its arguments is refused in words."""

import logging

import pytest
from sqlglot.dialects.dialect import Dialect

from letalone.errors import LetaloneError, ParameterError
from letalone.sql.text import DIALECTS
from sql.schemas import read

ARGUMENTS = {"cost": "'cost'", "0.5": "Fraction(1, 2)", "refund": "'refund'", "Age": "'Age'"}
SELECTED = "SELECT {} FROM visits"
CONDITION = "SELECT COUNT(*) FROM visits WHERE {} = 1"


def names_in(dialect: str) -> list[str]:
    parser = Dialect.get_or_raise(dialect).parser_class
    return sorted({*parser.FUNCTIONS, *parser.FUNCTION_PARSERS})


def lost(form: str, name: str, count: int, dialect: str) -> list[str]:
    """The arguments that are in the SQL and not in the question; none where it is refused."""
    given = dict(list(ARGUMENTS.items())[:count])
    try:
        found = read(form.format(f"{name}({', '.join(given)})"), dialect=dialect)
    except LetaloneError:
        return []
    words = f"{found.aggregates!r} {found.where!r} {found.groups!r} {found.arrangement!r}"
    return [argument for argument, shown in given.items() if shown not in words]


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_function_that_the_parser_knows_loses_an_argument_or_breaks(dialect: str) -> None:
    """All of them, with none, one, three and four arguments; others than ours would raise."""
    asked = [(SELECTED, count) for count in (0, 1, 3)] + [(CONDITION, 3), (SELECTED, 4)]
    for name in names_in(dialect):
        for form, count in asked:
            assert not lost(form, name, count, dialect), (name, count)


@pytest.mark.parametrize(
    "call",
    [
        "QUANTILE_CONT(cost, 0.5, refund)",
        "quantile(cost, 0.5, refund)",
        '"QUANTILE_DISC"(cost, 0.5, refund)',
        "PERCENTILE(cost, 0.5, 3)",
        "PERCENTILE (cost, array(0.25, 0.5), 3)",
        "APPROX_QUANTILE(cost, 0.5, 100)",
        "QUANTILE_CONT(CASE WHEN ward = ')' THEN cost END, 0.5, refund)",
        "QUANTILE_CONT(GREATEST(cost, 0, 1), [0.25, 0.5], refund)",
    ],
)
@pytest.mark.parametrize("dialect", [None, "duckdb", "spark"])
def test_a_third_argument_of_a_quantile_is_refused(call: str, dialect: str | None) -> None:
    with pytest.raises(ParameterError, match=r"no more, at line 1, column 8:"):
        read(f"SELECT {call} FROM visits", dialect=dialect)


@pytest.mark.parametrize(
    "call",
    [
        "QUANTILE_CONT(CASE WHEN ward IN ('A', 'B', ',') THEN cost END, 0.5)",
        "QUANTILE_CONT(GREATEST(cost, 0, 1), [0.25, 0.5, 0.75])",
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost), SUM(cost), SUM(refund)",
    ],
)
def test_commas_within_an_argument_are_none_of_the_call(call: str) -> None:
    assert read(f"SELECT {call} FROM visits").aggregates


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT() FROM visits",
        "SELECT COUNT() FILTER (WHERE ok) FROM visits",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT() > 1",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY COUNT()",
        "SELECT MIN() FROM visits",
        "SELECT REGR_SLOPE(cost) FROM visits",
        "SELECT DATE_TRUNC() FROM visits",
        "SELECT COUNT(*) FROM visits WHERE YEAR() = 2024",
        "SELECT COUNT(*) FROM visits GROUP BY DATE_TRUNC()",
        f"SELECT COUNT(*) FROM visits LIMIT {'9' * 5000}",
    ],
)
def test_a_call_without_its_arguments_is_refused_and_nothing_is_logged(
    sql: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        for dialect in (None, *DIALECTS):
            with pytest.raises(LetaloneError) as found:
                read(sql, dialect=dialect)
            assert found.value.__cause__ is found.value.__context__ is None
    assert caplog.text == ""
