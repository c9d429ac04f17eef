"""A statement's time limit can be made shorter than an hour, and not longer."""

import pytest

from letalone.engines.time_limit import LIMIT, MAX_SECONDS, read_timeout
from letalone.errors import ParameterError


def test_a_limit_is_an_hour_or_what_is_given_below_it():
    assert [read_timeout(one) for one in (None, 1, 2.5, 3600)] == [MAX_SECONDS, 1, 2.5, 3600]


def test_a_longer_limit_none_at_all_and_what_is_no_number_are_refused():
    for wrong in (*LIMIT.refused, True, "60", [60]):
        with pytest.raises(ParameterError, match=r"timeout_seconds is .* from 1 to 3600"):
            read_timeout(wrong)
