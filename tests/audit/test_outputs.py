"""Reading an output is a function of the output alone, and bits are what they are."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.audit.outputs import NO_BIT, Layout, layout_of, lowest_bits, read, trailing_zeros

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE)
def test_the_lowest_set_bit_is_that_of_the_exact_number(number: float) -> None:
    (found,) = lowest_bits(np.array([number]))
    if number == 0:
        assert found == NO_BIT
    else:
        whole = Fraction(number) / Fraction(2) ** int(found)
        assert whole.denominator == 1
        assert whole.numerator % 2 == 1


@given(FINITE.filter(lambda x: abs(x) >= 1e-300))
def test_trailing_zeros_and_the_lowest_bit_describe_the_same_float(number: float) -> None:
    top = np.frexp(number)[1] - 1
    (zeros,), (lowest,) = trailing_zeros(np.array([number])), lowest_bits(np.array([number]))
    assert lowest == top - 52 + zeros


def test_what_is_no_number_has_no_bits() -> None:
    assert np.isnan(lowest_bits(np.array([np.nan, np.inf, -np.inf]))).all()


@pytest.mark.parametrize(
    "outputs",
    [
        [1, 2.5, True, 0.1],
        [0.0, -0.0, float("nan"), float("inf")],
        [1.0, "1", None, (1.0,)],
        [2**60 + 1, 0.5, 10**30, Fraction(1, 2)],
        [[1.0], 1.0, [1.0, 2.0], np.float32(0.1)],
    ],
)
def test_an_output_is_read_the_same_alone_and_among_others(outputs: list[object]) -> None:
    """Otherwise an event could depend on the draws that judge it."""
    for layout in (Layout(0), Layout(1), layout_of(outputs), layout_of([{"a": 1}, [2], 3.0])):
        together = read(outputs, layout)
        for place, output in enumerate(outputs):
            alone = read([output], layout)
            assert together.names[place] == alone.names[0]
            np.testing.assert_array_equal(together.numbers[place], alone.numbers[0])


def test_exact_outputs_have_names_of_their_own() -> None:
    numbers = np.array([0.0, -0.0, 1.0, np.nextafter(1.0, 2)])
    assert len(set(read(numbers, Layout(1)).names.tolist())) == 4
    rows = np.random.default_rng(1).integers(0, 4, (2000, 5)).astype(float)
    assert len(np.unique(read(rows, Layout(5)).names)) == len(np.unique(rows, axis=0))


@pytest.mark.parametrize(
    ("outputs", "width"),
    [
        ([1, 2], 1),
        (np.zeros((7, 3)), 3),
        (np.zeros((7, 2, 2)), 4),
        ([True, False], 1),
        (["a", "b"], 0),
        ([[True], [True, False]], 3),
        ([(), ()], 0),
        ([1 + 1j], 0),
    ],
)
def test_the_width_is_how_many_numbers_an_output_has(outputs: object, width: int) -> None:
    assert layout_of(outputs).width == width
    assert read(outputs, layout_of(outputs)).width == width


def test_an_output_can_be_named_in_words() -> None:
    labels = read(["yes", "no"], Layout(0))
    assert labels.words_for(int(labels.names[1])) == "'no'"
    numbers = read([0.5, 0.25], Layout(1))
    assert numbers.words_for(int(numbers.names[1])) == "0.25"
    pairs = read([[1, 2], [3, 4]], Layout(2))
    assert pairs.words_for(int(pairs.names[0])) == "[1.0, 2.0]"
