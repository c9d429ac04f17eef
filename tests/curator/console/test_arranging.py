"""How an answer is arranged: the same in its address, in SQL, and as it was read."""

import json
from datetime import date

import pytest

from curator.makers import NAME, PURPOSE
from letalone.answers.arranged import Arrangement, Fixed, HavingTest, Order, OutputRef
from letalone.curator.asking.answer_arranging import as_address, from_address
from letalone.curator.asking.refill import fields_of
from letalone.curator.http.problems import HttpProblemError
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice

CLAUSES = (
    "ORDER BY n DESC LIMIT 1",
    "ORDER BY ward LIMIT 1 OFFSET 1",
    "HAVING COUNT(*) > 3 AND NOT (ward = 'it''s' OR n IS NULL) ORDER BY n NULLS FIRST",
    "HAVING n BETWEEN 1 AND 1000 AND ward IN ('A', 'B')",
    "ORDER BY SUM(cost) DESC",  # which is asked for, and not shown
)


def test_what_sql_says_is_in_the_address_and_comes_back_as_sql_that_says_the_same(ready):
    for clause in CLAUSES:
        sql = f"SELECT ward, COUNT(*) AS n FROM {NAME} GROUP BY ward {clause}"
        question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=sql)
        answer = ready.asking.answer(question, QuestionPrice(epsilon=0.1), by="ann")
        how = from_address(as_address(answer.arrangement))
        assert how == answer.arrangement, clause
        again = dict(fields_of(answer.release, how))["sql"]
        look = ready.asking.look(
            DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=again),
            QuestionPrice(epsilon=0.1),
            by="ann",
        )
        assert look.arrangement == how, again
        assert look.mine, again


COMPUTED = (
    "SELECT ward, COUNT(*) AS n, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM {0}"
    " GROUP BY ward ORDER BY share DESC",
    "SELECT ward, COUNT(*) AS n FROM {0} GROUP BY ward"
    " QUALIFY ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) <= 2",
    "SELECT AVG(n) AS a FROM (SELECT ward, COUNT(*) AS n FROM {0} GROUP BY ward)",
    "SELECT ward, LAG(COUNT(*), 2) OVER (PARTITION BY ward ORDER BY ward ROWS BETWEEN 1 PRECEDING"
    " AND UNBOUNDED FOLLOWING) AS l FROM {0} GROUP BY ward",
)


def test_columns_that_are_computed_are_in_the_address_too(ready):
    for sql in COMPUTED:
        question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=sql.format(NAME))
        answer = ready.asking.answer(question, QuestionPrice(epsilon=0.1), by="ann")
        how = from_address(as_address(answer.arrangement))
        assert how == answer.arrangement, sql
        assert how.computed
        again = dict(fields_of(answer.release, how))["sql"]
        question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=again)
        assert ready.asking.look(question, QuestionPrice(epsilon=0.1), by="ann").mine, again


def test_days_and_truth_are_written_too():
    test = HavingTest(
        "and", (HavingTest("=", (OutputRef("day"), Fixed(date(2027, 1, 31)))), Fixed(True))
    )
    how = Arrangement(having=test, order=(Order("day", ranges=True),), hidden=("n",))
    assert from_address(as_address(how)) == how
    assert as_address(Arrangement()) == ""
    assert from_address("") == Arrangement()


@pytest.mark.parametrize(
    "wrong",
    [
        "x", "[]", "null", "3", "[" * 5000, [None, [], None, -1, []], [None, [], True, 0, []],
        [None, [["n"]], None, 0, []], [None, [["n", 1, False, False]], None, 0, []],
        [["<", ["column", "n"]], [], None, 0, []], [["run", "n"], [], None, 0, []],
        [["day", "x"], [], None, 0, []], [["column", 3], [], None, 0, []],
        [["value", [1]], [], None, 0, []], [None, [], None, 0, [3]], [None, [], 10**12, 0, []],
        [None, [], None, 0, [], [["s", ["over", "run", None, [], [], None, 1]]], None],
        [None, [], None, 0, [], [["s", ["over", "lag", None, [], [], None, 10**9]]], None],
        [None, [], None, 0, [], [["s", ["over", "sum", None, [], [], [0, 10**9], 1]]], None],
        [None, [], None, 0, [], [["s", ["eval", ["value", 1]]]], None],
        [None, [], None, 0, [], [["s"]], None], [None, [], None, 0, [], [], None, 3],
        [["column", "\ud800"], [], None, 0, []], [["value", "\udfff"], [], None, 0, []],
    ],
)  # fmt: skip
def test_an_address_that_nobody_was_given_is_refused_in_words(wrong):
    with pytest.raises(HttpProblemError):
        from_address(wrong if isinstance(wrong, str) else json.dumps(wrong))
