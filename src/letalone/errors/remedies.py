"""What would help, as data: small frozen records that each face words and the command line applies.

The remedies of one problem are alternatives, the best first. Applying one to a record of options
is a change of one or two of its fields; each docstring says of which.
"""

from letalone.errors.problem import Argument, Fact, Remedy


# What is missing
class SetEpsilon(Remedy):
    """Give this ε: a usual one where none was given, or the least that is enough."""

    epsilon: float


class NameUnit(Remedy):
    """Say which column identifies a person: `likely` if its name suggests one, else None."""

    likely: str | None
    columns: tuple[str, ...] = ()


class NameBudget(Remedy):
    """Say how much all questions together may spend; `epsilon` and `delta` are an example."""

    epsilon: float
    delta: float = 0


class AddBounds(Remedy):
    """Give publicly known bounds for all of these columns; 0 to 1000 stands for them.

    `by_name`: Python takes them as bounds={"cost": (0, 1000)}, and not as lower= and upper=.
    """

    columns: tuple[str, ...]
    by_name: bool = False


class BuyBounds(Remedy):
    """Have the bounds of these columns found privately, for a share of ε."""

    columns: tuple[str, ...]


class ClampExpression(Remedy):
    """Clamp this expression to public bounds within the question: CLAMP(expression, 0, 1000)."""

    expression: str


class NameKeys(Remedy):
    """List the groups of these columns; `types` (or year, month) are for an example of keys."""

    columns: tuple[str, ...]
    types: tuple[str, ...] = ()


class FindKeys(Remedy):
    """Have common groups found privately, which takes this δ; listed keys are left out."""

    delta: float = 1e-6


class DeclareTypes(Remedy):
    """Declare the types of these columns, in a schema file or where the table is opened."""

    columns: tuple[str, ...]


# A value or a name
class SetValue(Remedy):
    """Give this argument such a value; the name is that of Python."""

    name: Argument
    example: Fact


class LeaveOut(Remedy):
    """Leave this argument out; the name is that of Python."""

    name: Argument


class UseName(Remedy):
    """Write `meant` in place of `typed`, which is unknown and near to it."""

    typed: str
    meant: str


class ChooseTable(Remedy):
    """Name one of these tables of the file or the database."""

    names: tuple[str, ...]


# The question
class EditSql(Remedy):
    """Write `text` in place of the characters `span[0]:span[1]` of the SQL that was typed."""

    span: tuple[int, int]
    text: str


class AskInstead(Remedy):
    """Ask this SQL instead: another question, which would be answered."""

    sql: str


class Confirm(Remedy):
    """Say that the price is meant, though it protects hardly anybody (`confirm`)."""


class AskFirst(AskInstead):
    """Ask this SQL first, and write its answer in its place."""


class LimitRows(Remedy):
    """Let this many rows of a person count (`max_rows`)."""

    rows: int


# The budget
class GiveDelta(Remedy):
    """Open the budget with a δ, or take noise that needs none: without δ no such release fits."""


class LowerEpsilon(Remedy):
    """Ask with this ε, and this δ if there is one, which still fit; None where none is known."""

    epsilon: float | None = None
    delta: float | None = None


class RaiseBudget(Remedy):
    """The owner allows more for this data set, or for a level of it (`purpose`, `analyst`)."""

    name: str
    purpose: str | None = None
    analyst: str | None = None


class Allow(Remedy):
    """The owner gives a purpose, and an analyst, a share of this data set's budget."""

    name: str
    purpose: str | None = None
    analyst: str | None = None


class AllowPurpose(Remedy):
    """The owner gives a purpose a share first, before an analyst can have one of it."""

    name: str
    purpose: str


class Thaw(Remedy):
    """The owner looks at why the data set is frozen, and allows questions again."""

    name: str


class RaiseVersion(Remedy):
    """The owner says that the rows have changed, so that earlier answers are not repeated."""

    name: str


# The surroundings
class AskAgain(Remedy):
    """Ask the same again: what was paid for before it was cut off is gone on with, and is free."""


class OpenAgain(Remedy):
    """Open the table again: it was closed."""
