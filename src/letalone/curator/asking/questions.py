"""Questions as plans: SQL or a stored plan, about open tables, held against what is granted.

Nothing in a plan from elsewhere is believed: its schema must be the declared one, and its joins
are made anew and compared, since bounds, units and digests decide the noise and the answer.

  Tested:   tests/curator/test_asking.py
"""

from typing import Any, cast

from letalone.curator.asking.plan_checks import used_columns
from letalone.curator.storage.service_records import DataSetQuestion
from letalone.errors import NotAllowed, ParameterError
from letalone.plans.aggregates.features import rows_schema
from letalone.plans.clauses import Join, PublicJoin
from letalone.plans.plan import Plan
from letalone.plans.stored_plans import plan_from_json
from letalone.plans.unnamed import check_names_nobody
from letalone.privacy.curve import Json
from letalone.session.joins.private_joins import private_join
from letalone.session.joins.public_joins import join_of
from letalone.session.pricing import Priced
from letalone.session.query import Query
from letalone.session.session import Session

LONGEST_SQL = 100_000
MOST_GROUPS = 10_000
Granted = dict[str, tuple[str, ...]]


def is_open(query: Query) -> bool:
    """Whether the rows of all tables are as they were."""
    joined = {join.name for join in query.plan.partners}
    tables = (query.table, *(query.table.partner(name) for name in joined))
    return all(table.is_open for table in tables)


def read(question: DataSetQuestion, sessions: list[Session]) -> Query:
    """The question as a plan about the first table; no data is touched."""
    session, *others = sessions
    reader = _read_sql if question.plan is None else _read_plan
    return reader(question, session, others)


def _read_sql(question: DataSetQuestion, session: Session, others: list[Session]) -> Query:
    sql = cast("str", question.sql)
    if len(sql) > LONGEST_SQL:
        raise ParameterError(f"sql has {len(sql):,} letters, but may have {LONGEST_SQL:,}.")
    return session.sql(
        sql,
        keys=question.keys,
        bounds=cast("Any", question.bounds),
        tables={**question.tables, **{other.name: other for other in others}},
        dialect=question.dialect,
        max_rows=question.max_rows,
        max_groups=question.max_groups,
    ).planned()


def _read_plan(question: DataSetQuestion, session: Session, others: list[Session]) -> Query:
    """A stored plan, if it is about the tables as they are declared."""
    plan, table = plan_from_json(cast("Json", question.plan)), session.bound().table
    if plan.schema != session.schema:
        raise ParameterError(
            f"The plan is about {plan.schema.name!r}, version {plan.schema.version}, declared in"
            f" another way than {session.name!r}, version {session.schema.version}, is now. Make it"
            " again from the schema as it is."
        )
    check_names_nobody(plan)
    by_name = {other.name: other.bound().table for other in others}
    for join in plan.partners:
        if join.name not in by_name:
            raise ParameterError(f"The plan joins {join.name!r}. Name it among the others.")
        columns = [column.name for column in join.columns]
        _check_join(join, private_join(table, by_name[join.name], on=join.on[0], columns=columns))
    inner = () if plan.per_unit is None else plan.per_unit.joins
    rows = [(join, session.schema) for join in inner]
    rows += [(join, rows_schema(session.schema, plan.per_unit)) for join in plan.joins]
    for join, beside in rows:
        if isinstance(join, PublicJoin):
            if join.name not in question.tables:
                raise ParameterError(f"The plan joins {join.name!r}. Send this public table, too.")
            frame, on = question.tables[join.name], dict(join.on)
            _check_join(join, join_of(beside, frame, on=on, name=join.name))
            table.know(join, frame)
    return Query.from_plan(table, plan)


def _check_join(join: Join, made: Join) -> None:
    if join != made:
        raise ParameterError(
            f"The plan joins {join.name!r} in another way than the table is now. Make it again."
        )


class OnlyExplained(ParameterError):  # noqa: N818
    """SQL that begins with EXPLAIN, of which an answer was wanted."""

    default_code = "ONLY_EXPLAINED"


def check_asks(query: Query | Priced) -> None:
    """Refuses an answer to SQL that only wants to be explained."""
    if query.only_explained:
        raise OnlyExplained("The SQL begins with EXPLAIN: ask for a preview instead.")


def check_size(plan: Plan, most_cells: int) -> None:
    """Refuses more groups than one answer should hold: each costs time and memory of others."""
    if plan.keys is not None and len(plan.keys) > MOST_GROUPS:
        raise ParameterError(
            f"The answer would have {len(plan.keys):,} groups, but may have {MOST_GROUPS:,} here."
            " List fewer keys, or ask in parts."
        )
    groups, columns = len(plan.keys or ("all",)), len(plan.aggregates)
    if groups * columns > most_cells:
        raise ParameterError(
            f"The answer would have {groups * columns:,} values ({groups:,} groups, {columns} in"
            f" each), but may have {most_cells:,} here. Ask in parts: fewer keys, or fewer columns."
        )


def check_columns(plan: Plan, granted: Granted) -> None:
    """NotAllowed where a question reads a column that is not granted (G4)."""
    for name, columns in used_columns(plan).items():
        missing = sorted(columns - set(granted[name]))
        if missing:
            raise NotAllowed(
                f"Column {missing[0]!r} of {name!r} is not in your grant, whose columns are:"
                f" {', '.join(granted[name])}. Nothing was charged. Ask without it, or request a"
                " grant that has it."
            )
