"""Whoever was erased is named nowhere: in no ledger, database, file, export, receipt or log."""

import re
from io import StringIO

import pytest
from pyarrow.parquet import read_table

from curator.console.conftest import Console
from curator.makers import COUNT, LINES, NAME, PURPOSE, Clock, ask, grant, registered
from letalone.curator.asking.service import spelled_out
from letalone.curator.http.logs import make_log
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.errors import LetaloneError, UnsupportedQuery
from letalone.ledger.chain.canonical import text_digest
from letalone.plans import plan
from letalone.plans.expressions import col
from letalone.plans.records import to_stored
from letalone.plans.stored_plans import plan_from_json
from letalone.wire.records import Scope

ID, WHY = "zzsubject777", "case 12/2026"
NAMING = (
    f"{COUNT} WHERE patient = '{ID}'",
    f"{COUNT} WHERE patient IN ('{ID}', 'p1')",
    f"{COUNT} WHERE CASE WHEN patient = '{ID}' THEN cost ELSE 0 END > 5",
    f"SELECT SUM(CASE WHEN patient = '{ID}' THEN 1 ELSE 0 END) AS n FROM {NAME}",
    f"SELECT COUNT(*) AS n FROM (SELECT patient AS who FROM {NAME}) AS t WHERE who = '{ID}'",
    f"SELECT patient, COUNT(*) AS n FROM {NAME} WHERE patient = '{ID}' GROUP BY patient",
)
COLUMNS = ["patient", "ward", "cost"]


@pytest.fixture
def holding(peopled):
    """The table with one more person, and a grant for ann that has the unit column."""
    lines = [*LINES, *(f"{ID},A,{n},50,x" for n in (20, 30))]
    return grant(registered(peopled, lines=lines), columns=COLUMNS)


def asked(console, ann, question, kinds):
    body = {"data_set": NAME, "purpose": PURPOSE, "epsilon": 0.1, **question}
    send, at = console.anybody().client.post, "/api/v1/questions"
    return [send(f"{at}/{kind}", json=body, headers=ann) for kind in kinds]


def test_a_person_who_was_asked_for_and_erased_is_named_nowhere(holding):
    log = StringIO()
    console = Console(holding, Clock(), log=make_log(log))
    secret, _ = holding.tokens.make("ann", [Scope.ASK])
    ann = {"Authorization": f"Bearer {secret}"}
    plan = ask(holding, epsilon=0.2).plan
    sent = {**plan, "where": to_stored(col("patient") == ID)}
    assert plan_from_json(sent).to_json() == sent, "it is a plan, as an older client makes it"
    questions = [*({"sql": sql} for sql in NAMING), {"plan": sent}]
    questions.append({"sql": f"SELECT patient, COUNT(*) AS n FROM {NAME} GROUP BY 1", "keys": [ID]})
    spent = holding.ledger.data_set(NAME).spent
    for number, question in enumerate(questions):
        kinds = ("release", "preview", "explanation", "fitting")[: 4 if number == 0 else 1]
        for answer in asked(console, ann, question, kinds):
            assert answer.status_code == 422, question
            assert answer.json()["type"] == "/problems/unsupported-query"
            assert ID not in answer.text
    assert holding.ledger.data_set(NAME).spent == spent
    found = {re.sub("[0-9a-f]{32}", "…", place) for place in everywhere(holding, log)}
    assert found - {"….parquet"} == {"visits.csv", "rows of ….parquet"}, "which is searched"
    assert holding.subjects.erase(NAME, ID, by="stan", why=WHY).rows == 2
    (holding.settings.imports_folder / "visits.csv").unlink()  # the owner's, who removes it
    assert everywhere(holding, log) == []


def everywhere(curator, log):
    """Where the id is: in files and their rows, the history, a receipt, an export or the log."""
    curator.ledger.export(curator.settings.folder / "export.json")
    files = [one for one in curator.settings.folder.rglob("*") if one.is_file()]
    looked = {one.name: one.read_bytes() for one in files}
    tables = [one for one in files if one.suffix == ".parquet"]
    looked |= {f"rows of {one.name}": _said(read_table(one).to_pylist()) for one in tables}
    (mine,) = curator.asking.history(by="ann")
    looked["history"] = _said(mine)
    looked["receipt"] = _said(curator.asking.receipt(mine.id, by="ann"))
    looked["log"] = log.getvalue().encode()
    assert {"ledger.db", "curator.db", "export.json"} < looked.keys()
    return [place for place, found in looked.items() if ID.encode() in found.lower()]


def _said(value):
    return repr(value).encode()


def test_a_refused_question_cannot_be_guessed_from_the_ledger(holding):
    """Its digest is under the key of the service: who tries ids finds none."""
    question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=NAMING[0])
    with pytest.raises(UnsupportedQuery):
        holding.asking.release(question, QuestionPrice(epsilon=0.1), by="ann")
    refused = holding.ledger.entries()[-1].body
    assert refused["reason"] == "UnsupportedQuery"
    assert refused["digest"] != text_digest(spelled_out(question))


def test_an_answer_of_before_can_be_read_and_its_question_is_not_asked_again(holding, monkeypatch):
    """As an older letalone has kept it."""
    monkeypatch.setattr(plan, "check_names_nobody", lambda _: None)
    ask(holding, NAMING[0])
    monkeypatch.undo()
    (mine,) = holding.asking.history(by="ann")
    assert holding.ledger.verify()
    console = Console(holding, Clock())
    assert console.by("ann").see(f"/history/{mine.id}").status_code == 200
    assert console.by("ann").see(f"/ask/again/{mine.id}").status_code == 303
    with pytest.raises(LetaloneError, match="identifies people"):
        ask(holding, NAMING[0], epsilon=0.3)
