"""Numbers on the screen are rounded towards caution."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.cli.screen import (
    flowing,
    in_short,
    in_two_digits,
    number_text,
    percent_text,
    program_name,
    rounded_down,
    rounded_up,
    with_error,
)

POSITIVE = st.floats(1e-300, 1e300)
ANY = st.floats(-1e15, 1e15)


def number(shown: str) -> Fraction:
    return Fraction(shown.replace(",", ""))


@given(ANY, st.integers(0, 8))
def test_rounding_up_is_never_below_and_down_never_above(value: float, digits: int) -> None:
    above, below = number(rounded_up(value, digits)), number(rounded_down(value, digits))
    assert below <= Fraction(value) <= above
    assert above - below <= Fraction(1, 10**digits)


@given(POSITIVE)
def test_a_short_form_is_the_typed_number_or_above_it(value: float) -> None:
    shown = number(in_short(value))
    assert shown == Fraction(repr(value)) or shown >= Fraction(value)
    assert shown <= Fraction(value) * (1 + Fraction(1, 10**5))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1"),
        (0.1, "0.1"),
        (0.30000000000000004, "0.300001"),
        (2.0000001, "2.00001"),
        (12.5, "12.5"),
        (1e-300, "1e-300"),
        (1.00000004e-9, "1.00001e-9"),
        (1e300, "1e300"),
        (1234567.0, "1234567"),
    ],
)
def test_a_short_form_is_short(value: float, shown: str) -> None:
    assert in_short(value) == shown


@given(ANY, st.floats(1e-9, 1e9))
def test_value_and_bar_as_shown_cover_the_interval(value: float, error: float) -> None:
    shown, bar = with_error(value, error)
    # What a float cannot resolve beside the value is not the bar's to cover.
    lost = abs(Fraction(value)) * Fraction(1, 2**52)
    assert number(shown) - number(bar) <= Fraction(value) - Fraction(error) + lost
    assert number(shown) + number(bar) >= Fraction(value) + Fraction(error) - lost


def test_a_program_that_is_not_on_the_path_is_named_by_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", [".venv/bin/letalone", "demo"])
    monkeypatch.setattr("letalone.cli.screen.which", lambda _: None)
    assert program_name() == str(Path(".venv/bin/letalone"))
    monkeypatch.setattr("letalone.cli.screen.which", lambda _: "/usr/bin/letalone")
    assert program_name() == "letalone"


@given(st.floats(-1e300, 1e300), st.floats(1e15, 1e300))
def test_a_large_value_and_its_bar_are_short_and_cover_the_interval(
    value: float, error: float
) -> None:
    shown, bar = with_error(value, error)
    assert number(shown) - number(bar) <= Fraction(value) - Fraction(error)
    assert number(shown) + number(bar) >= Fraction(value) + Fraction(error)
    assert number(bar) <= Fraction(error) * Fraction(103, 100)
    assert len(bar) <= 15


@given(POSITIVE)
def test_two_digits_are_never_below_the_number(value: float) -> None:
    assert Fraction(value) <= number(in_two_digits(value)) <= Fraction(value) * Fraction(111, 100)


def test_small_and_large_numbers_have_one_form_of_exponent() -> None:
    shown = [in_two_digits(value) for value in (1.4142e-5, 0.014, 2828.4, 28284271.0, 1e-6, 2e20)]
    assert shown == ["1.5e-5", "0.015", "2,900", "29,000,000", "1e-6", "2e20"]


def test_a_flowing_line_breaks_between_items_and_not_within() -> None:
    items = "by ε:  " + "  ".join(["0.1:\u00a052.5\u00a0%"] * 5)
    lines = flowing(items, 30).splitlines()
    assert max(map(len, lines)) <= 30
    assert all(line.endswith("%") for line in lines)


def test_no_line_ends_within_a_price_or_before_a_percent_sign() -> None:
    for width in range(12, 40):
        lines = flowing("It costs ε = 0.5, δ = 1e-6, and is right 95 % of the time.", width)
        assert not any(line.endswith(("ε", "δ", "=", "95")) for line in lines.splitlines()), width


def test_a_chance_below_one_is_never_shown_as_one() -> None:
    shown = {0.998: "99.8 %", 0.999: "99.9 %", 0.9991: "99.91 %", 1 - 1e-9: "99.9999999 %"}
    assert {chance: percent_text(chance) for chance in shown} == shown
    assert percent_text(1.0) == "100 %"


def test_whole_numbers_stay_whole() -> None:
    assert with_error(12345, 7) == ("12,345", "7")


def test_small_numbers_are_written_as_people_write_them() -> None:
    assert number_text(1e-6) == "1e-6"
    assert number_text(1e-12) == "1e-12"
    assert number_text(0.01) == "0.01"
    assert percent_text(0.73105857) == "73.2 %"
