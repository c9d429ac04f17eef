"""What every result of an attack is to whoever prints it."""

import pytest

from letalone import attacks

RESULTS = [name for name in attacks.__all__ if hasattr(getattr(attacks, name), "words")]


def test_every_attack_has_a_result_with_words() -> None:
    assert len(RESULTS) == 10


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_is_printed_says_its_words(name: str) -> None:
    kind = getattr(attacks, name)
    worded = type(name, (), {"words": "in words", "__str__": kind.__str__})
    assert str(worded()) == "in words"
