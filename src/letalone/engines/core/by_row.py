"""Builds statements that say something of each row, in the order of the rows, whatever it holds.

Tested:   tests/engines/test_positions.py, test_beside_rows.py
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from letalone.engines.core import amounts, syntax
from letalone.engines.core.measures import GridSum, Measure, RowScope
from letalone.engines.core.rows import ScopeRows, Tables


def build_filter(scope: RowScope, tables: Tables) -> exp.Select:
    """Whether the filter keeps each row."""
    condition = [] if scope.where is None else [scope.where]
    rows = ScopeRows(replace(scope, where=None, groups=()), condition, tables)
    kept = [rows.value(test).sql for test in condition] or [exp.Boolean(this=True)]
    passes = syntax.case((kept[0], exp.Boolean(this=True)), otherwise=exp.Boolean(this=False))
    source = rows.select(with_unit=False, filtered=False)
    return syntax.select([syntax.alias(passes, "passes")], source)


def build_product(scope: RowScope, grid: GridSum, tables: Tables) -> exp.Select:
    """What each row adds to the sum of a grid with the weight beside it; NULL where the value is
    missing."""
    rows = ScopeRows(replace(scope, where=None, groups=()), [grid.of], tables)
    place = rows.levels.name(amounts.offset(rows.term(grid.of), grid, rows.levels))
    product = tables.dialect.weighed(place.sql, rows.weight)
    source = rows.select(with_unit=False, weighed=True, filtered=False)
    return syntax.select([syntax.alias(product, "product")], source)


def grids_with_products(scope: RowScope, measures: Sequence[Measure]) -> list[GridSum]:
    """The grids whose offsets with their weights are below 2^53, as `weighed` needs them."""
    grids = [measure for measure in measures if isinstance(measure, GridSum) and measure.power == 1]
    return [grid for grid in grids if amounts.widest(grid) * scope.lattice < amounts.EXACT]
