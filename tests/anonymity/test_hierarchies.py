"""Labels stand for what they say, and hierarchies put values where people expect them."""

from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from letalone.anonymity import Dates, Prefixes, Ranges, Sets, Tree, anonymize
from letalone.anonymity.hierarchies import Ladder, covered_codes, labels, ladder_of
from letalone.anonymity.kinds import ColumnNature, natural
from letalone.engines.frames.coded import FIRST, Coded, encode_column
from letalone.errors import ParameterError

ILLNESSES = {
    "heart": ["infarct", "angina"],
    "lung": {"acute": ["flu", "cold"], "other": ["asthma"]},
}


def column(values: list[Any]) -> Coded:
    return encode_column(pa.table({"c": values}), "c", called="c")


def ladder(values: list[Any], given: object = None) -> Ladder:
    return ladder_of(natural(column(values)), given)


def named(made: Ladder, first: int, last: int) -> str:
    (found,) = labels(made, np.array([first + FIRST]), np.array([last + FIRST]))
    return found


def test_prefixes_name_the_longest_prefix_that_a_group_shares() -> None:
    made = ladder(["02138", "02139", "02210", "10001"], Prefixes())
    assert named(made, 0, 0) == "02138"
    assert named(made, 0, 1) == "0213*"
    assert named(made, 0, 2) == "02***"
    assert named(made, 0, 3) == "*"


def test_a_zip_that_became_a_number_gets_its_zeros_back() -> None:
    made = ladder([2138, 2139, 10001], Prefixes())
    assert [named(made, n, n) for n in range(3)] == ["02138", "02139", "10001"]
    assert named(made, 0, 1) == "0213*"


def test_dates_become_months_years_and_decades() -> None:
    days = [
        date(1961, 3, 1),
        date(1961, 3, 9),
        date(1961, 5, 2),
        date(1968, 1, 1),
        date(1971, 1, 1),
    ]
    for made in (ladder(days), ladder([str(day) for day in days], Dates())):
        assert named(made, 0, 0) == "1961-03-01"
        assert named(made, 0, 1) == "1961-03"
        assert named(made, 0, 2) == "1961"
        assert named(made, 0, 3) == "1960s"
        assert named(made, 0, 4) == "*"
    four = ladder([date(1961, month, day) for month in (1, 2, 3, 4) for day in (1, 2)])
    assert named(four, 2, 5) == "1961-02 to 1961-03"
    times = ladder([datetime(2024, 1, 1, 5), datetime(2024, 1, 1, 6), datetime(2025, 1, 1)])
    assert named(times, 0, 1) == "2024-01-01"


def test_ranges_run_from_number_to_number_or_in_given_widths() -> None:
    assert named(ladder([30, 34, 39, 60]), 0, 2) == "30–39"
    assert named(ladder([-5, 3, 9]), 0, 1) == "-5 to 3"
    made = ladder([30, 34, 39, 60, 61], Ranges((20, 10, 5)))
    assert named(made, 0, 1) == "30–34"
    assert named(made, 0, 2) == "30–39"
    assert named(ladder([1, 24, 30, 70], Ranges((20, 10))), 0, 2) == "0–19 to 20–39"
    assert named(ladder([0.5, 0.75, 3.5], Ranges((2,))), 0, 1) == "0 to below 2"


def test_a_tree_names_its_branches_and_lists_siblings() -> None:
    made = ladder(["flu", "angina", "cold", "infarct", "asthma"], ILLNESSES)
    assert [named(made, n, n) for n in range(5)] == ["infarct", "angina", "flu", "cold", "asthma"]
    assert named(made, 0, 1) == "heart"
    assert named(made, 2, 3) == "acute"
    assert named(made, 2, 4) == "lung"
    assert named(made, 0, 4) == "*"
    assert named(ladder(["a", "b", "c"], Sets()), 0, 1) == "a, b"
    many = ladder([chr(97 + n) for n in range(20)])
    assert named(many, 0, 9) == "a … j"


def test_what_a_label_stands_for_includes_its_group_and_nothing_else_has_its_name() -> None:
    random = np.random.default_rng(3)
    zips = sorted({f"{n:05}" for n in random.integers(0, 3000, 60)})
    for made in (ladder(zips, Prefixes()), ladder(zips, Sets()), ladder(list(range(60)))):
        low = random.integers(0, 40, 50) + FIRST
        high = np.minimum(low + random.integers(0, 20, 50), made.column.size - 1)
        begin, end = covered_codes(made, low, high)
        assert (begin <= low).all()
        assert (high <= end).all()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "10", "9.5"], ColumnNature.NUMBER),
        (["1", "x"], ColumnNature.NAME),
        (["2024-01-31"], ColumnNature.DATE),
        (["2024-02-30"], ColumnNature.NAME),
        ([True, False], ColumnNature.NAME),
        ([1.5], ColumnNature.NUMBER),
        ([None], ColumnNature.NAME),
        (["nan", "1"], ColumnNature.NAME),
    ],
)
def test_what_values_are_is_seen(values: list[Any], kind: ColumnNature) -> None:
    assert natural(column(values)).kind is kind


def test_numbers_written_as_text_are_in_the_order_of_the_numbers() -> None:
    found = natural(column(["10", "9", "1e2", None, "9"]))
    assert found.column.texts() == ["9", "10", "1e2"]
    assert found.column.codes.tolist() == [3, 2, 4, 0, 2]


@pytest.mark.parametrize(
    ("values", "given", "words"),
    [
        (["x"], Dates(), "must hold dates"),
        (["x"], Ranges(), "must hold numbers"),
        (["x"], {"a": ["b"]}, "tree does not list"),
        (["b"], {"a": ["b"], "c": ["b"]}, "twice"),
        (["b"], {"a": "b"}, "list of values"),
        (["b"], 5, "must be one of"),
    ],
)
def test_a_hierarchy_that_does_not_fit_is_refused(
    values: list[Any], given: object, words: str
) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        ladder(values, given)
    assert "'x'" not in str(caught.value)


@pytest.mark.parametrize("widths", [(5, 10), (10, 4), (0,), (-1,)])
def test_widths_that_do_not_nest_are_refused(widths: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError):
        Ranges(widths)
    assert Tree(ILLNESSES).branches == ILLNESSES


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([-np.inf, 1.0, 2.0, np.inf], ["-inf to 1", "-inf to 1", "2 to inf", "2 to inf"]),
        ([1.0, 2.0, np.inf, np.inf], ["1–2", "1–2", "inf", "inf"]),
        ([-1.7e308, 1.0, 2.0, 1.7e308], ["-1.7e+308 to 1"] * 2 + ["2 to 1.7e+308"] * 2),
    ],
)
def test_infinite_values_are_put_in_order_without_a_warning(
    values: list[float], shown: list[str]
) -> None:
    table = pa.table({"q": values, "s": ["x", "y", "x", "y"]})
    found = anonymize(table, quasi_identifiers="q", sensitive="s", k=2)
    assert found.as_arrow.column("q").to_pylist() == shown


def test_infinite_values_are_ranges_of_their_own() -> None:
    table = pa.table({"q": [-np.inf, 1.0, 2.0, np.inf], "s": ["x", "y", "x", "y"]})
    found = anonymize(
        table, quasi_identifiers="q", sensitive="s", k=1, hierarchies={"q": Ranges((4, 2))}
    )
    assert found.as_arrow.column("q").to_pylist() == ["-inf", "1", "2", "inf"]
