"""A copy of a table with its ranks, written once where the owner allows it: `side_table=`.

A rank in the query is a sort of all rows; stored ranks cost next to nothing (bench/engines.py). The
copy holds the rows that have a unit as they were when it was made, with a column of ranks. From
then on questions whose bounding needs ranks read the copy; drop it, and it is made anew.

Theorem.  Stored ranks keep SOUNDNESS 13: they are those of dialects/postgres.py at one moment, with
a key that nobody keeps.
  Tested:   tests/engines/conformance/test_side_table.py
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from letalone.engines import syntax
from letalone.engines.dialects.postgres import POSTGRES, PostgresDialect, rank_of
from letalone.engines.dialects.postgres_words import statement
from letalone.engines.postgres_address import PUBLIC, called
from letalone.engines.postgres_server import Server
from letalone.engines.rows import Relation, Tables, unit_of
from letalone.errors import ParameterError
from letalone.plans.schema import Column

RANK = "letalone_rank"
MARK = "letalone, format 1: a copy with ranks of"
KNOWN = """
SELECT pg_catalog.obj_description(c.oid, 'pg_class') FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2
"""
ALLOWED = """
SELECT coalesce((SELECT pg_catalog.has_schema_privilege(n.oid, 'CREATE')
FROM pg_catalog.pg_namespace n WHERE n.nspname = $1), false)
"""


@dataclass(frozen=True, slots=True)
class SideTable:
    """Where the copy of a relation is, or will be."""

    schema: str
    name: str
    relation: Relation

    def check(self, server: Server) -> None:
        """Refuses a table that is something else, and a schema in which nothing may be made."""
        found = server.run(KNOWN, [self.schema, self.name])
        if found and not str(found[0][0]).startswith(f"{MARK} {self.relation.name}, by "):
            raise ParameterError(
                f"There is a table {called(self.schema, self.name)!r} that is no copy of"
                f" {self.relation.name!r} with ranks. Give side_table= another name."
            )
        if not found and not server.run(ALLOWED, [self.schema])[0][0]:
            raise ParameterError(
                f"The role may not make a table in the schema {self.schema!r}, or there is none."
                " Let it (GRANT CREATE ON SCHEMA …), or leave side_table out."
            )

    def tables(self, tables: Tables) -> Tables:
        """What a statement reads whose bounding needs ranks."""
        copy = replace(self.relation, sql=syntax.table_named(self.name, schema=self.schema))
        return replace(tables, private=copy, dialect=PostgresDialect(stored_rank=RANK))

    def make(self, server: Server, unit: Column, key: bytes) -> None:
        """Writes the copy, if it is not there."""
        told = f"{MARK} {self.relation.name}, by {unit.name}"
        with server.writing():
            known = server.run(KNOWN, [self.schema, self.name])
            if known and known[0][0] != told:
                raise ParameterError("The copy has the ranks of another unit.")
            if not known:
                text, _ = statement(self._copy(unit))
                server.do(text, [key])
                server.do(POSTGRES.printed(self._comment(told)))

    def _copy(self, unit: Column) -> exp.Create:
        who = unit_of(self.relation, unit, "source", POSTGRES)
        rank = syntax.alias(rank_of(who, "key", "source"), RANK)
        everything = [syntax.named(name, "source") for name in self.relation.columns]
        source = syntax.renamed(self.relation.sql, "source")
        rows = syntax.select([*everything, rank], source, where=[syntax.is_present(who.copy())])
        target = syntax.table_named(self.name, schema=self.schema)
        return exp.Create(this=target, kind="TABLE", expression=rows)

    def _comment(self, told: str) -> exp.Comment:
        target = syntax.table_named(self.name, schema=self.schema)
        return exp.Comment(this=target, kind="TABLE", expression=syntax.text(told))


def side_table(written: str, relation: Relation) -> SideTable:
    """The copy of a relation under the name that the owner gave: "schema.name" or "name"."""
    schema, dot, name = written.partition(".")
    place = (schema, name) if dot else (PUBLIC, schema)
    if not all(place) or len(place[1].encode()) > 63 or RANK in relation.columns:
        raise ParameterError(
            f"side_table is {written!r}, but must be the name of a table, such as 'schema.name',"
            f" and the table itself must have no column {RANK!r}."
        )
    return SideTable(*place, relation)
