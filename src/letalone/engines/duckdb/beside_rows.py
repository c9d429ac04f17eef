"""Holds what stands beside the rows of a table, in their order: weights, and products with them.

A product is what a row adds to a sum on a grid: its offset with its weight. It is kept once the
same sum is asked for a second time with the same weights, so that the next statement neither reads
the column nor computes with it. The sums are the same integers with and without: whether a product
is kept, which depends on what was asked and on the number of rows, shows in the time alone.

  Tested:   tests/engines/test_beside_rows.py; weights: tests/engines/test_positions.py
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from letalone.engines.core.measures import GridSum, RowScope
from letalone.engines.core.rows import PlaceOnGrid, place_on_grid
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.frames import arrow

MAX_TABLES = 3
PRODUCT_BYTES = 8  # a row
SHARE_OF_MEMORY = 8  # of which products may take one part; the first that fit stay
MANY_ROWS = 10**6  # from which on a product is worth its memory
Product = tuple[str, PlaceOnGrid]  # how columns are read, and what is taken of them


@dataclass(slots=True)
class _Beside:
    weights: object
    rows: int
    sizes: Sequence[int]
    asked: set[Product] = field(default_factory=set[Product])
    products: dict[Product, object] = field(default_factory=dict[Product, object])

    @property
    def names(self) -> dict[Product, str]:
        return {product: f"product{number}" for number, product in enumerate(self.products)}


class BesideRows:
    """Tables of weights and products, of which the oldest are let go."""

    def __init__(self, duck: LockedDuck) -> None:
        self._duck = duck
        self._tables: dict[str, _Beside] = {}  # the last used at the end

    def has(self, name: str) -> bool:
        """Whether the weights of this name are here; then they are the last used."""
        if name in self._tables:
            self._tables[name] = self._tables.pop(name)
        return name in self._tables

    def put(self, name: str, weights: NDArray[np.int32], sizes: Sequence[int]) -> None:
        """Weights, and the sizes of the batches in which the rows are scanned."""
        self._tables[name] = _Beside(arrow.array_over(weights), weights.size, sizes)
        self._register(name)
        for oldest in list(self._tables)[:-MAX_TABLES]:
            self._duck.connection.unregister(oldest)
            del self._tables[oldest]

    def to_multiply(
        self, name: str, scope: RowScope, grids: Sequence[GridSum]
    ) -> dict[Product, GridSum]:
        """Those of the grids that were asked for with these weights before, and are not kept."""
        beside, held = self._tables[name], self._held_bytes()
        wanted = {(_reading(scope), place_on_grid(grid)): grid for grid in grids}
        again = [p for p in wanted if p in beside.asked and p not in beside.products]
        beside.asked.update(wanted if beside.rows >= MANY_ROWS else ())
        room = self._duck.memory // SHARE_OF_MEMORY - held
        fitting = again[: max(0, room) // (beside.rows * PRODUCT_BYTES or 1)]
        return {product: wanted[product] for product in fitting}

    def put_product(self, name: str, product: Product, column: object) -> None:
        """What each row adds to the sum of a grid with these weights."""
        self._tables[name].products[product] = column
        self._register(name)

    def products(self, name: str | None, scope: RowScope) -> dict[PlaceOnGrid, str]:
        """The columns of the products that are kept beside these weights, for this scope."""
        kept = self._tables[name].names if name in self._tables else {}
        reading = _reading(scope)
        return {place: column for (read, place), column in kept.items() if read == reading}

    def _held_bytes(self) -> int:
        rows = [beside.rows * len(beside.products) for beside in self._tables.values()]
        return sum(rows) * PRODUCT_BYTES

    def _register(self, name: str) -> None:
        beside = self._tables[name]
        columns: dict[str, Any] = {"w": beside.weights}
        columns |= {column: beside.products[product] for product, column in beside.names.items()}
        self._duck.connection.register(name, arrow.table_beside(columns, beside.sizes))


def _reading(scope: RowScope) -> str:
    """What the values of a scope's expressions depend on, beside the rows."""
    words = repr((scope.schema.columns, scope.derived)).encode(errors="surrogatepass")
    return sha256(words).hexdigest()
