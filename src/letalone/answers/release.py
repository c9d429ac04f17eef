"""A release: what was found, how far off it may be, what it reveals, and where it came from.

It knows no database and no ledger: everything in it is public, a function of the question and
of the noisy answers. `to_json` is what a ledger settles and a receipt signs.

  Tested:   tests/answers/test_release.py
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self, cast

from letalone.answers import columns, reading, views
from letalone.answers.columns import Cell, KeyColumn, NamedColumn, Output
from letalone.answers.promise import FAMILY, as_sure, group_promise, promise
from letalone.answers.shown import as_shown, title_of
from letalone.errors import FormatError, LetaloneError, ParameterError
from letalone.errors.habits import NoAnswerFrame
from letalone.errors.problem import Spelled, without_context
from letalone.exact.typed import Number, read_rational
from letalone.privacy.bounds import above
from letalone.privacy.budget import Budget
from letalone.privacy.curve import Json, Privacy
from letalone.privacy.stored import from_json

if TYPE_CHECKING:
    from letalone.drawing import Sheet

FORMAT = 1
KIND = "release"
DAMAGE = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)
PARTS = ("name", "share", "noise", "groups")
NO_GROUPS = "no groups"
MOST_PARTS = 6
DETAILS = "More: .explain()"
REPEATED = "Same question, same answer, nothing spent."
NEW_VERSION = "If the data changed, raise the version of the data set."


@dataclass(frozen=True, slots=True)
class SplitPart:
    """One part of the price: what it bought, its share of ε, by which noise, for which groups."""

    name: str
    share: Fraction
    noise: str
    groups: str

    def __str__(self) -> str:
        percent = f"{float(100 * self.share):.3g} % of ε"
        groups = "" if self.groups == NO_GROUPS else f"; {self.groups}"
        return f"{self.name}: {percent}, {self.noise}{groups}"


@dataclass(frozen=True, slots=True)
class Terms:
    """What was asked, at which price: the part of a release that is known before the data is."""

    data_set: str
    version: int
    question: str
    plan: Json = field(repr=False)
    digest: str
    epsilon: Fraction
    delta: Fraction
    confidence: Fraction
    privacy: Privacy
    split: tuple[SplitPart, ...]
    sql: str = field(repr=False)
    notes: tuple[str, ...]


FIELDS = {"format", "kind", *(part.name for part in fields(Terms)), "keys", "outputs"}


@dataclass(frozen=True, slots=True)
class Standing:
    """What is said with an answer and not stored with it: how the budget stands by then.

    `none_passes` is the end of the remark where HAVING keeps no row, and what to do about it.
    `row_limit` says how many rows of a person count whole where nobody gave a number. `warnings`
    are the notes that a reader must not miss; None where it is not known which those are.
    `found_first` is the ε that was spent just before on what the answer needed, as a row limit.
    """

    left: object = None
    remark: str | None = None
    none_passes: str | None = field(default=None, repr=False)
    row_limit: Spelled | None = field(default=None, repr=False)
    warnings: tuple[str, ...] | None = field(default=None, repr=False)
    found_first: Fraction = field(default=Fraction(0), repr=False)
    repeated: bool = False
    receipt: Json | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseRecord(NoAnswerFrame):
    """An answer: values with their intervals, its price, and where it came from."""

    asked: Terms
    keys: tuple[KeyColumn, ...]
    outputs: tuple[Output, ...]
    standing: Standing = field(default=Standing(), compare=False)

    def __post_init__(self) -> None:
        columns.check_lengths(self.keys, self.outputs)

    def __hash__(self) -> int:
        return hash((self.asked.digest, self.keys, self.outputs))

    # The price, and where it came from.

    @property
    def privacy(self) -> Privacy:
        """What the answer reveals: the whole curve; `.privacy.group(10)` for a family of ten."""
        return self.asked.privacy

    @property
    def epsilon(self) -> float:
        """The ε that was asked for."""
        return above(self.asked.epsilon)

    @property
    def delta(self) -> float:
        """The δ that was asked for."""
        return above(self.asked.delta)

    @property
    def confidence(self) -> float:
        """How often an interval is right, each by itself."""
        return float(self.asked.confidence)

    @property
    def unit(self) -> str:
        """Whose privacy is protected: the name of a column, or 'row'."""
        label = self.privacy.neighbours
        return (label.unit if label is not None else None) or "row"

    @property
    def data_set(self) -> str:
        """The name of the data set."""
        return self.asked.data_set

    @property
    def plan(self) -> Json:
        """The question as JSON."""
        return self.asked.plan

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know when reading the answer: how people were bounded, what was left out."""
        return self.asked.notes

    @property
    def repeated(self) -> bool:
        """Whether this is an earlier answer to the same question, which cost nothing."""
        return self.standing.repeated

    # The values.

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: keys, then each value with its ends."""
        return tuple(name for name, _, _ in self._named)

    def rows(self) -> list[dict[str, Cell]]:
        """One dictionary for each group, in the order of the keys, with the noisy numbers."""
        named = self._named
        names = [name for name, _, _ in named]
        cells = zip(*(values for _, _, values in named), strict=True)
        return [dict(zip(names, row, strict=True)) for row in cells]

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds that were bought: `la.mean("cost", bounds=visits.private_bounds("cost", …))`."""
        return reading.as_bounds(self.outputs, grouped=bool(self.keys))

    def __float__(self) -> float:
        """The answer where it is one number: `float(visits.agg(n=la.count()).release(0.5))`."""
        return reading.as_float(self.outputs)

    def __int__(self) -> int:
        return reading.as_whole(self.outputs)

    def __getitem__(self, name: str | int) -> Any:
        """`r["n"]`: a column, one cell a group; without groups its one cell. `r[0]`: a row."""
        if isinstance(name, int):
            return self.rows()[name]
        cells = {column: values for column, _, values in self._named}
        return reading.column(name, cells, self.outputs, grouped=bool(self.keys))

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        return iter(self.rows())

    def __len__(self) -> int:
        """How many rows there are: one for each group."""
        return columns.check_lengths(self.keys, self.outputs)

    def __bool__(self) -> bool:
        """An answer without a row is an answer."""
        return True

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    @property
    def shown(self) -> tuple[Output, ...]:
        """The numbers as people see them: a count below 0 as 0, a mean that says nothing as None.

        `.rows()` keeps the noisy numbers: they are unbiased, so that they can be added up.
        """
        return as_shown(self.plan, self.outputs)

    def to_pandas(self) -> Any:
        """A pandas frame, one row for each group; of a histogram, one for each range."""
        return columns.to_pandas(self._framed)

    def to_polars(self) -> Any:
        """A Polars frame, one row for each group; of a histogram, one for each range."""
        return columns.to_polars(self._framed)

    def to_arrow(self) -> Any:
        """An Arrow table, one row for each group; of a histogram, one for each range."""
        return columns.to_arrow(self._framed)

    def plot(self, path: object = None) -> Any:
        """A picture with ranges; a path ending in .svg, .png or .pdf also writes it.

        It is a matplotlib figure, or an SVG where matplotlib is not installed. A notebook shows it.
        """
        from letalone.drawing import plot  # who draws nothing loads nothing of it

        return plot(self._sheet(), path)

    # In words.

    def explain(self, *, sql: bool = False) -> str:
        """The question, the price, the bounds, what is promised to whom; and the SQL that ran."""
        return explain_question(self.asked, self._standing_lines(), sql=sql)

    def promise(self) -> str:
        """One paragraph that can be quoted: what anyone can find out about one unit."""
        return promise(self.privacy)

    def for_a_group(self, size: Number = FAMILY) -> str:
        """What the answer reveals about several units together, such as a family of ten."""
        return group_promise(self.privacy, size, delta=self.asked.delta)

    def __str__(self) -> str:
        return views.as_text(self.keys, self.shown, self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = views.as_html(self.keys, self.shown, self._lines())
        if not self.keys:
            return table
        from letalone.drawing import to_html

        try:
            return table + to_html(self._sheet())
        except ParameterError:  # there is nothing to draw
            return table

    def _sheet(self) -> "Sheet":
        from letalone.answers.picture import draw_release, has_bars

        question = title_of(self.plan, [column.name for column in self.keys])
        bars = f"; bars at {as_sure(self.confidence)}" if has_bars(self.keys) else ""
        title = f"{question} ({self.data_set})\n{self._price()}{bars}"
        return draw_release(self.keys, self.shown, title=title)

    # As it is stored.

    def to_json(self) -> Json:
        """The release as canonical JSON can hold it: `from_json` reads it back, exactly."""
        terms = self.asked
        return {
            "format": FORMAT,
            "kind": KIND,
            "data_set": terms.data_set,
            "version": terms.version,
            "question": terms.question,
            "plan": terms.plan,
            "digest": terms.digest,
            "epsilon": str(terms.epsilon),
            "delta": str(terms.delta),
            "confidence": str(terms.confidence),
            "privacy": terms.privacy.to_json(),
            "split": [{name: str(getattr(part, name)) for name in PARTS} for part in terms.split],
            "sql": terms.sql,
            "notes": list(terms.notes),
            "keys": [columns.column_to_json(column) for column in self.keys],
            "outputs": [columns.column_to_json(output) for output in self.outputs],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, object], *, standing: Standing | None = None) -> Self:
        """The release that was stored; refuses what is damaged or newer than this letalone."""
        check_format(stored, KIND, FIELDS)

        def read() -> Self:
            return cls(
                _asked_from_json(stored),
                tuple(columns.column_from_json(KeyColumn, item) for item in _list(stored["keys"])),
                tuple(columns.column_from_json(Output, item) for item in _list(stored["outputs"])),
                standing or Standing(),
            )

        def failed(caught: Exception) -> FormatError:  # what is wrong with it may be private
            words = "This release is damaged: a field is not what to_json writes there."
            return caught if isinstance(caught, FormatError) else FormatError(words)

        return without_context(read, LetaloneError, *DAMAGE, error=failed)

    @property
    def _named(self) -> list[NamedColumn]:
        keys = [(column.name, column.kind, column.values) for column in self.keys]
        return [*keys, *(column for output in self.outputs for column in output.columns)]

    @property
    def _framed(self) -> list[NamedColumn]:
        from letalone.answers.frame_columns import histogram_columns  # for frames alone

        return histogram_columns(self.plan, self.keys, self.outputs) or self._named

    def _price(self) -> str:
        price = Budget(self.asked.epsilon, self.asked.delta)
        return f"{price}, {self.privacy.neighbours}"

    def _lines(self) -> list[str]:
        """What a reader must not miss, then three lines: the ranges, the price, where to go on."""
        warnings = self.standing.warnings
        first = [f"- {note}" for note in self.notes]
        if warnings is not None:
            first = [f"Warning: {note}." for note in warnings]
        return [*first, *views.in_three_lines([self._ranges(), self._spent(), DETAILS])]

    def _ranges(self) -> str:
        limit = self.standing.row_limit
        is_range = any(output.low is not None for output in self.outputs)
        ranges = f"[low, high]: {as_sure(self.confidence)} noise range." if is_range else None
        words = [ranges, None if limit is None else limit.python, self.standing.remark]
        return " ".join(filter(None, words))

    def _spent(self) -> str:
        paid = Budget(self.standing.found_first + self.asked.epsilon, self.asked.delta)
        price = f"Spent {paid} per {self.unit}."
        words = [REPEATED if self.repeated else price, self.standing.left]
        return " ".join(str(line) for line in words if line is not None)

    def _standing_lines(self) -> list[str]:
        standing, limit = self.standing, self.standing.row_limit
        lines = [standing.remark, None if limit is None else limit.python]
        lines += [f"{REPEATED} {NEW_VERSION}" if self.repeated else None, standing.left]
        return [str(line) for line in lines if line is not None]


def explain_question(asked: Terms, last: list[str], *, sql: bool = False) -> str:
    """A question at a price, in words: no fact about the data is in it."""
    price = f"{Budget(asked.epsilon, asked.delta)}, {asked.privacy.neighbours}"
    words = [
        f"Question about {asked.data_set}: {asked.question}.",
        *(f"- {note}" for note in asked.notes),
        f"Price: {price}. It is split from public facts alone:",
        *_split_lines(asked.split),
        *last,
        "",
        promise(asked.privacy),
        group_promise(asked.privacy, delta=asked.delta),
    ]
    if not sql:
        return views.flowing([*words, "explain(…, sql=True) shows the SQL that the engine runs."])
    engine = "What the engine runs; noise is added to its results, which nobody sees:"
    return f"{views.flowing([*words, '', engine])}\n{asked.sql}"


def _split_lines(split: tuple[SplitPart, ...]) -> list[str]:
    """The parts of the price; how groups are charged is the same for all, and said once."""
    shown = [f"- {replace(part, groups=NO_GROUPS)}" for part in split[:MOST_PARTS]]
    rest = len(split) - len(shown)
    more = [f"- and {rest} more: .asked.split has all"] if rest else []
    groups = {part.groups for part in split} - {NO_GROUPS}
    return [*shown, *more, *(f"- {words}" for words in sorted(groups))]


def check_format(stored: object, kind: str, fields: set[str]) -> None:
    """Refuses what is no such record, or a newer one."""
    document: Json = dict(cast("Json", stored)) if isinstance(stored, Mapping) else {}
    written = document.get("format")
    if type(written) is int and written > FORMAT and document.get("kind") == kind:
        raise FormatError(
            f"This {kind} has format {written}, and this letalone reads up to format {FORMAT}."
            " Update letalone to read it."
        )
    if type(written) is not int or written != FORMAT or document.get("kind") != kind:
        raise FormatError(f"This is not a stored {kind}: it must be a JSON object of that kind.")
    if set(document) != fields:
        raise FormatError(f"This {kind} is damaged: a field is missing or unknown.")


def _asked_from_json(stored: Mapping[str, object]) -> Terms:
    texts = {
        name: columns.read_text(stored[name]) for name in ("data_set", "question", "digest", "sql")
    }
    version = stored["version"]
    if type(version) is not int:
        raise FormatError("This release is damaged: its version is not a whole number.")
    return Terms(
        **texts,
        version=version,
        plan=dict(cast("Json", stored["plan"])),
        epsilon=read_rational(columns.read_text(stored["epsilon"])),
        delta=read_rational(columns.read_text(stored["delta"])),
        confidence=read_rational(columns.read_text(stored["confidence"])),
        privacy=from_json(cast("Json", stored["privacy"])),
        split=tuple(_part_from_json(cast("Json", part)) for part in _list(stored["split"])),
        notes=tuple(columns.read_text(note) for note in _list(stored["notes"])),
    )


def _part_from_json(stored: Json) -> SplitPart:
    name, share, noise, groups = (columns.read_text(stored[part]) for part in PARTS)
    return SplitPart(name, read_rational(share), noise, groups)


def _list(stored: object) -> list[object]:
    if not isinstance(stored, list):
        raise FormatError("This release is damaged: something that must be a list is not.")
    return cast("list[object]", stored)
