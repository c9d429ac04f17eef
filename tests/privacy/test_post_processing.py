"""P1: whatever is done with the answer afterwards, no curve grows."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from letalone.privacy import between

laws = st.lists(st.integers(0, 9), min_size=6, max_size=6).filter(any)


def merged(law, targets):
    return [
        sum((x for x, t in zip(law, targets, strict=True) if t == k), Fraction(0)) for k in range(6)
    ]


@given(
    laws,
    laws,
    st.lists(st.integers(0, 5), min_size=6, max_size=6),
    st.fractions(-2, 2, max_denominator=9),
)
def test_p1_merging_outcomes_never_costs(left, right, targets, epsilon):
    p, q = ([Fraction(x, sum(law)) for x in law] for law in (left, right))
    before, after = between(p, q), between(merged(p, targets), merged(q, targets))
    assert after.delta_bounds(epsilon)[0] <= before.delta(epsilon)
    assert after.certain_leak() <= before.certain_leak()
    for rate in (Fraction(0), Fraction(1, 10), Fraction(1, 2)):
        assert after.tradeoff_bounds(rate)[1] >= before.tradeoff(rate)


@given(laws, laws, st.lists(laws, min_size=6, max_size=6))
def test_p1_a_random_function_of_the_answer_never_costs(left, right, kernel):
    p, q = ([Fraction(x, sum(law)) for x in law] for law in (left, right))
    rows = [[Fraction(x, sum(row)) for x in row] for row in kernel]
    after = between(
        *([sum(law[i] * rows[i][j] for i in range(6)) for j in range(6)] for law in (p, q))
    )
    for epsilon in (0, Fraction(1, 3), 1):
        assert after.delta_bounds(epsilon)[0] <= between(p, q).delta(epsilon)


def test_p1_could_fail_undoing_a_merge_costs():
    """The other way round the inequality is false, so the tests above see a wrong one."""
    fine, coarse = between([1, 0], [0, 1]), between([1], [1])
    assert coarse.delta(0) == 0 < fine.delta(0) == 1
