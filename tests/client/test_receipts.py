"""An answer is shown only if its signature holds and it answers the question that was asked."""

import json

import httpx
import pytest

import letalone as la
from client.conftest import URL
from letalone.errors import FormatError, LedgerDamaged

TOKEN = "la_" + "x" * 40


class Changing(httpx.BaseTransport):
    """Passes requests on, and changes what a release is answered with."""

    def __init__(self, inner, change):
        self.inner, self.change = inner, change

    def handle_request(self, request):
        answer = self.inner.handle_request(request)
        answer.read()
        if not request.url.path.endswith("/questions/release"):
            return answer
        body = self.change(answer.json())
        return httpx.Response(answer.status_code, json=body)


@pytest.fixture
def asked(service):
    """The answer to a question after somebody on the way has changed it."""

    def ask(change, **more):
        token = service.curator.tokens.make("ann", [scope()])[0]
        transport = Changing(service.transport, change)
        client = la.Client(URL, token, transport=transport, **more)
        return client.open("visits", purpose="care").agg(n=la.count()).release(epsilon=0.05)

    return ask


def scope():
    from letalone.wire.records import Scope

    return Scope.ASK


def test_a_receipt_is_checked_offline_by_the_key_of_the_service(client, visits, tmp_path):
    answer = visits.agg(n=la.count()).release(epsilon=0.05)
    path = answer.save(tmp_path / "answer.json")
    assert la.Release.load(path, public_key=client.public_key) == answer
    (newest,) = [one for one in client.history() if one.release == answer][:1]
    assert client.receipt(newest) == client.receipt(answer) == json.loads(path.read_text())


def test_another_key_is_noticed_before_anything_is_charged(service):
    before = len(service.curator.ledger)
    client = service.client("ann", public_key="0" * 64)
    with pytest.raises(LedgerDamaged, match="Nothing was asked"):
        client.open("visits", purpose="care")
    assert len(service.curator.ledger) == before
    right = service.client("ann", public_key=service.curator.ledger.fingerprint)
    assert right.open("visits", purpose="care")


def test_a_receipt_that_was_changed_is_refused(asked):
    assert asked(lambda body: body).rows()

    def change(body):
        body["receipt"]["body"]["release"]["outputs"][0]["values"] = [1]
        return body

    with pytest.raises(LedgerDamaged):
        asked(change)


def test_what_stands_beside_a_receipt_is_not_believed(asked):
    whole = asked(lambda body: body)

    def change(body):
        body["release"]["outputs"], body["rows"] = [], [{"n": 10**9}]
        return body

    assert asked(change) == whole


def test_the_answer_to_another_question_is_refused(asked, visits):
    other = visits.agg(m=la.mean("cost")).release(epsilon=0.05)
    dearer = visits.agg(n=la.count()).release(epsilon=0.06)
    for wrong in (other, dearer):

        def change(body, wrong=wrong):
            return {**body, "receipt": wrong.standing.receipt}

        with pytest.raises(FormatError, match="another question"):
            asked(change)


def test_a_key_that_is_given_must_be_the_one_that_signs(asked, client, tmp_path):
    with la.Ledger.open(tmp_path / "other.db") as other:
        key = other.public_key
    assert asked(lambda body: body, public_key=client.public_key).rows()
    with pytest.raises(LedgerDamaged, match="another key"):
        asked(lambda body: body, public_key=key)


@pytest.mark.parametrize("receipt", [None, {}, 7])
def test_an_answer_without_a_receipt_is_refused(asked, receipt):
    with pytest.raises(FormatError):
        asked(lambda body: {**body, "receipt": receipt})
