"""A release is a number where it is one, and a table otherwise."""

from math import isnan

import pytest

import letalone as la
from answers.releases import made
from letalone.answers.columns import CellKind, KeyColumn, Output

NUMBER = Output("n", "n", "", CellKind.INTEGER, (42,), (40,), (44,))
MEAN = Output("cost", "cost", "", CellKind.NUMBER, (12.5,), (11.0,), (14.0,))


def test_one_number_is_a_float_and_a_whole_one_an_int():
    answer = made(keys=(), outputs=(NUMBER,))
    assert float(answer) == 42.0
    assert int(answer) == 42
    assert answer["n"] == 42
    assert (answer["n_low"], answer["n_high"]) == (40, 44)


def test_a_mean_is_a_float_and_int_says_how_to_round():
    answer = made(keys=(), outputs=(MEAN,))
    assert round(float(answer)) == 12
    with pytest.raises(la.ParameterError, match=r"round\(float\(r\)\)"):
        int(answer)


def test_a_number_that_the_noise_left_nothing_of_is_nan():
    unknown = Output("m", "m", "", CellKind.NUMBER, (None,), (0.0,), (1.0,))
    assert isnan(float(made(keys=(), outputs=(unknown,))))


def test_several_numbers_are_not_one_and_the_refusal_names_the_columns():
    with pytest.raises(la.ParameterError, match=r'has 3 rows and 3 columns.*r\["n"\]'):
        float(made())
    with pytest.raises(la.ParameterError, match="1 row and 2 columns"):
        float(made(keys=(), outputs=(NUMBER, MEAN)))


def test_columns_rows_and_their_number():
    answer = made()
    assert answer["n"] == [2**55 + 1, -5, 12]
    assert answer["ward"] == ["A", None, "Ж"]
    assert [row["cost"] for row in answer] == [12.34, 0.1, 3.0]
    assert answer[1] == answer.rows()[1]
    assert len(answer) == 3
    assert "n_low" in answer
    assert "wrong" not in answer


def test_a_group_alone_is_still_a_list():
    """How many groups are found depends on the noise: the type of a column must not."""
    answer = made(keys=(KeyColumn("g", CellKind.TEXT, ("A",)),), outputs=(NUMBER,))
    assert answer["n"] == [42]


def test_an_answer_without_rows_is_true_and_empty():
    none = Output("n", "n", "", CellKind.INTEGER, (), (), ())
    answer = made(keys=(KeyColumn("g", CellKind.TEXT, ()),), outputs=(none,))
    assert len(answer) == 0
    assert answer
    assert answer["n"] == []


def test_a_column_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(la.ParameterError, match="The columns are: ward, day"):
        made()["m"]
