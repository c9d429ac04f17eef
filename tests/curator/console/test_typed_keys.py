"""Groups that are typed are what the grouped column has: numbers, yes or no, days, text."""

import re

import pytest
from starlette.datastructures import FormData

from curator.console.conftest import Console
from curator.makers import NAME, PURPOSE, grant, registered
from letalone.curator.asking.building import build_sql, typed_keys
from letalone.curator.console.forms import SubmittedForm
from letalone.errors import LetaloneError
from letalone.plans.schema import Column, Schema

COLUMNS = {"patient": "text", "ward": "text", "age": "integer", "score": "number"}
COLUMNS |= {"active": "boolean", "joined": "date"}
SCHEMA = Schema(NAME, tuple(Column(*one) for one in COLUMNS.items()), unit="patient")
LINES = [",".join(COLUMNS), *(f"p{n},A,{n},1,true,2019-01-0{n}" for n in range(1, 9))]


def keys_of(by, typed):
    return typed_keys(typed, f"SELECT {by}, COUNT(*) AS n FROM {NAME} GROUP BY {by}", SCHEMA)


@pytest.mark.parametrize(
    ("by", "typed", "keys"),
    [
        ("age", "18\n-3\n +7 ", [18, -3, 7]),
        ("score", "1\n2", [1, 2]),
        ("EXTRACT(YEAR FROM joined)", "2019\n2020", [2019, 2020]),
        ("age + 1", "2", [2]),
        ("active", "yes\nFALSE", [True, False]),
        ("joined", "2019-01-31", ["2019-01-31"]),
        ("ward", "2019\nyes", ["2019", "yes"]),
        ("ward, age", "A", ["A"]),
        ("nothing", "2019", ["2019"]),
        ("ward", '["2019", "a"]', ["2019", "a"]),
        ("age", "[2019]", [2019]),
        ("age", "", None),
        ("age", " \n ", None),
    ],
)
def test_a_group_is_read_by_the_type_of_what_is_grouped(by, typed, keys):
    found = keys_of(by, typed)
    assert found == keys
    assert [type(one) for one in found or ()] == [type(one) for one in keys or ()]


@pytest.mark.parametrize(
    ("by", "typed", "words"),
    [
        ("age", "old", "'old' is not one. Write a whole number such as 2019."),
        ("age", "1.5", "Write a whole number"),
        ("active", "maybe", "'maybe' is not one. Write yes or no."),
    ],
)
def test_a_group_that_cannot_be_one_is_refused_with_what_can(by, typed, words):
    with pytest.raises(LetaloneError, match=re.escape(words)):
        keys_of(by, typed)


@pytest.mark.parametrize(
    ("typed", "constant"), [("yes", "TRUE"), ("No", "FALSE"), ("true", "TRUE")]
)
def test_a_yes_or_no_column_is_compared_with_yes_or_no(typed, constant):
    fields = {"what": "count", "where_1": "active", "how_1": "=", "value_1": typed}
    form = SubmittedForm(FormData(fields))
    assert f"WHERE active = {constant}" in build_sql(form, SCHEMA)


@pytest.mark.long  # typed keys: plans and tables/test_discovery.py
def test_years_and_truths_are_priced_and_answered(peopled, clock):
    form = {"data_set": NAME, "purpose": PURPOSE, "way": "sql", "pay": "epsilon", "epsilon": "0.1"}
    grant(registered(peopled, lines=LINES, schema=SCHEMA), columns=["active", "joined"])
    browser = Console(peopled, clock).by("ann")
    asked = [("EXTRACT(YEAR FROM joined)", "2019\n2020", "2019"), ("active", "yes\nno", "yes")]
    for by, typed, row in asked:
        sql = f"SELECT {by} AS g, COUNT(*) AS n FROM {NAME} GROUP BY {by}"
        sent = form | {"sql": sql, "keys": typed}
        priced = browser.follow(browser.send("/ask/preview", **sent))
        agreed = re.search(r'name="agreed" value="([0-9a-f]{64})"', priced.text)[1]
        page = browser.follow(browser.send("/ask/release", agreed=agreed, **sent))
        assert f'<th scope="row">{row}</th>' in page.text
