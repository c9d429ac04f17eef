"""A table that is elsewhere: its schema is here, its rows and its budget are not.

It is asked in the same words as a table of one's own. The budget that is shown is the own grant:
what one may still ask. The data set's cap, which is the guarantee, may be used up by others before.

Public tables that questions join are sent along, as columns of JSON. So that both sides speak of
the same table, by the same digest, it is joined here as it will be read there.

  Tested:   tests/client/test_sessions.py
"""

from collections.abc import Mapping
from importlib.util import find_spec
from math import isfinite
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import quote

from letalone.client.connection import ServiceConnection
from letalone.client.listing import DAMAGE, read_all
from letalone.client.remote_pricing import Json, RemotePriced, exact_digits
from letalone.errors import (
    FormatError,
    LetaloneError,
    NotAllowed,
    ParameterError,
    UnsupportedQuery,
)
from letalone.errors.problem import without_context
from letalone.exact.typed import Number
from letalone.plans.plan import Plan, PublicJoin
from letalone.plans.schema import Schema
from letalone.privacy.budget import brief
from letalone.session.backend import Backend, Error
from letalone.session.session import Session
from letalone.session.steps.row_limit import KeptLimit, RowLimit
from letalone.wire.json_values import read_amount
from letalone.wire.records import Grant

if TYPE_CHECKING:
    from letalone.session.time_steps import Asker

SENT = (bool, int, float, str, type(None))
Columns = dict[str, list[Any]]


class RemoteTable(Backend):
    """What questions about a table elsewhere share."""

    __slots__ = ("_frames", "_limit", "link", "public_key", "purpose")

    def __init__(
        self, link: ServiceConnection, schema: Schema, *, purpose: str, public_key: str | None
    ) -> None:
        super().__init__(schema, source=str(link.address))
        self.link, self.purpose, self.public_key = link, purpose, public_key
        self._frames: dict[str, Columns] = {}
        self._limit: KeptLimit | None = None

    def price(
        self, plan: Plan, *, epsilon: Number, delta: Number, confidence: Number
    ) -> RemotePriced:
        """A question at a price, which the service knows."""
        return RemotePriced(self, plan, epsilon, delta, confidence)

    def epsilon_for(
        self, plan: Plan, *, error: Error, delta: Number, confidence: Number, rows: int | None
    ) -> float:
        """The smallest ε that keeps an error, which the service solves for."""
        price = {"delta": delta, "confidence": confidence}
        price |= {} if rows is None else {"rows": rows}
        if isinstance(error, Mapping):
            wanted = {name: exact_digits("error", limit) for name, limit in error.items()}
        else:
            wanted = exact_digits("error", error)
        return float(self.ask("epsilon", plan, price, error=wanted)["epsilon"])

    def ask(self, what: str, plan: Plan, price: Mapping[str, Number], **more: object) -> Json:
        """What the service says of a question; an answer is asked for under one name."""
        self.check_open()
        body = {
            "data_set": self.name,
            "purpose": self.purpose,
            "plan": plan.to_json(),
            **{name: exact_digits(name, number) for name, number in price.items()},
            **self.sent_with(plan),
            **more,
        }
        post = self.link.post_once if what == "release" else self.link.post
        return post(f"/questions/{what}", body)

    def standing(self) -> Grant:
        """The own grant as it stands now."""
        wanted = (self.name, self.purpose)
        for grant in read_all(Grant, self.link.get("/budgets").get("grants")):
            if (grant.data_set, grant.purpose) == wanted:
                return grant
        raise no_grant(*wanted)

    def kept_limit(self) -> KeptLimit | None:
        """The row limit that one had paid for when this was opened, or has found since."""
        return self._limit

    def look_up_limit(self) -> None:
        """Asks the service for the row limit that one has paid for, if there is one."""
        record = self.link.get(f"/data-sets/{quote(self.name, safe='')}", purpose=self.purpose)
        damaged = FormatError("The row limit cannot be read. Update the older of both.")
        limit = without_context(lambda: _read_limit(record), *DAMAGE, error=damaged)
        if limit is not None and record.get("version") == self.schema.version:
            self.learn_limit(limit)

    def learn_limit(self, limit: RowLimit) -> None:
        self._limit = KeptLimit(limit, is_paid=True)

    def describe(self) -> list[str]:
        return [
            f"Session of {self.name!r} at {self.source}, for the purpose {self.purpose!r}",
            f"  protects  {self.schema.protects}",
            *self._grant_lines(),
        ]

    def _grant_lines(self) -> list[str]:
        """How the grant stands; a picture of a session fails for no network."""
        try:
            grant = self.standing()
        except LetaloneError as error:
            return [f"  grant     not known now: {error}"]
        return [
            f"  budget    {grant.budget}, your grant",
            f"  spent     {brief(grant.spent)}",
            f"  left      about {brief(grant.remaining, up=False)}",
            f"  columns   {', '.join(grant.columns)}",
        ]

    @property
    def ledger(self) -> NoReturn:
        """Refused: the ledger is with the service."""
        raise NotAllowed(
            "The ledger is kept by the service; auditors read it there. client.history() has the"
            " own answers, and client.receipt(…) what it signed."
        )

    def asked_by(self, asker: "Asker") -> NoReturn:
        """Refused: who asks is known by the token, and the service has its own time step."""
        raise NotAllowed(
            f"The token says who asks, so it cannot be {asker.analyst!r} for"
            f" {asker.purpose!r}. Open the data set with a client of that person."
        )

    def place(self) -> str:
        return f"the service at {self.source}"

    def unit_kind(self, unit: str) -> str:
        """The declared type of the units; the service compares how they are stored."""
        return self.schema.column(unit).type.value

    def as_joined(self, frame: object, *, name: str) -> object:
        """A public table as the service will read it from JSON."""
        if find_spec("pyarrow") is None:
            raise ParameterError("Public tables are read by pyarrow: pip install numpy pyarrow.")
        from letalone.engines.frames.arrow import array_of, table_of

        arrays = [(column, array_of(values)) for column, values in columns_of(name, frame).items()]
        for column, array in arrays:
            if array is None:
                raise ParameterError(f"Column {column!r} of {name!r} mixes types. Use one.")
        return table_of(arrays)

    def trainable(self) -> NoReturn:
        """Refused: a model is trained where the rows are."""
        raise UnsupportedQuery(
            "A service answers questions and trains no models. Ask for what the model needs, such"
            " as la.linear_regression, or train it where the data is."
        )

    def know(self, join: PublicJoin, frame: object) -> None:
        """Keeps a public table to send it along; the service checks that its key is unique."""
        self.check_open()
        self._frames[join.table_digest] = columns_of(join.name, frame)

    def forget_public(self) -> None:
        self._frames.clear()

    def sent_with(self, plan: Plan) -> dict[str, Any]:
        """The public tables that a question joins, and the names of the private ones."""
        inner = () if plan.per_unit is None else plan.per_unit.joins
        public = [join for join in (*plan.joins, *inner) if isinstance(join, PublicJoin)]
        frames = {join.name: self._frames[join.table_digest] for join in public}
        return {"tables": frames, "others": [join.name for join in plan.partners]}

    def close(self) -> None:
        """Nothing more is asked through it; the client stays open."""
        self._closed.set()


class RemoteSession(Session):
    """A data set elsewhere and what may be asked of it, made by `client.open`.

    `budget`, `spent` and `remaining` are those of the own grant.
    """

    __slots__ = ("_table",)

    _table: RemoteTable

    def __init__(self, table: RemoteTable) -> None:
        self._table = table

    @property
    def purpose(self) -> str:
        """What the answers are for."""
        return self._table.purpose

    @property
    def grant(self) -> Grant:
        """The own grant as it stands now."""
        return self._table.standing()

    def batch(self, *_: object, **__: object) -> NoReturn:
        """Refused: a service charges each question by itself."""
        raise UnsupportedQuery(
            "A service charges each question by itself. Release them one by one, or ask several"
            " aggregates in one question: .agg(n=la.count(), cost=la.mean('cost'))."
        )


def _read_limit(said: dict[str, Any]) -> RowLimit | None:
    limit = said.get("row_limit")
    if limit is None:
        return None
    return RowLimit(int(limit["rows"]), read_amount(limit["epsilon"]), int(limit["in_groups"]))


def columns_of(name: str, frame: object) -> Columns:
    """The columns of a public table as JSON can hold them."""
    from letalone.engines.frames.to_arrow import as_arrow

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


def no_grant(data_set: str, purpose: str | None) -> NotAllowed:
    """Nobody has granted this, and how to change that."""
    aim = "" if purpose is None else f" for the purpose {purpose!r}"
    return NotAllowed(
        f"You have no grant to ask about {data_set!r}{aim}. Request one:"
        f" client.request_access({data_set!r}, purpose=…, columns=[…], budget=la.Budget(epsilon=1),"
        " why='…'); a steward decides."
    )
