"""The network: errors in words, a token that goes nowhere else, answers that are no answers."""

import logging
import pickle
import traceback
import zlib

import httpx
import pytest

import letalone as la
from letalone.client import connection
from letalone.curator.http.problems import of_status
from letalone.errors import ParameterError, ServiceUnavailable

TOKEN = "la_" + "Zq" * 21


def client(handler, url="https://curator.example.org", **more):
    return la.Client(url, TOKEN, transport=httpx.MockTransport(handler), **more)


def raising(error):
    def handler(request):
        raise error("a private word of the library", request=request)

    return handler


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.ConnectError, "cannot be reached"),
        (httpx.ConnectTimeout, "did not answer within 60 seconds"),
        (httpx.ReadTimeout, "not charged twice"),
        (httpx.ReadError, "broke off"),
        (httpx.RemoteProtocolError, "broke off"),
    ],
)
def test_errors_of_the_network_are_told_in_words_and_hold_no_request(error, words):
    with pytest.raises(ServiceUnavailable, match=words) as caught:
        client(raising(error)).data_sets()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert TOKEN not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate", "SSL_CERT_FILE="),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number", "no encrypted connection"),
    ],
)
def test_a_fault_of_tls_is_not_told_as_a_service_that_is_away(said, words):
    def handler(request):
        raise httpx.ConnectError(said, request=request)

    with pytest.raises(ServiceUnavailable, match=words):
        client(handler).grants()


def test_the_address_of_a_page_is_told_from_that_of_the_service():
    said = of_status(404).to_json()
    asked = client(lambda _: httpx.Response(404, json=said), "https://curator.example.org/open")
    with pytest.raises(ParameterError, match=r"Is it at https://curator\.example\.org\?"):
        asked.grants()


def test_redirects_are_not_followed():
    seen = []

    def handler(request):
        seen.append(request.url.host)
        return httpx.Response(307, headers={"Location": "https://elsewhere.example.org/x"})

    with pytest.raises(ServiceUnavailable, match="status 307"):
        client(handler).grants()
    assert seen == ["curator.example.org"]


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>log in</html>"),
        httpx.Response(200, json=["a", "list"]),
        httpx.Response(502, text="bad gateway"),
        httpx.Response(200, content=b"\xff\xfe"),
    ],
)
def test_what_is_not_a_letalone_service_is_said_to_be_none(answer):
    with pytest.raises(ServiceUnavailable, match="not in the way of a letalone service"):
        client(lambda _: answer).data_sets()


@pytest.mark.parametrize("said", [{}, {"data_sets": 7}, {"data_sets": [{"name": "x"}]}])
def test_an_answer_of_another_form_is_refused_in_words(said):
    with pytest.raises(la.FormatError, match="does not know"):
        client(lambda _: httpx.Response(200, json=said)).data_sets()


def test_the_token_is_in_one_header_and_in_nothing_that_is_shown(caplog):
    seen = []

    def handler(request):
        seen.append(request)
        return httpx.Response(200, json={"grants": []})

    found = client(handler)
    with caplog.at_level(logging.DEBUG):
        found.grants()
        shown = repr(found) + str(found) + found._repr_html_() + repr(found._link)
    assert seen[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in str(seen[0].url)
    assert TOKEN not in shown + caplog.text
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(found)


def test_too_many_requests_say_how_long_to_wait():
    said = {"type": "/problems/too-many-requests", "detail": "Too many."}
    answer = httpx.Response(429, json=said, headers={"Retry-After": "12"})
    with pytest.raises(ServiceUnavailable, match=r"Too many\. Try again in 12 seconds"):
        client(lambda _: answer).grants()


def test_a_closed_client_and_a_wrong_timeout_are_refused():
    with client(lambda _: httpx.Response(200, json={"grants": []})) as found:
        assert found.grants() == []
    with pytest.raises(ParameterError, match="closed"):
        found.grants()
    for seconds in (0, -1, float("nan"), "soon"):
        with pytest.raises(ParameterError, match="timeout_seconds"):
            client(lambda _: None, timeout_seconds=seconds)


def test_a_picture_of_a_client_does_not_fail_without_a_network():
    assert "cannot be reached" in client(raising(httpx.ConnectError))._repr_html_()


def sending(answers):
    """A question that is paid for, each time answered with the next; and the keys that came."""
    left, keys = list(answers), []

    def handler(request):
        keys.append(request.headers["Idempotency-Key"])
        one = left.pop(0)
        if isinstance(one, httpx.Response):
            return one
        raise one("broken", request=request)

    link = client(handler)._link
    return lambda: link.post_once("/questions/release", {"x": 1}), keys


AWAY = {"type": "/problems/under-way", "detail": "It is being answered.", "status": 503}


@pytest.mark.parametrize(
    "first", [httpx.ReadError, httpx.ConnectError, httpx.Response(503, json=AWAY)]
)
def test_what_is_paid_for_is_sent_again_under_the_same_name(first, monkeypatch):
    monkeypatch.setattr("letalone.client.connection.sleep", lambda _: None)
    ask, keys = sending([first, httpx.ReadError, httpx.Response(200, json={"a": 1})])
    assert ask() == {"a": 1}
    assert len(keys) == 3
    assert len(set(keys)) == 1
    more, others = sending([httpx.Response(200, json={"a": 1})])
    more()
    assert set(others).isdisjoint(keys), "each question has a name of its own"


@pytest.mark.parametrize(
    ("answers", "error", "times"),
    [
        ([httpx.ReadError] * 9, ServiceUnavailable, 4),
        ([httpx.Response(503, json=AWAY)] * 9, ServiceUnavailable, 4),
        ([httpx.ReadTimeout] * 9, ServiceUnavailable, 1),
        (
            [httpx.Response(422, json={"detail": "no", "type": "/problems/not-valid"})] * 9,
            ParameterError,
            1,
        ),
    ],
)
def test_it_is_sent_a_few_times_and_only_where_that_may_help(answers, error, times, monkeypatch):
    slept = []
    monkeypatch.setattr("letalone.client.connection.sleep", slept.append)
    ask, keys = sending(answers)
    with pytest.raises(error) as caught:
        ask()
    assert caught.value.__context__ is None
    assert len(keys) == times
    assert sum(slept) < 5


def test_an_answer_is_read_up_to_a_declared_size_however_small_it_is_packed(monkeypatch):
    """8 MiB of blanks in 8 kB, as they come over the network."""
    monkeypatch.setattr(connection, "MOST_BYTES", 1 << 20)
    packer = zlib.compressobj(9, wbits=31)
    sent = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(8)) + packer.flush()
    most = []

    class Slowly(httpx.SyncByteStream):
        def __iter__(self):
            for start in range(0, len(sent), 512):
                most.append(start)
                yield sent[start : start + 512]

    def handler(request):
        return httpx.Response(200, headers={"Content-Encoding": "gzip"}, stream=Slowly())

    with pytest.raises(ServiceUnavailable, match="more than 1 MiB, the most that is read"):
        client(handler).data_sets()
    assert 0 < len(most) * 512 < 0.5 * len(sent)


@pytest.mark.parametrize("packed", ["br", "zstd", "gzip, gzip", "x" * 400])
def test_an_answer_that_is_packed_in_another_way_is_not_unpacked(packed):
    def handler(request):
        assert request.headers["Accept-Encoding"] == "gzip"
        stream = httpx.ByteStream(b"\x00")
        response = httpx.Response(200, stream=httpx.SyncByteStream())
        response.headers["Content-Encoding"] = packed
        response.stream = stream
        return response

    with pytest.raises(ServiceUnavailable, match="and only gzip and deflate are read") as caught:
        client(handler).data_sets()
    assert len(str(caught.value)) < 400
