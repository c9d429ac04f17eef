"""What names in a query mean: columns of the table and of public tables, by exact letters.

Capitals count only in quotes, as in SQL. Beyond that a name is a column only if it is spelled
so letter by letter: one that merely looks like it (a Cyrillic а, a Kelvin sign) is refused.

  Tested:   tests/sql/test_question.py
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol, cast
from unicodedata import normalize

from sqlglot import exp

from letalone.errors.codes import Code
from letalone.errors.spelling import nearest
from letalone.plans.constants import Value
from letalone.plans.expressions import ColumnRef, Expression
from letalone.plans.schema import Column, Schema, unknown_column
from letalone.plans.types import Type
from letalone.plans.typing import ExpressionType, type_of
from letalone.sql.text import SHAPE, Unread, slip

# Letters of other scripts that look like Latin ones, after Unicode's confusables table.
LATIN = str.maketrans(
    "абвеікмнорстухѕјԁӏһԛԝѵАВЕІКМНОРСТУХЅЈԌԚԜαονυιρκτχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡɩʋ",
    "abbeikmhopctyxsjdlhqwvABEIKMHOPCTYXSJGQWaovuipktxyABEZHIKMNOPTYXiagiu",
)


@dataclass(frozen=True, slots=True)
class PublicSelect:
    """Columns of some rows of a public table, each row once, or as often as it is there; anyone may
    see them."""

    table: str
    columns: tuple[Expression, ...]
    where: Expression | None = None
    once: bool = True


LookUp = Callable[[PublicSelect], Sequence[tuple[Value, ...]]]
Ends = Mapping[str, tuple[Fraction, Fraction]]  # bounds by column


@dataclass(frozen=True, slots=True)
class Joined:
    """Another table in the query: pairs of (column of the first table, column of this one).

    `shared` are names of columns that a private one has, too, and that are not told apart.
    """

    name: str
    on: tuple[tuple[str, str], ...]
    schema: Schema
    shared: frozenset[str] = frozenset()
    outer: bool = False  # rows without a partner are kept
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def added(self) -> tuple[Column, ...]:
        """The columns that it brings: all but those that rows are joined on, or that are shared."""
        gone = {right for _, right in self.on} | self.shared
        kept = [column for column in self.schema.columns if column.name not in gone]
        return tuple(replace(c, name=self.renamed.get(c.name, c.name)) for c in kept)

    def check_not_shared(self, identifier: exp.Identifier, name: str) -> None:
        """Refuses a column that both tables have, but for capitals."""
        if name.casefold() in {shared.casefold() for shared in self.shared}:
            instead = (
                "Write the first table before its own. Of the other, columns with such a name are"
                " not read: open it without them, or rename them in the data."
            )
            raise slip(f"Column {name!r} is in both private tables", instead, node=identifier)


@dataclass(frozen=True, slots=True)
class Names:
    """The columns that a query can name; tables by what the query calls them."""

    schema: Schema
    called: str
    joined: Mapping[str, Joined]
    look_up: LookUp | None = None
    public: Mapping[str, Schema] = field(default_factory=dict[str, Schema])
    ends: Ends = field(default_factory=dict[str, tuple[Fraction, Fraction]])  # given beside it
    numbers: Mapping[str, Fraction] = field(default_factory=dict[str, Fraction])  # asked before it

    def column(self, node: exp.Expr) -> ColumnRef:
        only(node, "this", "table", words={"db": "A name with dots", "catalog": "A name with dots"})
        if type(node.this) is not exp.Identifier:
            raise Unread("A column must be called by its name", node=node)
        prefix = node.text("table")
        if not prefix:
            return ColumnRef(self._anywhere(node.this))
        return ColumnRef(self._of_table(prefix, node))

    @property
    def all_names(self) -> list[str]:
        """Every column, the table's own first."""
        names = [column.name for column in self.schema.columns]
        return names + [column.name for joined in self.joined.values() for column in joined.added]

    def _anywhere(self, identifier: exp.Identifier) -> str:
        name = self.find(identifier)
        if name is not None:
            for joined in self.joined.values():
                joined.check_not_shared(identifier, name)
            return name
        raise _unknown_column(identifier, self.all_names, table=self.schema.name)

    def type_of(self, expression: Expression) -> Type:
        return self.typed(expression).type

    def typed(self, expression: Expression) -> ExpressionType:
        """The type of an expression, and between which numbers it lies."""
        added = {c.name: c for joined in self.joined.values() for c in joined.added}
        columns = [column for column in self.schema.columns if column.name not in added]
        schema = Schema(self.schema.name, (*columns, *added.values()))
        return type_of(expression, schema)

    def find(self, identifier: exp.Identifier) -> str | None:
        return matching(identifier, self.all_names)

    def _of_table(self, prefix: str, node: exp.Expr) -> str:
        identifier, table = cast("exp.Identifier", node.this), prefix.casefold()
        if table == self.called:
            return _find(identifier, self.schema.columns, self.schema.name)
        if table not in self.joined:
            instead = f"The table is called {quote_name(self.called)}: or leave out the prefix."
            raise slip(f"There is no table {prefix!r} in this SQL", instead, node=node)
        return _of_joined(identifier, self.joined[table])


class Translating(Protocol):
    """What translates expressions of one row over the columns that a query can name."""

    @property
    def names(self) -> Names: ...

    def __call__(self, node: exp.Expr, /) -> Expression: ...


def named_by(column: exp.Expr, names: Collection[str]) -> str | None:
    """The name that a column without its table means, if it means one of these."""
    return matching(column.this, names) if type(column.this) is exp.Identifier else None


def matching(identifier: exp.Identifier, names: Collection[str]) -> str | None:
    """The name that is meant: exactly, or but for capitals where it is not in quotes."""
    name = identifier.name
    if name in names:
        return name
    if identifier.quoted or normalize("NFKC", name) != name:
        return None
    by_lower = {known.lower(): known for known in names}
    return by_lower.get(name.lower())


def looks_like(name: str, names: Sequence[str]) -> str | None:
    """A name that this one could be taken for, without being it."""
    shape, plain = _shape(name), normalize("NFKC", name) == name
    near = (known for known in names if known != name and _shape(known) == shape)
    return next((known for known in near if not plain or known.lower() != name.lower()), None)


def quote_name(name: str) -> str:
    """A name as SQL writes it."""
    return name if name.isidentifier() else f'"{name}"'


def only(node: exp.Expr, *allowed: str, words: Mapping[str, str] | None = None) -> None:
    """Refuses a node that carries more than the parts that are translated."""
    for name, value in node.args.items():
        if name in allowed or value in (None, False, []):
            continue
        what = (words or {}).get(name) or f"{node.key.upper()} with {name.strip('_').upper()}"
        inner = cast("object", value[0] if isinstance(value, list) else value)
        place = inner if isinstance(inner, exp.Expr) else node
        raise Unread(f"Not answered: {what}", SHAPE, node=place)


def _of_joined(identifier: exp.Identifier, table: Joined) -> str:
    name = _find(identifier, table.schema.columns, table.name)
    table.check_not_shared(identifier, name)
    partners = {right: left for left, right in table.on}
    if name in partners and table.outer:
        instead = f"Write {quote_name(partners[name])} of the first table."
        what = f"{name!r} is the key of a LEFT JOIN, and missing in rows without a partner"
        raise slip(what, instead, node=identifier)
    return partners.get(name, table.renamed.get(name, name))


def _find(identifier: exp.Identifier, columns: Sequence[Column], table: str) -> str:
    names = [column.name for column in columns]
    name = matching(identifier, names)
    if name is None:
        raise _unknown_column(identifier, names, table=table)
    return name


def _unknown_column(identifier: exp.Identifier, names: Sequence[str], *, table: str) -> Unread:
    name = identifier.name
    twin = looks_like(name, names)
    if twin is not None:
        instead = f"Type {twin!r} again, by hand."
        what = f"{name!r} only looks like {twin!r}: it has other letters"
        return slip(what, instead, node=identifier, edit=quote_name(twin))
    facts = unknown_column(name, names, table=table).facts
    meant = nearest(name, names)
    hint = "" if meant is None else f" Did you mean {meant!r}?"
    return slip(
        f"Column {name!r} is not in table {table!r}",
        f"Its columns are: {facts['known']}.{hint}",
        node=identifier,
        edit=None if meant is None else quote_name(meant),
        code=Code.UNKNOWN_COLUMN,
    )


def _shape(name: str) -> str:
    return normalize("NFKC", name).translate(LATIN).casefold()
