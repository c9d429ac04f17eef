"""The second counter's answers as another organisation sends them: an answer, or it is away."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from letalone.curator.surveys.counters import FIRST, CounterPart
from letalone.curator.surveys.other_counter import ask_for_total, ask_to_check, check_address
from letalone.errors import ParameterError, ServiceUnavailable
from letalone.local.questionnaires.questions import QuestionKind, Questionnaire, SurveyQuestion

QUESTION = SurveyQuestion("Do you smoke?", QuestionKind.YES_NO)
SURVEY = Questionnaire("mood", "How?", "To plan.", 1, (QUESTION,), date(2031, 1, 1), True)  # type: ignore[arg-type]
PART = CounterPart(SURVEY, FIRST, bytes(32))


@contextmanager
def answering(content: bytes) -> Iterator[str]:
    """The address of somebody who answers everything with this, headers included."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 99\r\n\r\n{}",
        b"HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n",
        *(
            b"HTTP/1.0 200 OK\r\n\r\n" + body
            for body in (
                b"", b"[]", b"7", b"{}", b'{"told": 7, "totals": 7}', b"[" * 200_000,
                b'{"told": {"a": 1}["b"], "totals": [["x"]]}', b'{"totals": [[1, 2]]}',
                b'{"totals": [[1], [2]]}', b'{"totals": [[NaN]]}', b'{"totals": [[Infinity]]}',
            )
        ),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_told_as_a_counter_that_is_away(content: bytes) -> None:
    with answering(content) as address, pytest.raises(ServiceUnavailable):
        ask_for_total(address, PART, ["00" * 16])
    if b"totals" not in content:
        with answering(content) as address, pytest.raises(ServiceUnavailable):
            ask_to_check(address, PART, nonce="00" * 16, told=["00"])


@pytest.mark.parametrize(
    "address",
    [
        "http://counter.example", "ftp://counter.example", "https://", "https://a:b@counter.example",
        "https://counter.example; script-src *", "https://counter.example?x", "https://a#b",
        "https://[::1", "javascript:alert(1)", "https://counter.example/\n", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_an_address_that_could_not_stand_in_a_pages_policy_is_refused(address: str) -> None:
    with pytest.raises(ParameterError, match="such as"):
        check_address(address)
    assert check_address("https://counter.example:8443/dp/") == "https://counter.example:8443/dp"
    assert check_address("http://[::1]:80") == "http://[::1]:80"
