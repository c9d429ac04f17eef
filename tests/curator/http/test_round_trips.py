"""How often a question waits for PostgreSQL: each wait is a network's delay, some under a lock."""

import pytest

from curator.http.conftest import TestClient
from curator.makers import NAME, PURPOSE, grant, open_curator, registered, with_people
from letalone.curator.http.app import make_app
from letalone.curator.http.limits import RateLimits
from letalone.wire.records import Scope
from postgres import running
from round_trips import counting

MOST = {
    "fresh": 26,  # one of them for a row limit that was found
    "repeated after others": 10,
    "repeated": 4,
    "refused": 12,
    "preview": 14,
    "health": 6,
}


@pytest.fixture(scope="module")
def trips():
    with running() as server, counting(str(server.get_uri())) as found:
        yield found


@pytest.mark.long  # how fast, not whether: test_on_postgres.py
def test_a_fresh_question_waits_for_postgresql_at_most_26_times(trips, tmp_path):
    where = {"database": trips.address, "ledger": trips.address}
    with open_curator(tmp_path, **where) as curator:
        grant(registered(with_people(curator)))
        secret, _ = curator.tokens.make("ann", [Scope.ASK])
        app = make_app(curator, rates=RateLimits(of_a_person=10**9))
        client = TestClient(app, headers={"Authorization": f"Bearer {secret}"})

        def waits(kind, where="release", epsilon=0.01, column="ward"):
            sql = f"SELECT {column}, COUNT(*) AS n FROM {NAME} GROUP BY {column}"
            body = {"data_set": NAME, "purpose": PURPOSE, "sql": sql, "epsilon": epsilon}
            trips.taken()
            if kind == "health":
                answer = client.get("/health")
            else:
                answer = client.post(f"/api/v1/questions/{where}", json=body)
            assert (answer.status_code < 300) == (kind != "refused"), answer.text
            return trips.taken()

        waits("fresh", epsilon=0.03)  # connections are open by then
        found = {
            "fresh": waits("fresh", epsilon=0.02),
            "repeated after others": waits("repeated", epsilon=0.02),
            "repeated": waits("repeated", epsilon=0.02),
            "refused": waits("refused", column="age"),
            "preview": waits("preview", where="preview"),
            "health": waits("health"),
        }
    assert {kind: found[kind] for kind, most in MOST.items() if found[kind] > most} == {}
