"""Checks how the rows of a table on PostgreSQL come about: views and row policies.

A materialized view is taken if its definition makes each row from one person's (view_making.py)
and what it reads are tables. A function, an operator, a type or a collation of somebody's own, and
a view, a foreign table or a table with row policies under it cannot be seen through: they need the
owner's word.

A view that is not stored is computed in each question, where one row on which it fails would tell
that this row is there. So it may choose columns of one such table, make others of them by CASE,
COALESCE and NULLIF, and choose rows, all by the comparisons that a policy may make; no word of the
owner helps. Its tree is read as the server stores it.

Row policies that hold for the role decide which rows it sees, in every statement. One that looks at
other rows lets one person move the rows of all; one that can fail would tell by failing that a row
is there. So a policy may compare columns, constants and the role with each other, combine that with
AND, OR and NOT, and do nothing else. Texts of two collations cannot be compared, and the server
notices that at the first row for which it has to: such a comparison is refused. A policy's tree is
read as the server stores it, with the casts and collations that its printed form leaves out.

  Tested:   tests/engines/conformance/test_making.py
"""

import re
from collections.abc import Sequence
from typing import LiteralString

from letalone.engines.core.provenance import hides_its_making, mixes_people, vouched_for
from letalone.engines.postgres.postgres_connection import FOREIGN, STORED, Server
from letalone.engines.postgres.view_making import Making, Table, read_making
from letalone.errors import ParameterError
from letalone.sources.postgres_address import table_name

POLICY = "a row policy of the server decides which rows are seen"
MADE: LiteralString = """
SELECT c.oid::bigint, pg_catalog.row_security_active(c.oid), c.relispopulated,
    CASE WHEN c.relkind IN ('m', 'v') THEN pg_catalog.pg_get_viewdef(c.oid) END,
    (SELECT r.ev_action::text FROM pg_catalog.pg_rewrite r
        WHERE r.ev_class = c.oid AND r.ev_type = '1' AND c.relkind = 'v')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""
OWN: LiteralString = """
SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d
    ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
    WHERE r.ev_class::bigint = $1 AND d.refclassid IN ('pg_catalog.pg_proc'::pg_catalog.regclass,
        'pg_catalog.pg_operator'::pg_catalog.regclass, 'pg_catalog.pg_type'::pg_catalog.regclass,
        'pg_catalog.pg_collation'::pg_catalog.regclass))
"""
PLACE: LiteralString = """
SELECT (SELECT count(*) FROM pg_catalog.pg_attribute b
    WHERE b.attrelid = a.attrelid AND b.attnum > 0 AND b.attnum < a.attnum AND NOT b.attisdropped),
    t.typcollation = 0 OR coalesce(c.collisdeterministic, false)
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation
WHERE a.attrelid::bigint = $1 AND a.attname = $2
"""
PLAIN: LiteralString = """
SELECT EXISTS (SELECT 1
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity
    AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%')
"""
POLICIES: LiteralString = """
SELECT p.polname::text, p.polqual::text FROM pg_catalog.pg_policy p
WHERE p.polrelid::bigint = $1 AND p.polcmd IN ('r', '*') AND EXISTS (
    SELECT 1 FROM pg_catalog.unnest(p.polroles) AS of(role)
    WHERE of.role = 0 OR pg_catalog.pg_has_role(of.role, 'USAGE')) ORDER BY 1
"""
SAFE: LiteralString = """
SELECT NOT EXISTS (SELECT 1
    FROM ROWS FROM (pg_catalog.unnest($2::bigint[]), pg_catalog.unnest($7::bigint[]))
        AS of(id, collation_id)
    LEFT JOIN pg_catalog.pg_operator o ON o.oid::bigint = of.id AND of.id < 16384
    WHERE o.oid IS NULL OR o.oprname NOT IN ('=', '<>', '<', '<=', '>', '>=')
    OR of.collation_id = 0 AND EXISTS (SELECT 1 FROM pg_catalog.pg_type t
        WHERE t.oid IN (o.oprleft, o.oprright) AND t.typcollation <> 0))
AND NOT EXISTS (SELECT 1 FROM pg_catalog.unnest($3::bigint[]) AS of(id)
    LEFT JOIN pg_catalog.pg_proc f ON f.oid::bigint = of.id AND of.id < 16384
    WHERE f.oid IS NULL OR f.oid::pg_catalog.regprocedure::text <> ALL ($5::text[]))
AND NOT EXISTS (SELECT 1 FROM pg_catalog.unnest($4::bigint[]) AS of(id)
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid::bigint = $1 AND a.attnum = of.id
        AND a.attnum > 0 AND a.attgenerated <> 'v'
    LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    WHERE t.oid IS NULL OR NOT (t.typtype = 'e' OR t.typname = ANY ($6::text[])
        AND t.typnamespace = 'pg_catalog'::pg_catalog.regnamespace))
"""
WHOLE: LiteralString = """
SELECT c.oid::bigint, (SELECT bool_and(EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum = of.id AND a.attnum > 0 AND a.attgenerated <> 'v'))
    FROM pg_catalog.unnest($3::bigint[]) AS of(id))
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""
IDS = (r":opno (-?\d+)", r":funcid (-?\d+)", r":varattno (-?\d+)")  # of what a tree is made of
COLLATED = r":opno -?\d+(?:[^{}]* :inputcollid (\d+))?"  # by what each operator compares texts
LABEL = re.compile(r"\{([A-Z]+)")
COMPARING = {
    "ARRAY", "ARRAYEXPR", "BOOLEANTEST", "BOOLEXPR", "CONST", "DISTINCTEXPR", "FUNCEXPR",
    "NULLTEST", "OPEXPR", "RELABELTYPE", "SCALARARRAYOPEXPR", "SQLVALUEFUNCTION", "VAR",
}  # fmt: skip
CHOOSING = COMPARING | {
    "ALIAS", "CASEEXPR", "CASETESTEXPR", "CASEWHEN", "COALESCEEXPR", "FROMEXPR", "NULLIFEXPR",
    "QUERY", "RANGETBLENTRY", "RANGETBLREF", "RTE", "RTEPERMISSIONINFO", "TARGETENTRY",
}  # fmt: skip
COLUMN = re.compile(r"\{TARGETENTRY :expr \{VAR [^{}]* ?:varattno (-?\d+)[^{}]*\} [^{}]*\}")
WIDER = [  # casts that a comparison adds by itself and that cannot fail, and the time
    "now()", "text(name)", "int4(smallint)", "int8(smallint)", "int8(integer)",
    *(f'"numeric"({kind})' for kind in ("smallint", "integer", "bigint")),
    *(f"float8({kind})" for kind in ("smallint", "integer", "bigint")),
    "float8(real)",
]  # fmt: skip


def check_made(server: Server, place: Table, unit: str | None, *, vouched: bool) -> tuple[str, ...]:
    """Refuses rows that are made across people; else what an answer has to say about them.

    The catalogue alone is read, in the transaction that reads the rows.
    """
    (oid, bound, is_filled, definition, tree), *_ = server.run(MADE, list(place))
    if not is_filled:
        raise ParameterError(
            f"{table_name(*place)} is a materialized view that has not been filled yet, so it"
            " cannot be read. Its owner can fill it: REFRESH MATERIALIZED VIEW."
        )
    policies = [POLICY] if bound else []
    if bound:
        _check_policies(server, oid, table_name(*place), unit)
    if definition is None:
        return tuple(policies)
    making = _making(server, oid, str(definition), table_name(*place), unit)
    hidden = [*making.hidden, *_seen_beneath(server, oid, making.tables)]
    if tree is not None:
        _check_computed(server, making, str(tree), is_seen=not hidden)
    if hidden and not vouched:
        raise hides_its_making(making.source, hidden[0])
    return (*policies, *(vouched_for(what) for what in dict.fromkeys(hidden)))


def _making(server: Server, oid: int, text: str, source: str, unit: str | None) -> Making:
    if unit is None:
        return read_making(text, source, unit=None, place=None)
    (place, told_apart), *_ = server.run(PLACE, [oid, unit])
    making = read_making(text, source, unit=unit, place=int(place))
    if not told_apart:  # rows of several people could be one group
        making.hidden.append(f"a collation of {unit} that takes different texts for one")
    return making


def _check_computed(server: Server, making: Making, tree: str, *, is_seen: bool) -> None:
    """Refuses a view that could fail on a row: all but columns as they are and comparisons."""
    columns, rest = [int(number) for number in COLUMN.findall(tree)], COLUMN.sub("", tree)
    is_one = len(making.tables) == 1 and tree.count("{QUERY ") == 1
    can_fail = not (is_seen and is_one) or not _labels(rest) <= CHOOSING
    if not can_fail:
        (table, is_stored), *_ = server.run(WHOLE, [*making.tables[0], columns])
        can_fail = is_stored is False or not _compares(server, int(table), rest)
    if can_fail:
        raise ParameterError(
            f"{making.source} is a view that does more than choose columns and rows of one table by"
            " comparisons. The server computes it in each question, where it could fail on a row,"
            " and that would tell who is there. Open its table, or store the view: CREATE"
            " MATERIALIZED VIEW."
        )


def _seen_beneath(server: Server, oid: int, tables: Sequence[Table]) -> list[str]:
    """What a definition rests on that cannot be seen through."""
    has_own = bool(server.run(OWN, [oid])[0][0])
    others = [table for table in dict.fromkeys(tables) if not _is_plain(server, table)]
    hidden = ["a function, an operator, a type or a collation of somebody's own"] if has_own else []
    why = "which is not a plain table without row policies"
    return hidden + [f"{table_name(*table)}, {why}" for table in others]


def _is_plain(server: Server, table: Table) -> bool:
    foreign = bool(server.run(FOREIGN, list(table))[0][0])
    return bool(server.run(PLAIN, list(table))[0][0]) and not foreign


def _check_policies(server: Server, oid: int, source: str, unit: str | None) -> None:
    for name, tree in server.run(POLICIES, [oid]):
        text = str(tree)
        labels = _labels(text)
        if "SUBLINK" in labels:
            raise mixes_people(source, f"a row policy, {name!r}, with a sub-query", unit)
        if not labels <= COMPARING or not _compares(server, oid, text):
            raise ParameterError(
                f"The row policy {name!r} of {source} does more than compare columns with constants"
                " and the role, or compares texts of two collations: it could fail, or look at"
                " other rows, and that would tell who is there. Write it with comparisons, AND, OR,"
                " NOT, IN and IS NULL, or take a role for which no policy holds."
            )


def _labels(tree: str) -> set[str]:
    """Of what kinds of nodes a tree is made."""
    return set(LABEL.findall(tree))


def _compares(server: Server, oid: int, tree: str) -> bool:
    """Whether operators compare, functions cannot fail and columns are stored and known."""
    *ids, collated = (_numbers(pattern, tree) for pattern in (*IDS, COLLATED))
    return bool(server.run(SAFE, [oid, *ids, WIDER, [*STORED], collated])[0][0])


def _numbers(pattern: str, tree: str) -> list[int]:
    """What a pattern finds in a tree; 0 where the tree does not say it."""
    return [int(number or 0) for number in re.findall(pattern, tree)]
