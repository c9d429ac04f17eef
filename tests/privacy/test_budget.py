"""Budgets are exact; D9 warns of a delta that promises nothing."""

import warnings
from fractions import Fraction
from operator import add, ge, gt, le, lt, mul, sub, truediv

import pytest

from letalone.errors import BudgetExceeded, ParameterError, PrivacyWarning
from letalone.privacy import Budget, between, warn_if_delta_is_large
from letalone.privacy.budget import FACTOR, SHARES
from letalone.privacy.filters import brief


def test_ten_charges_of_a_tenth_fill_a_budget_of_one():
    left = Budget(1)
    for _ in range(10):
        left -= Budget(0.1)
    assert left == Budget(0)
    with pytest.raises(BudgetExceeded, match=r"costs ε = 1e-9, but only ε = 0 is left"):
        left - Budget(1e-9)


def test_both_amounts_must_fit():
    assert Budget(0.5, 1e-7) <= Budget(0.5, 1e-6)
    assert Budget(0.5, 1e-7) < Budget(0.5, 1e-6)
    assert not Budget(0.5, 1e-6) < Budget(0.5, 1e-6)
    assert Budget(2, 1e-6) >= Budget(1, 1e-6)
    assert Budget(2, 1e-6) > Budget(1, 1e-6)
    assert not Budget(0.4, 1e-6) <= Budget(0.5, 1e-7)
    assert not Budget(0.6, 0) <= Budget(0.5, 1e-7)
    with pytest.raises(BudgetExceeded, match="Ask for less"):
        Budget(1, 0) - Budget(0.5, 1e-9)


def test_amounts_are_the_typed_rationals():
    budget = Budget(0.1, 1e-6) + Budget(0.2)
    assert (budget.epsilon, budget.delta) == (Fraction(3, 10), Fraction(1, 10**6))
    assert str(budget) == "ε = 0.3, δ = 1e-6"
    assert repr(Budget(2)) == "Budget(epsilon=2)"
    assert repr(budget) == "Budget(epsilon=0.3, delta=1e-6)"


def test_d9_a_delta_of_one_in_n_is_warned_of():
    with pytest.warns(PrivacyWarning, match="publishing one of their records at random"):
        Budget(1, 0.01, size=100)
    with pytest.warns(PrivacyWarning, match="n = 1000 people"):
        warn_if_delta_is_large(0.5, 1000)


def test_d9_a_smaller_delta_and_an_undeclared_size_are_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Budget(1, 0.00999, size=100).delta < Fraction(1, 100)
        assert Budget(1, 0.9).delta == Fraction(9, 10)


def test_d9_publishing_a_record_with_probability_delta_is_within_zero_delta():
    shown = between(
        [Fraction(1, 100), Fraction(99, 100), 0], [0, Fraction(99, 100), Fraction(1, 100)]
    )
    assert shown.delta(0) == 0.01
    assert shown.epsilon(0.01) == 0


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(-1, 0), (float("nan"), 0), (1, 1), (1, -0.1), ("x", 0)]
)
def test_strange_budgets_are_refused(epsilon, delta):
    with pytest.raises(ParameterError, match=r"(epsilon|delta) is .* but must be"):
        Budget(epsilon, delta)


def test_budgets_are_frozen():
    with pytest.raises(AttributeError):
        Budget(1).epsilon = Fraction(2)


@pytest.mark.parametrize("other", [0.5, 2, None, "1", Fraction(1)])
@pytest.mark.parametrize("operation", [add, sub, le, ge, lt, gt])
def test_a_budget_and_a_number_are_refused_with_the_remedy(operation, other):
    with pytest.raises(ParameterError, match=r"A Budget meets a .* Write la.Budget\(epsilon="):
        operation(Budget(1), other)


def test_a_budget_is_never_equal_to_a_number():
    assert Budget(1) != 1


def test_budgets_are_multiplied_and_divided_exactly():
    assert Budget(1, 1e-6) / 3 * 3 == Budget(1, 1e-6)
    assert 2 * Budget(0.1, 1e-6) == Budget(0.1, 1e-6) * 2 == Budget(0.2, 2e-6)
    assert Budget(1) * 0.1 == Budget(1) / 10 == Budget(0.1)
    assert Budget(1) * 0 == Budget(0)


@pytest.mark.parametrize(
    ("operation", "rule"), [(mul, FACTOR), (truediv, SHARES)], ids=["times", "parts"]
)
def test_strange_factors_are_refused(operation, rule):
    for wrong in (*rule.refused, "2", True, Budget(1)):
        with pytest.raises(ParameterError, match=r"(times|parts) is .* but must be"):
            operation(Budget(1), wrong)
    with pytest.raises(ParameterError, match="delta is 6/5, but must be"):
        Budget(1, 0.3) * 4


def test_what_is_printed_has_few_digits_and_what_is_kept_has_all():
    long = Budget(Fraction(9682528721227548, 10**15), Fraction(43, 12_000_000))
    assert repr(long) == "Budget(epsilon=≈9.68253, delta=≈3.58334e-6)"
    assert str(long) == "ε = ≈9.68253, δ = ≈3.58334e-6"
    assert long.epsilon == Fraction(9682528721227548, 10**15)


def test_spent_is_rounded_up_and_left_down():
    third = Budget(Fraction(2, 3), Fraction(1, 3_000_000))
    assert brief(third) == "ε = 0.666667, δ = 3.33334e-7"
    assert brief(third, up=False) == "ε = 0.666666, δ = 3.33333e-7"
    assert brief(Budget(0.1, 1e-6)) == brief(Budget(0.1, 1e-6), up=False) == "ε = 0.1, δ = 1e-6"


def test_what_does_not_fit_says_what_was_asked_and_what_is_left():
    with pytest.raises(BudgetExceeded) as caught:
        Budget(1) - Budget(2)
    error = caught.value
    assert (error.spent, error.asked, error.left) == (Budget(0), Budget(2), Budget(1))
