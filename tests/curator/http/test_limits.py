"""So many requests a minute, for each person and for each address without a token."""

from random import Random
from threading import active_count

import pytest
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from letalone.curator.http.limits import RateLimits, RateLimitStorage, Throttle
from letalone.curator.http.problems import HttpProblemError


def test_the_request_after_the_last_that_is_allowed_is_refused_with_how_long_to_wait() -> None:
    throttle = Throttle(RateLimits(of_a_person=3, of_an_address=2))
    for _ in range(3):
        throttle.person("ann")
    with pytest.raises(HttpProblemError) as found:
        throttle.person("ann")
    assert found.value.problem.code == 429
    assert 1 <= int(found.value.problem.headers["Retry-After"]) <= 120


def test_people_and_addresses_are_counted_apart() -> None:
    throttle = Throttle(RateLimits(of_a_person=1, of_an_address=1, log_ins_of_an_address=1))
    throttle.person("ann")
    throttle.person("ben")
    throttle.address("ann")
    throttle.log_in("ann")
    with pytest.raises(HttpProblemError):
        throttle.person("ben")


def test_counting_starts_no_threads_and_keeps_no_counts_that_are_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = RateLimitStorage()
    counts.timer.join()
    threads, now = active_count(), [1000.0]
    monkeypatch.setattr("letalone.curator.http.limits.time", lambda: now[0])
    monkeypatch.setattr("limits.storage.memory.time.time", lambda: now[0])
    for number in range(3 * RateLimitStorage.MANY):
        now[0] += 0.1
        counts.incr(f"person {number}", 60)
    assert active_count() <= threads
    assert len(counts.storage) <= 2 * RateLimitStorage.MANY, "without, all of them would be there"
    assert len(counts.storage) == len(counts.expirations)
    assert [counts.incr("ann", 60), counts.incr("ann", 60), counts.decr("ann")] == [1, 2, 1]
    now[0] += 61
    assert counts.incr("ann", 60) == 1


def test_as_many_are_let_through_as_by_the_librarys_own_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, limit = [1000.0], RateLimitItemPerMinute(5)
    monkeypatch.setattr("letalone.curator.http.limits.time", lambda: now[0])
    monkeypatch.setattr("limits.storage.memory.time.time", lambda: now[0])
    ours = SlidingWindowCounterRateLimiter(RateLimitStorage())
    theirs = SlidingWindowCounterRateLimiter(MemoryStorage())
    chance, let = Random(1), list[bool]()
    for _ in range(300):
        now[0] += chance.choice([0, 1, 5, 20, 90])
        let.append(ours.hit(limit, "ann"))
        assert let[-1] == theirs.hit(limit, "ann")
    assert 50 < sum(let) < 290
