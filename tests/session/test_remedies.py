"""Calls as they are first written: answered as meant, or refused with what to write instead."""

import pytest

import letalone as la
from session.makers import opened


def test_a_schema_file_says_that_cells_of_another_type_are_left_out() -> None:
    assert "is left out" in opened().schema.to_toml()


def test_keys_by_column_are_combined_with_ranges() -> None:
    query = opened().group_by(la.bins("age", 0, 100, 50), "ward", keys={"ward": ["A", "B"]})
    assert query.agg(n=la.count()).plan.keys == ((0, "A"), (0, "B"), (1, "A"), (1, "B"))
    listed = opened().group_by(["ward", "age"], keys=[("A", 1)]).agg(n=la.count())
    assert [group.name for group in listed.plan.groups] == ["ward", "age"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda s: s.group_by(la.bins("age", 0, 100, 50), keys=[0, 50]).agg(n=la.count()).plan,
         "not a range"),
        (lambda s: s.group_by("ward", keys={"sex": ["F"]}).agg(n=la.count()).plan, "not a group"),
        (lambda s: s.group_by("ward", "age", keys={"age": [1]}).agg(n=la.count()).plan, "missing"),
        (lambda s: s.agg(la.count()), "n=la.count"),
        (lambda _: la.histogram("age", 0, 100, 10), "one list"),
        (lambda _: la.private_bounds("cost", epsilon=1), "no separate ε"),
        (lambda s: s.private_bounds("cost", epsilon=0.001), "Nothing was spent"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused_with_a_remedy(asked: object, words: str) -> None:
    session = opened()
    with pytest.raises(la.ParameterError, match=words):
        asked(session)
    assert session.spent.epsilon == 0


@pytest.mark.long  # others of this file stay
def test_bounds_are_bought_in_one_call_and_hold_zero() -> None:
    row = opened(seed=1).private_bounds("cost", epsilon=100).rows()[0]
    assert row["bounds_lower"] == 0 < row["bounds_upper"]


def test_a_count_below_zero_is_printed_at_zero_and_kept_in_rows() -> None:
    nobody = opened(seed=3).where(la.col("age") > 1000)
    answers = [nobody.agg(n=la.count()).release(epsilon=e) for e in (0.01, 0.011, 0.012, 0.013)]
    below = [one for one in answers if one.rows()[0]["n"] < 0]
    assert below, "four draws of this seed; each is below 0 about half of the time"
    assert all("  0 [0," in str(one) for one in below)


def test_a_part_of_a_date_that_is_asked_for_as_an_attribute_names_the_method() -> None:
    with pytest.raises(AttributeError, match=r'\.part\("minute"\)'):
        la.col("day").minute  # noqa: B018


def test_text_against_a_date_says_how_to_declare_the_column() -> None:
    from datetime import date

    with pytest.raises(la.ParameterError, match="types="):
        opened().where(la.col("ward") == date(2024, 1, 1)).agg(n=la.count()).plan  # noqa: B018
