"""Writes a copy of a frame with its ranks, once, where the owner allows it: `side_table=` on Spark.

A rank in the query is a hash of each row and a sort of all; a stored one is a column more to read
(bench/engines_spark.py). The copy holds the rows that have a unit as they were when it was made.
From then on questions whose bounding needs ranks read the copy; drop it, and it is made anew.

Its comment says of which table, unit, version and columns it is. What does not fit is refused when
the table is opened, from the catalogue alone; so is a view, and a table of somebody else. Should it
change later, or should it not be possible to write it, ranks are made in each statement: a question
that was charged never fails for it.

Theorem.  Stored ranks keep rule 22 of docs/explanation/soundness.md: they are those of one
statement of dialects/spark.py, with a key that nobody keeps.
  Proven:   there the orders of all units are uniform and independent, whatever the rows' numbers
            are, so those of a neighbour's other units can be coupled to be the same ones. They
            are drawn before any answer that is made of them, each task's rows are
            committed once, and every later statement reads what was written: a row
            has one rank. A copy that is made anew has a fresh key, so its orders are as
            independent of the first ones as those of two statements are.
  Types:    what is read of a copied column is read by the rules for the original. Columns that
            nothing can be asked of are left out. CHAR(n) becomes text, with or
            without the blanks that are not read. Old dates are written as they are (SETTINGS).
  Tested:   tests/on_spark/test_side_table.py
  Assumed:  the catalogue and the place of its tables are as private as the data. Where a catalogue
            has no owners (as the one of a Spark without Hive), nobody else can make tables there.
            It writes rows where they were ranked, as all do for tables without partitions.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from json import dumps
from typing import Any, cast

from sqlglot import exp

from letalone.engines import spark_address, syntax
from letalone.engines.dialects.spark import SPARK, SparkDialect
from letalone.engines.rank_copies import RANK, CopyFacts, check_copy, comment_of, read_facts
from letalone.engines.reading import Stored
from letalone.engines.rows import TableRef, Tables, unit_of, unused_mark
from letalone.engines.spark_address import in_backticks, parts_of, place_of, written_name
from letalone.engines.spark_versions import print_for_session
from letalone.errors import ParameterError
from letalone.plans.schema import Schema

Place = spark_address.Parts
KEY = "key"
FORMAT = 1
CASES = "spark.sql.caseSensitive"
TABLES = ("MANAGED", "EXTERNAL")  # and not a view
DETAILS = "# Detailed Table Information"


@dataclass(frozen=True, slots=True)
class SparkSideTable:
    """Where the copy of a relation is, or will be: catalogue, schema, name.

    source: where the table is; None for a frame, which has the name of its data set alone.
    """

    place: Place
    source: Place | None
    relation: TableRef

    def check_place(self, session: Any) -> None:
        """Refuses a table that is something else, and a schema that is not there."""
        facts = self._found(session)
        if facts is not None and not facts:
            raise ParameterError(
                f"There is a table {self.words!r} that is no copy with ranks, as this letalone"
                " makes them: a plain table of this user or of the owner of the data. Give"
                " side_table= another name."
            )
        if facts is None and not session.catalog.databaseExists(in_backticks(self.place[:2])):
            raise ParameterError(
                f"There is no schema {written_name(self.place[:2])!r} to make a side table in. Make"
                " it (CREATE SCHEMA …), or leave side_table out."
            )

    def check(self, session: Any, schema: Schema) -> None:
        """Refuses a copy of another table, unit, version or columns: before any charge."""
        facts, wanted = self._found(session), self._told(schema)
        if facts is not None:
            names = self.words, in_backticks(self.place)
            check_copy(facts, wanted, *names, has_columns=facts == wanted)

    @property
    def words(self) -> str:
        return written_name(self.place)

    def tables(self, tables: Tables) -> Tables:
        catalog, schema, name = self.place
        table, copied = syntax.table(name, schema=schema, catalog=catalog), self._copied().items()
        copy = TableRef(table, {name: replace(column, name=new) for new, (name, column) in copied})
        return replace(tables, private=copy, dialect=SparkDialect(stored_rank=RANK))

    def make(self, session: Any, schema: Schema, key: bytes) -> bool:
        """Writes the copy, if it is not there; whether there is one of this unit and version."""
        facts = self._found(session)
        if facts is None:
            with suppress(Exception):  # another may have been faster, or the place is full
                self._write(session, schema, key)
            facts = self._found(session)
        else:
            session.catalog.refreshTable(in_backticks(self.place))  # it may have been made anew
        return facts == self._told(schema)

    def _write(self, session: Any, schema: Schema, key: bytes) -> None:
        """The copy and its comment, at once; other catalogues have a format of their own."""
        using = "USING parquet " if self.place[0] == spark_address.OWN_CATALOG else ""
        comment = _literal(comment_of(self._told(schema)))
        made = f"CREATE TABLE {in_backticks(self.place)} {using}COMMENT {comment} AS "
        session.sql(made + print_for_session(self._rows(schema), session), args={KEY: key})

    def _rows(self, schema: Schema) -> exp.Select:
        """The rows that have a unit, in names that every catalogue takes, and their ranks."""
        mark = unused_mark(self.relation.columns)
        unit = schema.column(schema.unit or "")
        columns = [
            syntax.alias(syntax.column(name, f"{mark}source"), copied)
            for copied, (name, _) in self._copied().items()
        ]
        columns.append(syntax.alias(syntax.column("rank", f"{mark}ranks"), RANK))
        who = unit_of(self.relation, unit, f"{mark}source", SPARK)
        return SPARK.ranked(columns, self.relation.sql, KEY, mark=mark, unit=who)

    def _copied(self) -> dict[str, tuple[str, Stored]]:
        """The columns of the copy, and which they are of: those that can be asked."""
        some = [pair for pair in self.relation.columns.items() if pair[1].stored != "OTHER"]
        return {f"column{number}": pair for number, pair in enumerate(some)}

    def _found(self, session: Any) -> CopyFacts | None:
        """What the comment of the table of this name says; None where there is no table.

        What somebody else has made says nothing.
        """
        quoted = in_backticks(self.place)
        if not session.catalog.tableExists(quoted):
            return None
        known = session.catalog.getTable(quoted)
        ours = known.tableType in TABLES and self._has_owner(session)
        return read_facts(str(known.description), written_as=FORMAT) if ours else {}

    def _has_owner(self, session: Any) -> bool:
        """Whether it is of this user or of the owner of the data, if it says whose it is."""
        owner = _owner_of(in_backticks(self.place), session)
        if owner is None or owner == session.sql("SELECT current_user()").collect()[0][0]:
            return True
        source = self.source
        return source is not None and owner == _owner_of(in_backticks(source), session)

    def _told(self, schema: Schema) -> CopyFacts:
        # One name for each table: its place in small letters, as in spark_address.py.
        named = written_name(tuple(part.lower() for part in self.source or ()))
        original = named or f"the frame {schema.name}"
        columns = [[name, kind.stored, kind.collated] for name, kind in self._copied().values()]
        digest = sha256(dumps(columns).encode()).hexdigest()
        about = {"of": original, "unit": schema.unit, "version": schema.version}
        return {"format": FORMAT, **about, "columns": digest}


def make_side_table(
    written: str, relation: TableRef, *, session: Any, source: object
) -> SparkSideTable:
    """The copy under the name that the owner gave; what it leaves out is the session's own."""
    place = _place(written, session)
    if place is None:
        raise ParameterError(
            f"side_table is {written!r}, but must be the name of a table, such as 'schema.name' or"
            " 'catalog.schema.name'."
        )
    return SparkSideTable(place, _place_of(source, session), relation)


def _place_of(source: object, session: Any) -> Place | None:
    """Where a table is, however it was named; None for what is no table of a catalogue."""
    if place_of(source) is None:
        return None
    return _place(str(cast("tuple[object, ...]", source)[1]), session)


def _place(written: str, session: Any) -> Place | None:
    """Catalogue, schema and name, as its owner's session finds them.

    Ours tells capitals apart: in Spark's own catalogue it would make a table that others miss.
    """
    parts = parts_of(written)
    schema = parts_of(str(session.catalog.currentDatabase())) or ()
    if parts is None or len(parts) > 3 or (len(parts) == 1 and len(schema) != 1):
        return None
    current = (str(session.catalog.currentCatalog()), *schema)
    place = current[: 3 - len(parts)] + parts
    is_own = place[0].lower() == spark_address.OWN_CATALOG
    small = is_own and session.conf.get(CASES, "false") != "true"
    return tuple(part.lower() for part in place) if small else place


def _owner_of(quoted: str, session: Any) -> str | None:
    """The owner of a table; None where the catalogue has none."""
    rows: list[tuple[str, str, str]] = []
    with suppress(Exception):  # there may be no table, or no right to look
        rows = [tuple(row) for row in session.sql(f"DESCRIBE TABLE EXTENDED {quoted}").collect()]
    names = [row[0] for row in rows]
    about = rows[names.index(DETAILS) :] if DETAILS in names else []  # columns come before
    return next((value for name, value, _ in about if name == "Owner" and value), None)


def _literal(text: str) -> str:
    """Plain text (JSON has no other) as Spark reads it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
