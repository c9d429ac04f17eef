"""HAVING, ORDER BY and LIMIT become an arrangement of the noisy answer, and touch no rows."""

import pytest

import letalone as la
from letalone.answers.arranged import AS_IT_IS, Fixed, HavingTest, Order, OutputRef
from letalone.errors import ParameterError
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
    n, ward = OutputRef("n"), OutputRef("ward")
    between = HavingTest(
        "and", (HavingTest(">=", (n, Fixed(1))), HavingTest("<=", (n, Fixed(2.5))))
    )
    listed = HavingTest("not", (HavingTest("or", (HavingTest("=", (ward, Fixed("A"))),)),))
    there = HavingTest("not", (HavingTest("missing", (n,)),))
    assert found.arrangement.having == HavingTest(
        "and", (HavingTest("or", (between, listed)), there)
    )


def test_another_order_is_the_same_question() -> None:
    """So it has the same digest, and is free."""
    for clause in ("ORDER BY n", "HAVING n > 3", "LIMIT 1"):
        assert read(f"{GROUPED} {clause}").aggregates == read(GROUPED).aggregates


BOTH = "SELECT ok AS c, COUNT(*) AS ok FROM visits GROUP BY ok"


def test_a_name_means_the_group_column_in_having_and_the_aggregate_in_order_by() -> None:
    found = read(f"{BOTH} HAVING (ok) = TRUE ORDER BY ok").arrangement
    assert found.having == HavingTest("=", (OutputRef("c"), Fixed(True)))
    assert found.order == (Order("ok"),)
    with pytest.raises(la.LetaloneError):
        read(f"{BOTH} HAVING ok + COUNT(*) > 1")
    swapped = "SELECT ward AS city, city AS ward, COUNT(*) FROM visits GROUP BY ward, city"
    having = read(f"{swapped} HAVING ward = 'A'").arrangement.having
    assert having == HavingTest("=", (OutputRef("city"), Fixed("A")))


TYPED = (
    "SELECT ward, ok, day, YEAR(day) AS y, BIN(age, 0, 100, 10) AS ages, COUNT(*) AS n"
    " FROM visits GROUP BY ward, ok, day, y, ages"
)


@pytest.mark.parametrize(
    "condition",
    [
        "ward = 5",
        "ward < 5",
        "5 = ward",
        "ward IN ('A', 5)",
        "ward BETWEEN 1 AND 'B'",
        "ward = TRUE",
        "ward = n",
        "n = TRUE",
        "n > '5'",
        "COUNT(*) = 'A'",
        "AVG(cost) > DATE '2024-01-31'",
        "ok = 1",
        "ok = 'true'",
        "y = '2024'",
        "ages > 10",
        "day = 2024",
        "day > 'yesterday'",
        "day > TIMESTAMP '2024-01-31 10:00:00'",
        "n > 1 AND NOT (ok = 1)",
        "TRUE = 1",
    ],
)
def test_having_compares_nothing_of_different_types(condition: str) -> None:
    with pytest.raises(la.ParameterError, match=r"HAVING compares|is no date"):
        read(f"{TYPED} HAVING {condition}")


@pytest.mark.parametrize(
    "condition",
    [
        "ward = 'A' AND ok = TRUE AND y > 2023.5 AND n >= 1 AND ages = '[0, 10)'",
        "day BETWEEN '2024-01-01' AND DATE '2024-12-31'",
        "n > y AND ward IS NULL",
    ],
)
def test_having_compares_what_is_of_one_type(condition: str) -> None:
    assert read(f"{TYPED} HAVING {condition}").arrangement.having is not None


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("ages > '[0, 10)'", "List the ranges"),
        ("'[0, 10)' <= ages", "List the ranges"),
        ("ages BETWEEN '[0, 10)' AND '[20, 30)'", "List the ranges"),
        ("ok > FALSE", "= TRUE or = FALSE"),
    ],
)
def test_having_orders_neither_ranges_nor_truth_values(condition: str, words: str) -> None:
    """As text '[100, 110)' comes before '[20, 30)', which nobody means."""
    with pytest.raises(la.UnsupportedQuery, match=words):
        read(f"{TYPED} HAVING {condition}")


def test_having_orders_text_as_order_by_does() -> None:
    test = HavingTest(">", (OutputRef("ward"), Fixed("A")))
    assert read(f"{GROUPED} HAVING ward > 'A'").arrangement.having == test
    assert read(f"{TYPED} HAVING ages IN ('[0, 10)')").arrangement.having is not None


def test_types_of_a_joined_table_are_known_in_having() -> None:
    joined = "SELECT region, COUNT(*) FROM visits JOIN cities USING (city) GROUP BY region"
    assert read(f"{joined} HAVING region = 'x'").arrangement.having is not None
    with pytest.raises(la.ParameterError, match="compares text with integer"):
        read(f"{joined} HAVING region = 5")


def test_only_ranges_are_sorted_as_ranges() -> None:
    order = read(f"{TYPED} ORDER BY ages, ward, 5, n").arrangement.order
    assert [one.ranges for one in order] == [True, False, True, False]


@pytest.mark.parametrize("clause", ["HAVING {} > 1", "ORDER BY {}"])
def test_several_quantiles_are_no_number_to_compare_or_sort_by(clause: str) -> None:
    several = "QUANTILE_CONT(cost, [0.25, 0.5])"
    selected = f"SELECT ward, {several} AS q FROM visits GROUP BY ward"
    for sql in (f"{GROUPED} {clause.format(several)}", f"{selected} {clause.format('q')}"):
        with pytest.raises(la.UnsupportedQuery, match="Several quantiles"):
            read(sql)


@pytest.mark.parametrize(
    "keys", ["ward AS a, ward AS b", "ward, ward AS b", "ward, ward", "ward AS a, city AS a"]
)
def test_a_group_column_has_one_name(keys: str) -> None:
    with pytest.raises(la.ParameterError, match=r"selected twice|Two columns are called"):
        read(f"SELECT {keys}, COUNT(*) FROM visits GROUP BY ward, city")


@pytest.mark.parametrize("clause", ["ORDER BY {}", "ORDER BY {} + 1", "HAVING {} > 3"])
@pytest.mark.parametrize(("name", "other"), [("k", "\N{KELVIN SIGN}"), ("s", "ſ")])
def test_a_name_that_only_looks_like_one_of_select_is_refused(
    clause: str, name: str, other: str
) -> None:
    """The small letter of a Kelvin sign is k, and a long s is an s where capitals are ignored."""
    asked = f"SELECT ward, COUNT(*) AS {name} FROM visits GROUP BY ward"
    for means in (name, name.upper(), f'"{name}"'):
        assert read(f"{asked} {clause.format(means)}").arrangement != AS_IT_IS
    for letter in (other, f'"{other}"'):
        with pytest.raises(ParameterError, match=f"'{other}'"):
            read(f"{asked} {clause.format(letter)}")


def test_a_name_of_select_in_quotes_is_meant_exactly() -> None:
    with pytest.raises(ParameterError, match="'N'"):
        read(f'{GROUPED} ORDER BY "N" + 1')
