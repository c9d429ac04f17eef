"""How often a question waits for PostgreSQL: round trips of the curator's two stores.

    python bench/curator_requests.py [--delay 0.02]

The service in this process, its ledger and its database on one server of PostgreSQL, behind a
proxy that counts round trips (tests/round_trips.py) and holds each answer for the delay that is
given: what a network between two machines adds. *Fresh*: charged, measured, settled. *Repeated*:
the same again, at once after something was written and with nothing written in between. The usual
number is told, of several that were counted; seconds are those of one question by the clock.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

sys.path.pop(0)  # bench has a curator.py, too
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from curator.http.conftest import TestClient
from curator.makers import NAME, PURPOSE, grant, open_curator, registered, with_people
from letalone.curator.http.app import make_app
from letalone.curator.http.limits import RateLimits
from letalone.curator.http.logs import make_log
from letalone.wire.records import Scope
from postgres import running
from round_trips import Trips, counting

TIMES = 12


def main() -> None:
    """Prints round trips and seconds for each kind of question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds a round trip")
    delay = parser.parse_args().delay
    with (
        running() as server,
        counting(str(server.get_uri()), delay=delay) as trips,
        tempfile.TemporaryDirectory() as folder,
        open_curator(Path(folder), database=trips.address, ledger=trips.address) as curator,
        Path("/dev/null").open("w") as nowhere,
    ):
        grant(registered(with_people(curator)))
        secret, _ = curator.tokens.make("ann", [Scope.ASK])
        app = make_app(curator, rates=RateLimits(of_a_person=10**9), log=make_log(nowhere))
        client = TestClient(app, headers={"Authorization": f"Bearer {secret}"})
        for kind, ask in questions(client).items():
            told(kind, ask, trips)


def questions(client: TestClient) -> dict[str, Callable[[int], int]]:
    """What is asked, each given another number; its status."""

    def ask(epsilon: float, where: str = "release", column: str = "ward") -> int:
        sql = f"SELECT {column}, COUNT(*) AS n FROM {NAME} GROUP BY {column}"
        body = {"data_set": NAME, "purpose": PURPOSE, "sql": sql, "epsilon": epsilon}
        return client.post(f"/api/v1/questions/{where}", json=body).status_code

    return {
        "fresh": lambda number: ask(0.001 + number / 10**6),
        "repeated": lambda _: ask(0.001),
        "refused": lambda _: ask(0.001, column="age"),
        "preview": lambda _: ask(0.001, where="preview"),
        "health": lambda _: client.get("/health").status_code,
    }


def told(kind: str, ask: Callable[[int], int], trips: Trips) -> None:
    """Asks several times, and prints what is usual."""
    waits, seconds = list[int](), list[float]()
    for number in range(TIMES):
        trips.taken()
        began = perf_counter()
        status = ask(number)
        seconds.append(perf_counter() - began)
        waits.append(trips.taken())
    usual, most = median(waits), max(waits)
    print(f"{kind:9} {usual:5.0f} round trips (at most {most}), {median(seconds):.3f} s; {status}")


if __name__ == "__main__":
    main()
