"""Prices that protect hardly anybody are refused, unless they are confirmed."""

import pytest

from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.in_http import in_http
from letalone.errors.in_options import in_options
from letalone.errors.remedies import Confirm
from letalone.privacy.guard_rails import check_confirmed, find_risk

pytestmark = pytest.mark.guarded


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
def test_up_to_ten_nothing_is_asked(epsilon):
    assert find_risk(epsilon) is None


def test_above_ten_it_is_refused_with_the_price_and_the_way_in_the_words_of_each_face():
    risk = find_risk(10.01)
    ways = r"costs ε = 10.01.*epsilon=1.*confirm=True"
    with pytest.raises(ParameterError, match=ways) as told:
        check_confirmed(risk, confirm=False)
    assert told.value.code is Code.NOT_CONFIRMED
    assert Confirm() in told.value.remedies
    assert told.value.facts["limit"] == 10
    assert "--yes" in in_options(told.value.problem, str)
    assert '"confirm": true' in in_http(told.value.problem)


def test_an_exact_column_is_named_below_ten_too():
    risk = find_risk(4, exact=lambda: ["n"])
    assert risk is not None
    assert risk.facts["columns"] == ("n",)


def test_who_confirms_is_not_refused_and_a_word_is_no_confirmation():
    check_confirmed(find_risk(50), confirm=True)
    with pytest.raises(ParameterError, match="confirm is 'yes'"):
        check_confirmed(find_risk(50), confirm="yes")
