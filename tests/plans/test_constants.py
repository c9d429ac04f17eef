"""Constants have one form; what has none is refused before it fills the memory."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from letalone.errors import ParameterError
from letalone.plans.constants import as_bound, as_value, format_constant


class Word(str, Enum):  # noqa: UP042  (StrEnum's str() would hide the difference)
    WARD = "ward"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (None, None),
        (True, True),
        (np.bool_(False), False),
        (7, 7),
        (np.int64(7), 7),
        (0.1, Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float64(65.0), Fraction(65)),
        (Decimal("0.25"), Fraction(1, 4)),
        ("é", "é"),
        (np.str_("A"), "A"),
        (Word.WARD, "ward"),
        (date(2024, 1, 31), date(2024, 1, 31)),
        (datetime(2024, 1, 31, 12), datetime(2024, 1, 31, 12)),
        (datetime(2024, 1, 31, 12, tzinfo=UTC), datetime(2024, 1, 31, 12)),
        (
            datetime(2024, 1, 31, 1, tzinfo=timezone(timedelta(hours=2))),
            datetime(2024, 1, 30, 23),
        ),
        (pd.Timestamp("2024-01-31T12:00"), datetime(2024, 1, 31, 12)),
    ],
)
def test_a_constant_has_one_form_and_its_plain_type(typed: object, meant: object) -> None:
    found = as_value(typed)
    assert found == meant
    assert type(found) is type(meant)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("1e999999999"),
        Decimal("1e-999999999"),
        b"bytes",
        [1],
        object(),
        1j,
        "\ud800",
        pd.NaT,
        pd.NA,
        pd.Timestamp("2024-01-31T12:00:00.000000001"),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_what_is_no_constant_is_refused(value: object) -> None:
    with pytest.raises(ParameterError):
        as_value(value)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("1e999999999"), 10**101, -1e101, True, "5", None, [1]],
)
def test_a_bound_is_a_finite_number_of_sane_size(value: object) -> None:
    with pytest.raises(ParameterError, match=r"lower is .* but must be a finite number"):
        as_bound("lower", value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 10), "0.1"),
        (Fraction(-5, 2), "-2.5"),
        (Fraction(-1, 20), "-0.05"),
        (Fraction(1000), "1000"),
        (Fraction(1, 3), "1/3"),
        (Fraction(1, 10**30), f"1/{10**30}"),
    ],
)
def test_a_rational_is_shown_as_a_person_writes_it(value: Fraction, words: str) -> None:
    assert format_constant(value) == words
    assert Fraction(words) == value
