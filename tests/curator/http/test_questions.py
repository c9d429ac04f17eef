"""An analyst asks over HTTP: priced, charged, answered, receipted; and refused with the reason."""

from fractions import Fraction
from typing import Any

import pytest

from letalone.curator.asking import api as question_routes
from letalone.curator.asking.service import AskingService
from letalone.curator.http.middleware import SECURITY_HEADERS
from letalone.ledger import verify_receipt
from letalone.session.release import Release

Service = Any


def test_an_answer_is_a_release_with_its_receipt(service: Service) -> None:
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    body = service.question(sql, left=True)
    answer = service.ask("POST", "/questions/release", by="ann", json=body)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    release = Release.from_json(body["release"])
    assert [row["ward"] for row in body["rows"]] == ["A", "B"]
    assert [row["n"] for row in body["rows"]] == [row["n"] for row in release.rows()]
    assert body["repeated"] is False
    assert "Left: about" in body["left"]
    assert verify_receipt(body["receipt"]).body["release"] == body["release"]


def test_a_repeat_is_free_and_the_same(service: Service) -> None:
    body = service.question("SELECT AVG(cost) AS c FROM visits")
    first = service.ask("POST", "/questions/release", by="ann", json=body).json()
    before = service.curator.ledger.data_set("visits").spent
    again = service.ask("POST", "/questions/release", by="ann", json=body).json()
    assert again["repeated"] is True
    assert again["release"] == first["release"]
    assert service.curator.ledger.data_set("visits").spent == before


def test_a_preview_costs_nothing_and_says_the_price(service: Service) -> None:
    before = len(service.curator.ledger)
    answer = service.ask("POST", "/questions/preview", by="ann", json=service.question())
    assert answer.status_code == 200, answer.text
    assert answer.json()["errors"]["n"] > 0
    assert answer.json()["epsilon"] == 0.1
    assert len(service.curator.ledger) == before


def test_an_error_that_is_wanted_is_turned_into_a_price(service: Service) -> None:
    body = service.question(epsilon=None, error=100)
    found = service.ask("POST", "/questions/epsilon", by="ann", json=body)
    assert found.status_code == 200, found.text
    released = service.ask("POST", "/questions/release", by="ann", json=body)
    assert 0 < found.json()["epsilon"] < 0.5
    assert float(Fraction(released.json()["release"]["epsilon"])) == found.json()["epsilon"]


def test_a_stored_plan_is_answered_like_its_sql(service: Service) -> None:
    sql = service.question("SELECT COUNT(*) AS planned FROM visits")
    first = service.ask("POST", "/questions/release", by="ann", json=sql).json()
    body = {**sql, "sql": None, "plan": first["release"]["plan"]}
    again = service.ask("POST", "/questions/release", by="ann", json=body)
    assert again.status_code == 200, again.text
    assert again.json()["release"] == first["release"]


def test_digits_as_text_are_the_same_price(service: Service) -> None:
    body = service.question("SELECT SUM(cost) AS s FROM visits", epsilon="1/10")
    first = service.ask("POST", "/questions/release", by="ann", json=body).json()
    again = service.ask("POST", "/questions/release", by="ann", json={**body, "epsilon": 0.1})
    assert first["release"]["epsilon"] == "1/10"
    assert again.json()["repeated"] is True


@pytest.mark.parametrize(
    ("changed", "status", "kind"),
    [
        ({"sql": "SELECT patient FROM visits"}, 422, "unsupported-query"),
        ({"sql": "DROP TABLE visits"}, 422, "unsupported-query"),
        ({"sql": "SELECT AVG(csot) FROM visits"}, 422, "parameter"),
        ({"purpose": "marketing"}, 403, "not-granted"),
        ({"data_set": "nothing"}, 404, "not-found"),
        ({"epsilon": -1}, 422, "parameter"),
        ({"epsilon": 1000}, 409, "budget-exceeded"),
        ({"epsilon": None}, 422, "parameter"),
        ({"plan": {}}, 422, "parameter"),
        ({"sql": None, "plan": {"format": 1}}, 422, "format"),
        ({"epsilon": "1e99999"}, 422, "not-valid"),
        ({"tables": {"t": "/etc/passwd"}}, 422, "not-valid"),
        ({"tables": {"t": {"a": [1, 2], "b": [1]}}}, 422, "parameter"),
    ],
)
def test_a_refusal_has_its_kind_and_spends_nothing(
    service: Service, changed: dict[str, Any], status: int, kind: str
) -> None:
    before = service.curator.ledger.data_set("visits").spent
    body = {**service.question(), **changed}
    answer = service.ask("POST", "/questions/release", by="ann", json=body)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{kind}"), answer.text
    assert service.curator.ledger.data_set("visits").spent == before


def test_a_refused_charge_says_what_is_left_and_at_which_level(service: Service) -> None:
    """Eight of ten are ann's: the data set would have had enough."""
    body = service.question(epsilon=8.5)
    answer = service.ask("POST", "/questions/release", by="ann", json=body).json()
    assert answer["type"] == "/problems/budget-exceeded"
    assert float(answer["left"]["epsilon"]) < 9
    assert "ann" in answer["detail"]


def test_history_has_own_answers_and_their_receipts(service: Service) -> None:
    service.ask("POST", "/questions/release", by="ann", json=service.question())
    found = service.ask("GET", "/questions/history", by="ann").json()["releases"]
    assert found
    path = f"/questions/history/{found[0]['id']}"
    assert service.ask("GET", path, by="ann").json() == found[0]
    receipt = service.ask("GET", f"{path}/receipt", by="ann").json()
    assert verify_receipt(receipt).body["release"] == found[0]["release"]


def test_how_many_data_sets_are_frozen_is_shown_to_the_owner(service: Service) -> None:
    def shown() -> str:
        token = {"Authorization": f"Bearer {service.token('olga')}"}
        return service.client.get("/metrics", headers=token).text

    assert "letalone_frozen_data_sets 0.0" in shown()
    service.curator.ledger.freeze("visits", "a test")
    try:
        assert "letalone_frozen_data_sets 1.0" in shown()
    finally:
        service.curator.ledger.thaw("visits", "a test")


def test_what_was_answered_and_refused_is_counted_for_the_owner(service: Service) -> None:
    service.ask("POST", "/questions/release", by="ann", json=service.question())
    service.ask("POST", "/questions/release", by="ann", json=service.question("SELECT"))
    headers = {"Authorization": f"Bearer {service.token('olga')}"}
    text = service.client.get("/metrics", headers=headers).text
    assert 'letalone_answers_total{outcome="refused"}' in text
    assert 'route="/api/v1/questions/release"' in text


def test_a_repeat_is_written_once_and_every_check_is_made_again(
    making: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = making()
    question = service.question("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", left=False)
    whole = "/questions/release"
    first, second = (service.ask("POST", whole, by="ann", json=question) for _ in range(2))
    with monkeypatch.context() as broken:
        broken.setattr(AskingService, "answer", None)
        broken.setattr(question_routes, "release_as_json", None)
        third = service.ask("POST", whole, by="ann", json=question)
    assert third.content == second.content, "neither asked nor written anew"
    assert third.json() == {**first.json(), "repeated": True}
    left = service.ask("POST", whole, by="ann", json={**question, "left": True}).json()
    assert {**left, "left": None} == third.json()
    assert left["left"].startswith("Left: about")
    for name, value in SECURITY_HEADERS.items():
        assert third.headers[name] == value
    assert third.headers["content-type"] == "application/json"
    kinds = [entry.kind.value for entry in service.curator.ledger.entries()]
    service.curator.requests.withdraw_grant(
        "visits", purpose="care", analyst="ann", why="over", by="stan"
    )
    assert service.ask("POST", whole, by="ann", json=question).status_code == 403
    more = [entry.kind.value for entry in service.curator.ledger.entries()][len(kinds) :]
    assert more == ["level_withdrawn", "refused"]


def test_a_row_limit_is_found_kept_and_paid_for_by_who_asks(service: Service) -> None:
    """40 people have one row each, so ten rows are the limit, or more by chance, once in a hundred
    times or less; what it costs does not depend on it.
    Three releases: the limit, the answer, and later another answer."""
    ledger = service.curator.ledger
    sql = "SELECT COUNT(*) AS limited FROM visits"
    before, told = ledger.data_set("visits").spent.epsilon, len(ledger)
    body = service.question(sql, max_rows="auto")
    seen = service.ask("POST", "/questions/preview", by="ann", json=body)
    assert (seen.status_code, len(ledger)) == (200, told)
    answer = service.ask("POST", "/questions/release", by="ann", json=body)
    assert answer.status_code == 200, answer.text
    assert "limit found" in answer.json()["remark"]
    assert ledger.data_set("visits").spent.epsilon == before + Fraction(1, 10)
    again = service.ask("POST", "/questions/release", by="ann", json=body).json()
    assert again["release"] == answer.json()["release"]
    assert again["repeated"] is True
    for purpose, found in (("?purpose=care", True), ("", False), ("?purpose=other", False)):
        facts = service.ask("GET", f"/data-sets/visits{purpose}", by="ann").json()
        kept = facts["row_limit"]
        assert (kept is not None) is found, "who has paid is told"
        assert kept is None or (kept["epsilon"] == "0.01" and kept["rows"] >= 10)
    assert (
        service.ask("GET", "/data-sets/visits?purpose=care", by="olga").json()["row_limit"] is None
    )
    usual = service.ask("POST", "/questions/release", by="ann", json=service.question(sql)).json()
    assert "limit found" in usual["remark"]
    assert ledger.data_set("visits").spent.epsilon == before + Fraction(2, 10)
    refused = service.ask(
        "POST", "/questions/release", by="ann", json=service.question(sql, max_rows="many")
    )
    assert refused.status_code == 422


@pytest.mark.long  # session/test_row_limit.py stays
def test_a_row_limit_that_does_not_fit_charges_nothing(service: Service) -> None:
    ledger = service.curator.ledger
    ledger.raise_version("visits")
    before = ledger.data_set("visits").spent
    body = service.question("SELECT COUNT(*) AS much FROM visits", max_rows="auto", epsilon=9)
    answer = service.ask("POST", "/questions/release", by="ann", json=body)
    assert answer.status_code in (403, 409, 422), answer.text
    assert ledger.data_set("visits").spent == before
