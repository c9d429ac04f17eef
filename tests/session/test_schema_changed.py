"""A question that is charged again since the schema says something else is told so."""

from pathlib import Path

import pandas as pd
import pytest

import letalone as la
from letalone.errors import DataSetFrozen
from letalone.ledger.ledger import Ledger
from letalone.session.pricing import SCHEMA_CHANGED, Answering

SCHEMA = """format = 1
name = "visits"
unit = "person"

[columns.person]
type = "integer"

[columns.ward]
type = "text"
"""


def count(folder: Path, schema: str, *, epsilon: float = 1, max_rows: int | None = 1) -> la.Release:
    (folder / "visits.letalone.toml").write_text(schema)
    place = {"schema": folder / "visits.letalone.toml", "ledger": folder / "b.db", "budget": 9}
    with la.open(folder / "visits.parquet", **place) as session:  # type: ignore[arg-type]
        return session.bound(max_rows=max_rows).agg(n=la.count()).release(epsilon=epsilon)


def test_an_edit_of_another_column_is_named_where_the_same_is_charged_again(
    tmp_path: Path,
) -> None:
    """Not where it is a repeat, another question, another price, or another version."""
    frame = pd.DataFrame({"person": range(50), "ward": ["A", "B"] * 25})
    frame.to_parquet(tmp_path / "visits.parquet")
    edited = f'{SCHEMA}keys = ["A", "B"]\n'
    releases = [
        count(tmp_path, SCHEMA),
        count(tmp_path, SCHEMA),
        count(tmp_path, edited),
        count(tmp_path, edited),
        count(tmp_path, edited, epsilon=0.5),
        count(tmp_path, edited, max_rows=2),
        count(tmp_path, edited.replace("name =", "version = 2\nname =")),
    ]
    assert [release.repeated for release in releases] == [0, 1, 0, 1, 0, 0, 0]
    told = [SCHEMA_CHANGED in " ".join(str(release).split()) for release in releases]
    assert told == [False, False, True, False, False, False, False]


def test_it_is_named_where_the_row_limit_was_found_with_a_part_of_the_same_price(
    tmp_path: Path,
) -> None:
    frame = pd.DataFrame({"person": range(50), "ward": ["A", "B"] * 25})
    frame.to_parquet(tmp_path / "visits.parquet")
    first = count(tmp_path, SCHEMA, max_rows=None)
    second = count(tmp_path, f'{SCHEMA}keys = ["A", "B"]\n', max_rows=None)
    assert (first.epsilon, second.epsilon) == (0.9, 1)
    assert SCHEMA_CHANGED in " ".join(str(second).split())


def test_a_charge_that_failed_answered_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({"person": range(50), "ward": ["A", "B"] * 25})
    frame.to_parquet(tmp_path / "visits.parquet")
    with monkeypatch.context() as patch:
        patch.setattr(Answering, "make", lambda _: 1 / 0)
        with pytest.raises(DataSetFrozen):
            count(tmp_path, SCHEMA)
    Ledger.open(tmp_path / "b.db").thaw("visits", "looked at")
    again = count(tmp_path, f'{SCHEMA}keys = ["A", "B"]\n')
    assert SCHEMA_CHANGED not in " ".join(str(again).split())
