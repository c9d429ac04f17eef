"""An open table: the engine that reads it, what is public about it, the ledger it is charged to."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from threading import Event, RLock

from letalone.engines.failure import EngineFailed
from letalone.engines.sql_engine import Engine
from letalone.errors import ParameterError, UnsupportedQuery
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import OpenAgain
from letalone.exact.typed import Number
from letalone.ledger import DataSet, Ledger
from letalone.ledger.charging import Payer
from letalone.plans.plan import Plan, PublicJoin
from letalone.plans.schema import Schema
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.session import row_limit
from letalone.session.pricing import Priced, no_budget, price_plan
from letalone.session.row_limit import KeptLimit, RowLimit
from letalone.session.time_steps import NOBODY, Asker

NOT_ON_SPARK = (
    "A model cannot be trained on a table of Spark: its rows would have to come here. Write the"
    " columns that it needs to Parquet files, one row of each unit, and open these."
)
Progress = Callable[[float], None]
Joined = tuple[str, tuple[tuple[str, str], ...]]  # a public table's digest, and its keys


class OpenTable:
    """A session and all its questions share one; one answer is made at a time."""

    __slots__ = (
        "_brought", "_closed", "_joined", "_ledger", "_own_ledger", "_partners", "asker", "bits",
        "engine", "from_text", "is_registered", "lock", "name", "progress", "schema", "source",
        "types_declared", "whole_name",
    )  # fmt: skip

    def __init__(
        self,
        engine: Engine,
        schema: Schema,
        ledger: Ledger | None,
        *,
        source: str,
        own_ledger: bool,
        progress: Progress | None,
        bits: BitSource = SYSTEM,
        whole_name: Sequence[str] = (),
        types_declared: bool = False,
    ) -> None:
        self.engine, self.schema, self._ledger = engine, schema, ledger
        self.name, self.source, self.progress = schema.name, source, progress
        self.bits, self.from_text = bits, engine.read_from_text()
        self.whole_name = tuple(whole_name)  # what SQL may call it, too
        self.types_declared = types_declared  # by an opening of a frame
        self._own_ledger, self.lock, self.asker = own_ledger, RLock(), NOBODY
        self._closed, self.is_registered = Event(), False
        self._joined = Counter[Joined]()  # by how many who ask
        self._brought: set[Joined] = set()  # by this one
        self._partners: dict[str, OpenTable] = {}

    def asked_by(self, asker: Asker) -> "OpenTable":
        """The same table, lock and engine, for one who asks; all are closed together."""
        copied = copy(self)
        copied.asker, copied._partners = asker, {}  # partners are asked by the same
        copied._brought = set()
        return copied

    @property
    def is_open(self) -> bool:
        return not self._closed.is_set()

    def check_open(self) -> None:
        """Before anything is charged: a closed engine would fail, and freeze the data set."""
        if not self.is_open:
            raise ParameterError(problem(Code.CLOSED, OpenAgain(), name=self.name))

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged; refused where none knows the data set yet."""
        if self._ledger is None:
            raise no_budget(self.name)
        return self._ledger

    @property
    def is_known(self) -> bool:
        """Whether a ledger knows the data set: it may stand there and not be registered here."""
        return self._ledger is not None

    @property
    def version(self) -> int:
        return self.data_set().version if self.is_known else self.schema.version

    def register(self, ledger: Ledger, version: int) -> None:
        """From now on questions are answered: the ledger has the data set, and what it is."""
        self._ledger, self.is_registered = ledger, True
        self.schema = replace(self.schema, version=version)

    def check_registered(self) -> None:
        """Before anything is charged: all that is written down about a table is."""
        if not self.is_registered:
            raise no_budget(self.name)

    def data_set(self) -> DataSet:
        return self.ledger.data_set(self.name)

    @property
    def payer(self) -> Payer:
        """The data set as it is charged, for whoever asks."""
        asker = self.asker
        return Payer(self.ledger, self.name, self.schema.protects, asker.analyst, asker.purpose)

    def price(self, plan: Plan, *, epsilon: Number, delta: Number, confidence: Number) -> Priced:
        return price_plan(self, plan, epsilon=epsilon, delta=delta, confidence=confidence)

    @property
    def is_elsewhere(self) -> bool:
        """Whether a service has the rows and the ledger."""
        return False

    def kept_limit(self) -> KeptLimit | None:
        """The row limit that was found privately for the data as they are declared now."""
        return row_limit.find_kept(self)

    def announce_limit(self, priced: Priced) -> None:
        """Before a row limit is looked for: the ledger knows by which question."""
        row_limit.announce(priced)

    def learn_limit(self, limit: RowLimit) -> None:
        """After one was found: the ledger has it."""

    def place(self) -> str:
        """Where statements run: private tables are joined in one place."""
        return self.engine.place()

    def unit_kind(self, unit: str) -> str:
        """How units are stored, which are compared as they are."""
        return self.engine.unit_kind(unit)

    def as_joined(self, frame: object, *, name: str) -> object:
        """A public table as questions join it."""
        del name
        return frame

    def check_trainable(self) -> None:
        """A model is made in this process, of rows; those of a cluster stay there."""
        if self.place().startswith("spark"):
            raise UnsupportedQuery(NOT_ON_SPARK)

    def tell(self, done: float) -> None:
        """How far long work is; whoever listens cannot make the work fail, which would freeze."""
        if self.progress is not None:
            with suppress(Exception):
                self.progress(done)

    def know(self, join: PublicJoin, frame: object) -> None:
        """Hands a public table to the engine, which checks that it is unique on its key."""
        seen = (join.table_digest, join.on)
        with self.lock:
            self.check_open()
            if seen in self._brought:
                return
            if not self._joined[seen]:
                self._add_public(join, frame)
            self._joined[seen] += 1
            self._brought.add(seen)

    def _add_public(self, join: PublicJoin, frame: object) -> None:
        try:
            self.engine.add_public(join, frame)
        except BaseException:
            if join.table_digest not in {digest for digest, _ in self._joined}:
                self.engine.forget_public(join.table_digest)
            raise

    def forget_public(self) -> None:
        """Lets go of the public tables that this one has brought and nobody else uses now."""
        if not self._brought:
            return  # it waits for nobody's answer
        with self.lock:
            for seen in self._brought:
                self._joined[seen] -= 1
                if not self._joined[seen]:
                    del self._joined[seen]  # shared with all who ask
            gone = {digest for digest, _ in self._brought} - {digest for digest, _ in self._joined}
            self._brought = set()
            for digest in gone if self.is_open else ():
                with suppress(EngineFailed):  # then it stays until the table is closed
                    self.engine.forget_public(digest)

    def meet(self, other: "OpenTable") -> None:
        """Remembers another private table that questions join."""
        known = self._partners.setdefault(other.name, other)
        if known is not other and known.is_open:
            raise ParameterError(
                f"Another open table called {other.name!r} is joined to {self.name!r} already."
                " Close it, or open one of them under another name."
            )
        self._partners[other.name] = other

    def partner(self, name: str) -> "OpenTable":
        return self._partners[name]

    def close(self) -> None:
        """Lets go of the data, and of the ledger where it was opened for this session."""
        with self.lock:
            if self.is_open:
                self._closed.set()
                self.engine.close()
                if self._own_ledger and self._ledger is not None:
                    self._ledger.close()

    def where_kept(self) -> str:
        return self.payer.where_kept()
