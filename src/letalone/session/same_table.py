"""Which table a budget is spent on: the ledger remembers what a name stands for.

A file has its stem for a name, a table of a database its own, a frame is called "data". So two
files visits.csv in two folders, put into one ledger, would spend one budget, and a question about
the one would be answered by what was answered about the other. The first one's place is written
down, and another one is refused until its owner gives it a name. `name=` says that the budget is
meant, and the place of a table is written down anew: a table may move. A path is written down as it
is and, below the folder of the ledger, also as seen from there; either one will do, so that the
ledger may move without its file, and both together.

The place of a plain file is its path without the ending: visits.csv and visits.parquet beside each
other have one name, one schema file and one ledger, and so are one table.

A frame has no place, and a temporary view of Spark none but its name: that it is one is written
down, where nothing is. Nothing tells whether a second frame is the same data, so it needs a name.
A path on Spark has many spellings and none that is its own, so its budget needs a name, too.

In pandas a column's dtype follows its cells, so it cannot be what a question is understood by.
The first opening of a frame under a name declares types: what `types=` says, else what the dtypes
suggest (numbers are one type; a unit is told apart by whole numbers or text). That is an act of the
owner, and is written down. Every later frame under the name is read as declared, whatever its
dtypes are; `types=` declares anew.

  Tested:   tests/session/test_same_table.py, test_declared_types.py,
            tests/on_spark/test_addresses.py
"""

from collections.abc import Mapping
from glob import has_magic
from os import PathLike, sep
from pathlib import Path
from shlex import quote
from typing import cast

from letalone.engines.addresses import identity, is_address
from letalone.engines.frames import loose_types, names_of
from letalone.engines.sources import CSV, DUCKDB, PARQUET
from letalone.engines.spark_address import is_path_on_spark, is_spark, parts_in, written_name
from letalone.errors import ParameterError
from letalone.exact.typed import expand_home
from letalone.ledger import Ledger
from letalone.plans.types import Type
from letalone.session.beside import called_in

TABLE_ACT = "reads the table"
OLD_SPARK_ACT = "reads the table on Spark"  # in older ledgers
TYPES_ACT = "declares the types"
FRAME_NAME = "data"  # of a frame that nobody names
FRAME = "a frame"
NOWHERE = " (of no catalogue)"


def identity_of(source: object, table: str | None) -> str:
    """What a name stands for: a table's place, else what Spark calls it, else a frame."""
    if is_address(source) or is_spark(source):
        parts = parts_in(source)
        nowhere = FRAME if parts is None else written_name(parts) + NOWHERE
        return identity(source, table) or nowhere
    if not isinstance(source, str | PathLike):
        return FRAME
    path = _resolve_path(cast("str | PathLike[str]", source))
    ending = path.suffix.lower()
    if ending in (*CSV, *PARQUET) and not _is_pattern(path):
        return str(path.with_suffix(""))
    name = called_in(path, table) if ending in DUCKDB else None
    return str(path) if name is None else f"{path}, table {name}"


def check_named(source: object) -> None:
    """Refuses a path on Spark, where nobody has named the data set."""
    if is_path_on_spark(source):
        raise ParameterError(
            "This is a path, which can be written in many ways, and its budget would begin anew"
            " with each. Give the data set a name: la.open(…, name='visits')."
        )


def check_same_table(ledger: Ledger | None, name: str, told: str, *, declared: bool) -> None:
    """Refuses a source under a name whose budget belongs to another table.

    declared: the name is a schema's, so a second frame is meant to have it.
    """
    known = None if ledger is None else _read_remembered(ledger, name)
    if ledger is None or known is None:
        return
    here = _places(ledger, told)
    same = not set(known.values()).isdisjoint(here.values())
    if same and (declared or told != FRAME):
        return
    raise ParameterError(
        f"The budget of {name!r} in this ledger belongs to {_in_words(known['table'])}, and this is"
        f" {'another one, or the same: nothing tells' if same else here['table']}. Give it a name"
        " of its own: name= in Python, --name in the terminal, or name = in its schema file; or a"
        " ledger of its own. If it is the same table, which has moved or has another name here, say"
        f" so: la.open(…, name={name!r}), or letalone query … --name {quote(name)}. Keep the ledger"
        " in a folder above the data, and both can move together."
    )


def remember_table(ledger: Ledger, name: str, told: str, *, declared: bool, given: bool) -> None:
    """Writes down which table it is, where that is new; `given`: name= says that it is meant.

    Of two that are opened at once under a name that nobody gave, the second one is refused here.
    """
    here, known = _places(ledger, told), _read_remembered(ledger, name)
    if known is None:
        first = ledger.administer_first(name, TABLE_ACT, {**here})
        if first is None and not given:
            check_same_table(ledger, name, told, declared=declared)
    elif known != here and told != FRAME and not told.endswith(NOWHERE):
        ledger.administer(name, TABLE_ACT, {**here})


def _read_remembered(ledger: Ledger, name: str) -> dict[str, str] | None:
    entry = ledger.last_act(name, TABLE_ACT) or ledger.last_act(name, OLD_SPARK_ACT)
    return None if entry is None else cast("dict[str, str]", entry.body["body"])


def _in_words(known: str) -> str:
    return known if known == FRAME else f"the table {known}"


def _places(ledger: Ledger, told: str) -> dict[str, str]:
    """A path below the folder of the ledger as seen from there, and whole; all else as it is."""
    place = None if ledger.path is None else Path(ledger.path).resolve()
    if place is None or not place.is_file():
        return {"table": told}
    seen = told.removeprefix(f"{place.parent}{sep}")
    return {"table": told} if seen == told else {"table": seen, "at": told}


def _is_pattern(path: Path) -> bool:
    return has_magic(str(path)) and not path.exists()


def _resolve_path(source: str | PathLike[str]) -> Path:
    """The path without links; of a pattern, the folders above it without."""
    path = expand_home(source).absolute()
    if not _is_pattern(path):
        return path.resolve()
    fixed = next(parent for parent in path.parents if not has_magic(str(parent)))
    return fixed.resolve() / path.relative_to(fixed)


def types_of(
    source: object, given: Mapping[str, Type], known: Mapping[str, Type], unit: str | None
) -> dict[str, Type]:
    """The types that a frame is read with, by column; the rest have types of their own."""
    first = loose_types(source)
    if unit in first:
        first[unit] = Type.INTEGER if first[unit] is Type.NUMBER else Type.TEXT
    names = set(names_of(source))
    kept = {name: kind for name, kind in known.items() if name in names}
    return first | kept | dict(given)


def known_types(ledger: Ledger | None, name: str) -> dict[str, Type]:
    """The types that were declared under a name; of none, nothing."""
    entry = None if ledger is None else ledger.last_act(name, TYPES_ACT)
    if entry is None:
        return {}
    body = cast("dict[str, dict[str, str]]", entry.body["body"])
    return {column: Type(kind) for column, kind in body["types"].items()}


def remember_types(ledger: Ledger, name: str, types: Mapping[str, Type]) -> None:
    """Writes down the types of columns, where they are new."""
    known = known_types(ledger, name)
    declared = known | dict(types)
    if declared != known:
        body = {column: kind.value for column, kind in declared.items()}
        ledger.administer(name, TYPES_ACT, {"types": body})
