"""Plans: filled in from what people write, checked once, named by their digest."""

from dataclasses import replace
from fractions import Fraction

import pytest

from letalone.errors import LetaloneError, ParameterError, UnsupportedQuery
from letalone.plans.aggregates import requests as ask
from letalone.plans.aggregates.of_columns import Count, Mean
from letalone.plans.expressions import Expression, Literal, case, col, same
from letalone.plans.keys import product
from letalone.plans.plan import Bounding, GroupColumn, Plan, PublicJoin, bins, make_plan
from letalone.plans.schema import Column
from letalone.plans.types import Type
from plans.samples import SCHEMA

ROWS = replace(SCHEMA, unit=None)
COUNT = {"n": ask.count()}
UNITS = {"n": ask.count_distinct()}
PRICES = PublicJoin("prices", (("ward", "code"),), (Column("rent", Type.NUMBER),), "ab" * 32)


def test_a_plan_is_filled_in_from_what_is_declared() -> None:
    plan = make_plan(SCHEMA, {"n": ask.count(), "cost": ask.mean("cost")}, groups=["ward"])
    assert plan == Plan(
        schema=SCHEMA,
        where=None,
        derived=(),
        joins=(),
        groups=(GroupColumn("ward", col("ward"), Type.TEXT),),
        keys=(("A",), ("B",), ("C",)),
        aggregates=(("n", Count()), ("cost", Mean(col("cost"), 0, 1000))),
        bounding=Bounding(max_rows=10),
    )


def test_equal_questions_have_one_digest_and_different_ones_another() -> None:
    def digest(**changes: object) -> str:
        asked = {"cost": ask.mean("cost", lower=changes.pop("lower", 0), upper=1000)}
        return make_plan(SCHEMA, asked, **{"where": col("age") >= 65, **changes}).digest()

    assert digest() == digest(lower=0.0) == digest(max_rows=10)
    assert (
        make_plan(SCHEMA, {"cost": ask.mean("cost")}, where=col("age") >= 65).digest() == digest()
    )
    others = [
        digest(lower=0.1),
        digest(where=None),
        digest(where=col("age") >= 66),
        digest(where=col("age") >= 65.0),
        digest(where=col("age") > 65),
        digest(max_rows=9),
        digest(groups=["ward"]),
        digest(groups=["ward"], keys=["B", "A"]),
        digest(groups=["ward"], keys=["A", "B"]),
        digest(derived=[("each", col("cost") / 2)]),
        digest(joins=[PRICES]),
        digest(joins=[replace(PRICES, table_digest="cd" * 32)]),
    ]
    assert len({digest(), *others}) == 1 + len(others)


def test_keys_come_from_the_list_else_from_what_is_public_else_privately() -> None:
    def keys(*groups: object, keys: object = None) -> object:
        return make_plan(SCHEMA, COUNT, groups=groups, keys=keys).keys

    assert keys("ward", keys=["C"]) == (("C",),)
    assert keys("ward") == (("A",), ("B",), ("C",))
    assert keys("note") is None
    assert keys("ward", "note") is None
    assert keys() is None
    assert make_plan(SCHEMA, COUNT, groups="ward").keys == keys("ward")
    assert keys("ward", "smokes") == tuple(product(["A", "B", "C"], [False, True]))
    assert keys(bins("age", 0, 100, 50)) == ((0,), (1,))
    assert keys(("part", case((col("age") < 18, "child"), otherwise="adult"))) == (
        ("child",),
        ("adult",),
    )


def test_ranges_are_shown_by_their_ends_and_named_by_their_column() -> None:
    group = bins("age", 0, 100, 10)
    assert group.name == "age"
    assert [group.shown(key) for key in (0, 9, None)] == ["[0, 10)", "[90, 100]", None]
    named = bins(col("cost") / 2, -1, 1, 0.5, name="each")
    assert [named.shown(key) for key in range(4)][::3] == ["[-1, -0.5)", "[0.5, 1]"]
    assert GroupColumn("ward", col("ward"), Type.TEXT).shown("A") == "A"


@pytest.mark.parametrize(
    "make",
    [
        lambda: bins("age", 0, 100, 30),
        lambda: bins("age", 0, 100, 0),
        lambda: bins("age", 0, 100, -10),
        lambda: bins("age", 100, 0, 10),
        lambda: bins("age", 0, float("nan"), 10),
        lambda: bins("age", 0, 10**6, 1),
        lambda: bins(col("age") + 1, 0, 100, 10),
    ],
)
def test_ranges_that_do_not_fill_the_span_are_refused(make) -> None:
    with pytest.raises(ParameterError):
        make()


def test_bounding_that_is_left_out_is_ten_rows_a_unit_or_nothing_to_bound() -> None:
    assert make_plan(ROWS, COUNT).bounding == Bounding()
    assert make_plan(SCHEMA, COUNT).bounding == Bounding(max_rows=10)
    assert make_plan(SCHEMA, UNITS).bounding == Bounding()
    assert make_plan(SCHEMA, UNITS, groups=["ward"]).bounding == Bounding(max_rows=10)
    assert make_plan(SCHEMA, COUNT, clip=True).bounding == Bounding(None, 1, clip=True)
    given = make_plan(SCHEMA, COUNT, groups=["ward"], max_groups=2, max_rows=3)
    assert given.bounding == Bounding(3, 2)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: make_plan(SCHEMA, {}), ParameterError, "0 aggregates"),
        (lambda: make_plan(SCHEMA, {"": ask.count()}), ParameterError, "aggregate name is"),
        (lambda: make_plan(SCHEMA, {"n": "count"}), ParameterError, r"la\.count\(\)"),
        (lambda: make_plan(SCHEMA, COUNT, where=col("age")), ParameterError, "condition"),
        (lambda: make_plan(SCHEMA, COUNT, where=col("agee") > 1), ParameterError, "'age'"),
        (
            lambda: make_plan(SCHEMA, COUNT, keys=["A"]),
            ParameterError,
            "no group column",
        ),
        (lambda: make_plan(SCHEMA, COUNT, groups=["seen"]), UnsupportedQuery, r"la\.col"),
        (lambda: make_plan(SCHEMA, COUNT, groups=["seen"]), UnsupportedQuery, "part"),
        (lambda: make_plan(SCHEMA, COUNT, groups=["wrd"]), ParameterError, "'ward'"),
        (lambda: make_plan(SCHEMA, COUNT, groups=[col("ward")]), ParameterError, "group column is"),
        (lambda: make_plan(SCHEMA, COUNT, groups=[3]), ParameterError, "group column is 3"),
        (lambda: make_plan(SCHEMA, COUNT, groups=["ward", "ward"]), ParameterError, "Rename"),
        (
            lambda: make_plan(SCHEMA, {"ward": ask.count()}, groups=["ward"]),
            ParameterError,
            "answer",
        ),
        (
            lambda: make_plan(SCHEMA, {"n": ask.count(), "n_low": ask.count()}),
            ParameterError,
            "_low and _high",
        ),
        (
            lambda: make_plan(SCHEMA, COUNT, groups=["ward"], keys=["A", "A"]),
            ParameterError,
            "twice",
        ),
        (lambda: make_plan(SCHEMA, COUNT, groups=["ward"], keys=[1]), ParameterError, "text"),
        (lambda: make_plan(SCHEMA, COUNT, groups=["age"], keys=["1"]), ParameterError, "whole"),
        (
            lambda: make_plan(SCHEMA, {"q": ask.median("cost")}, groups=["age"], keys=range(1000)),
            ParameterError,
            r"1,000 keys × 1,001 cells",
        ),
        (
            lambda: make_plan(SCHEMA, COUNT, derived=[("Age", col("cost"))]),
            ParameterError,
            "capital",
        ),
        (lambda: make_plan(SCHEMA, COUNT, derived=[("x", col("y"))]), ParameterError, "'y'"),
        (lambda: make_plan(SCHEMA, COUNT, max_rows=0), ParameterError, "max_rows is 0"),
        (lambda: make_plan(SCHEMA, COUNT, max_rows=1.5), ParameterError, "max_rows is 1.5"),
        (lambda: make_plan(SCHEMA, COUNT, clip=1), ParameterError, "clip is 1"),
        (lambda: make_plan(ROWS, COUNT, max_rows=3), ParameterError, "unit is the row"),
        (lambda: make_plan(ROWS, COUNT, clip=True), ParameterError, "unit is the row"),
        (lambda: make_plan(SCHEMA, COUNT, max_groups=2), ParameterError, "no groups"),
        (
            lambda: make_plan(SCHEMA, COUNT, groups=["ward"], max_groups=2),
            ParameterError,
            "max_rows is missing",
        ),
        (
            lambda: make_plan(SCHEMA, COUNT, groups=["ward"], clip=True),
            ParameterError,
            "needs max_groups",
        ),
        (
            lambda: make_plan(SCHEMA, COUNT, groups=["ward"], clip=True, max_groups=1, max_rows=1),
            ParameterError,
            "no max_rows",
        ),
        (
            lambda: make_plan(SCHEMA, {"q": ask.median("age")}, clip=True),
            UnsupportedQuery,
            "not a total",
        ),
        (
            lambda: make_plan(SCHEMA, COUNT, joins=[replace(PRICES, on=())]),
            ParameterError,
            "no columns to join on",
        ),
        (
            lambda: make_plan(SCHEMA, COUNT, joins=[replace(PRICES, on=(("wrd", "code"),))]),
            ParameterError,
            "'ward'",
        ),
        (
            lambda: make_plan(SCHEMA, COUNT, joins=[replace(PRICES, on=(("seen", "code"),))]),
            UnsupportedQuery,
            "cannot be a key",
        ),
        (lambda: make_plan(SCHEMA, COUNT, joins=[PRICES, PRICES]), ParameterError, "'rent'"),
    ],
)
def test_what_has_no_total_and_bounded_answer_is_refused(
    make, error: type[LetaloneError], words: str
) -> None:
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    "changes",
    [
        {"bounding": Bounding()},
        {"bounding": Bounding(max_groups=3)},
        {"keys": (("A",), ("A",))},
        {"keys": ((1,),)},
        {"where": col("nothing") > 1},
        {"aggregates": ()},
        {"aggregates": (("m", Mean(col("cost"), 5, 5)),)},
        {"aggregates": (("m", Mean(col("ward"), 0, 5)),)},
        {"groups": (GroupColumn("ward", col("ward"), Type.INTEGER),)},
        {"groups": ()},
    ],
)
def test_a_plan_made_by_hand_passes_the_same_checks(changes: dict[str, object]) -> None:
    plan = make_plan(SCHEMA, COUNT, groups=["ward"])
    with pytest.raises(LetaloneError):
        replace(plan, **changes)


def test_derived_columns_can_be_used_everywhere_and_stay_small() -> None:
    derived = [("each", col("cost") / 2), ("high", col("each") > 10)]
    plan = make_plan(
        SCHEMA, {"m": ask.mean("each")}, derived=derived, where=col("high"), groups=["high"]
    )
    assert plan.keys == ((False,), (True,))
    assert plan.aggregates[0][1] == Mean(col("each"), 0, 500)
    growing: list[tuple[str, Expression]] = [("x0", col("cost"))]
    growing += [(f"x{i + 1}", col(f"x{i}") + col(f"x{i}")) for i in range(20)]
    with pytest.raises(ParameterError, match="more than 200 parts"):
        make_plan(SCHEMA, COUNT, derived=growing)
    six = growing[:7]
    with pytest.raises(ParameterError, match="more than 200 parts"):
        make_plan(SCHEMA, {"m": ask.mean(col("x6") + col("x6"))}, derived=six)


def test_a_filter_tells_which_values_cannot_be_missing() -> None:
    plan = make_plan(SCHEMA, {"m": ask.mean("cost")}, where=~col("cost").is_null())
    assert not plan.columns.type_of(col("cost")).nullable
    assert make_plan(SCHEMA, {"m": ask.mean("cost")}).columns.type_of(col("cost")).nullable


def test_joined_columns_can_be_used_like_others() -> None:
    plan = make_plan(
        SCHEMA, {"m": ask.mean("rent", lower=0, upper=9)}, joins=[PRICES], where=col("rent") > 1
    )
    assert same(plan.aggregates[0][1].of, col("rent"))
    assert plan.columns.type_of(col("rent") + col("cost")).type is Type.NUMBER


def test_plans_are_equal_and_hashed_by_content() -> None:
    one, other = (make_plan(SCHEMA, COUNT, where=col("age") > 1) for _ in range(2))
    assert one == other
    assert len({one, other, make_plan(SCHEMA, COUNT, where=col("age") > 2)}) == 2
    assert one != "a plan"


def test_literals_can_be_filters() -> None:
    assert same(make_plan(SCHEMA, COUNT, where=True).where, Literal(True))
    assert make_plan(SCHEMA, {"s": ask.sum("cost", lower=0.1)}).aggregates[0][1].lower == Fraction(
        1, 10
    )
