"""Patterns of LIKE: one spelling each, and nothing that takes long to match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator import matches
from letalone.errors import ParameterError
from letalone.plans.texts.like_patterns import as_it_is, as_pattern, segments_of, small

LETTERS = st.text("ab%_\\!é\n", max_size=6)


@pytest.mark.parametrize(
    ("pattern", "escape", "spelled"),
    [
        ("A%", None, "A%"),
        ("", None, ""),
        ("%%a%%%", None, "%a%"),
        ("50!%", "!", "50\\%"),
        ("!!!_", "!", "!\\_"),
        ("a\\b", None, "a\\\\b"),
        ("a\\b", "!", "a\\\\b"),
        ("a\\%b", "\\", "a\\%b"),
        ("aaa%", "a", "a\\%"),
        ("aa%", "a", "a%"),
    ],
)
def test_each_pattern_has_one_spelling(pattern, escape, spelled) -> None:
    assert as_pattern(pattern, escape) == spelled
    assert as_pattern(spelled) == spelled


@given(LETTERS, LETTERS)
def test_a_text_as_it_is_matches_itself_alone(text: str, other: str) -> None:
    assert matches(text, as_it_is(text))
    assert matches(other, as_it_is(text)) == (text == other)


@given(LETTERS, LETTERS)
def test_the_spelling_changes_nothing_of_what_is_matched(text: str, pattern: str) -> None:
    """Where % and _ cannot be escaped, a pattern means the same in its own spelling."""
    try:
        spelled = as_pattern(pattern, None)
    except ParameterError:
        return
    plain = pattern.replace("\\", "\\\\")
    assert matches(text, spelled) == matches(text, plain)


def test_segments_are_what_stands_between() -> None:
    assert segments_of("a%b\\%_%") == (("a",), ("b", "%", None), ())
    assert segments_of("a") == (("a",),)


@pytest.mark.parametrize("pattern", ["%a_%b%", "%_%_%", "a%b_%c%", "%".join("a" * 11), "a" * 1001])
def test_what_could_take_long_is_refused(pattern: str) -> None:
    with pytest.raises(ParameterError):
        as_pattern(pattern)


def test_only_the_letters_of_ascii_have_a_case() -> None:
    assert small("AZaz@[`{Ä\u0130\u212a") == "azaz@[`{Ä\u0130\u212a"
