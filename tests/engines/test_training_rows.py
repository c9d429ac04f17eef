"""Neighbours that differ in one unit give training rows that differ in at most one."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import letalone as la
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.plans.expressions import as_expression
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

COLUMNS = (
    Column("who", Type.INTEGER),
    Column("x", Type.NUMBER, lower=-5, upper=5),
    Column("label", Type.TEXT),
)


def frame(rows: int, people: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "who": pd.array(random.integers(0, people, rows), dtype="Int64"),
            "x": random.normal(0, 4, rows),
            "label": random.choice(["a", "b"], rows).astype(object),
        }
    )


def taken(table: pd.DataFrame, *, unit: str | None = "who", where: Any = None) -> pd.DataFrame:
    schema = Schema("t", COLUMNS, unit)
    engine = open_duck(table, schema=schema)
    condition = None if where is None else as_expression(where)
    names = ["who", "x", "label"]
    found = engine.training_rows(schema, names, target="label", where=condition)
    engine.close()
    return pd.DataFrame(found)


@pytest.mark.parametrize("where", [None, la.col("x") > 0])
@pytest.mark.parametrize("seed", range(4))
def test_a_unit_has_at_most_one_row_and_it_is_one_of_its_own(seed: int, where: Any) -> None:
    table = frame(60, 12, seed)
    table.loc[::7, "label"] = None
    table.loc[::11, "who"] = pd.NA
    found = taken(table, where=where)
    assert found["who"].is_unique
    assert found["label"].notna().all()
    clamped = table.assign(x=table["x"].clip(-5, 5)).dropna()
    own = {(int(one.who), one.x, one.label) for one in clamped.itertuples()}
    assert {(int(one.who), one.x, one.label) for one in found.itertuples()} <= own
    assert where is None or (found["x"] > 0).all()


@pytest.mark.parametrize("seed", range(4))
def test_removing_a_unit_removes_its_row_and_changes_no_other(seed: int) -> None:
    table = frame(40, 8, seed)
    last = table["who"].max()
    without = taken(table[table["who"] != last].reset_index(drop=True))
    whole = taken(table)
    assert len(whole) - len(without) == 1
    assert set(whole["who"]) - set(without["who"]) == {float(last)}
    kept = whole[whole["who"] != last].sort_values("who", ignore_index=True)
    assert kept.equals(without.sort_values("who", ignore_index=True))


def test_the_row_does_not_depend_on_the_order_of_rows_and_a_filter_chooses_first() -> None:
    table = frame(60, 12, 5)
    table.loc[::5, "label"] = None
    first = taken(table).sort_values("who", ignore_index=True)
    again = taken(table.sample(frac=1, random_state=1)).sort_values("who", ignore_index=True)
    assert first.equals(again)
    labelled = table.dropna()
    assert set(taken(table, where=la.col("x") > 0)["who"]) == set(labelled[labelled.x > 0]["who"])


def test_all_rows_count_where_the_unit_is_the_row() -> None:
    table = frame(30, 3, 1)
    assert len(taken(table, unit=None)) == 30


def test_types_depend_on_the_declaration_and_not_on_the_values() -> None:
    full, empty = frame(20, 5, 1), frame(20, 5, 1).iloc[:0]
    hollow = full.assign(x=np.nan)
    kinds = [{k: v.dtype.kind for k, v in _raw(one).items()} for one in (full, empty, hollow)]
    assert kinds == [{"who": "f", "x": "f", "label": "O"}] * 3


def _raw(table: pd.DataFrame) -> dict[str, Any]:
    schema = Schema("t", COLUMNS, None)
    engine = open_duck(table, schema=schema)
    found = engine.training_rows(schema, ["who", "x", "label"], target=None, where=None)
    engine.close()
    return found
