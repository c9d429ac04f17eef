"""Opening a table: whose privacy, which budget, by which name; from metadata alone."""

from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import letalone as la
from letalone.session.locating import OpeningCall
from session.makers import HUGE, opened, visits, write_parquet

SCHEMA = """\
format = 1
name = "clinic"
unit = "patient_id"
[columns.patient_id]
type = "integer"
[columns.ward]
type = "text"
keys = ["A", "B", "C"]
[columns.cost]
type = "number"
lower = 0
upper = 1000
"""


def test_without_a_unit_the_error_names_the_columns_and_shows_the_call(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "visits.parquet")
    with pytest.raises(la.ParameterError) as caught:
        la.open(path, budget=la.Budget(epsilon=2, delta=1e-6))
    words = str(caught.value)
    for column in ("patient_id (integer)", "ward (text)", "cost (number)", "age (integer)"):
        assert column in words
    call = words.split("For example: ")[1]
    assert "unit='patient_id'" in call
    assert "budget=la.Budget(epsilon=2, delta=1e-6)" in call
    with eval(call) as session:  # the corrected call works as it stands
        assert session.unit == "patient_id"


def test_without_a_budget_the_error_shows_how_to_give_one(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "visits.parquet")
    with pytest.raises(la.ParameterError, match="budget is missing") as caught:
        la.open(path, unit=la.ROW)
    with eval(str(caught.value).split("for example: ")[1]) as session:
        assert (session.unit, session.budget) == ("row", la.Budget(epsilon=1))


def test_a_ledger_that_knows_the_data_set_needs_no_budget(tmp_path: Path) -> None:
    path, book = write_parquet(tmp_path / "visits.parquet"), tmp_path / "budget.db"
    with la.open(path, unit=la.ROW, budget=la.Budget(1), ledger=book) as first:
        first.agg(n=la.count()).release(0.25)
    with la.open(path, unit=la.ROW, ledger=book) as again:
        assert again.spent == la.Budget(0.25)
        assert again.remaining == la.Budget(0.75)
    with pytest.raises(la.NeighboursDiffer):
        la.open(path, unit="patient_id", ledger=book)


def test_a_ledger_beside_the_file_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "visits.parquet"
    visits().to_parquet(path)
    kept = tmp_path / "visits.letalone.db"
    with la.open(path, unit="patient_id", budget=la.Budget(3), ledger=kept) as first:
        first.agg(n=la.count()).release(epsilon=1)
    with la.open(path) as again:
        assert (again.unit, again.remaining.epsilon) == ("patient_id", 2)
        assert kept.name in repr(again)


def test_a_refused_call_makes_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(la.ParameterError, match="unit is missing"):
        la.open(visits(), budget=1, ledger=tmp_path / "new.db")
    assert not list(tmp_path.iterdir())


def test_every_printout_says_that_a_budget_in_memory_ends_with_the_process(tmp_path: Path) -> None:
    session = opened()
    query = session.agg(n=la.count())
    shown = [repr(session), str(query.preview(1)), query.explain(1), str(query.release(1))]
    shown += [query.release(1)._repr_html_(), session._repr_html_()]
    for text in shown:
        assert "in memory only" in " ".join(text.split())
    kept = opened(ledger=tmp_path / "budget.db")
    assert "in memory only" not in repr(kept) + str(kept.agg(n=la.count()).release(1))


def test_a_session_is_shown_in_fewer_than_twelve_lines_of_plain_words() -> None:
    wide = visits().assign(**{f"column_number_{place}": 1 for place in range(60)})
    lines = repr(opened(wide)).splitlines()
    assert len(lines) < 12
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "arrow", "parquet", "duckdb"])
def test_the_same_table_opens_from_every_source(kind: str, tmp_path: Path) -> None:
    frame = visits()
    source: Any = {"pandas": lambda: frame, "polars": lambda: pl.from_pandas(frame)}.get(kind)
    options: dict[str, Any] = {}
    if source is not None:
        source = source()
    elif kind == "lazy":
        source = pl.from_pandas(frame).lazy()
    elif kind == "arrow":
        source = pa.Table.from_pandas(frame)
    elif kind == "parquet":
        source = write_parquet(tmp_path / "visits.parquet", frame)
    else:
        source, options = str(tmp_path / "clinic.duckdb"), {"table": "visits"}
        with duckdb.connect(source) as connection:
            connection.register("frame", frame)
            connection.execute("CREATE TABLE visits AS SELECT * FROM frame")
    with opened(source, **options) as session:
        assert session.columns == {
            "patient_id": "integer",
            "ward": "text",
            "cost": "number",
            "age": "number" if kind == "pandas" else "integer",  # int64 or float64 in pandas
        }
        (row,) = session.agg(n=la.count()).release(1000).rows()
    assert abs(row["n"] - len(frame)) <= 1  # noise of scale 1/100 strays once in e^100


def test_a_csv_file_is_text_until_types_are_declared(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("patient_id,cost\n1,10\n2,oops\n3,30\n")
    assert set(opened(path).columns.values()) == {"text"}
    with opened(path, types={"cost": "number"}) as session:
        mean = session.agg(cost=la.mean("cost", lower=0, upper=100)).bound(max_rows=1)
        assert mean.release(10**5).rows()[0]["cost"] == pytest.approx(20, abs=0.1)
    with pytest.raises(la.ParameterError, match="must be one of: boolean, integer"):
        opened(path, types={"cost": "float"})
    with pytest.raises(la.ParameterError, match="Column 'price' is not in table"):
        opened(path, types={"price": "number"})


def test_the_schema_beside_a_file_is_read(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "visits.parquet")
    (tmp_path / "visits.letalone.toml").write_text(SCHEMA)
    with la.open(path, budget=HUGE) as session:
        assert (session.name, session.unit) == ("clinic", "patient_id")
        assert "age" not in session.columns
        rows = session.group_by("ward").agg(cost=la.mean("cost")).release(1).rows()
        assert [row["ward"] for row in rows] == ["A", "B", "C"]
        assert "ward (text, 3 keys)" in " ".join(repr(session).split())
    with pytest.raises(la.ParameterError, match="the schema says that the unit is 'patient_id'"):
        la.open(path, unit=la.ROW, budget=HUGE)
    with pytest.raises(la.ParameterError, match=r"Both a schema \(visits\.letalone\.toml\)"):
        la.open(path, budget=HUGE, types={"cost": "number"})


def test_a_schema_is_given_as_an_object_or_as_a_path(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "visits.parquet")
    schema = tmp_path / "elsewhere.toml"
    schema.write_text(SCHEMA.replace('unit = "patient_id"\n', ""))
    with pytest.raises(la.ParameterError, match="unit is missing"):
        la.open(path, schema=schema, budget=HUGE)
    made = la.Schema("made", (la.Column("patient_id", "integer"), la.Column("ward", "text")))
    with la.open(path, schema=made, unit="patient_id", budget=HUGE, name="mine") as session:
        assert (session.name, session.schema.name) == ("mine", "mine")
    with pytest.raises(la.ParameterError, match="schema is 3"):
        la.open(path, schema=3, budget=HUGE)


def test_a_schema_files_words_are_understood_by_open() -> None:
    session = opened(neighbours="replace", budget=3)
    assert (session.neighbours.relation.value, session.budget) == ("replace", la.Budget(3))


def test_the_name_is_the_file_s_and_that_of_a_pattern_does_not_change(tmp_path: Path) -> None:
    """A new first file must not begin a new budget."""
    write_parquet(tmp_path / "visits_2024.parquet")
    pattern = str(tmp_path / "visits_*.parquet")
    assert opened(pattern).name == "visits"
    write_parquet(tmp_path / "visits_2023.parquet")
    assert opened(pattern).name == "visits"
    assert opened(tmp_path / "visits_2024.parquet").name == "visits_2024"
    assert opened(str(tmp_path / "*.parquet")).name == tmp_path.name.strip("_")
    assert opened(visits()).name == "data"


def test_a_budget_belongs_to_the_name_whatever_is_opened_under_it(tmp_path: Path) -> None:
    book = la.Ledger.open(tmp_path / "budget.db")
    one = opened(visits(), budget=la.Budget(1), ledger=book, name="clinic")
    one.agg(n=la.count()).release(0.75)
    other = opened(visits(50, seed=2), budget=la.Budget(1), ledger=book, name="clinic")
    assert other.spent == la.Budget(0.75)
    with pytest.raises(la.BudgetExceeded):
        other.agg(n=la.count()).release(0.5)
    one.close()
    assert other.remaining == la.Budget(0.25)  # a ledger that was given stays open


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": "patient"}, "Column 'patient' is not in table 'data'.*Did you mean 'patient_id'"),
        ({"unit": "row"}, "give unit=la.ROW"),
        ({"unit": 7}, "unit is 7, but must be the name of a column, or la.ROW"),
        ({"ledger": 7}, "ledger is 7, but must be the path of a file"),
        ({"budget": "7"}, "budget is '7', but must be a la.Budget"),
        ({"neighbours": "swap"}, "neighbours is 'swap', but must be la.ADD_REMOVE"),
        ({"types": 7}, "types is 7, but must be a mapping"),
        ({"name": " x"}, "name is ' x', but must be a text"),
    ],
)
def test_a_wrong_argument_is_refused_with_what_is_allowed(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(la.ParameterError, match=words):
        opened(**options)


def test_what_cannot_be_opened_is_refused_without_the_engine_s_words(tmp_path: Path) -> None:
    with pytest.raises(la.ParameterError, match="There is no file"):
        opened(tmp_path / "none.parquet")
    broken = tmp_path / "broken.duckdb"
    broken.write_bytes(b"SECRETCELL" * 1000)
    with pytest.raises(la.ParameterError, match=r"broken.duckdb cannot be") as caught:
        opened(broken)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None
    with pytest.raises(la.ParameterError, match="must be the path of a file or a pandas"):
        opened([1, 2, 3])


def test_a_closed_session_charges_nothing_and_says_so() -> None:
    with opened() as session:
        query = session.agg(n=la.count())
    for ask in (lambda: query.release(1), lambda: query.preview(1)):
        with pytest.raises(la.ParameterError, match="is closed"):
            ask()
    assert "closed" in repr(session)
    session.close()


def test_replace_is_protected_where_it_is_asked_for() -> None:
    session = opened(neighbours=la.REPLACE)
    assert str(session.neighbours) == "replace one patient_id"
    release = session.agg(n=la.count()).release(1)
    assert release.privacy.neighbours == la.REPLACE.of("patient_id")
    assert "are the true ones or any others" in release.promise()


HOSTILE = ['a"b', "x'; DROP TABLE t; --", "ключ 鍵", "#sum0", "with space", "<b>", "n_low"]


def test_hostile_names_work_or_are_refused_in_words() -> None:
    frame = visits().rename(columns={"ward": HOSTILE[0], "cost": HOSTILE[1], "age": HOSTILE[2]})
    session = opened(frame.assign(**dict.fromkeys(HOSTILE[3:], 1)))
    query = session.group_by(HOSTILE[0], keys=["A", "<script>"]).agg(
        **{HOSTILE[4]: la.mean(HOSTILE[1], lower=0, upper=1), "<i>": la.count()}
    )
    release = query.release(1)
    assert [row[HOSTILE[0]] for row in release.rows()] == ["A", "<script>"]
    assert "<script>" not in release._repr_html_()
    assert "<i>" not in release._repr_html_()
    with pytest.raises(la.ParameterError, match="include 'n_low' and 'n_low'"):
        session.group_by("n_low", keys=[1]).agg(n=la.count()).release(1)


def test_a_call_is_kept_with_all_that_it_was_given() -> None:
    """`la.open` hands its parameters over by their names."""
    taken = list(signature(la.open).parameters)
    assert [field.name for field in fields(OpeningCall)] == [*taken, "registered"]
