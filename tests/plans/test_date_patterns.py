"""Dates as text: what Python's strftime writes, and all texts that there can be."""

from datetime import datetime, timedelta

import pytest

from evaluator import part_of, written
from letalone.plans.texts.date_patterns import FIELDS, all_texts, parts_in, pieces_of

MOMENTS = [datetime(2023, 1, 1) + timedelta(hours=31 * n, minutes=7 * n) for n in range(600)]
MOMENTS += [datetime(1, 1, 1), datetime(999, 12, 31, 23, 59), datetime(9999, 12, 31)]


@pytest.mark.parametrize("letter", FIELDS)
def test_each_letter_is_that_of_python(letter: str) -> None:
    field = FIELDS[letter]
    for moment in MOMENTS:
        assert field.write(part_of(moment, field.part)) == written(moment, f"%{letter}")


@pytest.mark.parametrize("pattern", ["%A", "%B %d", "%H:%M", "%m %B", "%j", "%u%a%q"])
def test_every_text_that_a_date_has_is_among_all(pattern: str) -> None:
    texts = all_texts(pattern)
    assert texts is not None
    assert len(set(texts)) == len(texts)
    assert {written(moment, pattern) for moment in MOMENTS} <= set(texts)


def test_a_month_and_its_name_are_one_part() -> None:
    assert parts_in("%m %B %b") == ("month",)
    assert all_texts("%m %B")[:2] == ("01 January", "02 February")
    assert all_texts("%Y-%m") is None


def test_text_stands_for_itself() -> None:
    assert pieces_of("day %d, 100%%") == ("day ", FIELDS["d"], ", 100%")
