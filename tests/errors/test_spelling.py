"""The nearest name and a number with its noun."""

import pytest

from letalone.errors.spelling import did_you_mean, nearest, plural


@pytest.mark.parametrize(
    ("word", "meant"), [("agee", "age"), ("WARD", "ward"), ("Cosst", "Cost"), ("zip", None)]
)
def test_the_nearest_name_is_found_whatever_the_capitals(word: str, meant: str | None) -> None:
    known = ["age", "ward", "Cost"]
    assert nearest(word, known) == meant
    assert did_you_mean(word, known) == ("" if meant is None else f" Did you mean {meant!r}?")


def test_a_number_has_its_noun() -> None:
    assert plural(1, "row") == "1 row"
    assert plural(1024, "row") == "1,024 rows"
    assert plural(0, "person", "people") == "0 people"
