"""What a mechanism accepts as a private value, by type; nothing leaks on the way in."""

from fractions import Fraction

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.mechanisms import DiscreteGaussian, Exponential, Geometric, Laplace
from letalone.mechanisms.values import (
    EXACT_FLOAT,
    EXACT_INT,
    LARGEST_FLOAT,
    add_integer,
    add_integers,
    read_float,
    read_floats,
    read_integer,
    read_integers,
)
from letalone.randomness import discrete_gaussian, geometric
from letalone.randomness.lazy import LazyReal
from seeded import SeededBits

FLOAT_DTYPES = ["f2", "f4", "f8", ">f4", ">f8"]
INTEGER_DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i8", ">u8"]


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_short_and_foreign_floats_are_read_exactly(dtype):
    given = np.array([[0.1, -2.5], [3.0, 0.0]], dtype=dtype)
    read = read_floats(given)
    assert read.dtype == np.float64
    assert read.tolist() == given.tolist()


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_every_integer_dtype_is_read_and_clamped(dtype):
    info = np.iinfo(dtype)
    given = np.array([info.min, 0, info.max], dtype=dtype)
    low, high = max(info.min, -EXACT_INT), min(info.max, EXACT_INT)
    assert read_integers(given).tolist() == [low, 0, high]
    low, high = max(info.min, -EXACT_FLOAT), min(info.max, EXACT_FLOAT)
    assert read_floats(given).tolist() == [float(low), 0.0, float(high)]


def test_whole_numbers_beyond_2_53_never_move_apart_in_a_float_mechanism():
    """numpy would round 2^53+1 down and 2^53+3 up: a change of 2 would become 4."""
    odd = 2**53 + 1
    assert read_floats([odd, 0.5]).tolist() == read_floats([odd + 2, 0.5]).tolist()
    assert read_floats([2**70, -(2**70), 1.5]).tolist() == [2.0**53, -(2.0**53), 1.5]
    assert read_float(2**53 + 1) == read_float(2**100) == 2.0**53
    assert np.asarray([odd + 2, 0.5])[0] - np.asarray([odd, 0.5])[0] == 4, "numpy still rounds"


def test_lists_of_huge_integers_are_clamped_in_an_integer_mechanism():
    assert read_integers([2**63, -1]).tolist() == [EXACT_INT, -1]
    assert read_integers([[2**100, -(2**100)]]).tolist() == [[EXACT_INT, -EXACT_INT]]
    assert read_integer(2**100) == 2**100, "a single Python int stays exact"
    assert read_integer(np.int8(-5)) == -5


def test_large_floats_are_kept_as_they_are():
    assert read_floats([1e300, 0.5]).tolist() == [1e300, 0.5]
    assert read_float(LARGEST_FLOAT) == LARGEST_FLOAT


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0, 2)])
def test_empty_arrays_stay_empty(shape):
    assert read_floats(np.empty(shape)).shape == shape
    assert read_integers(np.empty(shape, dtype=int)).shape == shape
    assert read_integers([]).shape == read_floats([]).shape == (0,)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), np.float32("nan")])
def test_values_that_are_not_finite_are_refused_without_being_repeated(value):
    for read, given in (
        (read_float, value),
        (read_floats, [1.0, value]),
        (read_floats, np.array([value])),
    ):
        with pytest.raises(ParameterError, match="not a finite number") as refusal:
            read(given)
        assert "nan" not in str(refusal.value)
        assert "inf" not in str(refusal.value).replace("infinities", "").replace("finite", "")


REFUSED_ARRAYS = [
    np.array([1.0], dtype=np.longdouble),
    np.array([1j]),
    np.array([1.0], dtype=object),
    np.array(["1"]),
    np.array([b"1"]),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.array([(1, 2)], dtype=[("a", int), ("b", int)]),
    np.array([True]),
    np.ma.masked_array([1, 2], mask=[True, False]),
    np.ma.masked_array([1, 2]),
    [[1, 2], [3]],
    ["secret"],
    [None],
    [Fraction(1, 3)],
    [1 + 2j],
    "secret",
    b"secret",
]
REFUSED_SCALARS = [
    True,
    np.True_,
    None,
    1j,
    Fraction(1, 3),
    np.longdouble(1),
    {1: 2},
    {1},
    object(),
]


@pytest.mark.parametrize("value", REFUSED_ARRAYS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("read", [read_floats, read_integers])
def test_arrays_of_other_types_are_refused_by_type(read, value):
    with pytest.raises(ParameterError, match="must be") as refusal:
        read(value)
    assert "secret" not in str(refusal.value)
    assert "U6" not in str(refusal.value), "the length of a text is private"
    assert "S6" not in str(refusal.value), "the length of a text is private"


@pytest.mark.parametrize("value", REFUSED_SCALARS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("read", [read_float, read_integer])
def test_scalars_of_other_types_are_refused_by_type(read, value):
    with pytest.raises(ParameterError, match=r"has the type .* but must be"):
        read(value)


@pytest.mark.parametrize("value", [2.0, np.float64(2), np.float32(2)])
def test_integer_mechanisms_refuse_floats_even_whole_ones(value):
    with pytest.raises(ParameterError, match="Round floats first"):
        read_integer(value)
    for array in ([value], [value, 3], np.array([value])):
        with pytest.raises(ParameterError, match="must be"):
            read_integers(array)


@pytest.mark.parametrize("value", [True, None, "secret", 1j, Fraction(1, 3)])
def test_only_floats_are_told_to_be_rounded(value):
    for read, given in ((read_integer, value), (read_integers, [value])):
        with pytest.raises(ParameterError) as refusal:
            read(given)
        assert "Round" not in str(refusal.value)


WITH_BOOLS = [
    [True, 0.5],
    [True, 1e17],
    [0.5, np.True_],
    [True, 2],
    [2, False, 2**70],
    [[1, 2], [3, True]],
    (True, 1),
    [np.array([True, False]), np.array([1, 2])],
    [np.array(True), 1],
    [True, float("nan")],
]


@pytest.mark.parametrize("given", WITH_BOOLS)
@pytest.mark.parametrize("read", [read_floats, read_integers])
def test_a_bool_anywhere_in_a_list_is_refused_whatever_the_other_entries_are(read, given):
    with pytest.raises(ParameterError, match="have the type bool, but must be"):
        read(given)


def test_arrays_without_dimensions_are_read_in_lists_whatever_the_other_entries_are():
    for other in (0.5, 2**70):
        assert read_floats([np.array(3), other]).tolist() == [3.0, min(other, 2.0**53)]


def test_the_mechanisms_refuse_bools_in_lists_alike():
    for call in (
        Laplace(epsilon=1, sensitivity=1).release,
        Geometric(epsilon=1, sensitivity=1).release,
        Exponential(epsilon=1, sensitivity=1).choose_index,
    ):
        for given in ([True, 0.5], [True, 1e17], [True, 1], [True, 2**70]):
            with pytest.raises(ParameterError, match="have the type bool"):
                call(given)


@pytest.mark.parametrize("far", [2**62, 2**63, 2**80, -(2**62), -(2**90)])
def test_noise_that_is_far_out_does_not_tell_the_number(far):
    """Clamping the noise alone would: 2^62 - 1 could come from 0 and 2^62 only from 1."""
    numbers = np.array([0, 1, 5, 2**62 - 1, -(2**62) + 1])
    sums = add_integers(numbers, Fraction(2**61), lambda: far, lambda _: numbers)
    assert sums.tolist() == [add_integer(int(number), far) for number in numbers]
    largest = 2**63 - 1
    for number, total in zip(numbers.tolist(), sums.tolist(), strict=True):
        assert total == max(-largest, min(number + far, largest))


MECHANISMS = {
    "geometric": (geometric, Geometric(epsilon=Fraction(1, 100), sensitivity=1)),
    "discrete_gaussian": (discrete_gaussian, DiscreteGaussian(sigma=100, sensitivity=1)),
}


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("far", [2**62 + 5, 2**70, -(2**62) - 9])
def test_a_draw_beyond_an_int64_is_added_before_anything_is_clamped(name, far, monkeypatch):
    """No draw will ever show it, so one is put in: the third of forty."""
    module, mechanism = MECHANISMS[name]
    drawn = module.draw_all

    def once_far(density, scale, count, rounding, bits):
        drawn(density, scale, count, rounding, bits)
        if count == 40:
            rounding.exact(LazyReal(4 * far + 1, 1, 4), 2, bits)

    monkeypatch.setattr(module, "draw_all", once_far)
    monkeypatch.setattr(geometric, "sample_bernoullis", lambda *_: np.ones(40, np.bool_))
    monkeypatch.setattr(discrete_gaussian, "_refuse", lambda far, *_: np.zeros(far.size, np.bool_))
    noise = far + (far > 0 and name == "geometric")  # away from zero, or to the nearest
    numbers = np.zeros(40, np.int64)
    for number in (2**62 - 1, 7, -(2**62) + 1):
        numbers[2] = number
        released = mechanism.release(numbers, bits=SeededBits(1))
        assert released.dtype == np.int64
        assert released[2] == add_integer(number, noise)
        assert np.abs(np.delete(released, 2)).max() < 10**4
