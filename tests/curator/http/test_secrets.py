"""Everything that people do is done once; then answers and logs are searched for planted words."""

import logging
from typing import Any

Service = Any
Making = Any
PLANTED = ("Zyxwvut", "987654.25", "987654", "31415926")
LITERALS = ("4321.125", "Qponmlk")
WHY = "because Jihgfed asked"


def test_no_planted_word_is_in_a_log_and_no_secret_in_what_an_analyst_sees(making: Making) -> None:
    service, heard = making(), list[str]()

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record.getMessage())

    ear = Ear()
    logging.getLogger().addHandler(ear)
    seen = [one.text for one in analyst_side(service)]
    steward_side(service)
    logging.getLogger().removeHandler(ear)
    log = service.log.getvalue() + "\n".join(heard)
    tokens = [*service.secrets.values(), service.password]
    for word in (*PLANTED, *LITERALS, *tokens, "Jihgfed", "SELECT", "cost", "visits.csv", "ward"):
        assert word not in log, word
    for word in PLANTED:
        assert not [text for text in seen if word in text], word
    assert [text for text in seen if '"facts"' in text], "facts and remedies were searched, too"
    assert log.count('"event": "request"') > 20, "there was something to search"


def analyst_side(service: Service) -> list[Any]:
    sql = f"SELECT COUNT(*) AS n FROM visits WHERE cost > {LITERALS[0]}"
    bad = f"SELECT {LITERALS[1]} FROM visits"
    bodies = [service.question(one) for one in (sql, sql, bad, f"SELECT '{LITERALS[1]}")]
    asked = [
        service.ask("POST", f"/questions/{what}", by="ann", json=body)
        for body in bodies
        for what in ("preview", "release")
    ]
    paths = ("/questions/history", "/data-sets", "/budgets", "/grants", f"/nowhere/{LITERALS[1]}")
    looked = [service.ask("GET", path, by="ann") for path in paths]
    query = service.ask("GET", f"/questions/history?data_set={LITERALS[1]}", by="ann")
    return [*asked, *looked, query, service.client.get("/open"), service.client.get("/api/v1/open")]


def steward_side(service: Service) -> None:
    for path in ("holdings", "rows", "releases", "erasures"):
        body = {"subject": PLANTED[3], "why": WHY}
        body |= {} if path == "holdings" else {"data_set": "visits"}
        answer = service.ask("POST", f"/subjects/{path}", by="stan", json=body)
        assert answer.status_code == 200, answer.text
    service.ask("GET", "/data-sets/visits/affected", by="olga")
    service.ask("POST", "/elevations", by="olga", json={"password": service.password})
    service.ask("POST", "/elevations", by="olga", json={"password": "Qponmlk"})
    service.ask("GET", "/ledger?limit=1000", by="aud")
