"""A view of an answer: rows chosen and sorted by what was released, the rest untouched."""

from dataclasses import replace
from datetime import date

import pytest

from answers.releases import made
from letalone.answers.arranged import (
    Arrangement,
    Fixed,
    HavingTest,
    Order,
    OutputRef,
    arrange_release,
)
from letalone.answers.columns import CellKind, KeyColumn, Output


def answer(keys: tuple, values: tuple, kind: CellKind = CellKind.TEXT):
    low = tuple(None if v is None else v - 1 for v in values)
    high = tuple(None if v is None else v + 1 for v in values)
    outputs = (
        Output("n", "n", "", CellKind.NUMBER, values, low, high),
        Output("extra", "extra", "", CellKind.NUMBER, values, low, high),
    )
    return replace(made(), keys=(KeyColumn("key", kind, keys),), outputs=outputs)


def keys_of(found) -> list:
    return [row["key"] for row in found.rows()]


WARDS = answer(("B", "A", "C", None), (3.0, 1.0, 3.0, None))


@pytest.mark.parametrize(
    ("how", "keys"),
    [
        (Arrangement(), ["B", "A", "C", None]),
        (Arrangement(order=(Order("key"),)), ["A", "B", "C", None]),
        (Arrangement(order=(Order("key", descending=True),)), ["C", "B", "A", None]),
        (Arrangement(order=(Order("n", descending=True),)), ["B", "C", "A", None]),
        (Arrangement(order=(Order("n", missing_first=True),)), [None, "A", "B", "C"]),
        (Arrangement(order=(Order("n"), Order("key", descending=True))), ["A", "C", "B", None]),
        (Arrangement(limit=2), ["B", "A"]),
        (Arrangement(limit=2, offset=3), [None]),
        (Arrangement(limit=0), []),
        (Arrangement(having=HavingTest(">", (OutputRef("n"), Fixed(2)))), ["B", "C"]),
        (
            Arrangement(having=HavingTest("not", (HavingTest(">", (OutputRef("n"), Fixed(2))),))),
            ["A"],
        ),
        (Arrangement(having=HavingTest("missing", (OutputRef("n"),))), [None]),
        (Arrangement(having=HavingTest("=", (OutputRef("key"), Fixed(5)))), []),
        (Arrangement(having=HavingTest("<", (OutputRef("key"), Fixed(5)))), []),
    ],
)
def test_rows_are_filtered_sorted_and_cut(how: Arrangement, keys: list) -> None:
    assert keys_of(arrange_release(WARDS, how)) == keys


def test_having_and_order_by_put_text_into_one_order_that_of_code_points() -> None:
    """Capitals first, ä after z, whatever the machine's language."""
    odd = answer(("ä", "b", "Z", "", "a", "\U0001f600", "\ufffd"), (1.0,) * 7)
    ranked = keys_of(arrange_release(odd, Arrangement(order=(Order("key"),))))
    assert ranked == ["", "Z", "a", "b", "ä", "\ufffd", "\U0001f600"]
    for place, key in enumerate(ranked):
        having = HavingTest(">=", (OutputRef("key"), Fixed(key)))
        found = arrange_release(odd, Arrangement(having=having, order=(Order("key"),)))
        assert keys_of(found) == ranked[place:]


def test_unknown_is_neither_true_nor_false() -> None:
    unknown, yes, no = (HavingTest("=", (Fixed(x), Fixed(1))) for x in (None, 1, 2))
    for op, parts, kept in (
        ("and", (unknown, yes), 0), ("and", (unknown, no), 0), ("or", (unknown, yes), 4),
        ("or", (unknown, no), 0), ("not", (unknown,), 0), ("missing", (unknown,), 4),
    ):  # fmt: skip
        assert len(arrange_release(WARDS, Arrangement(having=HavingTest(op, parts))).rows()) == kept


def test_ranges_are_sorted_by_where_they_begin_and_dates_compared_with_text() -> None:
    ranges = answer(("[100, 110]", "[20, 30)", "[3, 4)"), (1.0, 2.0, 3.0))
    order = (Order("key", ranges=True),)
    assert keys_of(arrange_release(ranges, Arrangement(order=order)))[0] == "[3, 4)"
    thirds = answer(("[2/3, 1]", "[0, 1/3)", "[1/3, 2/3)"), (1.0, 2.0, 3.0))
    assert keys_of(arrange_release(thirds, Arrangement(order=order)))[-1] == "[2/3, 1]"
    days = answer((date(2024, 1, 1), date(2025, 1, 1)), (1.0, 2.0), CellKind.DATE)
    late = HavingTest(">", (OutputRef("key"), Fixed("2024-06-01")))
    assert keys_of(arrange_release(days, Arrangement(having=late))) == [date(2025, 1, 1)]


def test_text_that_looks_like_a_range_is_sorted_as_text() -> None:
    found = answer(("[9, a", "[10, z", "b"), (1.0, 2.0, 3.0))
    order = Arrangement(order=(Order("key"),))
    assert keys_of(arrange_release(found, order)) == ["[10, z", "[9, a", "b"]


def test_hidden_columns_are_left_out_and_the_receipt_is_that_of_the_whole() -> None:
    found = arrange_release(WARDS, Arrangement(limit=1, hidden=("extra",)))
    assert [output.name for output in found.outputs] == ["n"]
    assert found.standing.receipt is WARDS.standing.receipt
    assert found.asked is WARDS.asked
    assert "at most 1 of them: by the noisy numbers" in str(found)


def test_the_order_of_groups_needs_no_word_and_the_noise_is_named_where_it_decides() -> None:
    by_key, by_n = (Arrangement(order=(Order(name),)) for name in ("key", "n"))
    assert "Rows are" not in str(arrange_release(WARDS, by_key))
    assert "sorted by n: by the noisy numbers" in str(arrange_release(WARDS, by_n))
    first = str(arrange_release(WARDS, replace(by_key, limit=2)))
    assert "Rows are sorted by key; at most 2 of them." in first


def test_a_single_row_that_is_left_out_leaves_an_empty_table() -> None:
    """Found by random queries: an answer without keys, and LIMIT 0."""
    one = replace(made(), keys=(), outputs=answer(("A",), (1.0,)).outputs)
    found = arrange_release(one, Arrangement(limit=0))
    assert found.rows() == []
    assert "at most 0" in str(found)
    assert "<table>" in found._repr_html_()
    assert len(found.to_pandas()) == 0
