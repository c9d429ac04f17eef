"""The pages of the console: how long the server takes, and how much a browser fetches.

    python bench/console.py [--times 40]

People in every role, a table and some answers, as in the tests. The app is called in this process,
so that no network is in it; then over HTTP, by a web server in another thread. Time steps are off.
The claim is a median under 50 ms and less than 100 kB for each page with all its files, before they
are packed. A busy machine makes all of it slower: the load is printed, and CPU is what this process
used.
"""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from threading import Thread
from time import perf_counter, process_time, sleep

import httpx
import uvicorn

sys.path.pop(0)  # bench has a curator.py of its own
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from curator.console.conftest import Browser, Console
from curator.makers import NAME, Clock, ask, grant, open_curator, registered, with_people
from letalone.curator.console.files import STATIC
from letalone.curator.http.logs import make_log

BY_WARD = f"SELECT ward, COUNT(*) AS n FROM {NAME} GROUP BY ward"
FORM = {"data_set": NAME, "purpose": "planning", "way": "sql", "sql": BY_WARD, "epsilon": "0.1"}
PAGES = {
    "ann": ("/", "/data-sets", f"/data-sets/{NAME}", "/ask", "/history", "/requests", "/account"),
    "stan": ("/", "/requests", "/data-sets"),
    "olga": ("/", "/people", "/budgets"),
    "aud": ("/", "/ledger"),
    "": ("/open", "/epsilon", "/sign-in"),
}


def made(folder: Path) -> Console:
    with open_curator(folder, clock=Clock(days=-30)) as curator:
        with_people(curator)
    curator = grant(registered(open_curator(folder)))
    ask(curator, BY_WARD, epsilon=0.3)
    return Console(curator, Clock(), log=make_log(Path(os.devnull).open("w")))


class OverHttp(Browser):
    """A browser that talks to a web server."""

    def __init__(self, address: str) -> None:
        self.client, self.csrf = httpx.Client(base_url=address, follow_redirects=False), ""


@contextmanager
def listening(app: object) -> Iterator[str]:
    """The address of a web server with this app."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def measured(browser: Browser, path: str, times: int) -> str:
    first = browser.see(path)
    if first.status_code != 200:
        return f"{path:<28} {first.status_code}"
    names = set(re.findall(r'/static/[0-9a-f]+/([^"]+)"', first.text))
    size = len(first.content) + sum((STATIC / name).stat().st_size for name in names)
    return f"{path:<28} {timed(lambda: browser.see(path), times)} {size / 1000:8.1f} kB"


def timed(look: object, times: int) -> str:
    took, used = [], []
    for _ in range(times):
        began, cpu = perf_counter(), process_time()
        look()
        took.append(perf_counter() - began)
        used.append(process_time() - cpu)
    return f"{1000 * median(took):8.1f} ms {1000 * median(used):8.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=40)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as folder:
        console = made(Path(folder))
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"{'page':<28} {'median':>11} {'CPU':>11} {'with files':>11}")
        for name, paths in PAGES.items():
            browser = console.by(name) if name else console.anybody()
            for path in paths:
                print(measured(browser, path, times), f"  {name}")
        ann = console.by("ann")
        print(f"{'preview':<28} {timed(lambda: ann.send('/ask/preview', **FORM), times)}")
        (answer, *_) = console.curator.asking.history(by="ann")
        print(measured(ann, f"/history/{answer.id}", times).replace(answer.id, "{id}"), "  ann")
        print("over HTTP (CPU is that of both ends)")
        with listening(console.app) as address:
            for name, paths in PAGES.items():
                browser = OverHttp(address)
                if name:
                    assert browser.sign_in(name).status_code == 303
                for path in paths:
                    print(measured(browser, path, times), f"  {name}")
        console.curator.close()


if __name__ == "__main__":
    main()
