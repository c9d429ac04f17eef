"""HAVING, ORDER BY and LIMIT become an arrangement of the noisy answer, and touch no rows."""

import pytest

import letalone as la
from letalone.answers.arranged import AS_IT_IS, Fixed, Named, Order, Test
from sql.schemas import read

GROUPED = "SELECT ward, COUNT(*) AS n, SUM(cost) FROM visits GROUP BY ward"


def test_without_clauses_an_answer_stays_as_it_is() -> None:
    assert read(GROUPED).arrangement == AS_IT_IS


@pytest.mark.parametrize(
    ("clause", "order"),
    [
        ("n DESC", Order("n", descending=True)),
        ("COUNT(*)", Order("n")),
        ("2", Order("n")),
        ("ward", Order("ward")),
        ("SUM(cost) ASC NULLS FIRST", Order("sum_cost", missing_first=True)),
        ("N", Order("n")),
    ],
)
def test_an_order_is_by_a_column_of_the_answer(clause: str, order: Order) -> None:
    found = read(f"{GROUPED} ORDER BY {clause}")
    assert found.arrangement.order == (order,)
    assert found.arrangement.hidden == ()


def test_what_only_the_order_needs_is_asked_for_and_hidden() -> None:
    found = read(
        f"{GROUPED} HAVING AVG(cost) > 5 ORDER BY AVG(cost), SUM(cost) / n LIMIT 3 OFFSET 2"
    )
    assert found.arrangement.hidden == ("avg_cost", "formula")
    assert found.aggregates["avg_cost"] == la.mean("cost")
    assert found.aggregates["formula"] == la.sum("cost") / la.count()
    assert (found.arrangement.limit, found.arrangement.offset) == (3, 2)


def test_a_condition_is_over_answers_keys_and_constants() -> None:
    found = read(f"{GROUPED} HAVING (n BETWEEN 1 AND 2.5 OR NOT ward IN ('A')) AND n IS NOT NULL")
    n, ward = Named("n"), Named("ward")
    between = Test("and", (Test(">=", (n, Fixed(1))), Test("<=", (n, Fixed(2.5)))))
    listed = Test("not", (Test("or", (Test("=", (ward, Fixed("A"))),)),))
    there = Test("not", (Test("missing", (n,)),))
    assert found.arrangement.having == Test("and", (Test("or", (between, listed)), there))


def test_another_order_is_the_same_question() -> None:
    """So it has the same digest, and is free."""
    for clause in ("ORDER BY n", "HAVING n > 3", "LIMIT 1"):
        assert read(f"{GROUPED} {clause}").aggregates == read(GROUPED).aggregates
