"""Questions about columns together, from the session to the answer and back from storage."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import letalone as la
from session.makers import HUGE, opened

BOUNDS: dict[str, Any] = {"age": (0, 100), "cost": (0, 1000), "stay": (0, 30)}
PAIR: dict[str, Any] = {"age": (0, 100), "cost": (0, 1000)}
ASKED = {
    "wards": la.count_distinct("ward"),
    "c": la.covariance("age", "cost", bounds=PAIR, sample=True),
    "r": la.correlation("age", "cost", bounds=PAIR),
    "s": la.regression_slope("cost", "age", bounds=PAIR),
    "line": la.linear_regression("cost", ["age"], bounds=PAIR),
    "fit": la.linear_regression("cost", ["age", "stay"], bounds=BOUNDS),
    "v": la.variance("age", lower=0, upper=100, sample=True),
}
COLUMNS = ["line_intercept", "line_age", "fit_intercept", "fit_age", "fit_stay"]


def frame(rows: int = 3000) -> pd.DataFrame:
    random = np.random.default_rng(3)
    age, stay = random.integers(0, 100, rows), random.gamma(2.0, 2.0, rows)
    cost = 100 + 5.0 * age + 10 * stay + 50 * random.normal(size=rows)
    cost[::40] = np.nan
    people, wards = np.arange(rows) // 2, random.choice(["A", "B", "C", None], rows)
    return pd.DataFrame(
        {"patient_id": people, "ward": wards, "age": age, "stay": stay, "cost": cost}
    )


def question(session: la.Session) -> la.Query:
    return session.agg(**ASKED).bound(max_rows=2)


def test_with_little_noise_the_answers_are_those_of_pandas() -> None:
    data = frame()
    with opened(data, seed=1) as session:
        answer = question(session).release(epsilon=10**4)
    (found,) = answer.rows()
    both = data.dropna(subset=["cost"])
    cost = both["cost"].clip(0, 1000)
    assert found["wards"] == 3
    assert found["c"] == pytest.approx(both["age"].cov(cost), rel=1e-2)
    assert found["r"] == pytest.approx(both["age"].corr(cost), rel=1e-2)
    slope, start = np.polyfit(both["age"], cost, 1)
    assert found["s"] == pytest.approx(slope, rel=1e-2)
    assert (found["line_intercept"], found["line_age"]) == pytest.approx((start, slope), rel=1e-2)
    columns = np.column_stack([np.ones(len(both)), both["age"], both["stay"].clip(0, 30)])
    fit = np.linalg.lstsq(columns, cost, rcond=None)[0]
    assert [found[name] for name in COLUMNS[2:]] == pytest.approx(fit.tolist(), rel=2e-2)
    assert found["v"] == pytest.approx(data["age"].var(), rel=1e-2)
    assert all(f"{name}_low" in found and f"{name}_high" in found for name in COLUMNS)


def test_what_cannot_be_told_is_missing_in_every_form(tmp_path: Path) -> None:
    """No row is left by the filter, which nobody may be told but through the noise."""
    with opened(frame(), seed=1) as session:
        answer = question(session.where(la.col("age") > 1000)).release(epsilon=1)
        (found,) = answer.rows()
        missing = [name for name in ("c", "r", "s", *COLUMNS) if found[name] is None]
        assert missing == ["c", "r", "s", *COLUMNS]
        assert (found["r_low"], found["r_high"]) == (-1, 1)
        assert (found["s_low"], found["s_high"]) == (None, None)
        assert "missing" in str(answer)
        assert answer.to_pandas()["r"].isna().all()
        answer.save(tmp_path / "answer.json")
        answer.plot(tmp_path / "answer.svg")
        assert la.Release.load(tmp_path / "answer.json").rows() == answer.rows()


def test_preview_and_notes_say_what_is_public_and_are_the_same_without_data() -> None:
    said = []
    for data in (frame(), frame().iloc[:0]):
        with opened(data, types={"ward": "text"}) as session:
            asked = question(session)
            seen = asked.preview(1)
            assert [name for name, error in seen.errors.items() if error is None] == [
                "c", "r", "s", "line", "fit", "v",
            ]  # fmt: skip
            assert all(asked.preview(1, rows=1000).errors.values())
            said.append((str(seen.notes), seen.errors))
    assert said[0] == said[1]
    notes = said[0][0]
    assert "wards is how many different ward there are among the rows that are counted" in notes
    assert "r is about the rows in which both columns are there" in notes
    assert "fit is about the rows in which all columns are there" in notes


def test_a_question_asked_again_is_free_whatever_it_asks() -> None:
    with opened(frame(), seed=1) as session:
        first = question(session).release(epsilon=1)
        spent = session.spent
        assert question(session).release(epsilon=1).rows() == first.rows()
        assert session.spent == spent


def test_bounds_come_from_the_schema_and_a_row_may_be_the_unit() -> None:
    with la.open(frame(), unit=la.ROW, budget=HUGE) as session:
        asked = session.agg(r=la.correlation("age", "cost", bounds=PAIR))
        assert asked.preview(1, rows=3000).errors["r"] < 0.02
        with pytest.raises(la.ParameterError, match=r"bounds=\{'age': \(…, …\), 'cost'"):
            session.agg(r=la.correlation("age", "cost")).preview(1)


def test_a_clipped_total_is_no_column_to_compare() -> None:
    with opened(frame()) as session:
        asked = session.agg(r=la.correlation("age", "cost", bounds=PAIR)).bound(clip=True)
        with pytest.raises(la.UnsupportedQuery, match="max_rows"):
            asked.preview(1)


def test_the_preview_of_a_regression_says_that_coefficients_may_be_missing() -> None:
    """How the features are spread is private, so the error is that of the best case."""
    with opened(frame()) as session:
        asked = session.agg(fit=la.linear_regression("cost", ["age", "stay"], bounds=BOUNDS))
        words = " ".join(str(asked.preview(1, rows=100_000)).split())
        assert "else more, and coefficients may be missing" in words
        few = asked.preview(1, rows=5)
        assert few.errors["fit"] == float("inf")
        assert "nothing would be known" in " ".join(str(few).split())
