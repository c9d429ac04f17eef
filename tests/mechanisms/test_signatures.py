"""What a caller must say, and what a signature shows."""

from inspect import Parameter, signature

import pytest

from letalone import mechanisms
from letalone.mechanisms import RandomizedResponse

TAKES_SENSITIVITY = [
    kind
    for name in mechanisms.__all__
    if isinstance(kind := getattr(mechanisms, name), type) and kind is not RandomizedResponse
    if "sensitivity" in signature(kind).parameters
]


def test_every_mechanism_that_moves_with_a_unit_is_among_those_tried():
    assert len(TAKES_SENSITIVITY) >= 8


@pytest.mark.parametrize("kind", TAKES_SENSITIVITY)
def test_a_sensitivity_is_never_assumed(kind):
    """A default of 1 would promise too much for every other question."""
    parameter = signature(kind).parameters["sensitivity"]
    assert parameter.kind is Parameter.KEYWORD_ONLY
    assert parameter.default is Parameter.empty


@pytest.mark.parametrize("kind", TAKES_SENSITIVITY)
def test_each_says_what_its_parameters_mean(kind):
    words = kind.__doc__
    assert "Parameters:" in words
    assert all(f"`{name}" in words for name in signature(kind).parameters), words


def test_a_signature_shows_the_bits_by_their_name():
    assert "bits: letalone.randomness.bits.BitSource = SYSTEM" in str(
        signature(RandomizedResponse.release)
    )
