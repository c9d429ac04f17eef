"""A client asks without an engine, a database or Arrow: they may not even be installed."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import letalone as la
from client.conftest import URL, serve
from curator.http.conftest import PASSWORD

ASKING = """
import json, sys
class Hiding:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        hidden = name.split(".")[0] in absent
        return None if hidden else self.finder.find_spec(name, path, target)
    def __getattr__(self, name):
        return getattr(self.finder, name)
absent = {"duckdb", "numpy", "pandas", "polars", "pyarrow", "scipy", "sqlalchemy", "sqlglot"}
absent |= {"pygments", "rich", "typer"}
sys.meta_path[:] = map(Hiding, sys.meta_path)
import letalone as la
la.Client
print(sum(name.split(".")[0] == "letalone" for name in sys.modules))
import httpx
said = json.load(open(sys.argv[1]))
def answer(request):
    return httpx.Response(200, json=said[f"{request.method} {request.url.path}"])
there = httpx.MockTransport(answer)
client = la.Client("http://localhost:8400", "la_" + "x" * 20, transport=there)
visits = client.open("visits", purpose="care")
question = visits.where(la.col("cost") >= 0).group_by("ward").agg(n=la.count())
assert "Would cost" in str(question.preview(epsilon=0.3))
assert "ward" in question.explain() and question.explain(0.3)
assert visits.how_many_more(question, epsilon=0.3) > 0
assert question.epsilon_for(error=50) > 0
release = question.release(epsilon=0.3)
assert "ward" in str(release) and "<table" in release._repr_html_() and release.explain()
assert release.save(sys.argv[1] + ".receipt") and la.Release.load(sys.argv[1] + ".receipt")
print(json.dumps(release.rows()))
assert not absent & {name.split(".")[0] for name in sys.modules}
absent.remove("sqlglot")
assert visits.sql("SELECT ward, COUNT(*) AS n FROM visits WHERE cost >= 0 GROUP BY ward").plan
for act in (lambda: visits.join(object(), on="ward"), lambda: la.open("visits.csv")):
    try:
        act()
    except la.ParameterError as error:
        print(error)
"""


class Recording(httpx.BaseTransport):
    """Keeps what a service answers, by method and path."""

    def __init__(self, there: Any) -> None:
        self.there, self.said = there, dict[str, Any]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self.there.handle_request(request)
        response.read()
        self.said[f"{request.method} {request.url.path}"] = response.json()
        return response


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """What a client printed that found none of these packages."""
    with serve(tmp_path_factory.mktemp("light")) as service:
        recording = Recording(service.transport)
        with la.Client.log_in(URL, "ann", PASSWORD, transport=recording) as client:
            visits = client.open("visits", purpose="care")
            question = visits.where(la.col("cost") >= 0).group_by("ward").agg(n=la.count())
            question.preview(epsilon=0.3)
            question.explain(0.3)
            visits.how_many_more(question, epsilon=0.3)
            question.epsilon_for(error=50)
            rows = question.release(epsilon=0.3).rows()
        path = tmp_path_factory.mktemp("said") / "said.json"
        path.write_text(json.dumps(recording.said))
        run = subprocess.run(
            [sys.executable, "-c", ASKING, str(path)], capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        yield [json.dumps(rows), *run.stdout.splitlines()]


def test_a_client_loads_at_most_a_hundred_modules_of_letalone(asked: list[str]) -> None:
    assert int(asked[1]) <= 100


def test_an_answer_is_the_same_where_no_engine_is_installed(asked: list[str]) -> None:
    assert asked[2] == asked[0]


def test_what_needs_more_says_what_to_install(asked: list[str]) -> None:
    assert "pip install numpy pyarrow" in asked[3]
    assert asked[4].startswith("la.open needs ")
    assert "To install letalone with all that it requires: " in asked[4]
