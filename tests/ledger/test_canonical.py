"""What is hashed can be said in one way only, and read in one way only."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.errors import FormatError, ParameterError
from letalone.ledger.chain.canonical import canonical, digest_of, read_object

WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | WHOLE | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def test_keys_are_ordered_by_utf_16_and_strings_escaped_as_in_rfc_8785() -> None:
    """The sample of section 3.2.3, and the escapes of section 3.2.2.2."""
    keys = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    assert list(json.loads(canonical(keys)).values()) == [2, 4, 6, 7, 1, 5, 3]
    assert canonical('\u20ac$\u000f\nA\'B"\\\\"/') == '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'
    assert canonical({"b": [True, None, -1], "a": ""}) == '{"a":"","b":[true,null,-1]}'


@given(st.dictionaries(TEXT, VALUES, max_size=3))
def test_what_is_written_is_read_back_and_written_the_same(value: dict[str, object]) -> None:
    text = canonical(value)
    assert read_object(text, name="it") == value
    assert canonical(read_object(text, name="it")) == text


@pytest.mark.parametrize("value", [0.5, 1.0, float("nan"), 2**53, b"x", {1: 2}, {"a": {1, 2}}])
def test_what_two_programs_could_write_in_two_ways_is_refused(value: object) -> None:
    with pytest.raises(ParameterError, match="release cannot be stored: "):
        canonical({"values": [value]}, name="release")


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":1}', '{"a":1.0}', '{"a":1e2}', '{"a":NaN}', "[1]", "", "{", "[" * 10**5]
)
def test_a_text_that_can_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="It is damaged: it must be a JSON object"):
        read_object(text, name="It")


def test_the_digest_is_that_of_the_text() -> None:
    """SHA-256 of the two bytes {}."""
    assert digest_of({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
