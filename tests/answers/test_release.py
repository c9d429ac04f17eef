"""A release is data: stored and read back exactly, shown with its price, refused when damaged."""

import copy
import json
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import letalone as la
from answers.releases import KEYS, OUTPUTS, made
from letalone.answers.columns import CellKind, KeyColumn, Output
from letalone.answers.release import SplitPart
from letalone.exact.canonical import canonical

NAMES = ("ward", "day", "old", "level", "n", "n_low", "n_high", "cost", "cost_low", "cost_high",
         "top")  # fmt: skip


def test_columns_and_rows_are_keys_then_values_with_their_ends() -> None:
    release = made()
    assert release.columns == NAMES
    rows = release.rows()
    assert [tuple(row) for row in rows] == [NAMES] * 3
    assert rows[0]["n"] == 2**55 + 1, "a count is exact"
    assert (rows[1]["ward"], rows[1]["n"], rows[1]["cost_high"]) == (None, -5, 9.0)


def test_the_price_and_the_unit_are_those_that_were_asked_for() -> None:
    release = made()
    assert (release.epsilon, release.delta, release.confidence) == (0.5, 0.0, 0.95)
    assert (release.unit, release.data_set, release.repeated) == ("patient", "visits", False)
    assert release.privacy.group(10).epsilon(0) == 5


def test_what_is_stored_is_canonical_and_is_read_back_exactly() -> None:
    odd = Output(
        "x", "x", "", CellKind.NUMBER, (inf, 5e-324, -0.0), (-inf, 0.1, 0.2), (inf, 1 / 3, 1.0)
    )
    release = made(outputs=(*OUTPUTS, odd))
    stored = release.to_json()
    text = canonical(stored)  # refuses fractions, and whole numbers of 2^53 or more
    again = la.Release.from_json(json.loads(text))
    assert again == release
    assert again.rows() == release.rows()
    assert repr(again.outputs[-1].values) == repr(odd.values), "also the sign of zero"


def damaged() -> list[Any]:
    """Each field removed, renamed, or replaced by something else."""
    whole = made().to_json()
    found: list[Any] = [None, [], {}, "x", {**whole, "more": 1}]
    for name in whole:
        found.append({key: value for key, value in whole.items() if key != name})
        wrong = [7.5, None, [7], {"a": 1}, "no number"]
        found += [{**whole, name: value} for value in wrong if value != whole[name]]
    texts = ("data_set", "question", "digest", "sql")
    found = [one for one in found if not _only_text_changed(one, whole, texts)]
    for place in ("values", "kind", "name", "low"):
        deep = copy.deepcopy(whole)
        deep["outputs"][0][place] = 3  # pyright: ignore
        found.append(deep)
    short = copy.deepcopy(whole)
    short["keys"][0]["values"].pop()  # pyright: ignore
    return [*found, short]


def _only_text_changed(one: Any, whole: Any, texts: tuple[str, ...]) -> bool:
    """Another text is another release, and signatures are for telling that; {} is a plan here."""
    if not isinstance(one, dict) or set(one) != set(whole):
        return False
    changed = [name for name in whole if one[name] != whole[name]]
    return changed == ["plan"] or (changed[0] in texts and isinstance(one[changed[0]], str))


@pytest.mark.parametrize("stored", damaged())
def test_a_damaged_release_is_refused_as_such(stored: Any) -> None:
    with pytest.raises(la.FormatError):
        la.Release.from_json(stored)


def test_a_newer_release_is_refused_with_both_versions() -> None:
    with pytest.raises(
        la.FormatError, match="has format 2, and this letalone reads up to format 1"
    ):
        la.Release.from_json({**made().to_json(), "format": 2})


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(la.ParameterError, match="as many cells"):
        made(keys=(KeyColumn("ward", CellKind.TEXT, ("A",)),))


def test_frames_have_the_same_cells_with_exact_types() -> None:
    release = made()
    rows = release.rows()
    arrow: pa.Table = release.to_arrow()
    assert arrow.to_pylist() == rows
    assert arrow.schema.field("n").type == pa.int64()
    polars: pl.DataFrame = release.to_polars()
    assert polars.to_dicts() == rows
    pandas = release.to_pandas()
    assert list(pandas.columns) == list(NAMES)
    assert pandas["n"].tolist() == [2**55 + 1, -5, 12]
    assert str(pandas["n"].dtype) == "int64"
    assert str(pandas["level"].dtype) == "Int64"
    assert pandas["level"].iloc[0] == 2**60 + 1
    assert pandas["cost"].tolist() == [12.34, 0.1, 3.0]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from letalone.answers import columns

    monkeypatch.setattr(columns, "find_spec", lambda _: None)
    for method, package in (("to_pandas", "pandas"), ("to_polars", "polars")):
        with pytest.raises(la.ParameterError, match=f"needs {package}, which is not installed"):
            getattr(made(), method)()


def test_it_explains_the_question_the_split_the_bounds_the_sql_and_the_promise() -> None:
    words = " ".join(made().explain(sql=True).split())
    for part in (
        "count and mean of cost",
        "at most 10 rows",
        "ε = 0.5, add or remove one patient",
        "100 % of ε, geometric noise",
        "SELECT 1",
        "a test that gives false alarms 5 % of the time detects the patient at most 8.3 %",
        "Where the data of 10 go together",
    ):
        assert part in words, part


def test_the_sql_is_shown_on_request_and_the_rest_is_short() -> None:
    parts = tuple(SplitPart(f"a{n}", Fraction(1, 9), "noise", "one charge") for n in range(9))
    words = made(split=parts, sql="SELECT\n" * 90).explain()
    assert "SELECT" not in words
    assert "explain(…, sql=True)" in words
    assert "a5: 11.1 %" in words
    assert "- and 3 more: .asked.split has all" in words
    assert words.count("one charge") == 1
    assert len(words.splitlines()) <= 25


def test_keys_are_as_long_as_outputs() -> None:
    assert len(KEYS[0].values) == len(OUTPUTS[0].values)


def test_a_release_of_format_1_is_still_read() -> None:
    """Stored by an earlier letalone; the file is never written anew."""
    path = Path(__file__).parent / "samples" / "release_format_1.json"
    release = la.Release.from_json(json.loads(path.read_text("utf-8")))
    assert [row["ward"] for row in release.rows()] == ["A", "B", "C"]
    assert release.epsilon == 0.5
    assert release.columns == ("ward", "n", "n_low", "n_high", "cost", "cost_low", "cost_high")
