"""Rows that are units on PostgreSQL: those of plain Python."""

from itertools import product

import pytest

from engines import on_postgres
from engines.test_engine_laws import SCHEMA, crowd, row
from engines.test_units import AFTER, BEFORE, GROUPINGS, MEASURES, scope_of, slow


@pytest.fixture(scope="module")
def crowded():
    rows = [one | {"year": (one["year"] - 2000) * 2**52} for one in crowd(300)]
    rows += [row(patient="huge", year=2**63 - 1, cost=1e308, age=0)] * 40
    engine = on_postgres.opened(rows, SCHEMA)
    yield rows, engine
    engine.close()


@pytest.mark.long
@pytest.mark.parametrize(("before", "after"), list(product(BEFORE, AFTER)))
def test_measures_of_units_are_those_of_plain_python(crowded, before, after):
    """One unit's total does not fit into 64 bits."""
    rows, engine = crowded
    for grouping in (None, *GROUPINGS):
        scope = scope_of(grouping, before, after)
        assert engine.measure(scope, MEASURES) == slow(rows, scope, MEASURES)
