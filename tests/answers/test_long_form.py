"""A histogram in a frame has one row for each range."""

import pandas as pd
import pytest

import letalone as la

EDGES = [0, 10, 20, 50]


@pytest.fixture(scope="module")
def session():
    frame = pd.DataFrame({"age": [-5, 5, 15, 15, 30, 99], "sex": ["F", "M"] * 3})
    with la.open(frame, unit=la.ROW, budget=10**6, name="people") as opened:
        yield opened


def test_one_row_a_range_in_all_frames(session):
    answer = session.agg(h=la.histogram("age", EDGES)).release(epsilon=1000)
    frame = answer.to_pandas()
    assert list(frame.columns) == ["h_bin", "h_from", "h_to", "h", "h_low", "h_high"]
    assert list(frame["h_bin"]) == ["[0, 10)", "[10, 20)", "[20, 50]"]
    assert list(frame["h_from"]) == [0, 10, 20]
    assert list(frame["h"]) == answer["h"] == [2, 2, 2], "outliers are in the first and the last"
    assert answer.to_polars().to_dict(as_series=False) == frame.to_dict("list")
    assert answer.to_arrow().to_pydict() == frame.to_dict("list")


def test_what_lies_beyond_the_edges_is_said(session):
    answer = session.agg(h=la.histogram("age", EDGES)).release(epsilon=1000)
    assert "outside its edges in the first and the last range" in str(answer)


def test_groups_are_repeated_and_rows_stay_one_a_group(session):
    asked = session.group_by("sex", keys=["F", "M"]).agg(h=la.histogram("age", EDGES))
    answer = asked.release(epsilon=1000)
    frame = answer.to_pandas()
    assert list(frame["sex"]) == ["F"] * 3 + ["M"] * 3
    assert list(frame["h"]) == [1, 1, 1, 1, 1, 1]
    assert len(answer) == 2
    assert answer["h"] == [[1, 1, 1], [1, 1, 1]]


def test_beside_other_numbers_it_stays_wide(session):
    answer = session.agg(h=la.histogram("age", EDGES), n=la.count()).release(epsilon=1000)
    assert len(answer.to_pandas()) == 1
    assert answer["h"] == [2, 2, 2]
