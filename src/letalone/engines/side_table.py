"""Writes a copy of a table with its ranks, once, where the owner allows it: `side_table=`.

A rank in the query is a sort of all rows; stored ranks cost next to nothing (bench/engines.py). The
copy holds the rows that have a unit as they were when it was made, with a column of ranks, in the
order of units and with an index of these where they are short, so that units can be read one after
the other. From
then on questions whose bounding needs ranks read the copy; drop it, and it is made anew.

Its comment says of which table, unit and version it is. What does not fit is refused when the table
is opened, from the catalogue alone; so is a table that somebody else made, or one with rules,
triggers or policies. Each transaction that reads the copy holds it and looks whether it is still
the same one, and whether the role may read it; if not, or if it could not be written, ranks are
made in each statement: a question that was charged does not fail for it. Nobody but its owner has a
right to a new copy, whatever the defaults are; a role without one has ranks made in each statement.

Theorem.  Stored ranks keep rule 22 of docs/explanation/soundness.md: they are those of
dialects/postgres.py at one moment, with a key that nobody keeps.
  Tested:   tests/engines/conformance/test_side_table.py
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.dialects.postgres import POSTGRES, PostgresDialect, rank_of
from letalone.engines.dialects.postgres_words import write_statement
from letalone.engines.postgres_address import PUBLIC, table_name
from letalone.engines.postgres_server import COMPUTED, Server, columns_of
from letalone.engines.rank_copies import RANK, CopyFacts, check_copy, comment_of, read_facts
from letalone.engines.reading import Stored
from letalone.engines.rows import TableRef, Tables, unit_of
from letalone.engines.syntax import Sql
from letalone.errors import ParameterError
from letalone.plans.schema import Schema

SHORT = ("SMALLINT", "INTEGER", "BIGINT", "UUID", "DATE", "TIMESTAMP", "TIMESTAMPTZ")
FORMAT = 2
KNOWN = """
SELECT c.oid::bigint, pg_catalog.obj_description(c.oid, 'pg_class'), c.relkind = 'r'
    AND NOT (c.relrowsecurity OR c.relhasrules OR c.relhastriggers OR c.relhassubclass)
    AND EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid
        AND a.attname = $4 AND a.atttypid = 'pg_catalog.int8'::pg_catalog.regtype
        AND NOT a.attisdropped AND a.attgenerated = ''),
    CASE WHEN c.relowner IN (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
        UNION ALL SELECT s.relowner FROM pg_catalog.pg_class s
        WHERE s.oid = pg_catalog.to_regclass($3)::oid)
    THEN NULL ELSE pg_catalog.pg_get_userbyid(c.relowner)::text END,
    coalesce(pg_catalog.has_schema_privilege(n.oid, 'USAGE')
        AND pg_catalog.has_table_privilege(c.oid, 'SELECT'), false)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""
NOW = "SELECT pg_catalog.to_regclass($1)::oid::bigint"  # as names are read now, in any snapshot
OTHERS = """
SELECT DISTINCT pg_catalog.format('REVOKE ALL ON TABLE %s FROM %s', $1::text,
    CASE WHEN a.grantee = 0 THEN 'PUBLIC'
    ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(a.grantee)) END)
FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
WHERE c.oid = pg_catalog.to_regclass($1)::oid AND a.grantee <> c.relowner
"""
ALLOWED = """
SELECT coalesce((SELECT pg_catalog.has_schema_privilege(n.oid, 'CREATE')
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
FROM pg_catalog.pg_namespace n WHERE n.nspname = $1), false)
"""
LOCK = "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1, 0))"


class Known(NamedTuple):
    """A table, and what its comment says.

    stranger: the role that owns it, where it is neither this one nor the owner of the data.
    readable: whether this role may read it, as it is now in any snapshot.
    """

    oid: int
    told: CopyFacts
    stranger: str | None
    readable: bool


@dataclass(frozen=True, slots=True)
class SideTable:
    """Where the copy of a relation is, or will be."""

    schema: str
    name: str
    relation: TableRef

    def for_this_role(self, server: Server) -> "SideTable | None":
        """This, where the role may read the copy or make one; None where there is one it may not.

        Refuses a table that is something else, and a schema in which nothing may be made.
        """
        known = self._known(server)
        self._check_is_copy(known)
        if known is None and not server.run(ALLOWED, [self.schema])[0][0]:
            raise ParameterError(
                f"The role may not make a table in the schema {self.schema!r}, or there is none."
                " Let it (GRANT USAGE, CREATE ON SCHEMA …), or leave side_table out."
            )
        return self if known is None or known.readable else None

    def check(self, server: Server, schema: Schema) -> None:
        """Refuses a copy of another unit or version, or of other columns: before any charge."""
        known = self._known(server)
        self._check_is_copy(known)
        if known is not None and known.readable:  # else it will not be read
            same, names = self._has_columns(server), (self.words, self._quoted())
            check_copy(known.told, self._told(schema), *names, has_columns=same)

    @property
    def words(self) -> str:
        return table_name(self.schema, self.name)

    def tables(self, tables: Tables) -> Tables:
        copy = replace(self.relation, sql=self._table)
        return replace(tables, private=copy, dialect=PostgresDialect(stored_rank=RANK))

    def make(self, server: Server, schema: Schema, key: bytes) -> int | None:
        """Writes the copy, if it is not there; which it is, if it is of this unit and version.

        None where it cannot be written: no right any more, no room, a server that only reads.
        """
        with suppress(Exception), server.writing():
            server.run(LOCK, [f"letalone {self.words}"])  # one at a time: the next one finds it
            if self._known(server) is None:
                self._write(server, schema, key)
            return self._which(server, schema)
        return None

    def holds(self, server: Server, schema: Schema, which: int) -> bool:
        """Whether the copy is still that one; it is then kept from changing in this transaction.

        It is not, where it may not be read any more or is dropped right now: that is an error here,
        and the transaction goes on without it.
        """
        return server.tried(lambda: self._is_held(server, schema, which)) or False

    def _is_held(self, server: Server, schema: Schema, which: int) -> bool:
        if self._which(server, schema) != which or self._now(server) != which:
            return False
        server.do(f"LOCK TABLE {self._quoted()} IN ACCESS SHARE MODE")
        return self._now(server) == which == self._which(server, schema)

    def _now(self, server: Server) -> int | None:
        return server.run(NOW, [self._quoted()])[0][0]

    def _which(self, server: Server, schema: Schema) -> int | None:
        known = self._known(server)
        if known is None or not known.readable or known.told != self._told(schema):
            return None
        return known.oid if self._has_columns(server) else None

    def _write(self, server: Server, schema: Schema, key: bytes) -> None:
        text, _ = write_statement(self._copy(schema))
        server.do(text, [key])
        for (revoke,) in server.run(OTHERS, [self._quoted()]):
            server.do(str(revoke))
        target, told = self._table, syntax.text(comment_of(self._told(schema)))
        server.do(POSTGRES.printed(exp.Comment(this=target, kind="TABLE", expression=told)))
        self._arrange(server, schema.unit or "")

    def _check_is_copy(self, known: Known | None) -> None:
        if known is None or known.told.get("of") == self.relation.name:
            return
        if known.stranger is not None:
            raise ParameterError(
                f"There is a table {self.words!r}, and it belongs to the role {known.stranger!r},"
                " which is neither yours nor the owner's of the data: it is not read as a copy."
                " Give side_table= another name."
            )
        raise ParameterError(
            f"There is a table {self.words!r} that is no copy of {self.relation.name!r} with"
            " ranks, as this letalone makes them: a plain table without rules, triggers or"
            " policies. Give side_table= another name."
        )

    def _known(self, server: Server) -> Known | None:
        """The table of this name; None where there is none.

        Nothing that somebody else could have made or can change says anything.
        """
        source = POSTGRES.printed(self.relation.sql)
        rows = server.run(KNOWN, [self.schema, self.name, source, RANK])
        for oid, comment, plain, stranger, readable in rows:
            ours = plain and stranger is None
            facts = read_facts(str(comment), written_as=FORMAT) if ours else {}
            return Known(int(oid), facts, stranger, bool(readable))
        return None

    def _told(self, schema: Schema) -> CopyFacts:
        about = {"of": self.relation.name, "unit": schema.unit, "version": schema.version}
        return {"format": FORMAT, **about}

    def _has_columns(self, server: Server) -> bool:
        stored = columns_of(server, self.schema, self.name)
        return stored.items() >= self._columns().items() and RANK in stored

    def _columns(self) -> dict[str, Stored]:
        """All but those that are computed when they are read: they could fail."""
        known = self.relation.columns
        return {name: column for name, column in known.items() if column.stored != COMPUTED}

    def _copy(self, schema: Schema) -> exp.Create:
        unit = schema.column(schema.unit or "")
        who = unit_of(self.relation, unit, "source", POSTGRES)
        rank = syntax.alias(rank_of(who, "key", "source"), RANK)
        everything = [syntax.column(name, "source") for name in self._columns()]
        source = syntax.rename(self.relation.sql, "source")
        rows = syntax.select([*everything, rank], source, where=[syntax.is_present(who.copy())])
        ordered = rows.order_by(exp.Ordered(this=who.copy()))
        return exp.Create(this=self._table, kind="TABLE", expression=ordered)

    def _arrange(self, server: Server, unit: str) -> None:
        """An index of the units as questions compare them, and what the planner wants to know.

        Text and numerics have none: one that is too long for an index would be an error.
        """
        stored = self.relation.columns[unit]
        if stored.stored in SHORT:
            by = POSTGRES.printed(POSTGRES.unit(stored, syntax.column(unit)))
            server.do(f"CREATE INDEX ON {self._quoted()} (({by}))")
        server.do(f"ANALYZE {self._quoted()}")

    @property
    def _table(self) -> Sql:
        return syntax.table(self.name, schema=self.schema)

    def _quoted(self) -> str:
        return POSTGRES.printed(self._table)


def side_table_of(written: str | None, relation: TableRef, server: Server) -> SideTable | None:
    """The copy under the name that the owner gave, "schema.name" or "name", where there is to be
    one and the role may use it."""
    if written is None:
        return None
    schema, dot, name = written.partition(".")
    place = (schema, name) if dot else (PUBLIC, schema)
    if not all(place) or len(place[1].encode()) > 63 or RANK in relation.columns:
        raise ParameterError(
            f"side_table is {written!r}, but must be the name of a table, such as 'schema.name',"
            f" and the table itself must have no column {RANK!r}."
        )
    return SideTable(*place, relation).for_this_role(server)
