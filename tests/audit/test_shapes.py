"""Outputs of several shapes are read, number by number; what a mechanism changes is a copy.

Honest mechanisms are audited at 99.9 %, so that one run in a thousand would accuse each.
"""

import random
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from letalone.audit import Verdict, audit, audit_timing
from letalone.audit.draws import copy_input
from letalone.audit.outputs import MOST_PATHS, layout_of, read
from letalone.errors import ParameterError
from letalone.mechanisms import Laplace
from seeded import SeededBits

CHANCE = random.Random(7)
LAPLACE = Laplace(epsilon=1, sensitivity=1)


def little() -> float:
    return CHANCE.random() / 1000


SHAPES: dict[str, Any] = {
    "None, three times in ten": lambda x: None if CHANCE.random() < 0.3 else x + little(),
    "None, once in a thousand": lambda x: None if CHANCE.random() < 0.001 else x + little(),
    "text": lambda x: "few" if CHANCE.random() < 0.3 else x + little(),
    "a key more": lambda x: (
        {"b": x + little()} | ({"a": little()} if CHANCE.random() < 0.5 else {})
    ),
    "one to three numbers": lambda x: [x + little()] * CHANCE.randint(1, 3),
    "a number or a list": lambda x: x + little() if CHANCE.random() < 0.5 else [x + little()],
    "a key never seen before": lambda x: {"a": x + little(), str(CHANCE.random()): 1.0},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.few("text", "a key more")
def test_one_odd_shape_does_not_blind_the_audit(shape: str) -> None:
    """The exact value is released, up to a thousandth; a twin that does not look is let off."""
    leak = SHAPES[shape]
    found = audit(leak, 0, 100, claimed_epsilon=1, samples=4000)
    assert found.verdict is Verdict.ACCUSED
    twin = audit(lambda _: leak(0), 0, 100, claimed_epsilon=1, samples=2000, confidence=0.999)
    assert twin.verdict is Verdict.CONSISTENT


def test_a_number_stays_in_its_column_where_another_comes_and_goes() -> None:
    outputs = [{"a": 1, "b": 2}, {"b": 3}, None, "few", [4, 5]]
    layout = layout_of(outputs)
    numbers = read(outputs, layout).numbers
    by_path = dict(zip(layout.paths, numbers[:, 1:].T.tolist(), strict=True))
    assert by_path["['b']"][:2] == [2.0, 3.0]
    assert by_path["['a']"][0] == 1.0
    assert np.isnan(numbers[2:4, 1:]).all()
    assert len(set(numbers[:, 0].tolist())) == 5


def test_a_form_is_not_taken_for_a_number() -> None:
    """A vector as long as a row of form and numbers is read by its paths, too."""
    layout = layout_of([[1.0, 2.0], None])
    (row,) = read([np.array([7.0, 8.0, 9.0])], layout).numbers
    assert row[1:].tolist() == [7.0, 8.0]
    assert row[0] != 7.0


def test_columns_do_not_grow_with_keys_that_never_come_again() -> None:
    outputs = [{str(number): 1.0, "a": 2.0} for number in range(3 * MOST_PATHS)]
    layout = layout_of(outputs)
    assert len(layout.paths) == MOST_PATHS
    assert "['a']" in layout.paths


def test_two_keys_that_print_alike_are_two_numbers() -> None:
    assert layout_of([{float("nan"): 1.0, np.nan * 1: 2.0}]).width == 3


def test_odd_numbers_are_read_and_what_holds_itself_is_refused() -> None:
    values = [Decimal("NaN"), Decimal("sNaN"), Decimal(1), 10**400]
    found = audit(lambda _: CHANCE.choice(values), 0, 1, claimed_epsilon=1, samples=200)
    assert found.verdict is Verdict.CONSISTENT
    itself: list[object] = []
    itself.append(itself)
    with pytest.raises(ParameterError, match="holds itself"):
        audit(lambda _: itself, 0, 1, claimed_epsilon=1, samples=100)


def test_a_message_that_no_encoding_holds_is_an_output_as_any_other() -> None:
    def fails(_: object) -> float:
        if CHANCE.random() < 0.5:
            raise ValueError("\ud800")
        return 1.0

    found = audit(fails, 0, 1, claimed_epsilon=1, samples=100)
    assert found.verdict is Verdict.CONSISTENT


BUFFER = np.empty(1)
BITS = SeededBits(11)


def in_place(array: Any) -> Any:
    array += LAPLACE.release(np.zeros(1), bits=BITS)
    return array


def into_a_buffer(array: Any) -> Any:
    return np.add(array, LAPLACE.release(np.zeros(1), bits=BITS), out=BUFFER)


@pytest.mark.parametrize("mechanism", [in_place, into_a_buffer])
def test_an_honest_mechanism_that_works_in_place_is_not_accused(mechanism: Any) -> None:
    """Without copies the noise adds up from draw to draw, or all outputs are the last one."""
    one, other = np.zeros(1), np.ones(1)
    found = audit(mechanism, one, other, claimed_epsilon=1, samples=1000, confidence=0.999)
    assert found.verdict is Verdict.CONSISTENT
    assert (one[0], other[0]) == (0, 1)
    leak = audit(lambda x: mechanism(8 * x), one, other, claimed_epsilon=1, samples=1000)
    assert leak.verdict is Verdict.ACCUSED


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(3),
        [1, 2],
        [{"a": 1}, {"a": [2]}],
        {"a": 1, "b": 2},
        {"a": [1]},
        ([1], 2),
        {1, 2},
        np.array([[1], None], dtype=object),
        pd.DataFrame({"a": [1]}),
        pl.DataFrame({"a": [1]}),
    ],
)
def test_what_can_change_is_copied(value: Any) -> None:
    other = copy_input(value)
    assert other is not value
    assert str(other) == str(value)
    assert type(other) is type(value)


def test_what_cannot_change_is_handed_on() -> None:
    for value in (1, "a", (1, (2, "b")), None, np.float64(1), LAPLACE):
        assert copy_input(value) is value


def test_copying_takes_no_time_on_the_clock() -> None:
    """A clock that counts how often it is read sees the mechanism alone."""
    seen: list[int] = []

    def noting(rows: list[int]) -> None:
        seen.append(len(rows))
        rows.clear()

    ticks = iter(range(10**9))
    found = audit_timing(
        noting, [1] * 9, [1], claimed_epsilon=1, samples=100, clock=lambda: next(ticks)
    )
    assert found.lower == 0
    assert set(seen) == {9, 1}
