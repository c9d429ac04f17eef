"""Which columns a question reads: none is forgotten."""

import pandas as pd
import pytest

import letalone as la
from letalone.curator.asking.plan_checks import used_columns

TEXT = {"who": ["x", "y"], "ward": ["x", "y"]}
FRAME = pd.DataFrame({name: [1.0, 2.0] for name in "abcde"} | TEXT)
BOUND = {"lower": 0, "upper": 9}


@pytest.fixture(scope="module")
def table():
    columns = [la.Column(name, "number", **BOUND) for name in "abcde"]
    schema = la.Schema("t", (*columns, la.Column("who", "text"), la.Column("ward", "text")))
    with la.open(FRAME, schema=schema, unit="who", budget=1) as session:
        yield session


@pytest.mark.parametrize(
    ("ask", "read"),
    [
        (lambda t: t.agg(n=la.count()), ""),
        (lambda t: t.agg(n=la.count_distinct()), ""),
        (lambda t: t.agg(s=la.sum("a")), "a"),
        (lambda t: t.agg(m=la.mean(la.col("a") + la.col("b"), lower=0, upper=9)), "ab"),
        (lambda t: t.where(la.col("c") > 1).agg(n=la.count()), "c"),
        (lambda t: t.derive(f=la.col("d") * 2).agg(m=la.mean("f", lower=0, upper=9)), "d"),
        (lambda t: t.derive(f=la.col("d") * 2).agg(m=la.mean("a")), "ad"),
        (lambda t: t.group_by(la.bins("e", 0, 9, 3)).agg(n=la.count()), "e"),
        (lambda t: t.agg(q=la.median("b")), "b"),
        (lambda t: t.agg(q=la.covariance("a", "b")), "ab"),
        (lambda t: t.agg(q=la.linear_regression("a", ["b", "c"])), "abc"),
        (lambda t: t.agg(q=la.count_distinct("d")), "d"),
        (lambda t: t.agg(q=la.mean("a") / la.mean("c")), "ac"),
        (lambda t: t.per_unit(a=la.per_unit.sum("b")).agg(m=la.mean("a", upper=9)), "b"),
        (lambda t: t.per_unit(z=la.per_unit.last("a", by="c")).agg(n=la.count()), "ac"),
        (lambda t: t.where(la.col("d") > 1).per_unit(z=la.per_unit.count()).agg(n=la.count()), "d"),
    ],
)
def test_every_column_that_can_move_an_answer_is_named(table, ask, read):
    assert used_columns(ask(table).plan) == {"t": set(read)}


def test_the_unit_counts_where_it_is_named(table):
    there = table.where(~la.col("who").is_null()).agg(n=la.count())
    assert used_columns(there.plan) == {"t": {"who"}}
    assert used_columns(table.agg(n=la.count("who")).plan) == {"t": {"who"}}


def test_what_a_public_table_is_joined_on_is_read(table):
    public = pd.DataFrame({"ward": ["x", "y"], "site": ["n", "s"]})
    joined = table.join(public, on="ward", name="p").group_by("site", keys=["n"]).agg(n=la.count())
    assert used_columns(joined.plan) == {"t": {"ward"}}
