"""What a service says beside its answers may be false, but hides no lie in an answer, hangs
nobody and steers no terminal."""

import json

import httpx
import pytest

import letalone as la
from client.conftest import URL
from letalone.errors import FormatError, LedgerDamaged
from letalone.wire.records import Scope


class Lying(httpx.BaseTransport):
    """Passes requests on, and changes the answers from one address."""

    def __init__(self, inner, path, change):
        self.inner, self.path, self.change = inner, path, change

    def handle_request(self, request):
        answer = self.inner.handle_request(request)
        answer.read()
        if not request.url.path.endswith(self.path):
            return answer
        return httpx.Response(answer.status_code, json=self.change(answer.json()))


@pytest.fixture
def lied_to(service):
    def make(path, change):
        token = service.curator.tokens.make("ann", [Scope.ASK])[0]
        return la.Client(URL, token, transport=Lying(service.transport, path, change))

    return make


def test_an_answer_of_the_history_is_shown_only_as_it_was_signed(lied_to, visits):
    answer = visits.agg(n=la.count()).release(epsilon=0.05)

    def beside_the_receipt(body):
        changed = json.dumps(body["releases"][0]["release"]).replace("0.05", "0.06")
        body["releases"][0]["release"] = json.loads(changed)
        return body

    def within_the_receipt(body):
        changed = json.dumps(body["releases"][0]["receipt"]).replace("visits", "others")
        body["releases"][0]["receipt"] = json.loads(changed)
        return body

    found = lied_to("/history", beside_the_receipt).history("visits")
    assert answer in [one.release for one in found]
    with pytest.raises((LedgerDamaged, FormatError)):
        lied_to("/history", within_the_receipt).history("visits")


def test_a_short_number_that_is_huge_is_refused_and_not_computed(lied_to):
    def change(body):
        body["grants"][0]["spent"]["epsilon"] = "1e30000000"
        return body

    with pytest.raises(FormatError):
        lied_to("/budgets", change).grants()


def test_no_letter_of_a_description_steers_the_terminal(lied_to):
    def change(body):
        body["data_sets"][0]["description"] = "calm\x1b[2J\x1b]0;owned\x07"
        return body

    shown = repr(lied_to("/data-sets", change).data_sets())
    assert "calm" in shown
    assert not {"\x1b", "\x07"} & set(shown)
