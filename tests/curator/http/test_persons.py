"""A steward serves a person in the data: held, rows, releases, correction, erasure (G7)."""

from typing import Any

import pytest

Service = Any
Making = Any


@pytest.fixture(scope="module")
def held(making: Making) -> Service:
    return making()


def asked(service: Service, path: str, **more: Any) -> Any:
    body = {"subject": "3", "why": "they wrote to us", **more}
    answer = service.ask("POST", f"/subjects/{path}", by="stan", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_g7_a_person_is_found_seen_corrected_and_erased(held: Service) -> None:
    held.ask("POST", "/questions/release", by="ann", json=held.question())
    (holding,) = [one for one in asked(held, "holdings")["holdings"] if one["held"]]
    assert holding["data_set"] == "visits"
    assert len(asked(held, "releases", data_set="visits")["releases"]) == 1
    (row,) = asked(held, "rows", data_set="visits")["rows"]
    assert (row["ward"], float(row["cost"])) == ("B", 30.0)
    asked(held, "corrections", data_set="visits", row=0, changes={"cost": 31})
    (row,) = asked(held, "rows", data_set="visits")["rows"]
    assert float(row["cost"]) == 31.0
    done = asked(held, "erasures", data_set="visits")
    assert done["rows"] == 1
    assert "spent" in done["words"], "what was spent stays spent, and it says why"
    assert asked(held, "rows", data_set="visits")["rows"] == []


def test_the_id_of_a_person_is_in_no_address_no_log_and_no_entry(held: Service) -> None:
    asked(held, "holdings", subject="31415926")
    paths = held.client.get("/api/v1/openapi.json").json()["paths"]
    assert not [path for path in paths if "subjects" in path and "{" in path]
    assert "31415926" not in held.log.getvalue()
    entries = held.ask("GET", "/ledger?limit=1000", by="aud").text
    assert "31415926" not in entries


def test_a_reason_must_be_given(held: Service) -> None:
    answer = held.ask("POST", "/subjects/holdings", by="stan", json={"subject": "3", "why": ""})
    assert answer.status_code == 422
