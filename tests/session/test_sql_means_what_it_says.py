"""SQL that is rewritten keeps every clause, prefix and order that it has, or is refused."""

import pyarrow as pa
import pytest

import letalone as la
from letalone.answers.arranged import TOTALS
from letalone.engines.texts.spreadsheet_cells import with_point
from letalone.errors import LetaloneError, ParameterError
from letalone.session.steps.row_limit import LEVELS, RULE, limits_of
from session.test_sql_habits import EPSILON, SCHEMA, agree, visits
from session.test_sql_models import by_duckdb, met

# A public table with columns that are called like those of the private one.
WARDS = pa.table({
    "ward": ["A", "B", "C", "D"],
    "name": ["Ash", "Birch", "Cedar", "Dill"],
    "sex": ["north", "south", "north", "south"],
    "patient": ["q1", "q2", "q1", "q2"],
})  # fmt: skip
NUMBERED = "(SELECT {}, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS rn FROM {})"
ROWS_OF_A = "SELECT ward, COUNT(*) AS n FROM visits WHERE sex = 'f' GROUP BY ward"
ROWS_OF_B = "SELECT ward, COUNT(*) AS m FROM visits WHERE ward = 'A' GROUP BY ward"
OF_ALL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
COUNTED = "SELECT COUNT(*) AS k FROM "
PEOPLE_IN = "SELECT COUNT(DISTINCT patient) AS k FROM visits WHERE patient "
JOINED = "visits v JOIN wards w ON v.ward = w.ward"

SAME_ROWS = (
    "SELECT ward, n FROM (SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r FROM"
    " visits GROUP BY ward) WHERE n > 100",
    "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS s FROM visits GROUP BY ward"
    " HAVING COUNT(*) > 70",
    "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS s FROM visits v GROUP BY ward",
    f"WITH a AS ({OF_ALL}), b AS ({ROWS_OF_A}) SELECT a.ward, a.n AS x, b.n AS y FROM a LEFT JOIN b"
    " ON a.ward = b.ward",
    "WITH a AS (SELECT * FROM visits WHERE sex = 'f') SELECT COUNT(*) AS n FROM (WITH a AS (SELECT"
    " * FROM visits WHERE sex = 'm' AND age > 20) SELECT * FROM a) x",
    "WITH a AS (SELECT * FROM visits WHERE sex = 'f') SELECT COUNT(*) AS n FROM (WITH a AS (SELECT"
    " * FROM a WHERE age > 20) SELECT * FROM a) x",
    "WITH a AS (SELECT * FROM visits WHERE sex = 'f') SELECT COUNT(*) AS n FROM (WITH visits AS"
    " (SELECT * FROM visits WHERE age > 20) SELECT * FROM a) x",
    "SELECT a.n - b.n AS d FROM (SELECT COUNT(*) AS n FROM visits WHERE age > 50) a CROSS JOIN"
    " (SELECT COUNT(*) AS n FROM visits WHERE sex = 'f') b",
)
SAME_PEOPLE = (
    COUNTED + NUMBERED.format("*", "patient", "cost", "visits") + " WHERE rn = 1 AND cost IS NULL",
    COUNTED
    + NUMBERED.format("patient, cost * 2 AS Age", "patient", "cost", "visits")
    + " WHERE rn = 1 AND age > 100",
    PEOPLE_IN + "IN (SELECT patient FROM visits GROUP BY patient HAVING COUNT(*) > 2)",
    PEOPLE_IN + "NOT IN (SELECT patient FROM visits GROUP BY patient HAVING MAX(cost) > 500)",
    PEOPLE_IN + "NOT IN (SELECT patient FROM visits WHERE cost > 500)",
    COUNTED + "(SELECT DISTINCT patient, ward FROM visits)",
    f"SELECT COUNT(DISTINCT w.patient) AS k FROM {JOINED}",
)
REFUSED_ROWS = (
    f"WITH a AS ({ROWS_OF_A}), b AS ({ROWS_OF_B}) SELECT a.ward, n, m FROM a JOIN b ON a.ward ="
    " b.ward",
    f"WITH a AS ({OF_ALL}), b AS ({ROWS_OF_B}) SELECT a.ward, n FROM a LEFT JOIN b ON a.ward ="
    " b.ward WHERE b.m IS NULL",
    f"WITH a AS ({OF_ALL}) SELECT w.name, a.n FROM wards w LEFT JOIN a ON a.ward = w.ward",
    f"WITH a AS ({OF_ALL}), b AS ({OF_ALL}) SELECT a.ward FROM a ANTI JOIN b ON a.ward = b.ward",
    f"SELECT w.name, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits TABLESAMPLE 10%) AS s FROM"
    f" {JOINED} GROUP BY w.name",
    "SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits TABLESAMPLE 10%) AS s FROM visits"
    " GROUP BY ward",
    "SELECT 'a' AS w, COUNT(*) AS n FROM visits UNION ALL SELECT 'b', COUNT(*) FROM visits"
    " TABLESAMPLE 10%",
    "SELECT (SELECT COUNT(*) FROM visits TABLESAMPLE 10%) - (SELECT COUNT(*) FROM visits) AS d",
    "SELECT a.n - b.n AS d FROM (SELECT COUNT(*) AS n FROM visits WHERE age > 50) a JOIN (SELECT"
    " COUNT(*) AS n FROM visits WHERE sex = 'f') b ON a.n > b.n + 10000",
    "SELECT COUNT(*) AS d FROM (SELECT COUNT(*) AS n FROM visits WHERE age > 50) a, (SELECT"
    " COUNT(*) AS n FROM visits WHERE sex = 'f') b",
    "SELECT COUNT(*) - (SELECT COUNT(*) FROM visits) AS d",
    "SELECT ward, (SELECT AVG(age) FROM visits i WHERE i.ward = o.ward) AS a FROM visits o GROUP BY"
    " ward",
    f"WITH j AS (SELECT v.age, w.* FROM {JOINED}) SELECT COUNT(*) AS n FROM j WHERE sex = 'north'",
)
REFUSED_PEOPLE = (
    COUNTED + NUMBERED.format("*", "patient", "day", "visits ORDER BY age LIMIT 50") + " WHERE rn"
    " = 1",
    COUNTED
    + NUMBERED.format("*", "patient", "day", "visits QUALIFY RANK() OVER (ORDER BY cost) < 20")
    + " WHERE rn = 1",
    COUNTED + NUMBERED.format("v.*", "v.patient", "day", JOINED) + " WHERE rn = 1",
    COUNTED + NUMBERED.format("v.*", "w.patient", "day", JOINED) + " WHERE rn = 1",
    COUNTED + NUMBERED.format("*", "patient", "cost NULLS FIRST", "visits") + " WHERE rn = 1",
    COUNTED + NUMBERED.format("*", "patient", "day", "visits TABLESAMPLE 10%") + " WHERE rn = 1",
    COUNTED + "(SELECT patient, FIRST(cost ORDER BY age NULLS FIRST) AS c FROM visits GROUP BY"
    " patient) WHERE c > 300",
    "WITH a AS (SELECT patient, COUNT(*) AS x FROM visits WHERE ward = 'A' GROUP BY patient), b AS"
    " (SELECT patient, COUNT(*) AS y FROM visits WHERE ward = 'B' GROUP BY patient) SELECT COUNT(*)"
    " AS k FROM a JOIN b ON a.patient = b.patient",
    "WITH a AS (SELECT patient, COUNT(*) AS x FROM visits WHERE ward = 'A' GROUP BY patient), b AS"
    " (SELECT patient, COUNT(*) AS y FROM visits WHERE ward = 'B' GROUP BY patient) SELECT COUNT(*)"
    " AS k FROM a LEFT JOIN b ON a.patient = b.patient WHERE b.y IS NULL",
    PEOPLE_IN + "IN (SELECT patient FROM visits GROUP BY patient, ward HAVING COUNT(*) > 2)",
    PEOPLE_IN + "IN (SELECT patient FROM visits TABLESAMPLE 10%)",
    PEOPLE_IN + "IN (SELECT v.patient FROM visits v WHERE v.age > visits.age)",
    COUNTED + f"(SELECT v.patient, COUNT(DISTINCT w.sex) AS c FROM {JOINED} GROUP BY v.patient)",
    COUNTED + f"(SELECT w.patient, COUNT(*) AS c FROM {JOINED} GROUP BY w.patient)",
    COUNTED + f"(SELECT DISTINCT w.patient, v.ward FROM {JOINED})",
)


@pytest.fixture(scope="module")
def rows() -> la.Session:
    return opened(la.ROW)


@pytest.fixture(scope="module")
def people() -> la.Session:
    return opened("patient")


def with_missing() -> pa.Table:
    """Without the costs of some people, and of every third visit."""
    table = visits()
    nobody, people = {"p1", "p2", "p3", "p4"}, table["patient"].to_pylist()
    known = [
        None if person in nobody or place % 3 == 0 else cost
        for place, (person, cost) in enumerate(zip(people, table["cost"].to_pylist(), strict=True))
    ]
    return table.set_column(table.schema.get_field_index("cost"), "cost", pa.array(known))


def opened(unit: object) -> la.Session:
    budget = la.Budget(epsilon=10**9, delta=0.1)
    return la.open(with_missing(), schema=SCHEMA, unit=unit, budget=budget, name="visits")


def ask(session: la.Session, sql: str, dialect: str | None = None) -> list[dict[str, object]]:
    query = session.sql(sql, tables={"wards": WARDS}, dialect=dialect)
    return query.release(epsilon=EPSILON, delta=1e-9).rows()


def check_same(session: la.Session, sql: str) -> None:
    theirs = by_duckdb(sql, visits=with_missing(), wards=WARDS)
    assert agree(met(ask(session, sql)), met(theirs), sorted_=False)


@pytest.mark.long
@pytest.mark.parametrize("sql", SAME_ROWS)
def test_questions_about_rows(rows: la.Session, sql: str) -> None:
    check_same(rows, sql)


@pytest.mark.long
@pytest.mark.parametrize("sql", SAME_PEOPLE)
def test_questions_about_people(people: la.Session, sql: str) -> None:
    check_same(people, sql)


@pytest.mark.long
@pytest.mark.parametrize("sql", REFUSED_ROWS)
def test_what_would_lose_a_clause_is_refused(rows: la.Session, sql: str) -> None:
    with pytest.raises(LetaloneError):
        ask(rows, sql)


@pytest.mark.long
@pytest.mark.parametrize("sql", REFUSED_PEOPLE)
def test_what_would_be_about_other_people_is_refused(people: la.Session, sql: str) -> None:
    with pytest.raises(LetaloneError):
        ask(people, sql)


@pytest.mark.parametrize(("dialect", "order"), [("postgres", "cost DESC"), ("mysql", "cost")])
def test_an_order_with_missing_values_first_is_refused(
    people: la.Session, dialect: str, order: str
) -> None:
    """Where a dialect has them first by itself; NULLS LAST is what is read."""
    sql = COUNTED + NUMBERED.format("*", "patient", order, "visits") + " WHERE rn = 1"
    with pytest.raises(LetaloneError, match="Write NULLS LAST"):
        ask(people, sql, dialect)
    assert ask(people, sql.replace(order, f"{order} NULLS LAST"), "postgres")


def test_qualify_without_a_window_chooses_rows(rows: la.Session) -> None:
    sql = f"{OF_ALL} QUALIFY COUNT(*) > 100"
    assert [row["ward"] for row in ask(rows, sql)] == ["A"]


def test_a_total_says_of_which_groups_it_is(rows: la.Session) -> None:
    sql = OF_ALL.replace("COUNT(*) AS n", "COUNT(*) / (SELECT COUNT(*) FROM visits) AS n")
    assert TOTALS in " ".join(str(rows.sql(sql).release(epsilon=1)).split())


def test_a_zero_before_three_digits_is_no_thousand() -> None:
    cells = ("0.125", "-0.500", "1.234", "1.234,50", "0,5")
    assert [with_point(cell) for cell in cells] == ["0.125", "-0.500", "1234", "1234.50", "0.5"]


def test_a_row_limit_of_a_later_version_is_refused() -> None:
    with pytest.raises(ParameterError, match="later version"):
        limits_of([0] * len(LEVELS), [1] * len(LEVELS), rule=RULE + 1)
