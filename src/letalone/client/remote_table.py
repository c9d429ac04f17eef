"""A table that is elsewhere: its schema is here, its rows and its budget are not.

Public tables that questions join are sent along, as columns of JSON. So that both sides speak of
the same table, by the same digest, it is joined here as it will be read there.

  Tested:   tests/client/test_sessions.py
"""

from math import isfinite
from threading import Event, RLock
from typing import Any, NoReturn, cast

from letalone.client.connection import ServiceConnection
from letalone.client.remote_pricing import RemotePriced
from letalone.engines.arrow import array_of, table_of
from letalone.engines.frames import as_arrow
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.typed import Number
from letalone.plans.plan import Plan, PublicJoin
from letalone.plans.schema import Schema
from letalone.session.open_table import OpenTable
from letalone.session.row_limit import KeptLimit, RowLimit
from letalone.session.time_steps import NOBODY

SENT = (bool, int, float, str, type(None))
Columns = dict[str, list[Any]]


class RemoteTable(OpenTable):
    """What questions about a table elsewhere share."""

    __slots__ = ("_frames", "_limit", "link", "public_key", "purpose")

    def __init__(
        self, link: ServiceConnection, schema: Schema, *, purpose: str, public_key: str | None
    ) -> None:
        self.link, self.schema, self.purpose = link, schema, purpose
        self.name, self.source, self.public_key = schema.name, str(link.address), public_key
        self.from_text, self.asker, self.lock = frozenset[str](), NOBODY, RLock()
        self._closed, self.whole_name = Event(), ()
        self._partners: dict[str, OpenTable] = {}
        self._frames: dict[str, Columns] = {}
        self._limit: KeptLimit | None = None

    @property
    def engine(self) -> NoReturn:
        """Refused: rows are read where they are."""
        raise UnsupportedQuery(
            f"This is done where the rows are, and they are at {self.source}. Ask with .release,"
            " .preview or .sql; models are trained by whoever holds the data."
        )

    def price(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, plan: Plan, *, epsilon: Number, delta: Number, confidence: Number
    ) -> RemotePriced:
        """A question at a price, which the service knows."""
        return RemotePriced(self, plan, epsilon, delta, confidence)

    @property
    def is_elsewhere(self) -> bool:
        return True

    def kept_limit(self) -> KeptLimit | None:
        """The row limit that was found through this session; the ledger is elsewhere."""
        return self._limit

    def announce_limit(self, priced: object) -> None:
        """Nothing: the service's ledger is not written to from here."""

    def learn_limit(self, limit: RowLimit) -> None:
        """Keeps the limit for later questions of this session."""
        self._limit = KeptLimit(limit, is_paid=True)

    def place(self) -> str:
        return f"the service at {self.source}"

    def unit_kind(self, unit: str) -> str:
        """The declared type of the units; the service compares how they are stored."""
        return self.schema.column(unit).type.value

    def as_joined(self, frame: object, *, name: str) -> object:
        """A public table as the service will read it from JSON."""
        arrays = [(column, array_of(values)) for column, values in columns_of(name, frame).items()]
        for column, array in arrays:
            if array is None:
                raise ParameterError(f"Column {column!r} of {name!r} mixes types. Use one.")
        return table_of(arrays)

    def check_trainable(self) -> NoReturn:
        """Refused: a model is trained where the rows are."""
        raise UnsupportedQuery(
            "A service answers questions and trains no models. Ask for what the model needs, such"
            " as la.linear_regression, or train it where the data is."
        )

    def know(self, join: PublicJoin, frame: object) -> None:
        """Keeps a public table to send it along; the service checks that its key is unique."""
        self.check_open()
        self._frames[join.table_digest] = columns_of(join.name, frame)

    def sent_with(self, plan: Plan) -> dict[str, Any]:
        """The public tables that a question joins, and the names of the private ones."""
        inner = () if plan.per_unit is None else plan.per_unit.joins
        public = [join for join in (*plan.joins, *inner) if isinstance(join, PublicJoin)]
        frames = {join.name: self._frames[join.table_digest] for join in public}
        return {"tables": frames, "others": [join.name for join in plan.partners]}

    def close(self) -> None:
        """Nothing more is asked through it; the client stays open."""
        self._closed.set()

    def where_kept(self) -> str:
        return f"The budget is kept by {self.source}."


def columns_of(name: str, frame: object) -> Columns:
    """The columns of a public table as JSON can hold them."""
    table = cast("Any", as_arrow(frame))
    names = cast("list[str]", table.column_names)
    if len(set(names)) < len(names):
        raise ParameterError(f"The public table {name!r} has two columns of one name. Rename one.")
    values_by_column: Columns = {column: table.column(column).to_pylist() for column in names}
    for column, values in values_by_column.items():
        _check_column(name, column, values)
    return values_by_column


def _check_column(name: str, column: str, values: list[Any]) -> None:
    for value in values:
        if not isinstance(value, SENT) or (isinstance(value, float) and not isfinite(value)):
            raise ParameterError(
                f"Column {column!r} of the public table {name!r} cannot be sent: cells must be"
                " text, truth values, whole or finite numbers, or missing. Convert it, or leave it"
                " out."
            )
