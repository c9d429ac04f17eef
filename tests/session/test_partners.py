"""Two private tables in one question: joined on the unit, both charged or neither."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import letalone as la
from forking import told_by
from letalone.engines.duckdb.duck_engine import DuckEngine
from letalone.ledger import Ledger, charging
from session.makers import opened
from session.test_secrets import leaks, told

SURE = 10.0**5
SECRET = "SECRETCELL"
HUGE = la.Budget(epsilon=10**6)


def visits(**options: Any) -> la.Session:
    frame = pd.DataFrame(
        {
            "patient_id": [1, 1, 2, 3, 3, None],
            "cost": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
        }
    ).astype({"patient_id": "Int64"})
    return opened(frame, **({"name": "visits", "budget": HUGE, "seed": 1} | options))


def patients(**options: Any) -> la.Session:
    frame = pd.DataFrame(
        {
            "pid": [1, 2, 2, 4, None],
            "sex": ["F", "M", "M", "F", "F"],
            "age": [30, 50, 50, 70, 90],
            "note": [SECRET] * 5,
        }
    ).astype({"pid": "Int64"})
    given = {"name": "patients", "budget": HUGE, "unit": "pid"} | options
    return opened(frame, **given)


def by_sex(mine: la.Session, theirs: la.Session) -> la.Query:
    return (
        mine.join(theirs, on=("patient_id", "pid"))
        .group_by("sex", keys=["F", "M"])
        .agg(n=la.count(), cost=la.sum("cost", lower=0, upper=100))
        .bound(max_rows=2)
    )


def test_one_table_under_two_names_is_not_joined_with_itself(tmp_path: Path) -> None:
    file, link, frame = tmp_path / "v.csv", tmp_path / "link.csv", pd.DataFrame({"id": [1, 2]})
    frame.to_csv(file, index=False)
    link.symlink_to(file)
    frame.to_csv(tmp_path / "w.csv", index=False)
    refused = pytest.raises(la.ParameterError, match="one table under two names")
    pairs = ((file, link, refused), (frame, frame, refused), (file, tmp_path / "w.csv", None))
    for one, other, expected in pairs:
        with (
            opened(one, unit="id") as mine,
            opened(other, unit="id", name="two") as theirs,
            expected or nullcontext(),
        ):
            mine.join(theirs, on="id")


def test_rows_get_the_columns_of_their_own_unit_and_others_are_dropped() -> None:
    with visits() as mine, patients() as theirs:
        found = by_sex(mine, theirs).release(SURE).to_pandas()
        units = mine.join(theirs, on={"patient_id": "pid"}).per_unit(
            n=la.per_unit.count(), age=la.per_unit.max("age")
        )
        older = units.where(la.col("age") > 40).agg(n=la.count()).release(SURE).to_pandas()
    assert found["n"].tolist() == [2, 1]
    assert found["cost"].round().tolist() == [30, 30]
    assert older["n"].tolist() == [1]


IN_SQL = (
    "SELECT sex, COUNT(*) AS n, SUM(CLAMP(cost, 0, 100)) AS cost FROM visits"
    " JOIN people AS p ON visits.patient_id = p.pid GROUP BY p.sex"
)


def test_sql_joins_another_session_as_python_does_and_charges_both() -> None:
    with visits() as mine, patients() as theirs:
        given: dict[str, Any] = {"tables": {"people": theirs}, "keys": ["F", "M"], "max_rows": 2}
        asked = mine.sql(IN_SQL, **given)
        assert asked.plan.digest() == by_sex(mine, theirs).plan.digest()
        answer = mine.sql(IN_SQL, epsilon=0.5, **given)
        assert mine.spent == theirs.spent == la.Budget(0.5)
        assert by_sex(mine, theirs).release(0.5).rows() == answer.rows()
        regions = pd.DataFrame({"sex": ["F", "M"], "word": ["she", "he"]})
        both = {"people": theirs, "words": regions}
        sql = "SELECT COUNT(*) FROM visits JOIN people ON visits.patient_id = people.pid"
        assert mine.sql(f"{sql} WHERE age > 40", tables=both).plan.partners
        assert not mine.sql("SELECT COUNT(*) FROM visits", tables=both).plan.partners


@pytest.fixture(scope="module")
def unspent() -> Iterator[dict[str, la.Session]]:
    """Tables for questions that are refused: none of them is ever charged."""
    with visits() as mine, patients() as theirs, patients(unit=la.ROW, name="rows") as rows:
        yield {"people": theirs, "self": mine, "rows": rows}


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT COUNT(*) FROM visits JOIN people p ON visits.cost = p.age", "on their units"),
        (
            "SELECT COUNT(*) FROM visits JOIN people p ON visits.patient_id = p.pid"
            " AND visits.cost = p.age",
            "on their units",
        ),
        ("SELECT COUNT(*) FROM visits JOIN people USING (pid)", "not in table 'visits'"),
        ("SELECT COUNT(*) FROM visits LEFT JOIN people p ON visits.patient_id = p.pid", "LEFT"),
        ("SELECT COUNT(*) FROM people", "stands in FROM"),
        ("SELECT COUNT(*) FROM visits JOIN lost USING (patient_id)", "no public table 'lost'"),
        ("SELECT COUNT(*) FROM visits JOIN self s ON visits.patient_id = s.patient_id", "itself"),
        ("SELECT SUM(r.age) FROM visits JOIN rows r ON visits.patient_id = r.pid", "is the row"),
    ],
)
def test_other_joins_of_private_tables_in_sql_are_refused_and_charge_nothing(
    sql: str, words: str, unspent: dict[str, la.Session]
) -> None:
    with pytest.raises(la.LetaloneError, match=words):
        unspent["self"].sql(sql, tables=unspent, epsilon=0.5)
    assert unspent["self"].spent == unspent["people"].spent == la.Budget(0)


def test_a_column_that_both_tables_have_is_the_first_ones_only_by_its_prefix() -> None:
    with visits() as mine, visits(name="labs") as labs:
        sql = "SELECT SUM(CLAMP({}, 0, 100)) AS x FROM visits JOIN labs USING (patient_id)"
        for name in ("cost", "labs.cost"):
            with pytest.raises(la.ParameterError, match="in both private tables"):
                mine.sql(sql.format(name), tables={"labs": labs})
        found = mine.sql(sql.format("visits.cost"), tables={"labs": labs})
        assert found.plan.partners[0].columns == ()
        other = mine.sql("SELECT COUNT(patient_id) FROM visits JOIN labs USING (patient_id)",
                         tables={"labs": labs})  # fmt: skip
        assert other.plan.partners


def test_capitals_do_not_make_a_column_of_both_tables_another_one() -> None:
    frame = pd.DataFrame({"PATIENT_ID": [1, 2], "Cost": [1.0, 2.0]})
    with visits() as mine, opened(frame, unit="PATIENT_ID", name="labs", budget=HUGE) as labs:
        sql = "SELECT SUM(CLAMP({}, 0, 100)) AS x FROM visits JOIN labs USING (patient_id)"
        for name in ("cost", "Cost", "labs.cost"):
            with pytest.raises(la.LetaloneError, match="in both private tables"):
                mine.sql(sql.format(name), tables={"labs": labs})
        assert mine.sql(sql.format("visits.cost"), tables={"labs": labs}).plan.partners


def test_both_data_sets_are_charged_the_whole_price_and_both_are_named(tmp_path: Path) -> None:
    books = [tmp_path / "one.db", tmp_path / "other.db"]
    with visits(ledger=books[0]) as mine, patients(ledger=books[1]) as theirs:
        answer = by_sex(mine, theirs).release(0.5)
        assert mine.spent == theirs.spent == la.Budget(0.5)
        receipt = json.loads(answer.save(tmp_path / "receipt.json").read_text("utf-8"))
        assert [mine.ledger.unsettled(), theirs.ledger.unsettled()] == [[], []]
        assert by_sex(mine, theirs).release(0.5).repeated
        assert mine.spent == theirs.spent == la.Budget(0.5)
        mine.ledger.verify()
        theirs.ledger.verify()
    assert receipt["body"]["data_set"] == "visits"
    assert receipt["body"]["plan"]["joins"][0]["name"] == "patients"
    assert "private data set patients" in answer.asked.question
    assert any(note.startswith("patients is private, too") for note in answer.notes)
    assert "Of 'patients': Left" in str(answer)


def test_one_ledger_can_hold_both_and_the_receipt_is_of_the_table_that_was_asked() -> None:
    ledger = Ledger.in_memory()
    with visits(ledger=ledger) as mine, patients(ledger=ledger) as theirs:
        answer = by_sex(mine, theirs).release(0.5)
        assert mine.spent == theirs.spent == la.Budget(0.5)
        assert answer.standing.receipt["body"]["data_set"] == "visits"  # type: ignore[index]
        ledger.verify()


def test_a_repeat_is_free_only_if_both_data_sets_are_as_they_were() -> None:
    with visits() as mine, patients() as theirs:
        first = by_sex(mine, theirs).release(0.5)
        theirs.ledger.raise_version("patients")
        second = by_sex(mine, theirs).release(0.5)
        assert not second.repeated
        assert mine.spent == theirs.spent == la.Budget(1)
    assert first.asked.digest == second.asked.digest


def test_answers_that_were_charged_in_another_order_elsewhere_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process is charged between the two charges of another: each ledger has another first.

    So it could come about before questions were claimed, and ledgers remember it.
    """
    monkeypatch.setattr(charging, "_claim", lambda *_, **__: nullcontext())
    monkeypatch.setattr(charging.Payer, "begun_run", lambda *_: None)
    books = {"mine": tmp_path / "one.db", "theirs": tmp_path / "other.db"}
    charged, calls = charging.Payer.pay, []
    with (
        visits(ledger=books["mine"]) as mine,
        patients(ledger=books["theirs"]) as theirs,
        visits(ledger=books["mine"], seed=2) as mine_too,
        patients(ledger=books["theirs"]) as theirs_too,
    ):

        def late(payer: Any, charge: Any, **run: Any) -> Any:
            calls.append(payer.name)
            if len(calls) == 2:
                monkeypatch.setattr(charging.Payer, "pay", charged)
                between.append(by_sex(mine_too, theirs_too).release(0.5))
            return charged(payer, charge, **run)

        between: list[la.Release] = []
        monkeypatch.setattr(charging.Payer, "pay", late)
        first = by_sex(mine, theirs).release(0.5)
        assert first.rows() != between[0].rows()
        assert mine.spent == theirs.spent == la.Budget(1)
        for one in ((mine, theirs), (mine_too, theirs_too)):
            again = by_sex(*one).release(0.5)
            assert again.repeated
            assert again.rows() == first.rows()
        assert mine.spent == theirs.spent == la.Budget(1)


@pytest.mark.parametrize("poor", ["visits", "patients"])
def test_if_one_refuses_neither_is_charged(poor: str) -> None:
    small = la.Budget(0.25)
    with (
        visits(budget=small if poor == "visits" else HUGE) as mine,
        patients(budget=small if poor == "patients" else HUGE) as theirs,
    ):
        before = [len(one.ledger.entries()) for one in (mine, theirs)]
        with pytest.raises(la.BudgetExceeded, match=f"into the budget of '{poor}'"):
            by_sex(mine, theirs).release(0.5)
        assert mine.spent == theirs.spent == la.Budget(0)
        refused = [
            len(one.ledger.entries()) - n for one, n in zip((mine, theirs), before, strict=True)
        ]
        assert sorted(refused) == [0, 1], "the refusal is written down where it was refused"
        assert mine.how_many_more(by_sex(mine, theirs), epsilon=0.125) == 2


def test_a_frozen_data_set_is_asked_nothing_through_another() -> None:
    with visits() as mine, patients() as theirs:
        theirs.ledger.freeze("patients", "looked at")
        with pytest.raises(la.DataSetFrozen, match="'patients' is frozen"):
            by_sex(mine, theirs).release(0.5)
        assert mine.spent == la.Budget(0)


def test_a_race_for_the_second_budget_leaves_the_first_spent_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody else spends between the look and the charge: here the look is always content."""
    monkeypatch.setattr(charging.Payer, "fits", lambda *_, **__: True)
    with visits() as mine, patients(budget=la.Budget(0.25)) as theirs:
        with pytest.raises(la.BudgetExceeded) as caught:
            by_sex(mine, theirs).release(0.5)
        assert "'visits' was charged a moment before" in caught.value.__notes__[0]
        assert (mine.spent, theirs.spent) == (la.Budget(0.5), la.Budget(0))
        assert mine.ledger.unsettled() == []
        mine.ledger.verify()
        assert not mine.agg(n=la.count()).release(0.1).repeated, "it is not frozen"


@pytest.mark.parametrize("method", ["lend", "measure"])
def test_an_engine_that_fails_freezes_both_and_says_nothing(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(DuckEngine, method, fail)
    with visits() as mine, patients() as theirs:
        with pytest.raises(la.DataSetFrozen, match="visits and patients are frozen") as caught:
            by_sex(mine, theirs).release(0.5)
        assert not leaks(told(caught.value))
        assert mine.ledger.data_set("visits").frozen
        assert theirs.ledger.data_set("patients").frozen


def test_nothing_that_is_said_before_an_answer_depends_on_either_table() -> None:
    seen = []
    for empty in (False, True):
        frames = [pd.DataFrame({"u": [1, 2], "x": [1.0, 2.0]}), pd.DataFrame({"u": [1], "y": [5]})]
        frames = [one.head(0) if empty else one for one in frames]
        with (
            la.open(frames[0], unit="u", budget=9, name="one") as mine,
            la.open(frames[1], unit="u", budget=9, name="other") as theirs,
        ):
            query = mine.join(theirs, on="u").agg(m=la.mean("y", lower=0, upper=9))
            seen.append([query.explain(1, sql=True), str(query.preview(1)), query.plan.digest()])
    assert seen[0] == seen[1]


def test_tables_that_cannot_be_joined_are_refused_with_the_remedy() -> None:
    text = pd.DataFrame({"pid": ["1"], "sex": ["F"]})
    with (
        visits() as mine,
        patients() as theirs,
        patients(unit=la.ROW, name="rows") as rows,
        patients(neighbours=la.REPLACE, name="replaced") as replaced,
        la.open(text, unit="pid", budget=1, name="texts") as texts,
        la.open(text, unit="pid", budget=1, name="VISITS") as same,
    ):
        both = ("patient_id", "pid")
        for other, on, words in (
            (mine, "patient_id", "not joined with itself"),
            (same, both, "open one under another name"),
            (rows, both, "the unit of 'rows' is the row"),
            (replaced, both, "with the same neighbours="),
            (texts, both, "is stored as whole numbers and that of 'texts' as text"),
            (theirs, "patient_id", r"give on=\('patient_id', 'pid'\)"),
            (theirs, ["patient_id", "sex"], "joined on their units"),
            (theirs, {}, "joined on their units"),
        ):
            with pytest.raises((la.ParameterError, la.NeighboursDiffer), match=words):
                mine.join(other, on=on)
        with pytest.raises(la.ParameterError, match="A private table is joined as it is"):
            mine.join(theirs.where(la.col("age") > 3), on=both)
        with pytest.raises(la.ParameterError, match=r"before \.per_unit"):
            mine.per_unit(n=la.per_unit.count()).join(theirs, on=both)
        with pytest.raises(la.ParameterError, match="columns are for private tables"):
            mine.join(text, on="patient_id", columns=["sex"])
        with pytest.raises(la.ParameterError, match="Column 'sexx' is not in table 'patients'"):
            mine.join(theirs, on=both, columns=["sexx"])
        assert mine.spent == theirs.spent == la.Budget(0)


def test_columns_of_the_same_name_are_chosen_among() -> None:
    frame = pd.DataFrame({"pid": [1], "cost": [5.0], "sex": ["F"]})
    with visits() as mine, la.open(frame, unit="pid", budget=HUGE, name="other") as theirs:
        on = ("patient_id", "pid")
        with pytest.raises(la.ParameterError, match="'cost' and 'cost'"):
            mine.join(theirs, on=on).agg(n=la.count()).preview(1)
        query = mine.join(theirs, on=on, columns=["sex"]).agg(n=la.count())
        assert query.release(SURE).to_pandas()["n"].tolist() == [2]


def test_a_partner_that_is_closed_or_opened_anew_is_noticed_before_a_charge() -> None:
    with visits() as mine:
        theirs = patients()
        query = by_sex(mine, theirs)
        with patients() as twin, pytest.raises(la.ParameterError, match="Another open table"):
            mine.join(twin, on=("patient_id", "pid"))
        theirs.close()
        with pytest.raises(la.ParameterError, match="'patients' is closed"):
            query.release(0.5)
        frame = pd.DataFrame({"pid": [1], "age": [5]})
        with la.open(frame, unit="pid", budget=1, name="patients") as anew:
            mine.join(anew, on=("patient_id", "pid"))
            with pytest.raises(la.ParameterError, match="Join it again"):
                query.release(0.5)
        assert mine.spent == la.Budget(0)


def test_columns_of_the_other_table_that_are_read_from_text_are_named(tmp_path: Path) -> None:
    pd.DataFrame({"patient_id": ["1"], "cost": [5.0]}).to_csv(tmp_path / "v.csv", index=False)
    pd.DataFrame({"patient_id": ["1"], "age": [5]}).to_csv(tmp_path / "p.csv", index=False)
    given = {"unit": "patient_id", "budget": la.Budget(1)}
    with (
        la.open(tmp_path / "v.csv", **given) as mine,
        la.open(tmp_path / "p.csv", **given, types={"age": "integer"}) as theirs,
    ):
        query = mine.join(theirs, on="patient_id").where(la.col("age") > 3).agg(n=la.count())
        notes = query.preview(0.5).notes
    assert any(note.startswith("age is read from text") for note in notes)


def test_a_batch_charges_every_table_that_it_asks() -> None:
    with visits() as mine, patients() as theirs:
        mine.batch([by_sex(mine, theirs), mine.agg(n=la.count())], epsilon=0.25)
        assert mine.spent == theirs.spent == la.Budget(0.5)


@pytest.mark.long
def test_killed_at_any_step_both_are_spent_or_untouched_and_never_overspent(
    tmp_path: Path,
) -> None:
    found = told_by(Path(__file__).parent / "dying_pair.py", tmp_path)
    states = [
        tuple((Fraction(spent), unsettled) for spent, unsettled in pair) for _, *pair in found
    ]
    half, nothing = Fraction(1, 2), (Fraction(0), 0)
    allowed = [
        (nothing, nothing),
        ((half, 1), nothing),
        ((half, 1), (half, 1)),
        ((half, 0), (half, 1)),
        ((half, 0), (half, 0)),
    ]
    assert states == sorted(states, key=allowed.index), "what is done stays done"
    assert {allowed[0], allowed[2], allowed[-1]} <= set(states)
    answered = [state for (answer, *_), state in zip(found, states, strict=True) if answer]
    assert answered == [allowed[-1]], "only who paid both heard an answer"
