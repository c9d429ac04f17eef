"""`letalone serve` as people start it: one command, several workers, SIGTERM."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from black_hole import black_hole
from letalone.cli.app import run
from letalone.cli.trust.serve import say_once_it_listens, what_next
from letalone.curator.curator import Curator
from letalone.curator.http import serving as serving_module
from letalone.curator.http.serving import SETTINGS_VARIABLE, prepare
from letalone.curator.http.serving import serve as answer_until
from letalone.curator.storage.settings import Settings
from postgres import running

PASSWORD = "correct horse battery staple"
SQL = "SELECT ward, COUNT(*) AS n FROM demo_visits GROUP BY ward"
PATIENCE = 60  # seconds: two workers start on a busy machine
CODE = "import sys; from letalone.cli.app import run; sys.exit(run(sys.argv[1:]))"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def serving(folder: Path, *more: str) -> Iterator[tuple[Any, str, dict[str, Any]]]:
    """The process, its address, and what it printed first."""
    port = free_port()
    words = ["serve", "--json", "--folder", str(folder), "--port", str(port), *more]
    with (folder.parent / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", CODE, *words],
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
    try:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        wait_for(first["address"], process)
        yield process, first["address"], first
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_for(address: str, process: Any) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(f"{address}/health").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("it does not answer")


def posted(address: str, path: str, body: Any, token: str | None = None) -> Any:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.post(f"{address}/api/v1{path}", json=body, headers=headers, timeout=PATIENCE)


@pytest.mark.long
def test_one_command_serves_and_several_workers_share_the_ledger(tmp_path: Path) -> None:
    folder = tmp_path / "curator"
    with serving(folder, "--workers", "2") as (process, address, first):
        once = first["one_time_passwords"]["analyst"]
        body = {"name": "analyst", "password": once}
        assert posted(address, "/tokens", body).status_code == 403
        assert posted(address, "/passwords", {**body, "new": PASSWORD}).status_code == 200
        made = posted(address, "/tokens", {**body, "password": PASSWORD}).json()
        token, question = made["secret"], {"data_set": "demo_visits", "purpose": "look around"}
        question["sql"] = SQL
        answers = [
            posted(address, "/questions/release", {**question, "epsilon": 0.3}, token)
            for _ in range(4)
        ]
        assert {answer.status_code for answer in answers} == {200}, answers[0].text
        assert all(one.json()["release"] == answers[0].json()["release"] for one in answers)
        assert len(answers[0].json()["rows"]) == 6
        over = posted(address, "/questions/release", {**question, "epsilon": 0.8}, token)
        assert over.status_code == 409, "whichever worker answers, the share is one"
        revoked = httpx.delete(
            f"{address}/api/v1/tokens/{made['token']['id']}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=PATIENCE,
        )
        assert revoked.status_code == 200
        after = [
            posted(address, "/questions/release", {**question, "epsilon": 0.3}, token)
            for _ in range(8)
        ]
        assert {one.status_code for one in after} == {401}, "over in all workers at once"
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
    with Curator.open(Settings(folder=folder)) as curator:
        curator.ledger.verify()
        assert float(curator.ledger.data_set("demo_visits").spent.epsilon) == pytest.approx(0.3)
        assert not curator.ledger.unsettled()
    log = (tmp_path / "log.txt").read_text()
    for secret in (PASSWORD, once, token, "SELECT", "ward"):
        assert secret not in log
    lines = [json.loads(line) for line in log.splitlines()]
    assert {line["event"] for line in lines} == {"request"}, "nothing but requests was logged"


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_service_whose_stores_are_silent_says_so_and_stops_when_it_is_told_to(
    tmp_path: Path, workers: str
) -> None:
    """Fifteen and ten seconds, and some more for a machine that has other work."""
    with running() as server, black_hole(server.get_uri()) as (hole, place):
        places = ("--database", place, "--ledger", place, "--workers", workers)
        with serving(tmp_path / "curator", *places) as (process, address, first):
            body = {"name": "analyst", "password": first["one_time_passwords"]["analyst"]}
            assert posted(address, "/passwords", {**body, "new": PASSWORD}).status_code == 200
            made = posted(address, "/tokens", {**body, "password": PASSWORD}).json()
            question = {"data_set": "demo_visits", "purpose": "look around", "sql": SQL}
            asked = {**question, "epsilon": 0.1}
            first_answer = posted(address, "/questions/release", asked, made["secret"])
            hole.swallow()
            began = time.monotonic()
            found = posted(address, "/questions/release", asked, made["secret"])
            assert (found.status_code, found.headers["Retry-After"]) == (503, "5")
            assert time.monotonic() - began < 20
            hole.open()
            time.sleep(4)
            again = posted(address, "/questions/release", asked, made["secret"])
            assert again.json()["release"] == first_answer.json()["release"]
            hole.swallow()
            with ThreadPoolExecutor(4) as pool:
                for _ in range(4):
                    pool.submit(suppressed, posted, address, "/questions/release", asked)
                time.sleep(0.3)
                began = time.monotonic()
                process.send_signal(signal.SIGTERM)
                process.wait(PATIENCE)
                assert time.monotonic() - began < 13
    log = [json.loads(line) for line in (tmp_path / "log.txt").read_text().splitlines()]
    assert not [line for line in log if "charges may be lost" in line["event"]], "fsync is on"


def suppressed(run: Any, *given: Any) -> None:
    with suppress(httpx.HTTPError):
        run(*given)


def test_the_start_says_in_the_log_that_a_server_may_forget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serving_module, "is_postgres", lambda _: True)
    monkeypatch.setattr(serving_module, "switched_off", lambda _: ["fsync"])
    prepare(Settings(folder=tmp_path / "curator"))
    said = capsys.readouterr()
    assert "charges may be lost when the server loses power: set fsync to on" in said.out + said.err


SLOW = """
import pathlib, sys, time
if "--multiprocessing-fork" in sys.argv:
    with pathlib.Path({file!r}).open("a") as file:
        file.write("started\\n")
    time.sleep(7)
"""


@pytest.mark.long
def test_workers_get_time_to_start_and_one_that_died_is_replaced_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each worker takes seven seconds before its first line of code, as on a busy machine."""
    starts = tmp_path / "starts.txt"
    (tmp_path / "sitecustomize.py").write_text(SLOW.format(file=str(starts)))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    with serving(tmp_path / "curator", "--workers", "2") as (process, address, _):
        assert starts.read_text().count("started") == 2, "none was killed while it started"
        victim = children(process)[-1]
        os.kill(victim, signal.SIGKILL)
        until = time.monotonic() + PATIENCE
        while (lines := log_lines(tmp_path)) == [] and time.monotonic() < until:
            time.sleep(0.2)
        assert lines == [f"Child process [{victim}] died"]
        assert httpx.get(f"{address}/health").status_code == 200


def children(process: Any) -> list[int]:
    """The workers, whichever thread started them; Python has a helper process beside them."""
    lists = Path(f"/proc/{process.pid}/task").glob("*/children")
    found = [int(one) for file in lists for one in file.read_text().split()]
    return [one for one in found if "spawn_main" in Path(f"/proc/{one}/cmdline").read_text()]


def log_lines(folder: Path) -> list[str]:
    """What the web server itself has said."""
    lines = [json.loads(line) for line in (folder / "log.txt").read_text().splitlines()]
    return [line["words"] for line in lines if line["event"] == "uvicorn.error"]


def test_a_connection_is_kept_longer_than_clients_and_proxies_use_an_idle_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTINGS_VARIABLE, "")  # `serve` sets it: put back at the end
    given: dict[str, Any] = {}
    monkeypatch.setattr(uvicorn, "run", lambda _, **more: given.update(more))
    answer_until(Settings(folder=tmp_path), host="127.0.0.1", port=1, workers=1)
    nginx = 60  # its keepalive_timeout of upstreams
    assert given["timeout_keep_alive"] > max(nginx, httpx.Limits().keepalive_expiry or 0)


def test_the_first_start_happens_once(tmp_path: Path) -> None:
    settings = Settings(folder=tmp_path / "curator")
    first = prepare(settings)
    assert first is not None
    assert set(first.passwords) == {"owner", "analyst"}
    assert prepare(settings) is None
    assert (tmp_path / "curator").stat().st_mode & 0o777 == 0o700


@pytest.mark.long  # test_the_first_start_happens_once
def test_a_start_after_one_that_failed_half_way_says_how_to_get_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(folder=tmp_path / "curator")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(serving_module, "register_demo", fail)
        with pytest.raises(OSError, match="No space left"):
            prepare(settings)
    assert prepare(settings) is None
    assert "--reset-owner owner" in capsys.readouterr().err
    with Curator.open(settings) as curator:
        curator.people.change_password("owner", curator.people.reset_owner("owner"), PASSWORD)
    assert prepare(settings) is None
    assert "--reset-owner" not in capsys.readouterr().err


@pytest.mark.long  # test_the_first_start_happens_once
def test_who_answers_for_the_data_is_kept_and_a_lost_password_is_reset_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(folder=tmp_path / "curator")
    words = ["serve", "--folder", str(settings.folder), "--reset-owner", "owner"]
    assert run(words) == 2
    assert "There is no curator in" in capsys.readouterr().err
    assert not settings.folder.exists()
    prepare(settings, controller="A hospital", contact="privacy@example.org")
    prepare(settings)
    assert run([*words, "--json"]) == 0
    once = json.loads(capsys.readouterr().out)["one_time_passwords"]["owner"]
    with Curator.open(settings) as curator:
        assert curator.openness.page()["controller"] == "A hospital"
        assert curator.people.log_in("owner", once).must_change
    assert run([*words[:-1], "analyst"]) == 2
    assert "is not an owner" in capsys.readouterr().err


def test_it_says_that_it_serves_only_once_it_listens(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("letalone.cli.trust.serve.TRIES", 2)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        place = found.getsockname()
        say_once_it_listens(place, "Serving")
        assert capsys.readouterr().out == ""
        found.listen()
        say_once_it_listens(place, "Serving")
    assert capsys.readouterr().out == "Serving\n"


def test_a_port_that_is_taken_is_named_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        folder = tmp_path / "curator"
        assert run(["serve", "--folder", str(folder), "--port", str(port)]) == 2
    assert f"127.0.0.1 port {port} cannot be listened on" in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "0"], "--port is 0, but must be from 1 to 65535."),
        (["--workers", "0"], "--workers is 0, but must be from 1 to 64."),
        (["--time-step", "-1"], "--time-step is -1.0"),
        (["--behind-proxy", "*"], "--behind-proxy is '*', but must be the address of the proxy"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_made(
    tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "curator"
    assert run(["serve", "--folder", str(folder), *words]) == 2
    assert said in capsys.readouterr().err
    assert not folder.exists()


@pytest.mark.parametrize(
    ("behind", "told"), [(None, "127.0.0.1"), ("127.0.0.1", "10.9.8.7"), ("10.0.0.1", "127.0.0.1")]
)
def test_where_a_request_comes_from_is_believed_from_the_proxy_that_was_named_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behind: str | None, told: str
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    monkeypatch.setenv(SETTINGS_VARIABLE, "")  # `serve` sets it: put back at the end
    given: dict[str, Any] = {}
    monkeypatch.setattr(uvicorn, "run", lambda _, **more: given.update(more))
    answer_until(Settings(folder=tmp_path), host="127.0.0.1", port=1, workers=1, behind=behind)
    heard: list[str] = []

    async def app(scope: Any, *_: Any) -> None:
        heard.append(scope["client"][0])

    wanted = ("proxy_headers", "forwarded_allow_ips")
    config = uvicorn.Config(app, log_config=None, **{name: given[name] for name in wanted})
    config.load()
    scope = {
        "type": "http", "client": ("127.0.0.1", 1), "scheme": "http",
        "headers": [(b"x-forwarded-for", b"10.9.8.7")],
    }  # fmt: skip
    asyncio.run(config.loaded_app(scope, None, None))
    assert heard == [told]


def test_a_service_that_only_counts_sends_nobody_to_a_page_that_it_has_not(tmp_path):
    counter, usual = (Settings(folder=tmp_path, aggregator=only) for only in (True, False))
    assert "/sign-in" in what_next("http://127.0.0.1:8400", usual)
    told = what_next("http://127.0.0.1:8400", counter)
    assert "/sign-in" not in told
    assert f"letalone survey join FILE --folder {tmp_path}" in told
