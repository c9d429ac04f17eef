"""Half-lines of the discrete Gaussian: each method against slow sums and the others."""

from fractions import Fraction

import pytest
from flint import arb, ctx
from mpmath import exp, mp, mpf

from letalone.exact.balls import certain
from letalone.privacy.curves.discrete_gaussian_curve import (
    euler_maclaurin,
    half_line,
    sum_all,
    sum_terms,
)
from privacy import slow_sums as slow


def near(real, truth, relative=30):
    """Whether the ball holds the truth (to the digits of the truth) and is narrow."""
    middle = mpf(real.mid().str(60, radius=False))
    return abs(middle - truth) <= mpf(10) ** -relative * truth


@pytest.mark.parametrize("sigma", [Fraction(1, 20), Fraction(39, 100), Fraction(2, 5), 1, 16, 40])
@pytest.mark.parametrize("first", [0, 1, 5, 60])
def test_half_lines_are_the_slow_sums(sigma, first):
    terms = [
        exp(-(mpf(x) ** 2) / (2 * slow.number(sigma) ** 2)) for x in range(int(30 * sigma) + 90)
    ]
    total = 2 * sum(terms) - terms[0]
    real = certain(lambda: half_line(first, Fraction(sigma)))
    assert near(real, sum(terms[first:]) / total)


@pytest.mark.parametrize("sigma", [16, 50, 300])
@pytest.mark.parametrize("part", [0, Fraction(1, 2), 3, 4])
def test_the_two_methods_agree_where_both_apply(sigma, part):
    first = min(int(part * sigma), sigma * sigma // 4)
    one = certain(lambda: sum_terms(first, Fraction(sigma)))
    other = certain(lambda: euler_maclaurin(first, Fraction(sigma)))
    assert one.overlaps(other)
    assert other.rel_accuracy_bits() > 90


@pytest.mark.parametrize("sigma", [Fraction(399, 1000), Fraction(2, 5), Fraction(401, 1000), 3])
def test_the_sum_over_all_integers_is_the_same_directly_and_by_poisson(sigma):
    truth = sum(exp(-(mpf(x) ** 2) / (2 * slow.number(sigma) ** 2)) for x in range(-90, 91))
    assert near(certain(lambda: sum_all(Fraction(sigma))), truth)


@pytest.mark.parametrize(("first", "sigma"), [(0, 1), (3, 2), (40, 16)])
def test_what_is_left_out_term_by_term_is_charged(first, sigma, monkeypatch):
    """Stopped early, the rest is far wider than the rounding, and only its charge covers it."""
    monkeypatch.setattr("letalone.privacy.curves.discrete_gaussian_curve.SPARE_BITS", -700)
    with mp.workdps(250), ctx.workprec(900):
        real = sum_terms(first, Fraction(sigma))
        terms = (exp(-(mpf(x) ** 2) / (2 * sigma**2)) for x in range(first, 40 * sigma + first))
        truth = arb(str(sum(terms)))
        assert real.rad() > truth * arb(10) ** -100
        assert real.contains(truth)


@pytest.mark.parametrize("sigma", [16, 17, 40])
@pytest.mark.parametrize("first", [0, 1, 16, 60])
def test_the_remainder_of_euler_and_maclaurin_is_charged(sigma, first):
    with ctx.workprec(900):
        real, truth = euler_maclaurin(first, Fraction(sigma)), sum_terms(first, Fraction(sigma))
        assert real.contains(truth)
        assert truth.rad() < real.rad() < truth * arb(10) ** -35


@pytest.mark.parametrize("sigma", [Fraction(1, 2**20), Fraction(2**40)])
def test_extreme_widths(sigma):
    middle = certain(lambda: half_line(1, sigma))
    assert 0 < middle < 0.5
    assert certain(lambda: half_line(10**15, sigma)) >= 0
