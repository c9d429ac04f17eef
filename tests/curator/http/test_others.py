"""What belongs to somebody else: answers, receipts, requests, data sets, the steward's side."""

from typing import Any

import pytest

Service = Any
Making = Any
EXACT = (
    ("POST", "/subjects/holdings", {"subject": "3", "why": "x"}),
    ("POST", "/subjects/rows", {"data_set": "visits", "subject": "3", "why": "x"}),
    ("POST", "/subjects/releases", {"data_set": "visits", "subject": "3", "why": "x"}),
    ("POST", "/subjects/erasures", {"data_set": "visits", "subject": "3", "why": "x"}),
    ("GET", "/data-sets/visits/affected", None),
    ("GET", "/budgets/visits", None),
    ("GET", "/ledger", None),
    ("GET", "/ledger/export", None),
    ("POST", "/ledger/checkpoint", None),
    ("GET", "/processing", None),
    ("GET", "/people", None),
    ("GET", "/proposals", None),
    ("POST", "/data-sets/visits/thaw", {"why": "x"}),
    ("POST", "/data-sets/visits/version", None),
    ("POST", "/uploads", None),
)


def test_another_analysts_answers_and_receipts_do_not_exist(service: Service) -> None:
    service.ask("POST", "/questions/release", by="ann", json=service.question())
    (theirs, *_) = service.ask("GET", "/questions/history", by="ann").json()["releases"]
    for path in (
        f"/questions/history/{theirs['id']}",
        f"/questions/history/{theirs['id']}/receipt",
    ):
        answer = service.ask("GET", path, by="ben")
        nowhere = service.ask("GET", path.replace(theirs["id"], "0" * 32), by="ben")
        assert answer.status_code == nowhere.status_code == 404
        assert answer.json()["title"] == nowhere.json()["title"]
    assert service.ask("GET", "/questions/history", by="ben").json()["releases"] == []


def test_another_analysts_requests_do_not_exist(service: Service) -> None:
    mine = service.ask("GET", "/requests", by="ann").json()["requests"]
    assert {one["analyst"] for one in mine} == {"ann"}
    path = f"/requests/{mine[0]['id']}"
    assert service.ask("GET", path, by="ben").status_code == 404
    assert service.ask("DELETE", path, by="ben").status_code in (403, 404)
    grants = service.ask("GET", "/grants", by="ben").json()["grants"]
    assert {one["analyst"] for one in grants} == {"ben"}


def test_a_repeat_of_anothers_question_is_paid_from_the_own_share(service: Service) -> None:
    """The same answer, once in each analyst's ration (rule 18 of docs/explanation/soundness.md)."""
    body = service.question("SELECT COUNT(*) AS shared FROM visits", epsilon=0.25)
    first = service.ask("POST", "/questions/release", by="ann", json=body).json()
    spent = service.curator.ledger.data_set("visits").spent

    def own() -> float:
        (grant,) = service.ask("GET", "/budgets", by="ben").json()["grants"]
        return float(grant["spent"]["epsilon"])

    before = own()
    again = service.ask("POST", "/questions/release", by="ben", json=body).json()
    assert again["release"] == first["release"]
    assert own() - before == pytest.approx(0.25)
    assert service.curator.ledger.data_set("visits").spent == spent


@pytest.mark.parametrize(("method", "path", "body"), EXACT, ids=lambda one: str(one)[:30])
def test_nothing_of_the_stewards_side_is_for_analysts(
    service: Service, method: str, path: str, body: Any
) -> None:
    answer = service.ask(method, path, by="ann", json=body)
    assert answer.status_code == 403, answer.text


def test_an_analyst_without_a_grant_learns_nothing_from_a_question(service: Service) -> None:
    service.curator.people.add("eve", [service.role("analyst")], by="olga")
    answers = [
        service.as_new("eve", "POST", "/questions/release", json=service.question(sql))
        for sql in ("SELECT COUNT(*) AS n FROM visits", "SELECT nonsense FROM nowhere")
    ]
    assert [answer.status_code for answer in answers] == [403, 403]
    assert answers[0].json()["detail"] == answers[1].json()["detail"]


@pytest.mark.long  # curator/test_asking.py: analysts together stay within the budget
def test_two_analysts_together_get_no_more_than_the_cap(making: Making) -> None:
    """Each may spend 8 of 10: together the data set's cap stops them, at exactly 10."""
    service = making()
    paid = 0
    for number in range(12):
        for analyst in ("ann", "ben"):
            sql = f"SELECT COUNT(*) AS n FROM visits WHERE cost > {number * 2 + (analyst == 'ben')}"
            body = service.question(sql, epsilon=1)
            answer = service.ask("POST", "/questions/release", by=analyst, json=body)
            assert answer.status_code in (200, 409), answer.text
            paid += answer.status_code == 200
    assert paid == 10
    last = service.ask("POST", "/questions/release", by="ann", json=body).json()
    assert last["type"] == "/problems/budget-exceeded"
    assert service.curator.ledger.data_set("visits").spent.epsilon == 10
    service.curator.ledger.verify()


def test_nobody_raises_a_budget_alone(service: Service) -> None:
    body = {"data_set": "visits", "budget": {"epsilon": 20, "delta": 1e-6}, "why": "more"}
    made = service.ask("POST", "/proposals", by="stan", json=body)
    assert made.status_code == 201, made.text
    path = f"/proposals/{made.json()['id']}/decision"
    alone = service.ask("POST", path, by="stan", json={"seconded": True})
    assert alone.status_code == 403
    assert service.curator.ledger.data_set("visits").budget.epsilon == 10
    assert service.ask("POST", path, by="ann", json={"seconded": True}).status_code == 403
    declined = service.ask("POST", path, by="olga", json={"seconded": False, "reason": "no"})
    assert declined.json()["state"] == "refused"
    again = service.ask("POST", path, by="olga", json={"seconded": True})
    assert again.status_code == 409


def test_nobody_decides_their_own_request(making: Making) -> None:
    service = making()
    service.curator.people.change_roles(
        "ann", [service.role("analyst"), service.role("steward")], by="olga"
    )
    body = {
        "data_set": "visits",
        "purpose": "care",
        "columns": ["ward"],
        "budget": {"epsilon": 1},
        "why": "for me",
    }
    made = service.ask("POST", "/requests", by="ann", json=body)
    secret, _ = service.curator.tokens.elevate("ann", service.password)
    answer = service.client.post(
        f"/api/v1/requests/{made.json().get('id', '0')}/decision",
        json={"granted": True, "reason": "fine"},
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 403, answer.text
