"""Products kept beside the rows change no sum: the same integers with and without them."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from letalone.engines.core.measures import GridSum, ProductSum, Rows, RowScope, RowsWith
from letalone.engines.duckdb import beside_rows as module
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding, GroupColumn
from letalone.plans.types import Type

ROWS = 5_000
ODD = [None, math.nan, math.inf, -math.inf, 1e300, -1e300, 0.0, -0.0, 2.0**53, 5e-324, -3.5, 1000.0]
GRID = GridSum(col("x"), 0, 1000 << 10, 10)
MEASURES = [Rows(), RowsWith(col("x")), GRID, GridSum(col("x"), 0, 1000 << 10, 10, power=2)]


@pytest.fixture(autouse=True)
def few_rows_are_many(monkeypatch):
    monkeypatch.setattr(module, "MANY_ROWS", 1)


@pytest.fixture
def path(tmp_path):
    generator = np.random.default_rng(1)
    x = [ODD[n] if n < len(ODD) else 1500 * generator.random() - 200 for n in range(ROWS)]
    unit = [None if n % 97 == 0 else int(generator.integers(0, 300)) for n in range(ROWS)]
    columns = {"unit": unit, "g": generator.integers(0, 4, ROWS), "x": pa.array(x, pa.float64())}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=701)
    return tmp_path / "rows.parquet"


def scope_of(engine, *, where=None, most=5, grouped=True):
    groups = (GroupColumn("g", col("g"), Type.INTEGER),) if grouped else ()
    keys = tuple((key,) for key in range(5)) if grouped else None
    schema = engine.schema().protecting("unit")
    return RowScope(schema, where, (), (), groups, keys, Bounding(max_rows=most))


def asked_anew(path, scope, measures):
    engine = open_duck(path)
    found = engine.measure(scope, measures)
    engine.close()
    return found


@pytest.mark.parametrize("where", [None, col("x") < 600, col("g") != 2])
def test_the_third_answer_is_made_of_products_and_has_the_integers_of_the_first(path, where):
    engine = open_duck(path)
    scope = scope_of(engine, where=where)
    first = engine.measure(scope, MEASURES)
    name = engine._weights_name(scope)
    assert not engine._beside.products(name, scope)
    assert engine.measure(scope, MEASURES) == first
    assert engine._beside.products(name, scope)
    assert engine.measure(scope, MEASURES) == first
    ungrouped = scope_of(engine, where=where, grouped=False)
    assert engine.measure(ungrouped, MEASURES) == asked_anew(path, ungrouped, MEASURES)
    engine.close()


def test_a_kept_sum_is_not_computed_again(path, monkeypatch):
    engine = open_duck(path)
    scope, ran = scope_of(engine), []
    for _ in range(2):
        engine.measure(scope, MEASURES[:3])
    run = engine._duck.run
    monkeypatch.setattr(engine._duck, "run", lambda query: ran.append(query.sql()) or run(query))
    engine.measure(scope, MEASURES[:3])
    assert ["product0" in words and "FLOOR" not in words for words in ran] == [True]
    engine.close()


def test_what_is_kept_for_one_reading_limit_or_filter_is_not_used_for_another(path):
    engine = open_duck(path)
    bounded = engine.schema().protecting("unit")
    columns = tuple(
        replace(c, lower=100, upper=300) if c.name == "x" else c for c in bounded.columns
    )
    scopes = [
        scope_of(engine),
        replace(scope_of(engine), schema=replace(bounded, columns=columns)),
        scope_of(engine, most=2),
        scope_of(engine, where=col("x") > 50),
    ]
    asked = [(scope, MEASURES) for scope in scopes]
    asked.append((scopes[0], [replace(GRID, high=500 << 10)]))
    for factor in (2, 3):
        multiplied = replace(scope_of(engine), derived=(("y", col("x") * factor),))
        asked.append((multiplied, [replace(GRID, of=col("y"))]))
    alone = [asked_anew(path, *pair) for pair in asked]
    for _ in range(4):
        assert [engine.measure(*pair) for pair in asked] == alone
    assert len({str(found) for found in alone}) == len(alone)
    engine.close()


def test_sums_that_need_more_than_doubles_are_not_kept(path):
    engine = open_duck(path)
    scope = scope_of(engine)
    wide = GridSum(col("x"), 0, 2**45, 30)
    products = ProductSum((GRID, wide), (1, 1))
    first = engine.measure(scope, [wide, products])
    for _ in range(3):
        assert engine.measure(scope, [wide, products]) == first
    assert not engine._beside.products(engine._weights_name(scope), scope)
    engine.close()


def test_products_have_a_share_of_the_memory_and_the_first_that_fit_stay(path):
    room = module.SHARE_OF_MEMORY * module.PRODUCT_BYTES * ROWS
    engine = open_duck(path)
    engine._duck.memory = 2 * room + 1
    scope = scope_of(engine)
    grids = [replace(GRID, high=high << 10) for high in (10, 200, 900, 5000)]
    alone = asked_anew(path, scope, grids)
    for _ in range(3):
        assert engine.measure(scope, grids) == alone
    kept = engine._beside.products(engine._weights_name(scope), scope)
    assert [high for _, _, high, _ in kept] == [10 << 10, 200 << 10]
    engine.close()
