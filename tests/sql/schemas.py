"""The table of the SQL tests, and what its queries become."""

from fractions import Fraction

from letalone.plans.expressions import Expression
from letalone.plans.plan import Plan, make_plan
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.sql.question import ReadSql, read_question

SCHEMA = Schema(
    "visits",
    (
        Column("patient_id", Type.INTEGER),
        Column("ward", Type.TEXT),
        Column("city", Type.TEXT),
        Column("Age", Type.INTEGER, Fraction(0), Fraction(120)),
        Column("cost", Type.NUMBER, Fraction(0), Fraction(1000)),
        Column("refund", Type.NUMBER),
        Column("day", Type.DATE),
        Column("at", Type.TIMESTAMP),
        Column("ok", Type.BOOLEAN),
        Column("odd name", Type.TEXT),
    ),
    unit="patient_id",
)
CITIES = Schema(
    "cities",
    (Column("city", Type.TEXT), Column("region", Type.TEXT), Column("size", Type.NUMBER)),
)
TABLES = {"cities": CITIES}


def read(sql: str, **options: object) -> ReadSql:
    return read_question(sql, SCHEMA, tables=TABLES, **options)


def plan(sql: str) -> Plan:
    found = read(sql)
    return make_plan(SCHEMA, found.aggregates, where=found.where, groups=found.groups)


def condition(sql: str) -> Expression:
    where = read(f"SELECT COUNT(*) FROM visits WHERE {sql}").where
    assert where is not None
    return where
