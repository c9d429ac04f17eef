"""So many requests a minute, for each person and for each address without a token."""

import pytest

from letalone.curator.http.limits import RateLimits, Throttle
from letalone.curator.http.problems import Refused


def test_the_request_after_the_last_that_is_allowed_is_refused_with_how_long_to_wait() -> None:
    throttle = Throttle(RateLimits(of_a_person=3, of_an_address=2))
    for _ in range(3):
        throttle.person("ann")
    with pytest.raises(Refused) as found:
        throttle.person("ann")
    assert found.value.problem.code == 429
    assert 1 <= int(found.value.problem.headers["Retry-After"]) <= 120


def test_people_and_addresses_are_counted_apart() -> None:
    throttle = Throttle(RateLimits(of_a_person=1, of_an_address=1, log_ins_of_an_address=1))
    throttle.person("ann")
    throttle.person("ben")
    throttle.address("ann")
    throttle.log_in("ann")
    with pytest.raises(Refused):
        throttle.person("ben")
