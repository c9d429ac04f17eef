from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from letalone.errors import FormatError, ParameterError
from letalone.learn import TableEncoder
from letalone.plans.schema import Column, Schema

COLUMNS = {"age": (17, 90), "work": ["a", "b", None], "year": [2023, 2024], "member": bool}
TABLE = {
    "age": [17.0, 90.0, 53.5, 200.0, None],
    "work": ["a", "b", None, "c", "a"],
    "year": [2024, 2023, 2024, 1999, 2023],
    "member": [True, False, None, True, False],
}
EXPECTED = [
    [-1.0, 1, 0, 0, 0, 1, 1],
    [1.0, 0, 1, 0, 1, 0, -1],
    [0.0, 0, 0, 1, 0, 1, 0],
    [1.0, 0, 0, 0, 0, 0, 1],
    [0.0, 1, 0, 0, 1, 0, -1],
]
ODD = [None, "", "12", "x", 1e308, -1e308, float("nan"), float("inf"), 10**400, -(10**400), b"a"]
ODD += [True, [1], {}, object(), date(2024, 1, 1), Decimal("NaN"), Decimal(3), Fraction(1, 3), 1j]
ODD += [np.float32(3), np.datetime64("NaT"), pd.NA, np.str_("a"), 2024, "a"]


class Raises(str):
    """A text that cannot be hashed, compared or read, and says a secret."""

    def _raise(self, *_):
        raise RuntimeError("SECRET")

    __hash__ = __eq__ = __float__ = __str__ = _raise


def test_a_cell_that_cannot_be_hashed_is_one_that_was_not_declared():
    odd = np.array([Raises("a"), Decimal("sNaN"), 10**5000], object)
    for table in (dict.fromkeys(COLUMNS, odd), pd.DataFrame(dict.fromkeys(COLUMNS, odd))):
        assert not TableEncoder(COLUMNS).transform(table).any()


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_every_kind_of_table_becomes_the_same_rows(make):
    assert TableEncoder(COLUMNS).transform(make(TABLE)).tolist() == EXPECTED


def test_arrays_and_lists_have_columns_in_the_declared_order():
    rows = list(zip(*TABLE.values(), strict=True))
    assert TableEncoder(COLUMNS).transform(rows).tolist() == EXPECTED
    numbers = np.array([[0.0, 5.0], [10.0, np.nan]])
    encoder = TableEncoder({"x": (0, 10), "y": (0, 5)})
    assert encoder.transform(numbers).tolist() == [[-1, 1], [1, 0]]


@given(
    cells=st.lists(st.sampled_from(range(len(ODD))), min_size=1, max_size=6),
    knots=st.sampled_from([None, 2, 3, 8, 64]),
)
def test_a_row_is_a_function_of_its_own_cells_and_never_longer_than_the_norm(cells, knots):
    encoder = TableEncoder(COLUMNS, knots)
    table = {name: [ODD[cell] for cell in cells] for name in COLUMNS}
    together = encoder.transform(table)
    for place, cell in enumerate(cells):
        alone = encoder.transform({name: [ODD[cell]] for name in COLUMNS})
        assert together[place].tolist() == alone[0].tolist()
    assert np.all(np.abs(together) <= 1)
    squares = [sum(Fraction(x) ** 2 for x in row) for row in together.tolist()]
    assert max(squares) <= min(Fraction(encoder.norm), Fraction(repr(encoder.norm))) ** 2


@given(number=st.integers(1, 3000))
def test_the_norm_is_at_least_the_root_in_binary_and_in_decimal(number):
    norm = TableEncoder({f"c{i}": bool for i in range(number)}).norm
    assert min(Fraction(norm), Fraction(repr(norm))) ** 2 >= number
    assert norm <= number**0.5 * (1 + 1e-15)


def test_one_odd_cell_of_a_list_does_not_change_how_the_others_are_read():
    encoder = TableEncoder({"year": [2023, 2024]})
    for odd in ODD:
        assert encoder.transform({"year": [2023, odd]})[0].tolist() == [1, 0]
        assert encoder.transform([[2023], [odd]])[0].tolist() == [1, 0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_a_missing_cell_does_not_change_how_the_others_are_read(make):
    """Some frames turn whole numbers into doubles where one is missing."""
    encoder = TableEncoder({"number": [2**53 - 1, 3]})
    cells = [2**53 - 1, 3, 2**53, 2**53 + 1, -(2**53)]
    whole = encoder.transform(make({"number": cells}))
    assert whole.tolist() == [[1, 0], [0, 1], [0, 0], [0, 0], [0, 0]]
    assert encoder.transform(make({"number": [*cells, None]}))[:-1].tolist() == whole.tolist()


def test_days_match_moments_of_frames_and_categories_match_their_values():
    encoder = TableEncoder({"day": [date(2024, 1, 31)], "kind": ["a", "b"]})
    frame = pd.DataFrame({"day": pd.to_datetime(["2024-01-31", None]), "kind": ["b", "a"]})
    frame["kind"] = frame["kind"].astype("category")
    assert encoder.transform(frame).tolist() == [[1, 0, 1], [0, 1, 0]]


def test_groups_and_names_say_which_features_belong_together():
    encoder = TableEncoder(COLUMNS)
    assert encoder.groups == ((0,), (1, 2, 3), (4, 5), (6,))
    names = ["age", "work=a", "work=b", "work=None", "year=2023", "year=2024", "member"]
    assert encoder.get_feature_names_out().tolist() == names


@given(age=st.floats(17, 90), knots=st.integers(2, 64))
def test_a_number_with_knots_is_no_longer_than_1_and_its_neighbours_share_all(age, knots):
    (row,) = TableEncoder({"age": (17, 90)}, knots).transform({"age": [age]}).tolist()
    assert len(row) == 1 + knots
    assert sum(Fraction(x) ** 2 for x in row) <= 1
    assert sum(row[1:]) == pytest.approx(0.707)
    used = [place for place, x in enumerate(row[1:]) if x]
    assert max(used) - min(used) <= 1
    met = sum(x / 0.707 * (17 + 73 * place / (knots - 1)) for place, x in enumerate(row[1:]))
    assert met == pytest.approx(age)


def test_knots_are_named_and_grouped_apart_from_the_number_itself():
    encoder = TableEncoder({"age": (10, 40), "member": bool}, knots=4)
    rows = encoder.transform({"age": [10, 25, 40, None, "x"], "member": [True] * 5}) / 0.707
    assert np.round(rows[:, :-1], 9).tolist() == [
        [-1, 1, 0, 0, 0],
        [0, 0, 0.5, 0.5, 0],
        [1, 0, 0, 0, 1],
        [0] * 5,
        [0] * 5,
    ]
    names = ["age", "age near 10", "age near 20", "age near 30", "age near 40", "member"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.groups == ((0,), (1, 2, 3, 4), (5,))


def test_names_of_knots_differ_however_narrow_the_bounds_are_and_any_whole_number_counts_them():
    encoder = TableEncoder({"x": (10**16, 10**16 + 2)}, np.int64(3))
    names = ["x", "x near knot 1", "x near knot 2", "x near knot 3"]
    assert encoder.get_feature_names_out().tolist() == names
    assert TableEncoder.from_json(encoder.to_json()).knots == 3
    with pytest.raises(FormatError):
        TableEncoder.from_json({**encoder.to_json(), "knots": 3.0})


@pytest.mark.parametrize("knots", [0, 1, 65, 2.5, True, "8"])
def test_knots_are_a_whole_number_from_2_to_64(knots):
    with pytest.raises(ParameterError, match=r"knots is .*from 2 to 64"):
        TableEncoder(COLUMNS, knots).fit()


def test_it_is_a_transformer_that_needs_no_fit():
    encoder = clone(TableEncoder(COLUMNS)).set_output(transform="pandas")
    assert encoder.transform(TABLE).columns[1] == "work=a"
    assert make_pipeline(TableEncoder(COLUMNS)).fit_transform(pd.DataFrame(TABLE)).shape == (5, 7)


def test_a_schema_declares_the_columns():
    schema = Schema(
        "people",
        (
            Column("age", "number", lower=17, upper=90),
            Column("work", "text", keys=("a", "b", None)),
            Column("year", "integer", keys=(2023, 2024)),
            Column("member", "boolean"),
            Column("note", "text"),
            Column("height", "number", lower=0),
        ),
    )
    assert TableEncoder.of(schema, list(COLUMNS)).transform(TABLE).tolist() == EXPECTED
    with pytest.raises(ParameterError, match=r"Column 'note' has no declared keys"):
        TableEncoder.of(schema, ["note"])
    with pytest.raises(ParameterError, match=r"Column 'height' has no declared lower and upper"):
        TableEncoder.of(schema, ["height"])
    with pytest.raises(ParameterError, match=r"Did you mean 'age'"):
        TableEncoder.of(schema, ["agee"])


STORED = {
    "format": 1,
    "kind": "table encoder",
    "columns": [
        {"name": "age", "bounds": ["1/10", "90"]},
        {"name": "day", "values": [{"date": "2024-01-31"}, 2**52, 3, True, None]},
        {"name": "member", "values": None},
    ],
}


def test_knots_are_stored_in_format_2_and_read_back():
    stored = TableEncoder({"age": (17, 90)}, knots=5).to_json()
    assert (stored["format"], stored["knots"]) == (2, 5)
    assert TableEncoder.from_json(stored).knots == 5
    for damaged in ({**stored, "knots": 1}, {**stored, "format": 1}, {**stored, "knots": None}):
        with pytest.raises(FormatError):
            TableEncoder.from_json(damaged)


def test_what_format_1_stored_is_read_back_and_written_alike():
    encoder = TableEncoder.from_json(STORED)
    days = [date(2024, 1, 31), 2**52, 3, True, None]
    assert encoder.columns == {"age": (Fraction(1, 10), 90), "day": days, "member": bool}
    assert encoder.to_json() == STORED
    assert TableEncoder({"age": (0.1, 90), "day": days, "member": bool}).to_json() == STORED


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 3}, "has format 3, and this letalone reads up to format 2"),
        ({"kind": "plan"}, "not a stored table encoder"),
        ({"columns": []}, "damaged"),
        ({"columns": [{"name": "age", "bounds": ["2", "1"]}]}, "damaged"),
        ({"columns": [{"name": "age"}]}, "damaged"),
        ({"more": 1}, "damaged"),
    ],
)
def test_damaged_and_newer_encoders_are_refused(change, words):
    with pytest.raises(FormatError, match=words):
        TableEncoder.from_json({**STORED, **change})


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({}, "columns is {}, but must be a dictionary"),
        (["age"], "columns is .*, but must be a dictionary"),
        ({"age": (1, 1)}, "with lower below upper"),
        ({"age": (0, 1, 2)}, "two numbers"),
        ({"age": (0, float("nan"))}, "a bound of column 'age' is nan"),
        ({"age": [0.5, 1.5]}, "Numbers have bounds"),
        ({"age": []}, "a list of texts"),
        ({"age": [2**53]}, r"whole numbers below 2\^53"),
        ({"age": ["a", "a"]}, "lists a value twice"),
        ({"age": int}, "or bool"),
        ({"": bool}, "column name"),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_remedy(columns, words):
    with pytest.raises(ParameterError, match=words):
        TableEncoder(columns).fit()


def test_shapes_and_names_that_do_not_fit_are_refused_without_values():
    encoder = TableEncoder({"age": (17, 90), "work": ["a"]})
    with pytest.raises(ParameterError, match=r"no column 'work'.*Did you mean 'works'"):
        encoder.transform({"age": [1], "works": ["a"]})
    with pytest.raises(ParameterError, match=r"shape \(2, 3\).*2 columns"):
        encoder.transform(np.zeros((2, 3)))
    with pytest.raises(ParameterError, match="differ in length"):
        encoder.transform({"age": [1], "work": ["a", "a"]})
