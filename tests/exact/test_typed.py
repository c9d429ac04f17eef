"""What a typed number means, and how a refusal reads."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import letalone
from letalone.errors import ParameterError
from letalone.exact import typed
from letalone.exact.typed import EPSILON, SENSITIVITY, Constraint, as_binary, as_typed

CONSTRAINTS = {name: value for name, value in vars(typed).items() if isinstance(value, Constraint)}


def test_ten_charges_of_a_tenth_are_exactly_one():
    assert sum(as_typed(0.1) for _ in range(10)) == 1
    assert sum(as_binary(0.1) for _ in range(10)) != 1


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_typed_reading_prints_as_the_float_and_reads_back(value: float):
    assert float(as_typed(value)) == value
    assert as_typed(value) == Fraction(repr(value))


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.int32(7), Fraction(7)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Fraction(1, 3), Fraction(1, 3)),
        (10**30, Fraction(10**30)),
        (1e-300, Fraction(1, 10**300)),
    ],
)
def test_every_kind_of_number_has_its_decimal_meaning(value: object, meaning: Fraction):
    assert as_typed(value) == meaning


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_a_bound_on_data_is_never_below_either_reading(value: float):
    bound = SENSITIVITY.cautious("sensitivity", value)
    assert bound >= Fraction(value)
    assert bound >= as_typed(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, rule in CONSTRAINTS.items() for value in rule.refused],
)
def test_each_constraint_refuses_what_it_lists_and_says_what_is_allowed(name: str, value: float):
    rule = CONSTRAINTS[name]
    assert rule.refused, "a constraint that refuses nothing is not one"
    for read in (rule.typed, rule.cautious):
        with pytest.raises(ParameterError) as refusal:
            read("thing", value)
        assert str(refusal.value).startswith(f"thing is {value}, but must be {rule.allowed}.")


@pytest.mark.parametrize("value", ["1", None, True, 1j, [1.0], np.array([1.0])])
def test_what_is_not_a_number_is_refused(value: object):
    with pytest.raises(ParameterError, match=r"epsilon is .*, but must be a positive number"):
        EPSILON.typed("epsilon", value)


def test_a_long_value_does_not_flood_the_message():
    with pytest.raises(ParameterError) as refusal:
        EPSILON.typed("epsilon", "x" * 10_000)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    "text", ["1e20000000", "1e5", "0.5", " 1", "1_0", "١", "9" * 4301, "", "0x1"]
)
def test_only_what_was_written_is_read_back(text: str):
    with pytest.raises(ValueError, match="not a number"):
        typed.read_rational(text)


@given(st.fractions(), st.integers(0, 20_000))
def test_a_number_that_was_written_is_read_back(number: Fraction, shift: int):
    for found in (number, number * 2**shift, number / 2**shift):
        assert typed.read_rational(typed.write_rational(found)) == found


@pytest.mark.parametrize("text", ["1e20000000", "-1e-20000000", "1e999999999"])
def test_a_decimal_of_megabytes_is_refused_at_once(text: str):
    with pytest.raises(ParameterError, match="epsilon is"):
        EPSILON.typed("epsilon", Decimal(text))


def test_one_function_says_what_a_tilde_stands_for():
    """Another one would say it otherwise, and two spellings of a ledger are two budgets."""
    root = Path(letalone.__file__).parent
    callers = [file for file in root.rglob("*.py") if "expanduser" in file.read_text("utf-8")]
    assert callers == [Path(typed.__file__)]
