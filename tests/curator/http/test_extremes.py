"""Numbers that are exact as typed and none as floats: refused in words, before any charge.

All are tried, so there is no chance in it. The alternative that is refuted: a number passes as a
rational, becomes 0.0, 1.0 or inf on the way, and freezes the data set after the charge.
"""

from itertools import product

import pytest

from curator.http.conftest import Service

TINY, HUGE = ("1e-999", "1e-400", "1e-310"), ("1e310",)
ONES = ("0.9999999999", f"0.{'9' * 40}")
FIELDS = {
    "epsilon": (*TINY, *HUGE, "1001"),
    "error": (*TINY, *HUGE),
    "delta": (*TINY, *ONES),
    "confidence": (*TINY, *ONES, "1e-10", "1e999"),
}
QUESTIONS = (
    "SELECT AVG(cost) AS m, SUM(cost) AS s FROM visits",
    "SELECT MEDIAN(cost) AS m FROM visits",
)
CASES = [(field, value) for field, values in FIELDS.items() for value in values]


@pytest.mark.few(
    "epsilon-1e-999",
    "epsilon-1001",
    "error-1e310",
    "delta-1e-400",
    "delta-0.9999999999]",
    "confidence-1e999",
)
@pytest.mark.parametrize(("field", "value"), CASES)
@pytest.mark.long  # others of this file stay
def test_no_extreme_number_freezes_a_data_set_or_fails(
    service: Service, field: str, value: str
) -> None:
    for sql, route in product(QUESTIONS, ("release", "epsilon")):
        more = {field: value} | ({"epsilon": None} if field == "error" else {})
        body = service.question(sql, **more)
        answer = service.ask("POST", f"/questions/{route}", by="ann", json=body)
        assert answer.status_code in (200, 409, 422), (answer.status_code, answer.text)
    good = service.question("SELECT COUNT(*) AS n FROM visits", epsilon=0.01)
    assert service.ask("POST", "/questions/release", by="ann", json=good).status_code == 200


@pytest.mark.parametrize("value", ["1e-400", "1e-10", "0.9999999999"])
def test_a_confidence_at_either_end_is_refused_before_the_charge(
    service: Service, value: str
) -> None:
    before = service.curator.ledger.data_set("visits").spent
    body = service.question("SELECT AVG(cost) AS m FROM visits", confidence=value)
    answer = service.ask("POST", "/questions/release", by="ann", json=body)
    assert answer.status_code == 422
    assert "from 1e-9 to 0.999999999" in answer.json()["detail"]
    assert service.curator.ledger.data_set("visits").spent == before


@pytest.mark.parametrize("bounds", [("0", "1e-999"), ("-1e999", "1e999"), ("0", "1e-310")])
def test_no_extreme_bound_freezes_a_data_set(service: Service, bounds: tuple[str, str]) -> None:
    for sql in QUESTIONS:
        body = service.question(sql, bounds={"cost": bounds})
        answer = service.ask("POST", "/questions/release", by="ann", json=body)
        assert answer.status_code in (200, 409, 422), answer.text


def test_an_answer_has_at_most_ten_thousand_groups(service: Service) -> None:
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    body = service.question(sql, keys=[str(number) for number in range(10_001)])
    answer = service.ask("POST", "/questions/preview", by="ann", json=body)
    assert answer.status_code == 422
    assert "10,001 groups, but may have 10,000" in answer.json()["detail"]
