"""The proxy of docs/how-to/deploy.md, as it is written there, with Debian's nginx.

Only addresses, ports and the certificate's place are others.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from socket import create_connection, socket
from ssl import create_default_context
from typing import Any

import httpx
import pytest

import letalone as la

pytestmark = pytest.mark.long
PAGE = Path(__file__).parents[2] / "docs/how-to/deploy.md"
NAME, PASSWORD = "curator.example.org", "correct horse battery staple"
PROTO = "X-Forwarded-Proto"
PATIENCE = 60  # seconds: it starts slowly on a busy machine
CODE = "import sys; from letalone.cli.app import run; sys.exit(run(sys.argv[1:]))"
AROUND = """
daemon off; worker_processes 1; error_log stderr; pid {folder}/nginx.pid; {user}
events {{ worker_connections 64; }}
http {{
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {server}
}}
"""


def documented() -> str:
    """The server block of the page."""
    (found,) = re.findall(r"```text\n(server \{.*?)```", PAGE.read_text(), re.DOTALL)
    return found


def free_port() -> int:
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def replaced(text: str, changes: dict[str, str]) -> str:
    for before, after in changes.items():
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


@contextmanager
def started(*words: str, port: int, **more: Any) -> Iterator[Any]:
    """A process, once it listens."""
    process = subprocess.Popen(words, **more)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            assert process.poll() is None, words
            try:
                create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
         "-keyout", folder / "key.pem", "-out", folder / "cert.pem", "-subj", f"/CN={NAME}",
         "-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, dict[str, str]]]:
    """`letalone serve --behind-proxy 127.0.0.1`: its port, and the one-time passwords."""
    folder, port = tmp_path_factory.mktemp("curator"), free_port()
    words = ["serve", "--json", "--folder", str(folder), "--port", str(port)]
    command = [sys.executable, "-c", CODE, *words, "--behind-proxy", "127.0.0.1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with started(*command, port=port, **pipes) as process:
        first = json.loads(process.stdout.readline())
        yield port, first["one_time_passwords"]
        process.stdout.close()


@contextmanager
def proxy(block: str, certificate: Path, behind: int, folder: Path) -> Iterator[int]:
    """nginx with a server block of the page; its port."""
    port = free_port()
    server = replaced(
        block,
        {
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            "/etc/ssl/curator.pem": str(certificate / "cert.pem"),
            "/etc/ssl/curator.key": str(certificate / "key.pem"),
            "http://127.0.0.1:8400": f"http://127.0.0.1:{behind}",
        },
    )
    user = "user root;" if os.geteuid() == 0 else ""
    place = folder / "nginx.conf"
    place.write_text(AROUND.format(folder=folder, user=user, server=server))
    nginx = which("nginx")
    assert nginx is not None
    with started(nginx, "-e", "stderr", "-p", str(folder), "-c", str(place), port=port):
        yield port


@contextmanager
def browser(port: int, certificate: Path) -> Iterator[httpx.Client]:
    """A browser that has found the proxy under its name."""
    headers = {"Host": NAME, "Origin": f"https://{NAME}", "Sec-Fetch-Site": "same-origin"}
    base, trusted = (
        f"https://127.0.0.1:{port}",
        create_default_context(cafile=certificate / "cert.pem"),
    )
    with httpx.Client(base_url=base, headers=headers, verify=trusted, timeout=PATIENCE) as one:
        yield one


def signed_in(one: httpx.Client, name: str, password: str) -> httpx.Response:
    page = one.get("/sign-in")
    (secret,) = re.findall(r'name="csrf" value="([0-9a-f]+)"', page.text)[:1]
    cookies = "; ".join(line.partition(";")[0] for line in page.headers.get_list("set-cookie"))
    body = {"csrf": secret, "name": name, "password": password}
    return one.post("/sign-in", data=body, headers={"Cookie": cookies})


def test_people_sign_in_and_ask_through_the_proxy_as_it_is_documented(
    certificate: Path,
    service: tuple[int, dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    behind, once = service
    with proxy(documented(), certificate, behind, tmp_path) as port:
        with browser(port, certificate) as one:
            new = {"name": "analyst", "password": once["analyst"], "new": PASSWORD}
            assert one.post("/api/v1/passwords", json=new).status_code == 200
            answer = signed_in(one, "analyst", PASSWORD)
            assert answer.status_code == 303, answer.text
            (cookie,) = [
                c for c in answer.headers.get_list("set-cookie") if "__Host-letalone=" in c
            ]
            for flag in ("Secure", "HttpOnly", "SameSite=strict"):
                assert flag in cookie
            assert len(answer.headers.get_list("strict-transport-security")) == 1
            assert one.get("/ready").json()["status"] == "ok"
            log_in = {"name": "analyst", "password": PASSWORD}
            token = one.post("/api/v1/tokens", json=log_in).json()["secret"]
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
        with la.Client(f"https://127.0.0.1:{port}", token=token) as client:
            table = client.open("demo_visits", purpose="look around")
            found = table.sql("SELECT COUNT(*) AS n FROM demo_visits", epsilon=0.1)
            assert len(found.rows()) == 1


def test_without_the_header_of_the_protocol_nobody_could_sign_in(
    certificate: Path, service: tuple[int, dict[str, str]], tmp_path: Path
) -> None:
    lines = [line for line in documented().splitlines() if PROTO not in line]
    assert len(lines) == len(documented().splitlines()) - 1
    with (
        proxy("\n".join(lines), certificate, service[0], tmp_path) as port,
        browser(port, certificate) as one,
    ):
        answer = signed_in(one, "owner", service[1]["owner"])
    assert answer.status_code == 403
    assert "Nobody can sign in here" in answer.text
