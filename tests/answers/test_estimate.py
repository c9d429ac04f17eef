"""An estimate keeps its three numbers together and prints them."""

import numpy as np
import pytest

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError


def test_an_estimate_prints_its_value_interval_and_confidence():
    assert repr(Estimate(-0.02, 0.0, 0.11, 0.95)) == "Estimate(-0.02 [0, 0.11] at 95 % confidence)"
    both = Estimate(np.array([0.2, 0.8]), np.array([0.1, 0.7]), np.array([0.3, 0.9]), 0.9)
    assert repr(both) == "Estimate(0.2 [0.1, 0.3]; 0.8 [0.7, 0.9] at 90 % confidence)"


def test_estimates_of_equal_numbers_are_equal_and_hash_alike():
    def make(high):
        return Estimate(np.array([0.2]), np.array([0.1]), np.array([high]), 0.9)

    assert make(0.3) == make(0.3)
    assert hash(make(0.3)) == hash(make(0.3))
    assert make(0.3) != make(0.4)
    assert make(0.3) != "an estimate"


@pytest.mark.parametrize("confidence", [0, 1, 95, float("nan")])
def test_a_confidence_outside_of_0_to_1_is_refused(confidence):
    with pytest.raises(ParameterError, match=r"confidence is .* but must be"):
        Estimate(0.5, 0.4, 0.6, confidence)


def test_ends_in_the_wrong_order_or_shape_are_refused():
    with pytest.raises(ParameterError, match="low is above high"):
        Estimate(0.5, 0.6, 0.4, 0.95)
    with pytest.raises(ParameterError, match=r"shapes of value \(2,\), low \(\)"):
        Estimate(np.zeros(2), 0.0, np.ones(2), 0.95)


def test_an_estimate_cannot_be_changed():
    with pytest.raises(AttributeError):
        Estimate(0.5, 0.4, 0.6, 0.95).value = 1.0


def test_the_interval_is_never_printed_narrower_than_it_is():
    assert "[0.1234, 0.8766]" in repr(Estimate(0.5, 0.12349, 0.87651, 0.95))
    assert "[-0.1235, -0.1233]" in repr(Estimate(0.5, -0.12341, -0.12339, 0.95))
    assert "[-inf, inf]" in repr(Estimate(0.5, -float("inf"), float("inf"), 0.95))
