"""RFC 8785: one spelling for each value, and no other values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.errors import ParameterError
from letalone.exact import canonical as module
from letalone.exact.canonical import canonical

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


def test_the_sample_of_the_rfc_for_strings_and_literals() -> None:
    """RFC 8785, section 3.2.2, without its floats."""
    written = r'"\u20ac$\u000F\u000aA\u0027\u0042\u0022\u005c\\\"\/"'
    text = f'{{"string": {written}, "literals": [null, true, false]}}'
    wanted = r'{"literals":[null,true,false],"string":"€$\u000f\nA' + r"""'B\"\\\\\"/"}"""
    assert canonical(json.loads(text)) == wanted.encode()


def test_keys_are_sorted_by_utf_16_code_units_as_in_the_rfc() -> None:
    """RFC 8785, section 3.2.3: by code points, the emoji would come last."""
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
    wanted = ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(dict.fromkeys(names, 0)))) == wanted
    assert sorted(names) != wanted, "the sample would not tell the two orders apart"


@given(VALUES)
def test_reading_it_gives_the_value_back_and_writing_that_the_same_bytes(value: object) -> None:
    spelled = canonical(value)
    assert json.loads(spelled) == value
    assert canonical(json.loads(spelled)) == spelled


KEYS = st.text('aZ1_ "\\\x7f', max_size=3)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
)


@given(PLAIN)
def test_what_is_spelled_at_once_is_spelled_as_it_would_be_piece_by_piece(value: object) -> None:
    assert module._is_plain(value), "the quick way would not be tried"
    assert canonical(value) == module._write(value, 0).encode()


@given(st.dictionaries(TEXT, st.integers(0, 9)))
def test_the_order_of_insertion_does_not_matter(value: dict[str, int]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


def test_tuples_are_lists_and_there_are_no_spaces() -> None:
    assert canonical({"b": (1, -2), "a": {}}) == b'{"a":{},"b":[1,-2]}'


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        0.1,
        [0.5],
        {"a": (2**53,)},
        ["\ud800"],
        2**53,
        -(2**53),
        b"x",
        {1: 2},
        {"a": {2: 3}},
        "\ud800",
        {"\udfff": 1},
        {1, 2},
    ],
)
def test_what_has_no_certain_spelling_is_refused(value: object) -> None:
    with pytest.raises(ParameterError, match="Canonical JSON cannot hold"):
        canonical(value)


def test_a_deep_value_is_refused_before_the_stack_ends() -> None:
    value: object = 0
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ParameterError, match="nested deeper than 200"):
        canonical(value)
    while isinstance(value, list):  # taken apart by hand: freeing it would recurse
        value = value[0]
