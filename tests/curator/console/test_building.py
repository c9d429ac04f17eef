"""Questions built by choosing: the SQL means what was chosen, whatever was typed."""

import pyarrow as pa
import pytest
from starlette.datastructures import FormData

import letalone as la
from curator.makers import SCHEMA
from letalone.curator.asking.building import build_sql, choices, quote_name
from letalone.curator.console.forms import SubmittedForm
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema


def chosen(*fields, schema=SCHEMA):
    return build_sql(SubmittedForm(FormData(fields)), schema)


def test_what_was_chosen_is_the_sql_that_one_would_type():
    found = chosen(
        ("what", "mean"), ("of", "cost"), ("by", "ward"),
        ("where_1", "age"), ("how_1", ">="), ("value_1", "18"),
        ("where_2", "ward"), ("how_2", "<>"), ("value_2", "B"),
    )  # fmt: skip
    assert found == (
        "SELECT ward, AVG(cost) AS mean_cost\nFROM visits\nWHERE age >= 18 AND ward <> 'B'\n"
        "GROUP BY ward"
    )
    assert chosen() == "SELECT COUNT(*) AS number\nFROM visits"
    assert "COUNT(DISTINCT patient)" in chosen(("what", "units"))


@pytest.mark.parametrize("value", ["' OR ward = 'B", "B'; --", "''", "\\'", "B' UNION SELECT 1"])
def test_a_text_that_was_typed_stays_one_constant(value):
    sql = chosen(("where_1", "ward"), ("value_1", value))
    constant = sql.partition("ward = ")[2]
    assert constant[1:-1].replace("''", "'") == value
    assert "'" not in constant[1:-1].replace("''", "")


@pytest.mark.parametrize(
    "fields",
    [
        [("where_1", "cost"), ("value_1", "1 OR 1=1")],
        [("where_1", "cost"), ("value_1", "")],
        [("where_1", "cost"), ("how_1", "OR"), ("value_1", "1")],
        [("where_1", "cost; DROP"), ("value_1", "1")],
        [("what", "AVG(cost), SUM"), ("of", "cost")],
        [("what", "sum"), ("of", "nothing")],
        [("by", "ward, patient")],
    ],
)
def test_what_is_not_in_the_lists_is_refused(fields):
    with pytest.raises(ParameterError):
        chosen(*fields)


@pytest.mark.parametrize("name", ["order", "Two words", 'a"b', "ward"])
def test_any_name_is_quoted_so_that_it_is_read_as_that_name(name):
    schema = Schema("t", (Column(name, "text", keys=("x", "y")),))
    sql = chosen(("by", name), schema=schema)
    with la.open(pa.table({name: ["x", "y"]}), schema=schema, budget=la.Budget(1)) as session:
        assert [group.name for group in session.sql(sql).plan.groups] == [name]
    assert quote_name("ward") == "ward"


def test_a_grant_leaves_what_it_names_and_what_can_be_answered():
    found = choices(SCHEMA, ["ward", "cost"])
    assert found.columns == ["ward", "cost"]
    assert (found.numbers, found.groups) == (["cost"], ["ward"])
    assert [name for name, _ in choices(SCHEMA, ["patient"]).whats] == ["count", "units"]
