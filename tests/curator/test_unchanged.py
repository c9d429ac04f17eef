"""What was read once is not read again, and not used once it is over: at once, in all workers."""

from datetime import timedelta

import pytest

from curator.makers import COUNT, NAME, PURPOSE, ask, open_curator
from letalone.curator.data_sets import data_store
from letalone.curator.grants import service as requests
from letalone.curator.storage.caches import CacheMiss, StampedCache
from letalone.curator.storage.refusals import NotPermitted, NotRecognised
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.errors import NotAllowed
from letalone.wire.records import Role, Scope

QUESTION = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=COUNT)
PRICE = QuestionPrice(epsilon=0.1)


class Store:
    """Something that is written to, and looked at."""

    def __init__(self):
        self.stamp, self.looks, self.reads = 1, 0, 0

    def look(self):
        self.looks += 1
        return self.stamp

    def read(self):
        self.reads += 1
        return f"as of {self.stamp}"


def test_a_value_is_read_once_for_each_state_of_the_store():
    store = Store()
    cache = StampedCache(store.look)
    assert [cache.value("k", store.read) for _ in range(3)] == ["as of 1"] * 3
    store.stamp = 2
    assert [cache.value("k", store.read) for _ in range(3)] == ["as of 2"] * 3
    assert store.reads == 2
    store.stamp = None
    assert [cache.value("k", store.read) for _ in range(3)] == ["as of None"] * 3
    assert store.reads == 5, "where it is not known, it is read"


def test_what_was_written_while_a_value_was_read_is_read_at_the_next_use():
    store = Store()
    cache = StampedCache(store.look)

    def slow():
        found = store.read()
        store.stamp += 1  # somebody writes now
        return found

    assert cache.value("k", slow) == "as of 1"
    assert cache.value("k", store.read) == "as of 2"


def test_at_hand_nothing_is_read_and_one_look_serves_a_block():
    store = Store()
    cache = StampedCache(store.look)
    with pytest.raises(CacheMiss), cache.only_cached():
        cache.value("k", store.read)
    assert store.reads == 0
    cache.value("k", store.read)
    looks = store.looks
    with cache.only_cached():
        assert [cache.value("k", store.read) for _ in range(3)] == ["as of 1"] * 3
    assert store.looks == looks + 1
    with pytest.raises(ZeroDivisionError):
        cache.value("error", lambda: 1 // 0)
    assert cache.value("error", lambda: 1) == 1


@pytest.fixture
def two(ready, tmp_path, clock):
    """Two workers on one folder; the second has recognised ann and has her answer at hand."""
    with open_curator(tmp_path, clock=clock) as other:
        secret, token = ready.tokens.make("ann", [Scope.ASK])
        first = ask(other)
        other.tokens.bearer(secret)
        other.tokens.bearer(secret)
        ask(other)
        assert other.tokens.cached_bearer(secret) == other.tokens.bearer(secret)
        found = other.asking.cached_answer(QUESTION, PRICE, by="ann")
        assert found is not None
        assert found.release.repeated
        assert found.release.to_json() == first.to_json()
        yield ready, other, secret, token


ACTS = {
    "grant": lambda one, _: one.requests.withdraw_grant(
        NAME, purpose=PURPOSE, analyst="ann", why="x", by="stan"
    ),
    "purpose": lambda one, _: one.data_sets.withdraw_purpose(NAME, PURPOSE, why="x", by="olga"),
    "data set": lambda one, _: one.data_sets.retire(NAME, why="x", by="olga"),
}


@pytest.mark.parametrize("over", ACTS)
def test_what_one_worker_ends_is_over_for_the_other_at_once(two, over):
    one, other, _, token = two
    ACTS[over](one, token)
    assert other.asking.cached_answer(QUESTION, PRICE, by="ann") is None
    refusals = [entry.kind.value for entry in other.ledger.entries()].count("refused")
    with pytest.raises(NotAllowed):
        ask(other)
    entries = [entry.kind.value for entry in one.ledger.entries()]
    assert entries.count("refused") == refusals + 1, "and the refusal is written down"
    other.requests.grants(
        by="ann", own=True
    )  # all is read anew, so nothing is missing but the right
    assert other.asking.cached_answer(QUESTION, PRICE, by="ann") is None


def test_a_token_or_person_that_one_worker_ends_is_over_for_the_other_at_once(two):
    one, other, secret, token = two
    spare, _ = one.tokens.make("ann", [Scope.ASK])
    assert other.tokens.bearer(spare).person.name == "ann"
    one.tokens.revoke(token.id, by="ann")
    assert other.tokens.cached_bearer(secret) is None
    with pytest.raises(NotRecognised):
        other.tokens.bearer(secret)
    one.people.change_roles("ann", [Role.AUDITOR], by="olga")
    assert other.tokens.bearer(spare).scopes == frozenset()
    assert other.asking.cached_answer(QUESTION, PRICE, by="ann") is None
    with pytest.raises(NotPermitted):
        ask(other)
    one.people.disable("ann", by="olga")
    with pytest.raises(NotRecognised):
        other.tokens.bearer(spare)


def test_what_ends_by_the_clock_is_over_though_nobody_has_written(two, clock):
    _, other, secret, _ = two
    clock.passed += timedelta(days=1)
    assert other.tokens.cached_bearer(secret) is None, "the day of its use is to be written"
    other.tokens.bearer(secret)
    other.tokens.bearer(secret)
    assert other.tokens.cached_bearer(secret) is not None
    clock.passed += timedelta(days=4000)
    assert other.tokens.cached_bearer(secret) is None
    with pytest.raises(NotRecognised):
        other.tokens.bearer(secret)


def test_another_question_price_or_person_is_not_at_hand(two):
    _, other, _, _ = two
    assert other.asking.cached_answer(QUESTION, QuestionPrice(epsilon=0.2), by="ann") is None
    assert other.asking.cached_answer(QUESTION, PRICE, by="ben") is None
    other.data_sets.raise_version(NAME, by="olga")
    assert other.asking.cached_answer(QUESTION, PRICE, by="ann") is None


def test_a_repeat_makes_no_statement_for_the_database(two, monkeypatch):
    """Making one takes longer than all the rest of a repeat."""
    one, *_ = two
    first = one.asking.release(QUESTION, PRICE, by="ann")
    one.asking.release(QUESTION, PRICE, by="ann")
    for module in (data_store, requests):
        monkeypatch.setattr(module, "select", None)
    assert one.asking.release(QUESTION, PRICE, by="ann") == first


def test_what_was_read_with_another_value_is_kept_under_the_same_look():
    stamps, read = iter(range(1, 9)), []
    cache = StampedCache(lambda: next(stamps))

    def token():
        cache.put("person", "ann")
        return "token"

    with cache.single_stamp():
        assert cache.value("token", token) == "token"
        assert cache.value("person", lambda: read.append(1)) == "ann"
    cache.value("person", lambda: read.append(1))
    assert read == [1], "another look, so it is read anew"
    cache.put("person", "ben")  # without a look: nobody knows when it was so
    assert cache.value("person", lambda: "read anew") == "read anew"
