"""What is too wide for PostgreSQL is refused before it is charged, and the rest is computed."""

from contextlib import closing
from dataclasses import replace

import pytest

import letalone as la
from engines import on_postgres
from engines.test_engine_laws import WHOLE
from letalone.engines.core.measures import RowScope, RowsWith
from letalone.engines.postgres.postgres_engine import open_postgres
from letalone.engines.postgres.postgres_words import MAX_WIDTH
from letalone.errors import UnsupportedQuery
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.types import Type

KINDS = {"w": Type.TEXT, "u": Type.INTEGER}


@pytest.fixture(scope="module")
def table():
    columns = {"u": "bigint", "w": "text", "x": "double precision"}
    rows = [[number, f"w{number % 2}", float(number)] for number in range(20)]
    return on_postgres.stored(columns, rows)


@pytest.fixture
def session(table):
    with la.open(on_postgres.address(table), unit="u", budget=la.Budget(epsilon=1000)) as found:
        yield found


@pytest.mark.long
def test_candidates_take_no_width(session):
    candidates = [f"w{number}" for number in reversed(range(2000))]
    asked = session.bound(max_rows=1).agg(a=la.top_k("w", k=2, candidates=candidates))
    (answer,) = asked.release(epsilon=200).rows()
    assert {answer["a_1"], answer["a_2"]} == {"w0", "w1"}
    assert answer["a_1_count"] == answer["a_2_count"] == 10


@pytest.mark.long  # test_as_many_as_are_allowed_are_computed_however_bounded stays
def test_too_many_aggregates_are_refused_and_cost_nothing(session):
    wide = {f"b{number}": la.private_bounds(la.col("x") + number) for number in range(6)}
    with pytest.raises(UnsupportedQuery, match=r"at most 1600.*fewer aggregates"):
        session.bound(max_rows=1).agg(**wide).release(epsilon=1)
    assert session.spent.epsilon == 0
    assert session.bound(max_rows=1).agg(n=la.count()).release(epsilon=1)


@pytest.mark.long  # the limit itself: test_too_many_aggregates_are_refused
def test_as_many_as_are_allowed_are_computed_however_bounded(table):
    """Groups of pairs have the most columns beside the sums: keys, numbers of rows, weights."""
    with closing(open_postgres(on_postgres.address(table))) as engine:
        groups = tuple(GroupColumn(name, col(name), kind) for name, kind in KINDS.items())
        schema, bounding = replace(engine.schema(), unit="u"), Bounding(max_rows=1, max_groups=1)
        scope = RowScope(schema, None, (), (), groups, (("w1", 1),), bounding)
        found = engine.measure(scope, [RowsWith(col("x"))] * (MAX_WIDTH - 20))
        assert found == [[WHOLE]] * (MAX_WIDTH - 20)
