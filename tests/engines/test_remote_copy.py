"""A file elsewhere is copied once, when its owner opens it, and nothing is left behind."""

import tempfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pyarrow.fs as fs
import pytest

import letalone as la
from letalone.errors import BudgetExceeded, ParameterError

ROWS = ("id,cost\n" + "".join(f"p{n},{n}\n" for n in range(40))).encode()


class Site(BaseHTTPRequestHandler):
    """Serves one file, and counts who asks."""

    asked: list[str]

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        if self.path == "/moved.csv":
            self.send_response(302)
            self.send_header("Location", "/data/visits.csv")
            self.end_headers()
            return
        found = self.path == "/data/visits.csv"
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(ROWS) if found else 0))
        self.end_headers()
        self.wfile.write(ROWS if found else b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "private").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "private"))
    Site.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def copies() -> list[Path]:
    return list(Path("private").rglob("*.csv"))


def test_a_file_is_copied_when_it_is_opened_and_the_copy_is_private_and_removed(site: str) -> None:
    given = {"unit": "id", "budget": 10**6, "types": {"cost": "integer"}, "copy": True}
    with la.open(f"{site}/data/visits.csv", **given) as table:
        (copy,) = copies()
        assert (copy.parent.stat().st_mode & 0o777, Site.asked) == (0o700, ["/data/visits.csv"])
        query = table.agg(total=la.sum("cost", lower=0, upper=40)).bound(max_rows=1)
        assert round(query.release(10**5).rows()[0]["total"]) == 780
        assert len(Site.asked) == 1, "nothing is fetched for a question"
        assert "a copy of visits.csv of 127.0.0.1" in repr(table)
    assert copies() == []


def test_without_its_owners_word_nothing_is_copied(site: str) -> None:
    with pytest.raises(ParameterError, match="copy=True"):
        la.open(f"{site}/data/visits.csv", unit="id", budget=1)
    assert Site.asked == []


@pytest.mark.long
def test_what_cannot_be_fetched_or_opened_leaves_nothing_behind(site: str) -> None:
    with pytest.raises(ParameterError, match="the server answered 404"):
        la.open(f"{site}/data/no.csv", unit="id", budget=1, copy=True)
    with pytest.raises(ParameterError, match="'nobody' is not in table"):
        la.open(f"{site}/data/visits.csv", unit="nobody", budget=1, copy=True)
    with pytest.raises(ParameterError, match="cannot be reached"):
        la.open("http://127.0.0.1:9/visits.csv", unit="id", budget=1, copy=True)
    assert list(Path("private").iterdir()) == []


def test_a_file_has_one_budget_in_the_working_folder_however_it_is_spelled(site: str) -> None:
    la.Ledger.open(f"127.0.0.1%3A{site.rsplit(':', 1)[1]}.letalone.db").close()
    spelled = [f"{site}/data/visits.csv", f"{site}/d%61ta/visits.csv", f"{site}/data/v%69sits.csv"]
    for epsilon, address in zip((1, 1.1, 1.2), spelled, strict=True):
        with la.open(address, unit="id", budget=2.5, copy=True) as table:
            query = table.agg(n=la.count()).bound(max_rows=1)
            if epsilon == 1.2:
                with pytest.raises(BudgetExceeded):
                    query.release(epsilon)
            else:
                query.release(epsilon)


@pytest.mark.long
def test_a_redirection_is_followed_where_it_is_as_safe(site: str) -> None:
    with la.open(f"{site}/moved.csv", unit="id", budget=1, copy=True) as table:
        assert table.name == "moved"


@pytest.mark.long
def test_a_file_of_a_bucket_is_read_by_its_bucket_and_key(
    site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("clinic/a b").mkdir(parents=True)
    Path("clinic/a b/visits.csv").write_bytes(ROWS)
    asked: list[str] = []

    class Buckets:
        @staticmethod
        def from_uri(address: str) -> tuple[fs.FileSystem, str]:
            asked.append(address)
            return fs.SubTreeFileSystem(str(Path.cwd()), fs.LocalFileSystem()), ""

    monkeypatch.setattr(fs, "FileSystem", Buckets)
    with la.open("s3://clinic/a b/visits.csv", unit="id", budget=1, copy=True) as table:
        assert (table.name, asked) == ("visits", ["s3://clinic"])
    with pytest.raises(ParameterError, match="could not be copied"):
        la.open("gs://clinic/no.csv", unit="id", budget=1, copy=True)
