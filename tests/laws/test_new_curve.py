"""Adding a curve is one file: what a new class says of itself is enough for all of privacy.

The curve here is that of uniform noise on [0, 1) on a query that moves by at most `shift`: the
outputs of neighbours overlap but for a part of probability `shift`, and there all is shown. It is
ApproxDP(0, shift), so each answer can be compared.
"""

import json
from collections.abc import Iterator
from fractions import Fraction

import pytest

from letalone.errors import BudgetExceeded
from letalone.exact.typed import PROBABILITY, Number
from letalone.privacy import (
    ApproxDP,
    Budget,
    Filter,
    GaussianDP,
    Neighbours,
    NoPrivacy,
    Privacy,
    compose,
    convert,
    from_json,
)
from letalone.privacy.bounds import ZERO, Bounds, exactly
from letalone.privacy.curve import KINDS, Orders, curve

SHIFT = Fraction(1, 10**6)
PLAIN = ApproxDP(0, SHIFT)


@pytest.fixture(name="uniform", scope="module")
def a_new_class() -> Iterator[type[Privacy]]:
    @curve("uniform")
    class UniformPrivacy(Privacy):
        """The curve of uniform noise."""

        shift: Fraction

        def __init__(self, shift: Number, *, neighbours: Neighbours | None = None) -> None:
            self.fill(neighbours, shift=PROBABILITY.typed("shift", shift))

        def certified_delta(self, epsilon: Fraction) -> Bounds:
            del epsilon
            return exactly(self.shift)

        def certified_missed(self, false_alarm: Fraction) -> Bounds:
            return exactly(max(ZERO, 1 - self.shift - false_alarm))

        def for_group(self, size: int) -> Privacy:
            total = size * self.shift
            return UniformPrivacy(total) if total < 1 else NoPrivacy()

        def worst_loss(self) -> Fraction:
            return ZERO

        def certain_leak(self) -> Fraction:
            return self.shift

        def make_losses(self) -> Orders:
            from letalone.privacy.loss.atoms import binary_atoms

            return (binary_atoms(ZERO, self.shift),)

    yield UniformPrivacy
    del KINDS["uniform"]


def test_it_answers_what_people_ask(uniform):
    assert uniform(0.5).delta_bounds(1) == (0.5, 0.5)
    assert uniform(SHIFT).epsilon(SHIFT) == 0
    assert uniform(0.5).tradeoff(0.25) == 0.25
    assert str(uniform(0.5)) == "UniformPrivacy(shift=0.5): ε = 0, δ = 0.5"


def test_it_is_stored_and_read_back(uniform):
    made = uniform(0.5)
    assert from_json(json.dumps(made.to_json())) == made
    assert from_json((made * 3 + GaussianDP(1)).to_json()) == made * 3 + GaussianDP(1)


@pytest.mark.parametrize("epsilon", [0, 0.5, 3])
def test_it_composes_with_itself_and_with_others_as_its_twin_does(uniform, epsilon):
    for others in ((), (GaussianDP(1),), (GaussianDP(1).sampled(0.1),)):
        new = compose(uniform(SHIFT) * 5, *others).delta_bounds(epsilon)
        assert new == compose(PLAIN * 5, *others).delta_bounds(epsilon)


def test_it_is_sampled_grouped_and_converted(uniform):
    assert uniform(SHIFT).sampled(0.1).delta(0) == PLAIN.sampled(0.1).delta(0)
    assert (uniform(SHIFT) * 7).group(3).delta(0) == (PLAIN * 7).group(3).delta(0)
    assert convert(uniform(SHIFT), ApproxDP, epsilon=0) == PLAIN


def test_a_filter_charges_it_and_refuses_what_does_not_fit(uniform):
    spending = Filter(Budget(1, 10 * SHIFT))
    twin = Filter(Budget(1, 10 * SHIFT))
    assert spending.charge(uniform(SHIFT)) == twin.charge(PLAIN)
    assert spending.how_many_more(uniform(SHIFT)) == twin.how_many_more(PLAIN)
    with pytest.raises(BudgetExceeded):
        spending.charge(uniform(0.5))


def test_another_class_cannot_take_its_kind(uniform):
    with pytest.raises(TypeError, match="kind 'uniform' are"):

        @curve("uniform")
        class Another(Privacy):
            """Values of this class would be read back as the other."""

    assert KINDS["uniform"] is uniform
