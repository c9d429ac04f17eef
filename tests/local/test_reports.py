"""Reports as bytes and JSON: what is written is read, what is no report is refused, and how."""

import json
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from letalone.errors import FormatError, ParameterError
from letalone.local import (
    HadamardResponse,
    HeavyHitters,
    KaryResponse,
    LocalHashing,
    Rappor,
    SubsetSelection,
    Survey,
    UnaryEncoding,
    from_bytes,
    from_json,
    to_bytes,
    to_json,
)
from local.exact_laws import SMALL
from seeded import SeededBits


@pytest.mark.parametrize("oracle", SMALL, ids=repr)
def test_what_is_written_is_read(oracle):
    reports = oracle.privatize(np.arange(20) % oracle.size, bits=SeededBits(5))
    content = to_bytes(oracle, reports)
    assert len(content) == 20 * oracle.report_bytes
    assert np.array_equal(from_bytes(oracle, content), reports)
    assert np.array_equal(from_json(oracle, to_json(oracle, reports)), reports)
    single = [row.tobytes() if reports.ndim == 2 else int(row) for row in reports]
    assert np.array_equal(oracle.read(single), reports)


def test_reports_are_encoded_as_documented():
    """By hand: a client in another language has to write exactly these."""
    rows = np.packbits([[1, 0, 0, 1, 0, 0, 0, 0, 0, 1]], axis=1)
    assert to_bytes(UnaryEncoding(10, epsilon=1), rows) == bytes([0b10010000, 0b01000000])
    assert to_bytes(KaryResponse(300, epsilon=1), [258]) == b"\x01\x02"
    hashing = LocalHashing(16, epsilon=1)
    assert hashing.describe()["prime"] == 17
    assert to_bytes(hashing, [((3 - 1) * 17 + 5) * 4 + 2]) == (158).to_bytes(2, "big")
    assert to_bytes(HadamardResponse(5, epsilon=1), [2 * 6 + 1]) == b"\x0d"
    document = json.loads(to_json(SubsetSelection(["a", "b", "c"], epsilon=0.5), b"\x40"))
    assert document == {
        "format": 1,
        "oracle": {
            "kind": "subset_selection",
            "domain": ["a", "b", "c"],
            "epsilon": "1/2",
            "ratio": "56649631503/34359738368",
            "chosen": 1,
        },
        "reports": ["40"],
    }


def test_what_is_no_report_is_refused():
    subset = SubsetSelection(10, epsilon=1)
    assert subset.chosen == 3
    right = np.packbits([[1, 1, 1, 0, 0, 0, 0, 0, 0, 0]], axis=1)
    assert len(subset.read(right)) == 1
    too_many = np.packbits([[1, 1, 1, 1, 0, 0, 0, 0, 0, 0]], axis=1)
    padded = np.packbits([[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]], axis=1)
    for wrong in (too_many, padded, right[:, :1], right.astype(int), b"\x00", [b"abc"], ["ab"]):
        with pytest.raises(ParameterError, match="not one of SubsetSelection"):
            subset.read(wrong)
    with pytest.raises(ParameterError, match="not one of UnaryEncoding"):
        UnaryEncoding(10, epsilon=1).read(padded)
    for wrong in ([4], [-1], [0.5], [[1]], [[1], [1, 2]], ["a"], [2**63]):
        with pytest.raises(ParameterError, match="whole number"):
            KaryResponse(4, epsilon=1).read(wrong)


def test_documents_of_other_oracles_and_formats_are_refused():
    oracle = KaryResponse(4, epsilon=1)
    text = to_json(oracle, [1, 2])
    with pytest.raises(FormatError, match="another oracle"):
        from_json(KaryResponse(4, epsilon=2), text)
    with pytest.raises(FormatError, match="reads 1"):
        from_json(oracle, text.replace('"format": 1', '"format": 2'))
    for broken in ("", "[]", "{}", text.replace('"01"', '"0x"')):
        with pytest.raises(FormatError, match="not a document"):
            from_json(oracle, broken)
    dates = KaryResponse([date(2026, 1, 1), date(2026, 1, 2)], epsilon=1)
    with pytest.raises(ParameterError, match="no form in JSON"):
        to_json(dates, [0])
    with pytest.raises(FormatError, match="bytes"):
        from_bytes(LocalHashing(16, epsilon=1), b"abc")


def test_reports_of_memoised_answers_are_written_and_read():
    daily = Rappor(["sunny", "rainy", "grey"], forever=2, once=0.5)
    memos = daily.memoise(["sunny", "grey"] * 8, bits=SeededBits(1))
    reports = daily.privatize(memos, bits=SeededBits(2))
    assert np.array_equal(from_json(daily, to_json(daily, reports)), reports)
    assert np.array_equal(from_bytes(daily, to_bytes(daily, reports)), reports)
    document = json.loads(to_json(daily, reports))["oracle"]
    assert document["kind"] == "rappor"
    assert document["memo"]["epsilon"] == "2"
    assert document["report"]["epsilon"] == "1/2"
    other, text = Rappor(["sunny", "rainy", "grey"], forever=3, once=0.5), to_json(daily, reports)
    with pytest.raises(FormatError, match="another oracle"):
        from_json(other, text)
    with pytest.raises(ParameterError, match="not one of Rappor"):
        to_json(daily, [b"\x1f"])


@pytest.mark.parametrize("how", ["split", "sample"])
def test_reports_of_a_survey_are_written_and_read_by_question(how):
    survey = Survey({"smokes": ["yes", "no"], "age": (18, 99)}, epsilon=1, how=how)
    given = {"smokes": ["yes", "no"] * 20, "age": [30.0, 50.0] * 20}
    reports = survey.privatize(given, bits=SeededBits(3))
    read = from_json(survey, to_json(survey, reports))
    assert set(read) == set(reports)
    for name, each in reports.items():
        assert np.array_equal(read[name], each)
    assert survey.estimate(read) == survey.estimate(reports)


def test_what_is_no_document_of_a_survey_is_refused_with_the_remedy():
    survey = Survey({"smokes": ["yes", "no"], "age": (18, 99)}, epsilon=1, how="split")
    reports = survey.privatize({"smokes": "yes", "age": 30.0}, bits=SeededBits(4))
    text = to_json(survey, reports)
    for act in (lambda: to_bytes(survey, reports), lambda: from_bytes(survey, b"")):
        with pytest.raises(ParameterError, match="Use to_json, or to_bytes for each"):
            act()
    for wrong in ([b"\x80"], {"height": [1]}):
        with pytest.raises(ParameterError, match="a mapping from its questions"):
            to_json(survey, wrong)
    document = json.loads(text)
    for wrong in ([], "x", {"height": ["80"]}, {"smokes": 5}, {"smokes": ["zz"]}):
        with pytest.raises(FormatError):
            from_json(survey, json.dumps(document | {"reports": wrong}))
    with pytest.raises(FormatError, match="another oracle"):
        from_json(Survey({"smokes": ["yes", "no"]}, epsilon=1), text)


WORDS, NUMBERS = ["tea", "milk", "tea"], [1, 2, 3]
COLUMNS = {
    "pandas": pd.Series,
    "pandas index": pd.Index,
    "pandas categories": lambda cells: pd.Series(cells, dtype="category"),
    "polars": lambda cells: pl.Series("x", cells),
    "arrow": pa.array,
    "arrow chunks": lambda cells: pa.chunked_array([cells[:1], cells[1:]]),
    "numpy": np.array,
    "tuple": tuple,
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_any_library_is_taken_like_a_list(column):
    drinks = SubsetSelection(["tea", "milk"], epsilon=1)
    floors = SubsetSelection(5, epsilon=1)
    found = HeavyHitters(epsilon=1)
    for oracle, cells in ((drinks, WORDS), (floors, NUMBERS), (found, WORDS)):
        expected = oracle.privatize(cells, bits=SeededBits(6))
        given = oracle.privatize(column(cells), bits=SeededBits(6))
        assert np.array_equal(given, expected)
    survey = Survey({"drink": ["tea", "milk"], "cups": (0, 5)}, epsilon=1, how="split")
    both = [{"drink": make(WORDS), "cups": make(NUMBERS)} for make in (list, column)]
    one, other = (survey.privatize(each, bits=SeededBits(7)) for each in both)
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_column_with_another_word_is_refused_without_repeating_it():
    with pytest.raises(ParameterError, match="not one of the 2 categories") as refused:
        SubsetSelection(["tea", "milk"], epsilon=1).privatize(pd.Series(["tea", "secret"]))
    assert "secret" not in str(refused.value)
