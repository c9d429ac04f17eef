"""Schemas hold public facts only, each checked; the file says the same."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letalone.errors import FormatError, ParameterError
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.privacy.neighbours import ADD_REMOVE, REPLACE
from letalone.sources.places import schema_path
from plans.samples import SCHEMA
from stages import pick

FILE = """
format = 1
name = "visits"
unit = "patient_id"
[columns.patient_id]
type = "integer"
[columns.cost]
type = "number"
lower = 0.1
upper = "1000"
"""


def test_an_unknown_column_lists_what_there_is_and_asks_what_was_meant() -> None:
    with pytest.raises(ParameterError, match=r"'Agee' is not in table 'visits'.* age, .*'age'\?"):
        SCHEMA.column("Agee")
    wide = Schema("wide", tuple(Column(f"c{i}", Type.TEXT) for i in range(100)))
    with pytest.raises(ParameterError, match=r"c29 and 70 more\.$"):
        wide.column("zzzzzz")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Column("", Type.TEXT), "column name is"),
        (lambda: Column("a\0", Type.TEXT), "column name is"),
        (lambda: Column("\ud800", Type.TEXT), "surrogate"),
        (lambda: Column("a", "txt"), "must be one of: boolean.*Did you mean 'text'"),
        (lambda: Column("a", Type.NUMBER, lower=1, upper=1), "lower must be below upper"),
        (lambda: Column("a", Type.NUMBER, lower=float("nan")), "finite number"),
        (lambda: Column("a", Type.TEXT, lower=0), "only integer and number"),
        (lambda: Column("a", Type.INTEGER, lower=0.5), "whole number"),
        (lambda: Column("a", Type.INTEGER, upper=2**63), "64 bits"),
        (lambda: Column("a", Type.TEXT, keys=("A", "A")), "listed twice"),
        (lambda: Column("a", Type.TEXT, keys=(1,)), "must be text"),
        (lambda: Schema("", SCHEMA.columns), "table name is"),
        (lambda: Schema("t", ()), "at least one column"),
        (lambda: Schema("t", ("age",)), "la.Column"),
        (lambda: Schema("t", (Column("a", Type.TEXT), Column("A", Type.TEXT))), "capital"),
        (lambda: Schema("t", (Column("a", Type.TEXT), Column("a", Type.TEXT))), "Rename"),
        (lambda: replace(SCHEMA, unit="patient"), "Did you mean 'patient_id'"),
        (lambda: replace(SCHEMA, unit="age"), "would merge people"),
        (lambda: replace(SCHEMA, version=0), "version is 0"),
        (lambda: replace(SCHEMA, neighbours="replace"), "la.REPLACE"),
    ],
)
def test_what_cannot_be_declared_is_refused(make, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()


def test_typed_bounds_are_decimals_and_a_missing_key_comes_last() -> None:
    assert Column("a", Type.NUMBER, lower=0.1).lower == Fraction(1, 10)
    assert Column("a", Type.TEXT, keys=(None, "B", "A")).keys == ("B", "A", None)


def test_the_neighbours_name_the_unit() -> None:
    assert str(SCHEMA.protects) == "add or remove one patient_id"
    assert str(replace(SCHEMA, unit=None, neighbours=REPLACE).protects) == "replace one row"
    assert replace(SCHEMA, neighbours=ADD_REMOVE.of("x")) == SCHEMA


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
ODD_NAMES = NAMES.filter(str.strip)
BOUNDS = st.fractions(-(10**30), 10**30) | st.sampled_from([Fraction(1, 3), Fraction(1, 10**40)])
COLUMNS = st.one_of(
    st.builds(Column, ODD_NAMES, st.sampled_from(list(Type))),
    st.builds(Column, ODD_NAMES, st.just(Type.NUMBER), BOUNDS),
    st.builds(Column, ODD_NAMES, st.just(Type.INTEGER), st.none(), st.integers(-(2**62), 2**62)),
    st.builds(
        Column,
        ODD_NAMES,
        st.just(Type.TEXT),
        keys=st.lists(st.none() | NAMES, min_size=1, unique=True).map(tuple),
    ),
    st.builds(Column, ODD_NAMES, st.just(Type.BOOLEAN), keys=st.just((True, None))),
    st.builds(Column, ODD_NAMES, st.just(Type.DATE), keys=st.just((date(2024, 1, 31),))),
)


@settings(max_examples=pick(40, 100))
@given(st.data())
def test_the_file_says_what_the_schema_says_whatever_the_names(data) -> None:
    columns = data.draw(st.lists(COLUMNS, min_size=1, unique_by=lambda c: c.name.casefold()))
    plain = [c.name for c in columns if c.lower is None and c.upper is None]
    free = [name for name in plain if name.lower() != "row"]  # the word for a single row
    schema = Schema(
        data.draw(ODD_NAMES),
        tuple(columns),
        unit=data.draw(st.none() | st.sampled_from(free)) if free else None,
        version=data.draw(st.integers(1, 10**6)),
        neighbours=data.draw(st.sampled_from([ADD_REMOVE, REPLACE])),
    )
    assert Schema.from_toml(schema.to_toml()) == schema
    open_question = replace(schema, unit=None, unit_declared=False)
    assert Schema.from_toml(open_question.to_toml()) == open_question


def test_numbers_in_the_file_mean_the_decimal_that_is_written() -> None:
    schema = Schema.from_toml(FILE)
    assert schema.column("cost").lower == Fraction(1, 10)
    assert schema.column("cost").upper == 1000
    assert schema.unit == "patient_id"
    assert Schema.from_toml(FILE.replace("0.1", '"1/3"')).column("cost").lower == Fraction(1, 3)


def test_the_example_of_a_unit_is_the_likely_column_or_one_to_fill_in() -> None:
    """The template of a table of ages, hours and sexes proposed the age."""
    adult = tuple(Column(name, Type.TEXT) for name in ("age", "hours", "paid", "sex"))
    schema = Schema("adult", adult, unit_declared=False)
    assert '# unit = "…"' in schema.to_toml()
    assert '# unit = "paid"' in schema.to_toml(likely="paid")


def test_what_is_not_declared_stands_there_as_a_comment_to_fill_in() -> None:
    text = Schema(
        "t", (Column("cost", Type.NUMBER), Column("ward", Type.TEXT)), unit_declared=False
    ).to_toml()
    for line in ("# lower = 0", "# upper = 100", '# keys = ["A", "B"]', '# unit = "…"'):
        assert f"\n{line}" in text
    filled = text.replace("# lower = 0  #", "lower = 5  #").replace("# unit_is", "unit_is")
    assert Schema.from_toml(filled).column("cost").lower == 5
    assert Schema.from_toml(filled).unit_declared
    assert not Schema.from_toml(text).unit_declared


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("format = 1", "format = 2", "format 2, and this letalone reads up to format 1"),
        ("format = 1", "", "no line `format = 1`"),
        ("format = 1", 'format = "1"', "no line `format = 1`"),
        ('unit = "patient_id"', 'units = "patient_id"', "no field 'units'.*Did you mean 'unit'"),
        ("lower = 0.1", "lowr = 0.1", "no field 'lowr'.*Did you mean 'lower'"),
        ("lower = 0.1", "lower = nan", "finite number"),
        ("lower = 0.1", "lower = 1e999999999", "finite number"),
        ("lower = 0.1", "lower = 2000", "lower must be below upper"),
        ("lower = 0.1", 'lower = "much"', "must be a number such as 0.5"),
        ("lower = 0.1", 'lower = "1/0"', "must be a number such as 0.5"),
        ("lower = 0.1", "lower = true", "finite number"),
        ('type = "number"', 'type = "numbr"', "Did you mean 'number'"),
        ('type = "number"', "", "has no type"),
        ('type = "integer"', 'type = "integer"\nkeys = "A"', "keys .* must be a list"),
        ('type = "integer"', 'type = "integer"\nkeys = [1.5]', "text, whole numbers or dates"),
        ('type = "integer"', 'type = "integer"\nkeys = [1, 1]', "listed twice"),
        ('type = "integer"', 'type = "integer"\nkeys = ["A"]', "whole number"),
        ('unit = "patient_id"', 'unit = "patient"', "Did you mean 'patient_id'"),
        ('unit = "patient_id"', "unit = 3", "must be the name of a column"),
        ('unit = "patient_id"', 'unit = "patient_id"\nunit_is_row = true', "Keep one"),
        ('name = "visits"', "", "table name is"),
        ('name = "visits"', 'name = "visits"\nversion = 0', "version is 0"),
        ('name = "visits"', 'name = "visits"\nneighbours = "swap"', "add/remove"),
        ('name = "visits"', 'name = "visits', "not TOML.*line 3"),
        ("[columns.cost]", "[columns]\ncost = 3\n[other]", "must be a table|no field"),
        (FILE, "format = 1\nname = 't'", "at least one column"),
        (FILE, "a = " + "[" * 5000, "not TOML|too deeply"),
    ],
)
def test_a_file_that_is_damaged_newer_or_misspelt_is_refused(old, new, words) -> None:
    assert old in FILE
    with pytest.raises(FormatError, match=words):
        Schema.from_toml(FILE.replace(old, new, 1))


def test_reading_names_the_file_in_every_error(tmp_path: Path) -> None:
    path = schema_path(tmp_path / "visits.parquet")
    assert path.name == "visits.letalone.toml"
    with pytest.raises(FormatError, match=r"no schema file .*visits\.letalone\.toml"):
        Schema.read(path)
    path.write_text(FILE, encoding="utf-8")
    assert Schema.read(str(path)).name == "visits"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="not UTF-8"):
        Schema.read(path)
    path.write_text("format = 9", encoding="utf-8")
    with pytest.raises(FormatError, match=r"visits\.letalone\.toml: .* format 9"):
        Schema.read(path)
    with pytest.raises(FormatError, match="cannot be read"):
        Schema.read(tmp_path)


def test_a_bound_beyond_sanity_is_refused_quickly() -> None:
    with pytest.raises(ParameterError):
        Column("a", Type.NUMBER, lower=Decimal("1e999999999"))
