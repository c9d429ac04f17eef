"""Questions about units: from the words to the answer, through a session."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import letalone as la
from session.makers import of_units, opened

SURE = 10.0**5  # an epsilon at which noise is below one


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "patient_id": ["a", "a", "a", "b", "b", None, "c"],
            "ward": ["A", "B", "A", "B", "B", "A", "C"],
            "cost": [10.0, 20.0, 9999.0, 5.0, np.nan, 7.0, np.nan],
            "age": [30, 31, 31, 50, 49, 1, 17],
        }
    )


def test_the_answer_is_about_units() -> None:
    with opened(frame(), seed=3) as visits:
        patients = visits.where(la.col("age") >= 18).per_unit(
            total=la.per_unit.sum("cost", lower=0, upper=100),
            n=la.per_unit.count(),
            last=la.per_unit.last("ward", by="age"),
        )
        asked = patients.group_by("last", keys=["A", "B", "C"]).agg(
            people=la.count(), total=la.sum("total", upper=500), rows=la.sum("n", upper=10)
        )
        found = asked.release(SURE).to_pandas()
        everybody = patients.where(la.col("n") > 2).agg(n=la.count_distinct()).release(SURE)
    assert found["people"].tolist() == [1, 1, 0]
    assert found["total"].round().tolist() == [130, 5, 0]
    assert found["rows"].round().tolist() == [3, 2, 0]
    assert everybody.to_pandas()["n"].tolist() == [1]


def test_a_giant_is_hidden_by_the_noise_of_one_row() -> None:
    """At ε = 1 a unit of 100,000 rows would show in a count of rows; here it is one row."""
    giant = pd.DataFrame({"patient_id": [0] * 100_000 + [1], "cost": [1.0] * 100_001})
    with opened(giant, seed=5) as visits:
        units = visits.per_unit(total=la.per_unit.sum("cost", lower=0, upper=1))
        preview = units.agg(n=la.count(), t=la.sum("total", upper=10)).preview(1)
        plain = units.agg(n=la.count()).release(1)
    assert preview.errors["n"] < 20
    assert abs(plain.to_pandas()["n"][0]) < 50
    assert any("combined into one" in note for note in plain.notes)
    assert not any("bounded" in note or "at random" in note for note in plain.notes)


@pytest.mark.parametrize("unit", ["patient_id", "age"])
def test_any_column_can_be_the_unit(unit: str) -> None:
    with opened(frame(), unit=unit, seed=1) as visits:
        found = visits.per_unit(n=la.per_unit.count()).agg(n=la.count()).release(SURE)
    assert found.to_pandas()["n"].tolist() == [{"patient_id": 3, "age": 6}[unit]]


def test_steps_in_the_wrong_order_are_refused_with_the_remedy() -> None:
    with opened(frame()) as visits:
        units = visits.per_unit(n=la.per_unit.count())
        with pytest.raises(la.ParameterError, match="per_unit was called twice"):
            units.per_unit(m=la.per_unit.count())
        for begun in (
            visits.group_by("ward"),
            visits.agg(n=la.count()),
            visits.bound(max_rows=2),
            visits.bound(max_groups=2),
            visits.bound(clip=True),
        ):
            with pytest.raises(la.ParameterError, match="per_unit comes before group_by"):
                begun.per_unit(n=la.per_unit.count())
        with pytest.raises(la.ParameterError, match="A feature has no name"):
            visits.per_unit(la.per_unit.count())
        with pytest.raises(la.ParameterError, match="nothing to bound"):
            units.agg(n=la.count()).bound(max_rows=5).release(1)
    with (
        opened(frame(), unit=la.ROW) as rows,
        pytest.raises(la.ParameterError, match="The unit is the row"),
    ):
        rows.per_unit(n=la.per_unit.count())


def test_public_tables_are_joined_to_rows_or_to_units() -> None:
    floors = pd.DataFrame({"ward": ["A", "B", "C"], "floor": [1, 2, 3]})
    with opened(frame(), seed=2) as visits:
        rows = visits.join(floors, on="ward").per_unit(top=la.per_unit.max("floor"))
        of_rows = rows.group_by("top", keys=[1, 2, 3]).agg(n=la.count()).release(SURE)
        last = visits.per_unit(last=la.per_unit.last("ward", by="age"))
        units = last.join(floors, on={"last": "ward"}).group_by("floor", keys=[1, 2, 3])
        of_units = units.agg(n=la.count()).release(SURE)
        with pytest.raises(la.ParameterError, match="Column 'ward' is not in table"):
            last.join(floors, on="ward")
    assert of_rows.to_pandas()["n"].tolist() == [0, 2, 1]
    assert of_units.to_pandas()["n"].tolist() == [1, 1, 1]


def test_the_same_question_is_free_and_verifies(tmp_path: Path) -> None:
    with opened(frame(), ledger=tmp_path / "book.db") as visits:
        first = of_units(visits).release(1)
        spent = visits.spent
        again = of_units(visits).release(1)
        assert visits.spent == spent
        first.save(tmp_path / "answer.json")
        assert visits.ledger.verify()
    assert again.standing.repeated
    assert again.to_pandas().equals(first.to_pandas())
    assert "each patient_id is one row" in first.asked.question


def test_columns_that_are_read_from_text_are_named(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "v.csv", index=False)
    with la.open(
        tmp_path / "v.csv", unit="patient_id", budget=9, types={"cost": "number"}
    ) as visits:
        units = visits.per_unit(t=la.per_unit.sum("cost", lower=0, upper=9))
        preview = units.agg(n=la.count()).preview(1)
    assert any(note.startswith("cost is read from text") for note in preview.notes)


def test_units_can_be_asked_in_sql_and_the_plan_is_the_same() -> None:
    with opened(frame(), seed=3) as visits:
        units = visits.where(la.col("age") >= 18).per_unit(
            total=la.per_unit.sum("cost", lower=0, upper=100),
            last=la.per_unit.last("ward", by="age"),
        )
        keys = {"last": ["A", "B", "C"]}
        words = (
            f"SELECT last, COUNT(*) AS people, SUM(total) AS total FROM {visits.name}"
            " WHERE total > 1 GROUP BY last"
        )
        asked = units.sql(words, keys=keys, bounds={"total": (0, 500)})
        same = units.where(la.col("total") > 1).group_by("last", keys=keys)
        same = same.agg(people=la.count(), total=la.sum("total", lower=0, upper=500))
        assert asked.plan == same.plan
        found = asked.release(SURE).to_pandas()
    assert found["people"].tolist() == [1, 1, 0]
    assert found["total"].round().tolist() == [130, 5, 0]


def test_sql_after_other_steps_is_refused_with_the_way_that_works() -> None:
    with opened(frame()) as visits:
        units = visits.per_unit(n=la.per_unit.count())
        sql = f"SELECT COUNT(*) FROM {visits.name}"
        for question in (visits.where(la.col("age") > 1), units.where(la.col("n") > 1)):
            with pytest.raises(la.ParameterError, match=r"right after \.per_unit.*session\.sql"):
                question.sql(sql)
        assert "count" in repr(units.sql(sql))
