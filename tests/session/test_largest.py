"""A refusal names the largest ε and δ that fit now, and they do."""

import pytest

import letalone as la
from letalone.errors.in_http import in_http
from letalone.errors.in_options import in_options
from letalone.errors.remedies import LowerEpsilon
from session.makers import WARDS, by_ward, opened


def found_groups(session):
    return session.group_by("ward").bound(max_groups=1, max_rows=1).agg(n=la.count())


@pytest.mark.long
def test_a_delta_that_is_left_is_named_and_can_be_spent():
    """As somebody did: a budget of 3:1e-5, groups found twice at 1e-6, and then refused."""
    session = opened(budget=la.Budget(3, 1e-5))
    for epsilon in (0.5, 0.6):
        found_groups(session).release(epsilon=epsilon, delta=1e-6)
    with pytest.raises(la.BudgetExceeded, match=r"fits now: ε = 0.7, δ = 5e-7") as told:
        found_groups(session).release(epsilon=0.7, delta=1e-6)
    fits = told.value.fits
    assert fits == la.Budget(0.7, 5e-7)
    assert told.value.facts["fits"] == fits
    assert told.value.remedies[0] == LowerEpsilon(0.7, 5e-7)
    for words in (in_options(told.value.problem, str), in_http(told.value.problem)):
        assert "The most that fits now: ε = 0.7, δ = 5e-7." in words
    found_groups(session).release(epsilon=fits.epsilon, delta=fits.delta)


@pytest.mark.long
@pytest.mark.parametrize("delta", [0, 1e-7])
def test_the_epsilon_that_is_named_fits_and_the_next_one_does_not(delta):
    """With a δ the noise is Gaussian, and what is left depends on more than sums."""
    session = opened(budget=la.Budget(2, 1e-5))
    by_ward(session).release(epsilon=0.9, delta=delta)
    asked = session.group_by("ward", keys=WARDS).bound(max_rows=5).agg(n=la.count())
    with pytest.raises(la.BudgetExceeded) as told:
        asked.release(epsilon=7, delta=delta)
    most = float(told.value.fits.epsilon)
    assert most >= 1.1
    with pytest.raises(la.BudgetExceeded):
        asked.release(epsilon=round(most + 0.01, 2), delta=delta)
    assert asked.release(epsilon=most, delta=delta).epsilon == most


def test_what_is_found_first_counts_in_what_is_offered():
    session = opened(budget=la.Budget(1))
    with pytest.raises(la.BudgetExceeded, match="fits now: ε = 1") as told:
        session.bound(max_rows="auto").agg(n=la.count()).release(epsilon=3)
    assert told.value.fits == la.Budget(1)
    assert session.bound(max_rows="auto").agg(n=la.count()).release(epsilon=1)
    with pytest.raises(la.BudgetExceeded) as told:
        session.agg(other=la.sum("age", lower=0, upper=100)).release(epsilon=1)
    assert told.value.fits is None, "nothing is left"
