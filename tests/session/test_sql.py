"""SQL in a session: the same question as in Python; what is arranged is free; nothing else is."""

from datetime import date
from pathlib import Path

import pandas as pd
import pytest

import letalone as la
from session.makers import WARDS, by_ward, opened, visits

COSTS = {"cost": (0, 1000)}
GROUPED = "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM data GROUP BY ward"


def test_sql_asks_the_question_of_python() -> None:
    session = opened()
    found = session.sql(GROUPED, keys=WARDS, bounds=COSTS)
    assert found.plan.digest() == by_ward(session).plan.digest()


def test_with_an_epsilon_the_answer_comes_at_once() -> None:
    session = opened()
    found = session.sql("SELECT COUNT(*) AS n FROM data", epsilon=0.5, max_rows=10)
    assert found.columns == ("n", "n_low", "n_high")
    assert found.epsilon == 0.5
    assert session.spent.epsilon > 0


def test_another_order_of_the_same_question_is_free_and_its_receipt_is_whole(
    tmp_path: Path,
) -> None:
    session = opened(seed=1)
    first = session.sql(GROUPED, keys=WARDS, bounds=COSTS, epsilon=1)
    spent = session.spent
    last = session.sql(
        f"{GROUPED} HAVING n > 0 ORDER BY n DESC LIMIT 2", keys=WARDS, bounds=COSTS, epsilon=1
    )
    assert session.spent == spent
    assert last.repeated
    counts = sorted((row["n"] for row in first.rows()), reverse=True)
    assert [row["n"] for row in last.rows()] == counts[:2]
    whole = la.Release.load(last.save(tmp_path / "x.json"))
    assert whole.rows() == first.rows()


def test_bounds_of_a_column_that_is_not_asked_about_change_nothing() -> None:
    session = opened()
    count, more = "SELECT COUNT(*) FROM data", {**COSTS, "age": (0, 120)}
    assert session.sql(count, bounds=more).plan.digest() == session.sql(count).plan.digest()
    alone = session.sql(GROUPED, keys=WARDS, bounds=COSTS)
    assert session.sql(GROUPED, keys=WARDS, bounds=more).plan.digest() == alone.plan.digest()


def test_a_batch_is_arranged_one_by_one() -> None:
    session = opened()
    asked = session.sql(f"{GROUPED} LIMIT 1", keys=WARDS, bounds=COSTS)
    one, two = session.batch([asked, by_ward(session)], epsilon=1)
    assert (len(one.rows()), len(two.rows())) == (1, 3)


def test_explain_explains_and_does_not_ask() -> None:
    session = opened()
    found = session.sql("EXPLAIN SELECT COUNT(*) FROM data")
    assert "Question about data: count" in repr(found)
    assert found.preview(1).errors["count"] > 0
    with pytest.raises(la.ParameterError, match="begins with EXPLAIN"):
        found.release(1)
    with pytest.raises(la.ParameterError, match="begins with EXPLAIN"):
        session.sql("EXPLAIN SELECT COUNT(*) FROM data", epsilon=1)
    assert session.spent.epsilon == 0


def test_public_tables_are_frames_or_files(tmp_path: Path) -> None:
    regions = pd.DataFrame({"ward": WARDS, "region": ["N", "S", "N"], "beds": [1, 2, 3]})
    regions.to_csv(tmp_path / "r.csv", index=False)
    regions.to_parquet(tmp_path / "r.parquet")
    session = opened()
    sql = "SELECT region, SUM(CLAMP(beds, 0, 5)) AS b FROM data JOIN r USING (ward) GROUP BY region"
    for given in (regions, tmp_path / "r.csv", str(tmp_path / "r.parquet")):
        found = session.sql(sql, tables={"r": given}, keys=["N", "S"]).bound(max_rows=50)
        rows = found.release(10**5).rows()
        truth = visits().merge(regions, on="ward").groupby("region")["beds"].sum()
        assert [round(row["b"]) for row in rows] == truth.tolist()
    with pytest.raises(la.ParameterError, match="two rows with the same ward"):
        session.sql(sql, tables={"r": pd.concat([regions, regions])}, keys=["N", "S"])
    for bad in (3, tmp_path / "none.csv", tmp_path / "r.txt"):
        with pytest.raises(la.ParameterError, match="public table"):
            session.sql(sql, tables={"r": bad})


def test_bounding_is_given_beside_the_sql() -> None:
    plan = opened().sql(GROUPED, keys=WARDS, bounds=COSTS, max_rows=3, max_groups=2).plan
    assert (plan.bounding.max_rows, plan.bounding.max_groups) == (3, 2)


@pytest.mark.parametrize(
    ("sql", "options", "words"),
    [
        ("SELECT * FROM data", {}, "returns single rows"),
        ("SELECT SUM(cost) FROM data", {}, "no declared lower and upper bound"),
        ("SELECT COUNT(*) FROM data", {"keys": ["A"]}, "no GROUP BY"),
        ("SELECT COUNT(*) FROM data", {"bounds": {"price": (0, 1)}}, "no SUM, AVG"),
        ("SELECT COUNT(*) FROM data GROUP BY patient_id", {}, "none would ever be found"),
        ("SELECT COUNT(*) FROM data", {"tables": [1]}, "tables by name"),
        ("SELECT COUNT(*) FROM data", {"dialect": "x"}, "must be one of"),
        ("SELECT ward, COUNT(*) FROM data GROUP BY ward", {}, "needs a delta"),
    ],
)
def test_a_refusal_costs_nothing_and_is_the_same_on_an_empty_table(
    sql: str, options: dict, words: str
) -> None:
    said = []
    for frame in (visits(), visits().iloc[:0]):
        session = opened(frame)
        with pytest.raises(la.LetaloneError, match=words) as found:
            session.sql(sql, **options).release(1)
        assert session.spent.epsilon == 0
        said.append(str(found.value))
    assert said[0] == said[1]


def test_formulas_and_new_aggregates_come_out_right_at_a_large_epsilon() -> None:
    frame = visits()
    session = opened(frame, unit=la.ROW)
    sql = (
        "SELECT SUM(cost) / COUNT(*) AS r, COUNT(cost) AS c, COUNT_IF(age >= 50) AS old,"
        " ROUND(AVG(cost), 1) AS m, VAR_SAMP(cost) AS v, CORR(age, cost) AS k,"
        " COUNT(DISTINCT ward) AS w, COUNT(*) FILTER (WHERE ward = 'A') AS a FROM data"
    )
    (row,) = session.sql(sql, bounds={"cost": (0, 10**4), "age": (0, 100)}).release(10**6).rows()
    truth = {
        "r": frame["cost"].sum() / len(frame), "c": frame["cost"].count(),
        "old": (frame["age"] >= 50).sum(), "m": round(frame["cost"].mean(), 1),
        "v": frame["cost"].var(), "k": frame["age"].corr(frame["cost"]), "w": 3,
        "a": (frame["ward"] == "A").sum(),
    }  # fmt: skip
    for name, true in truth.items():
        assert row[name] == pytest.approx(true, rel=1e-3, abs=1e-3), name


def test_an_open_end_is_none_and_shown_as_open() -> None:
    session = opened(visits().iloc[:3], unit=la.ROW, seed=3)
    found = session.agg(r=la.count() / (la.count() - la.count())).release(0.1)
    (row,) = found.rows()
    assert (row["r_low"], row["r_high"]) == (None, None)
    assert la.Release.from_json(found.to_json()).rows() == [row]
    assert "missing" in str(found) or "unknown" in str(found)


@pytest.mark.parametrize(
    ("asked", "having", "whole"),
    [
        ("ward, COUNT(*) AS n", "n > 1e9", "ward, COUNT(*) AS n"),
        ("ward, SUM(cost)", "COUNT(*) > 1e9", "ward, SUM(cost), COUNT(*)"),
        ("ward, SUM(cost) AS count", "COUNT(*) > 1e9", "ward, SUM(cost) AS count, COUNT(*)"),
    ],
)
def test_where_having_keeps_nothing_the_whole_answer_is_free(
    asked: str, having: str, whole: str
) -> None:
    session = opened()
    options = {"keys": WARDS, "epsilon": 1, "bounds": COSTS}
    found = session.sql(f"SELECT {asked} FROM data GROUP BY ward HAVING {having}", **options)
    assert found.rows() == []
    words = " ".join(str(found).split())
    assert "No row passes HAVING. The same question without it" in words
    again = session.sql(f"SELECT {whole} FROM data GROUP BY ward", **options)
    assert again.repeated
    assert len(again.rows()) == 3
    assert "No row passes" not in str(again)


def test_a_public_table_about_the_units_is_said_to_be_unprotected() -> None:
    people = pd.DataFrame({"patient_id": range(100), "vip": [True] * 100})
    wards = pd.DataFrame({"ward": WARDS, "floor": [1, 2, 3]})
    session, note = opened(), "people is taken as public: nothing in it is protected"
    sql = "SELECT COUNT(*) FROM data JOIN people USING (patient_id) WHERE vip"
    asked = session.sql(sql, tables={"people": people})
    assert note in asked.preview(1).notes
    sql = "SELECT COUNT(*) FROM data JOIN wards USING (ward) WHERE floor = 1"
    asked = session.sql(sql, tables={"wards": wards})
    assert not any("public" in one for one in asked.preview(1).notes)


def test_another_private_table_is_said_to_be_joined_in_python() -> None:
    with pytest.raises(
        la.ParameterError, match=r"anyone may see.*data\.sql\(…, tables=\{'people': its session\}\)"
    ):
        opened().sql("SELECT COUNT(*) FROM data JOIN people USING (patient_id)")


def test_months_are_answered_as_dates_listed_or_found() -> None:
    """Noise of scale 10 / 100 passes 5 once in e^50 runs."""
    days = pd.to_datetime(["2024-01-31"] * 40 + ["2024-02-01"] * 30 + ["2024-02-29"] * 30)
    frame = pd.DataFrame({"patient_id": range(100), "at": days})
    session = opened(frame, seed=1)
    sql = "SELECT DATE_TRUNC('month', at) AS month, COUNT(*) AS n FROM data GROUP BY month"
    listed = session.sql(sql, keys=["2024-02-01", "2024-03-01"], epsilon=100)
    assert [row["month"] for row in listed.rows()] == [date(2024, 2, 1), date(2024, 3, 1)]
    assert [round(row["n"] / 10) for row in listed.rows()] == [6, 0]
    found = session.sql(f"{sql} ORDER BY month DESC", epsilon=100, delta=0.01)
    assert [row["month"] for row in found.rows()] == [date(2024, 2, 1), date(2024, 1, 1)]
    with pytest.raises(la.ParameterError, match="begins no month"):
        session.sql(sql, keys=["2024-02-02"]).plan  # noqa: B018
