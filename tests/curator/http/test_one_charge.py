"""Real workers: equal questions at once, given up, or whose worker was killed are charged once."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest

from curator.http.test_serving import PASSWORD, SQL, posted, serving
from letalone.curator.curator import Curator
from letalone.curator.storage.settings import Settings
from letalone.ledger.chain.entries import EntryKind

PATIENCE = 60
Posted = dict[str, Any]


def workers_of(process: int) -> list[int]:
    """The processes that a supervisor started, but for Python's own tracker."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process and b"resource_tracker" not in (place / "cmdline").read_bytes():
                found.append(int(place.name))
    return found


def until_answered(address: str, body: Posted, token: str) -> Any:
    until = monotonic() + PATIENCE
    while monotonic() < until:
        with suppress(httpx.TransportError):
            answer = posted(address, "/questions/release", body, token)
            if answer.status_code == 200:
                return answer.json()["release"]
        sleep(0.1)
    raise AssertionError("it was never answered")


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for workers in /proc")
def test_two_workers_charge_once_at_once_given_up_and_killed(tmp_path: Path) -> None:
    folder = tmp_path / "curator"
    with serving(folder, "--workers", "2") as (process, address, first):
        body = {"name": "analyst", "password": first["one_time_passwords"]["analyst"]}
        assert posted(address, "/passwords", {**body, "new": PASSWORD}).status_code == 200
        token = posted(address, "/tokens", {**body, "password": PASSWORD}).json()["secret"]

        def question(number: int) -> Posted:
            about = {"data_set": "demo_visits", "purpose": "look around", "sql": SQL}
            return {**about, "epsilon": f"{1000 + number}/100000"}

        with ThreadPoolExecutor(3) as pool:
            for number in range(6):
                asked = [question(number)] * 3
                found = list(pool.map(lambda one: until_answered(address, one, token), asked))
                assert found[0] == found[1] == found[2]
        for number in range(6, 10):
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(
                    f"{address}/api/v1/questions/release",
                    json=question(number),
                    headers={"Authorization": f"Bearer {token}"},
                    timeout=0.06,
                )
            until_answered(address, question(number), token)
        with ThreadPoolExecutor(1) as pool:
            for number in range(10, 14):
                asking = pool.submit(until_answered, address, question(number), token)
                sleep(0.1)  # within its time step
                for worker in workers_of(process.pid):
                    os.kill(worker, signal.SIGKILL)
                asking.result()
    with Curator.open(Settings(folder=folder)) as curator:
        curator.ledger.verify()
        kinds = [entry.kind for entry in curator.ledger.entries("demo_visits")]
        assert kinds.count(EntryKind.RESERVED) == 14
        assert not curator.ledger.unsettled()
