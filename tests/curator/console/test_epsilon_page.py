"""What ε means: every number on the page is a bound, and the page is there for anybody."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from letalone.curator.record.meaning import Meaning, examples, group_promises, read
from letalone.errors import ParameterError

Console = Any
PAIRS = [
    (e, d) for e in ("0.001", "0.1", "0.5", "1", "2", "8", "20") for d in ("0", "1e-6", "0.01")
]


def percent(words: str) -> Decimal:
    return Decimal(re.findall(r"[\d.]+", words)[0]) / 100


@pytest.mark.parametrize(("epsilon", "delta"), PAIRS)
def test_numbers_are_rounded_up_and_by_little(epsilon: str, delta: str) -> None:
    """Against the worst mechanism that keeps (ε, δ), in 50 digits.

    A page that rounded down, or forgot δ, would be found at most of these pairs.
    """
    found = read(epsilon, delta)
    with mpmath.workdps(50):
        likely, leak = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(delta)
        guess = (1 + leak + (1 - leak) * (likely - 1) / (likely + 1)) / 2
        alarm = mpmath.mpf("0.05")
        missed = max(1 - leak - likely * alarm, (1 - leak - alarm) / likely, mpmath.mpf(0))
        for said, exact in ((found.guess, guess), (found.caught, 1 - missed)):
            shown = mpmath.mpf(str(percent(said)))
            assert exact <= shown <= exact + mpmath.mpf("0.0011")
        assert likely <= mpmath.mpf(found.factor) <= likely * mpmath.mpf("1.001")


def test_a_huge_factor_is_a_power_of_ten_that_is_not_below() -> None:
    for epsilon in ("21", "100", "1000"):
        power = int(read(epsilon, "").factor.removeprefix("10^"))
        assert mpmath.mpf(epsilon) <= power * mpmath.log(10) < mpmath.mpf(epsilon) + mpmath.log(10)


def test_a_group_of_two_has_twice_the_epsilon_and_more_than_twice_the_delta() -> None:
    pair = group_promises(Meaning(Fraction(1)))[0]
    assert (pair.people, pair.promise) == (2, "ε = 2")
    assert pair.guess == Meaning(Fraction(2)).guess_percent
    assert group_promises(read("1", "1e-6"))[0].promise == "ε = 2, δ = 3.719e-6"
    assert group_promises(read("5", "0.1"))[-1].promise == "none"


@pytest.mark.parametrize(
    ("epsilon", "delta", "words"),
    [("x", "", "'x'"), ("-1", "", "number"), ("1e999", "", "at most 1000"), ("1" * 99, "", "…"),
     ("nan", "", "number"), ("1", "0.2", "at most 0.1"), ("1/0", "", "number")],
)  # fmt: skip
def test_what_is_no_such_number_is_refused_with_what_is_allowed(
    console: Console, epsilon: str, delta: str, words: str
) -> None:
    with pytest.raises(ParameterError, match=re.escape(words)):
        read(epsilon, delta)
    answer = console.anybody().see("/epsilon", params={"epsilon": epsilon, "delta": delta})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert f'value="{epsilon}"' in answer.text, "what was typed is kept"


def test_anybody_sees_the_page_with_the_numbers_that_they_typed(console: Console) -> None:
    answer = console.anybody().see("/epsilon?epsilon=0.5&delta=1e-6")
    assert answer.status_code == 200
    assert "ε = 0.5, δ = 1e-6" in answer.text
    assert read("0.5", "1e-6").guess in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert len(answer.content) < 30_000
    for one in examples():
        assert one.guess_percent in answer.text


def test_every_epsilon_that_a_budget_can_have_leads_to_a_page(console: Console) -> None:
    for epsilon in ("0", "1e-9", "123.457", "1/3", "1000"):
        assert console.anybody().see("/epsilon", params={"epsilon": epsilon}).status_code == 200


def test_nothing_typed_becomes_markup(console: Console) -> None:
    answer = console.anybody().see("/epsilon", params={"epsilon": '"><script>x</script>'})
    assert "<script>x" not in answer.text
