"""The same questions as to a table of one's own: same plans, same prices, same errors."""

from datetime import date, datetime
from io import StringIO
from math import inf

import pandas as pd
import pyarrow as pa
import pytest

import letalone as la
from curator.http.conftest import CSV, SHARE, register
from curator.makers import put
from letalone.curator.storage.service_records import Purpose, Registration
from letalone.errors import BudgetExceeded, NotAllowed, ParameterError, UnsupportedQuery
from letalone.errors.codes import Code
from letalone.exact.typed import as_typed

SITES = pd.DataFrame({"ward": ["A", "B"], "site": ["north", "south"], "beds": [10, 20]})
BY_SITE = "SELECT site, COUNT(*) AS n FROM visits JOIN sites ON visits.ward = sites.ward"


@pytest.fixture(scope="module")
def local(visits, tmp_path_factory):
    """The same table opened here."""
    path = tmp_path_factory.mktemp("local") / "visits.parquet"
    pd.read_csv(StringIO(CSV)).to_parquet(path)
    with la.open(path, schema=visits.schema, budget=la.Budget(SHARE, 1e-6)) as session:
        yield session


QUESTIONS = {
    "count": lambda of: of.bound(max_rows=10).agg(n=la.count()),
    "groups": lambda of: (
        of.group_by("ward").bound(max_rows=10).agg(n=la.count(), m=la.mean("cost"))
    ),
    "where": lambda of: of.where(la.col("cost") > 10).bound(max_rows=10).agg(s=la.sum("cost")),
    "derive": lambda of: of.derive(half=la.col("cost") / 2).agg(m=la.mean("half")),
    "bound": lambda of: of.bound(max_rows=2).agg(q=la.median("cost")),
    "units": lambda of: of.per_unit(t=la.per_unit.count()).agg(m=la.mean("t", lower=0, upper=9)),
    "sql": lambda of: of.sql("SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward"),
}


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.few("groups", "units", "sql")
def test_questions_have_the_same_plan_price_errors_and_words(visits, local, name):
    there, here = QUESTIONS[name](visits), QUESTIONS[name](local)
    assert there.plan == here.plan
    seen, expected = there.preview(0.3, rows=100), here.preview(0.3, rows=100)
    for field in ("errors", "split", "privacy", "epsilon", "question", "columns", "warnings"):
        assert getattr(seen, field) == getattr(expected, field), field
    assert there.explain() == here.explain()
    shared = here.explain(0.3).split("Left:")[0]
    assert there.explain(0.3).split("Left:")[0].split("Price:")[1] == shared.split("Price:")[1]
    assert there.epsilon_for(error=900, rows=100) == here.epsilon_for(error=900, rows=100)


def test_an_answer_is_a_release_and_its_repeat_is_free(visits):
    question = visits.group_by("ward").agg(n=la.count())
    before = visits.spent.epsilon
    first = question.release(epsilon=0.1)
    assert isinstance(first, la.Release)
    assert [row["ward"] for row in first.rows()] == ["A", "B"]
    assert not first.repeated
    assert "of your grant" in str(first)
    again = question.release(epsilon=0.1)
    assert again.repeated
    assert again == first
    assert visits.spent.epsilon == before + first.asked.epsilon
    assert len(first.to_pandas()) == 2
    assert "<table" in first._repr_html_()


def test_sql_is_arranged_here_and_asked_there(visits):
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward DESC LIMIT 1"
    (row,) = visits.sql(sql, epsilon=0.1).rows()
    assert row["ward"] == "B"
    with pytest.raises(ParameterError, match="EXPLAIN"):
        visits.sql(f"EXPLAIN {sql}").release(epsilon=0.1)


def test_an_error_to_keep_is_solved_for(visits):
    found = visits.agg(n=la.count()).release(error=400)
    assert found.epsilon == visits.agg(n=la.count()).epsilon_for(error=400)
    assert "keeps the error" in str(found)


def test_public_tables_are_sent_along_in_steps_and_in_sql(visits):
    steps = visits.join(SITES, on="ward", name="sites").group_by("site", keys=["north", "south"])
    first = steps.agg(n=la.count()).release(epsilon=0.1)
    keys = ["north", "south"]
    again = visits.sql(f"{BY_SITE} GROUP BY site", keys=keys, tables={"sites": SITES}, epsilon=0.1)
    assert again.repeated
    assert again == first
    inner = visits.join(SITES, on="ward", name="sites").per_unit(b=la.per_unit.max("beds"))
    assert inner.agg(n=la.count()).preview(0.1).errors["n"] > 0


@pytest.mark.parametrize(
    "column", [[datetime(2024, 1, 31)] * 2, [date(2024, 1, 31)] * 2, [1.5, inf], [b"x", b"y"]]
)
def test_a_public_table_that_json_cannot_hold_is_refused_here(visits, column):
    frame = pa.table({"ward": ["A", "B"], "more": column})
    with pytest.raises(ParameterError, match="'more'"):
        visits.join(frame, on="ward", name="sites")


def test_two_data_sets_are_joined_there(service, client, visits):
    curator = service.curator
    columns = (la.Column("patient", "integer"), la.Column("level", "number", lower=0, upper=9))
    labs = la.Schema("labs", columns, unit="patient")
    lines = ["patient,level", *(f"{n},{n % 9}" for n in range(40))]
    cap = la.Budget(4)
    registration = Registration(labs, cap, (Purpose("care", cap),))
    curator.data_sets.register(registration, file=put(curator, "labs.csv", lines), by="olga")
    wanted = client.request_access(
        "labs", purpose="care", columns=["level"], budget=la.Budget(1), why="a study"
    )
    curator.requests.decide(wanted.id, grant=True, reason="fine", by="stan")
    theirs = client.open("labs")
    answer = visits.join(theirs, on="patient").agg(m=la.mean("level")).release(epsilon=0.2)
    assert answer.rows()
    assert theirs.spent == la.Budget(0.2)
    with pytest.raises(ParameterError, match="is in the service at"):
        visits.join(la.open(pd.DataFrame({"patient": [1]}), unit="patient", budget=1), on="patient")


def test_a_session_says_what_may_be_asked(visits):
    assert visits.columns == {"patient": "integer", "ward": "text", "cost": "number"}
    assert (visits.unit, visits.name, visits.purpose) == ("patient", "visits", "care")
    assert visits.budget == la.Budget(SHARE, 1e-6)
    assert visits.remaining.epsilon == SHARE - visits.spent.epsilon
    assert "your grant" in repr(visits)
    assert "your grant" in visits._repr_html_()


def test_how_many_more_is_the_least_of_all_levels(service, visits):
    question = visits.agg(n=la.count())
    cap = service.curator.ledger.data_set("visits")
    privacy = question.preview(0.5).privacy
    at_the_cap = cap.how_many_more(privacy.labelled(cap.neighbours))
    fits = visits.how_many_more(question, epsilon=0.5)
    assert fits == int(visits.remaining.epsilon / la.Budget(0.5).epsilon)
    assert fits < at_the_cap < inf


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda of: of.agg(n=la.count()).release(epsilon=9), BudgetExceeded),
        (lambda of: of.agg(n=la.count()).release(epsilon=-1), ParameterError),
        (lambda of: of.agg(n=la.count()).release(), ParameterError),
        (lambda of: of.agg(m=la.mean("csot")).release(epsilon=0.1), ParameterError),
        (lambda of: of.where(la.col("ward") > "A").agg(n=la.count()).plan, UnsupportedQuery),
        (lambda of: of.sql("SELECT cost FROM visits", epsilon=0.1), UnsupportedQuery),
    ],
)
def test_refusals_are_of_the_same_class_as_here(visits, local, ask, kind):
    for session in (visits, local):
        with pytest.raises(kind) as caught:
            ask(session)
        assert type(caught.value) is kind


def test_an_exceeded_grant_names_the_amounts(visits):
    with pytest.raises(BudgetExceeded, match="does not fit") as caught:
        visits.agg(n=la.count()).release(epsilon=8.5)
    found = caught.value
    assert found.left == visits.remaining
    assert found.spent == visits.spent
    assert found.asked == la.Budget(8.5)
    assert "'ann'" in found.level


def test_what_a_service_does_not_do_is_refused_in_words(visits):
    with pytest.raises(UnsupportedQuery, match="one by one"):
        visits.batch([visits.agg(n=la.count())], epsilon=0.1)
    with pytest.raises(UnsupportedQuery, match="trains no models"):
        visits.train(None)
    with pytest.raises(UnsupportedQuery, match="trains no models"):
        la.learn.LogisticRegression(epsilon=1).fit(visits, features=["cost"], target="ward")
    with pytest.raises(NotAllowed, match="The token says"):
        visits.on_behalf_of("ben", purpose="care")
    with pytest.raises(NotAllowed, match="kept by the service"):
        _ = visits.ledger


def test_a_column_outside_the_grant_is_refused_there(service):
    same = la.Budget(8, 1e-6)  # as it is: a smaller one would not take anything away
    made = service.curator.requests.make(
        "visits", purpose="care", columns=["ward"], budget=same, why="x", by="ben"
    )
    service.curator.requests.decide(made.id, grant=True, reason="less", by="stan")
    theirs = service.client("ben").open("visits")
    with pytest.raises(NotAllowed, match="'cost'"):
        theirs.agg(m=la.mean("cost")).release(epsilon=0.1)


def test_a_closed_session_is_not_asked(client):
    with client.open("visits", purpose="care") as session:
        question = session.agg(n=la.count())
    assert "closed" in repr(session)
    for ask in (question.preview, lambda price: question.release(epsilon=price)):
        with pytest.raises(ParameterError, match="closed"):
            ask(0.1)


def test_a_raised_version_needs_a_session_of_its_own(service, client):
    register(service.curator, "versions")
    before = client.open("versions", purpose="care")
    service.curator.data_sets.raise_version("versions", by="olga")
    with pytest.raises(ParameterError, match="version"):
        before.agg(n=la.count()).release(epsilon=0.1)
    after = client.open("versions", purpose="care")
    assert after.schema.version == before.schema.version + 1
    assert not after.agg(other=la.count()).release(epsilon=0.1).repeated


@pytest.mark.long  # session/test_row_limit.py stays
def test_a_row_limit_is_found_there_and_known_to_the_session(service, client):
    visits = client.open("visits", purpose="care")
    asked = visits.bound(max_rows="auto").agg(found=la.count())
    before = visits.spent.epsilon
    assert asked.preview(0.1).epsilon == pytest.approx(0.09)
    first = asked.release(epsilon=0.1)
    assert "limit found" in " ".join(str(first).split())
    assert visits.spent.epsilon == before + as_typed(0.1)
    assert asked.release(epsilon=0.1).repeated
    assert visits.spent.epsilon == before + as_typed(0.1)
    later = visits.agg(found=la.count()).release(epsilon=0.05)
    assert "limit found" in " ".join(str(later).split())
    other = client.open("visits", purpose="care").agg(found=la.count())
    assert other.release(epsilon=0.05).repeated, "a session that is opened later knows the limit"
    assert other.plan == visits.agg(found=la.count()).plan
    with pytest.raises(BudgetExceeded, match="Row limit and answer cost"):
        client.open("visits", purpose="care").bound(max_rows="auto").agg(n=la.count()).release(50)


def test_bounds_are_not_bought_from_here_and_the_refusal_says_where(visits):
    with pytest.raises(UnsupportedQuery, match="where the rows are"):
        visits.sql("SELECT AVG(cost) FROM visits").price_with_bounds(1)


@pytest.mark.guarded
def test_a_price_that_hardly_protects_is_paid_there_on_purpose_only(service, client):
    register(service.curator, "guarded")
    session = client.open("guarded", purpose="care")
    asked = session.agg(n=la.count_distinct())
    with pytest.raises(ParameterError, match="exact number would be shown") as told:
        asked.release(epsilon=5)
    assert told.value.code is Code.NOT_CONFIRMED
    assert session.spent.epsilon == 0
    assert asked.release(epsilon=5, confirm=True).rows()[0]["n"] > 0
    assert asked.release(epsilon=5).repeated, "a repeat is free and needs no second word"
