"""An open table: the engine that reads it, what is public about it, the ledger it is charged to."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import replace
from threading import RLock

from letalone.engines.core.failure import EngineFailed
from letalone.engines.core.sql_engine import Engine
from letalone.errors import UnsupportedQuery
from letalone.exact.typed import Number
from letalone.ledger import DataSet, Ledger
from letalone.ledger.charging import Payer
from letalone.plans.constants import format_constant
from letalone.plans.plan import Plan, PublicJoin
from letalone.plans.schema import Column, Schema
from letalone.privacy.budget import brief
from letalone.privacy.filters import left_in_words
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.session.backend import Backend, Error, PricedQuestion, no_budget
from letalone.session.pricing import Priced, price_plan
from letalone.session.steps import row_limit
from letalone.session.steps.row_limit import KeptLimit
from letalone.session.time_steps import NOBODY, Asker
from letalone.sources.source import Source, same_table
from letalone.tables.ahead import epsilon_for

NOT_ON_SPARK = (
    "A model cannot be trained on a table of Spark: its rows would have to come here. Write the"
    " columns that it needs to Parquet files, one row of each unit, and open these."
)
MAX_LISTED_COLUMNS = 8
MAX_NAME_LENGTH = 30
Progress = Callable[[float], None]
Joined = tuple[str, tuple[tuple[str, str], ...]]  # a public table's digest, and its keys


class OpenTable(Backend):
    """A session and all its questions share one; one answer is made at a time."""

    __slots__ = (
        "_brought", "_joined", "_ledger", "_own_ledger", "asker", "bits", "engine",
        "is_registered", "lock", "origin", "progress", "types_declared",
    )  # fmt: skip

    def __init__(
        self,
        engine: Engine,
        schema: Schema,
        ledger: Ledger | None,
        *,
        origin: Source,
        near: str = "",
        own_ledger: bool,
        progress: Progress | None,
        bits: BitSource = SYSTEM,
        types_declared: bool = False,
    ) -> None:
        from_text = engine.read_from_text()
        words, whole_name = origin.words + near, origin.whole_name
        super().__init__(schema, source=words, whole_name=whole_name, from_text=from_text)
        self.origin = origin  # which table it is, however it was written
        self.engine, self._ledger, self.progress, self.bits = engine, ledger, progress, bits
        self.types_declared = types_declared  # by an opening of a frame
        self._own_ledger, self.lock, self.asker = own_ledger, RLock(), NOBODY
        self.is_registered = False
        self._joined = Counter[Joined]()  # by how many who ask
        self._brought: set[Joined] = set()  # by this one

    def asked_by(self, asker: Asker) -> "OpenTable":
        """The same table, lock and engine, for one who asks; all are closed together."""
        copied = copy(self)
        copied.asker, copied._partners = asker, {}  # partners are asked by the same
        copied._brought = set()
        return copied

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged; refused where none knows the data set yet."""
        if self._ledger is None:
            raise no_budget(self.name)
        return self._ledger

    def is_same_table(self, other: Backend) -> bool:
        if super().is_same_table(other):
            return True
        return isinstance(other, OpenTable) and same_table(self.origin, other.origin)

    @property
    def is_known(self) -> bool:
        """Whether a ledger knows the data set: it may stand there and not be registered here."""
        return self._ledger is not None

    @property
    def version(self) -> int:
        return self.standing().version if self.is_known else self.schema.version

    def register(self, ledger: Ledger, version: int) -> None:
        """From now on questions are answered: the ledger has the data set, and what it is."""
        self._ledger, self.is_registered = ledger, True
        self.schema = replace(self.schema, version=version)

    def check_registered(self) -> None:
        """Before anything is charged: all that is written down about a table is."""
        if not self.is_registered:
            raise no_budget(self.name)

    def standing(self) -> DataSet:
        """The data set as it stands in the ledger."""
        return self.ledger.data_set(self.name)

    @property
    def payer(self) -> Payer:
        """The data set as it is charged, for whoever asks."""
        asker = self.asker
        return Payer(self.ledger, self.name, self.schema.protects, asker.analyst, asker.purpose)

    def price(self, plan: Plan, *, epsilon: Number, delta: Number, confidence: Number) -> Priced:
        return price_plan(self, plan, epsilon=epsilon, delta=delta, confidence=confidence)

    def epsilon_for(
        self, plan: Plan, *, error: Error, delta: Number, confidence: Number, rows: int | None
    ) -> float:
        return epsilon_for(plan, error=error, delta=delta, confidence=confidence, rows=rows)

    @property
    def finds_limits(self) -> bool:
        """Not where somebody is asked for, whose budget is rationed: they say so themselves."""
        return self.asker is NOBODY

    def kept_limit(self) -> KeptLimit | None:
        return row_limit.find_kept(self)

    def announce_limit(self, priced: PricedQuestion) -> None:
        row_limit.announce(priced.here())

    def place(self) -> str:
        return self.engine.place()

    def unit_kind(self, unit: str) -> str:
        return self.engine.unit_kind(unit)

    def as_joined(self, frame: object, *, name: str) -> object:
        del name
        return frame

    def trainable(self) -> "OpenTable":
        """A model is made in this process, of rows; those of a cluster stay there."""
        if self.place().startswith("spark"):
            raise UnsupportedQuery(NOT_ON_SPARK)
        return self

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

    def describe(self) -> list[str]:
        data_set = self.standing()
        ice = "; frozen until its owner acts" if data_set.frozen else ""
        many = f"{data_set.releases} release{'s' * (data_set.releases != 1)}"
        declared = ["  types     as this or an earlier opening declared them; types= changes them"]
        return [
            f"Session of {self.name!r} ({self.source}), version {data_set.version}{ice}",
            f"  protects  {self.schema.protects}",
            f"  budget    {data_set.budget}",
            f"  spent     {brief(data_set.spent)} on {many}",
            f"  left      about {left_in_words(data_set.state)}",
            f"  ledger    {self.payer.where_kept()}",
            f"  columns   {_columns(self.schema)}",
            *(declared if self.types_declared else ()),
        ]

    def close(self) -> None:
        """Lets go of the data, and of the ledger where it was opened for this session."""
        with self.lock:
            if self.is_open:
                self._closed.set()
                self.engine.close()
                if self._own_ledger and self._ledger is not None:
                    self._ledger.close()


def _columns(schema: Schema) -> str:
    words = [_column(column, schema.unit) for column in schema.columns[:MAX_LISTED_COLUMNS]]
    rest = len(schema.columns) - MAX_LISTED_COLUMNS
    return ", ".join(words) + (f" and {rest} more: .columns" if rest > 0 else "")


def _column(column: Column, unit: str | None) -> str:
    name = column.name
    name = name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…"
    name = name if name.isprintable() else repr(name)
    facts = [column.type.value]
    if column.name == unit:
        facts.append("the unit")
    if column.lower is not None and column.upper is not None:
        facts.append(f"{format_constant(column.lower)} to {format_constant(column.upper)}")
    if column.keys is not None:
        facts.append(f"{len(column.keys)} keys")
    return f"{name} ({', '.join(facts)})"
