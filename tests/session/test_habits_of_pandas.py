"""Who types what a frame has is told what works here."""

import copy
import re

import pytest

import letalone as la
from session.makers import by_ward, opened


@pytest.mark.parametrize(
    ("name", "road"),
    [
        ("query", ".where("),
        ("groupby", ".group_by("),
        ("head", "Rows are private"),
        ("describe", ".agg("),
        ("to_csv", ".release("),
        ("wherr", "Did you mean where?"),
        ("_repr_png_", "no attribute"),
    ],
)
def test_a_table_and_a_question_name_the_road(name: str, road: str) -> None:
    session = opened()
    for table in (session, session.where(la.col("cost") > 3)):
        with pytest.raises(AttributeError, match=re.escape(road)):
            getattr(table, name)
        assert not hasattr(table, name)


def test_rows_and_their_number_are_private_and_a_session_is_true() -> None:
    session = opened()
    with pytest.raises(TypeError, match=r"la\.col"):
        session["bill"]  # pyright: ignore
    with pytest.raises(TypeError, match=r"How many rows there are is private"):
        len(session)  # pyright: ignore
    with pytest.raises(TypeError, match=r"hands out no rows"):
        list(session)  # pyright: ignore
    assert session
    with pytest.raises(AttributeError, match=r"\.where\("):
        session.filter(la.col("cost") > 3)  # pyright: ignore


def test_an_answer_names_the_frame_that_it_gives() -> None:
    answer = by_ward(opened()).release(epsilon=1)
    with pytest.raises(AttributeError, match=r"\.to_pandas\(\)\.to_csv"):
        answer.to_csv("x.csv")
    assert not hasattr(answer, "to_excel")
    assert copy.copy(answer).rows() == answer.rows()
