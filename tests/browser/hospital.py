"""A curator as it looks after some months: people in every role, data sets, requests, answers."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from curator.makers import PASSWORD, Clock, open_curator, with_people
from letalone.curator.curator import Curator
from letalone.curator.data_sets.demo_data_set import NAME as VISITS
from letalone.curator.data_sets.demo_data_set import PURPOSE, register_demo
from letalone.curator.storage.service_records import (
    DataSetQuestion,
    Purpose,
    QuestionPrice,
    Registration,
)
from letalone.errors import BudgetExceeded
from letalone.plans.schema import Column, Schema
from letalone.privacy import Budget

__all__ = ["LONG", "PASSWORD", "PURPOSE", "VISITS", "made", "people_of"]

LONG = "long_term_outcomes_of_patients_after_discharge_2019_to_2026"
BY_WARD = f"SELECT ward, COUNT(*) AS visits FROM {VISITS} GROUP BY ward"
QUESTIONS = (
    f"SELECT ward, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM {VISITS} GROUP BY ward",
    f"SELECT COUNT(DISTINCT patient_id) AS patients FROM {VISITS}",
    f"SELECT diagnosis, gender, COUNT(*) AS visits FROM {VISITS} GROUP BY diagnosis, gender",
    f"SELECT SUM(cost) AS costs FROM {VISITS} WHERE ward = 'Oncology'",
)


def made(folder: Path) -> Path:
    """The folder for `letalone serve --folder`."""
    for days, act in ((-60, with_people), (-50, _data), (-40, _grants), (-20, _answers)):
        with open_curator(folder, clock=Clock(days=days)) as curator:
            act(curator)
    with open_curator(folder) as curator:
        _open_questions(curator)
        return curator.settings.folder


def people_of(role: str) -> str:
    return {"owner": "olga", "steward": "stan", "analyst": "ann", "auditor": "aud"}[role]


def _data(curator: Curator) -> None:
    curator.facts.say(controller="St. Mary Hospital", contact="privacy@example.org", by="olga")
    register_demo(curator, by="olga")
    schema = Schema(LONG, (Column("person", "text"), Column("again", "boolean")), unit="person")
    purpose = Purpose("quality of care, as the regional plan of 2026 asks for", Budget(1))
    words = "Who came back within a year, and who did not. " * 4
    later = (datetime.now(UTC) + timedelta(days=900)).date()
    upload = curator.data_sets.incoming("csv")
    upload.write_text("person,again\n" + "".join(f"p{n},{n % 3 == 0}\n" for n in range(300)))
    registration = Registration(schema, Budget(2), (purpose,), words, retention=later)
    curator.data_sets.register(registration, upload=upload, by="olga")


def _grants(curator: Curator) -> None:
    for analyst in ("ann", "ben"):
        columns = ["patient_id", "ward", "gender", "diagnosis", "cost"]
        wanted = curator.requests.make(
            VISITS, purpose=PURPOSE, columns=columns, budget=Budget(3), why="beds", by=analyst
        )
        curator.requests.decide(wanted.id, grant=True, reason="as planned", by="stan")


def _answers(curator: Curator) -> None:
    for number, sql in enumerate(QUESTIONS):
        question = DataSetQuestion(data_set=VISITS, purpose=PURPOSE, sql=sql)
        curator.asking.release(question, QuestionPrice(epsilon=Fraction(2 + number, 10)), by="ann")
    for part in range(6):
        question = DataSetQuestion(data_set=VISITS, purpose=PURPOSE, sql=BY_WARD)
        curator.asking.release(question, QuestionPrice(epsilon=Fraction(5 + part, 50)), by="ben")
    with suppress(BudgetExceeded):
        curator.asking.release(question, QuestionPrice(epsilon=4), by="ben")
    named = DataSetQuestion(data_set=VISITS, purpose=PURPOSE, sql=BY_WARD, keys=["Oncology", LONG])
    curator.asking.release(named, QuestionPrice(epsilon=0.1), by="ben")


def _open_questions(curator: Curator) -> None:
    (purpose,) = curator.data_sets.record(LONG).purposes
    why = "For the yearly report. The regional plan asks for it, and nothing finer is needed. "
    curator.requests.make(
        LONG, purpose=purpose.name, columns=["again"], budget=Budget(0.5), why=why * 3, by="ben"
    )
    curator.proposals.make(VISITS, Budget(12, 1e-6), why="a second year", by="olga")
