"""What is not answered, by the node that sqlglot makes of it, and the nearest thing that works.

The page "What SQL works" lists these; its examples are run.
"""

from datetime import UTC, datetime
from typing import NamedTuple, cast

from sqlglot import exp

from letalone.sql.text import Unread

CONDITIONS = (
    "An expression is made of columns, constants, = <> < <= > >=, IN, BETWEEN, LIKE, IS NULL, AND,"
    " OR, NOT, + - * /, CASE, COALESCE, ABS, CLAMP, GREATEST, LEAST, parts of dates, and UPPER,"
    " SUBSTR, || and the like of text."
)


MOST_PARTS = 20  # of quantiles at once


class SqlRefusal(NamedTuple):
    """What it is called, what to do instead, and an example of it that is refused."""

    what: str
    instead: str
    example: str

    def where(self, condition: str) -> "SqlRefusal":
        """The same with another example."""
        return self._replace(example=f"SELECT COUNT(*) FROM visits WHERE {condition}")

    def at(self, node: exp.Expr, word: str | None = None, *, edit: str | None = None) -> Unread:
        return Unread(f"Not answered: {self.what}", self.instead, node=node, word=word, edit=edit)


WINDOW = SqlRefusal(
    "OVER (a window)",
    "Group instead: SELECT ward, AVG(cost) FROM visits GROUP BY ward. OVER looks at groups of an"
    " answer: SUM(COUNT(*)) OVER ().",
    "SELECT AVG(cost) OVER (PARTITION BY ward) FROM visits",
)
SUBQUERY = SqlRefusal(
    "a query within a query",
    "Ask two questions, and put the first answer into the second as a number; in Python,"
    " .per_unit(…) makes one row of each person first.",
    "SELECT COUNT(*) FROM visits v WHERE cost > (SELECT AVG(cost) FROM visits w WHERE w.ward ="
    " v.ward)",
)
CAST = SqlRefusal(
    "a cast, which can fail on a row",
    "Declare the column's type in the schema file.",
    "SELECT SUM(cost::INTEGER) FROM visits",
)
RANDOM = SqlRefusal(
    "a random number, which makes an answer that cannot be repeated",
    "Leave it out: noise is added anyway.",
    "SELECT COUNT(*) FROM visits WHERE random() < 0.5",
)
REGULAR = SqlRefusal(
    "a regular expression, which can take for ever on a row",
    "Write LIKE, STARTS_WITH, ENDS_WITH or CONTAINS: ward LIKE 'A%'.",
    "SELECT COUNT(*) FROM visits WHERE regexp_matches(ward, '[AB]+')",
)
POSITION = SqlRefusal(
    "a place in a text",
    "Write CONTAINS(ward, 'A') or ward LIKE '%A%'.",
    "SELECT COUNT(*) FROM visits WHERE strpos(ward, 'A') > 0",
)
OTHER_ROW = SqlRefusal(
    "a value of another row of the same person",
    "Make it before, a column of each row: the days since the visit before, in a view or in the"
    " file. Of each person, FROM (SELECT patient_id, MIN(day) AS first, COUNT(*) AS n FROM …"
    " GROUP BY patient_id) is read.",
    "SELECT COUNT(*) FROM (SELECT day, LAG(day) OVER (PARTITION BY patient_id ORDER BY day) AS d"
    " FROM visits) WHERE d > '2024-01-01'",
)
TILES = SqlRefusal(
    "NTILE of rows: in which quarter a row is depends on all rows",
    "Ask QUANTILE_CONT(cost, [0.25, 0.5, 0.75]) first, and put its answer into CASE WHEN cost <"
    " 120 THEN 1 ….",
    "SELECT NTILE(4) OVER (ORDER BY cost) AS quarter, COUNT(*) FROM visits GROUP BY 1",
)
MOMENTS = SqlRefusal(
    "SKEWNESS",
    "Ask AVG(cost), STDDEV(cost) and QUANTILE_CONT(cost, [0.1, 0.5, 0.9]).",
    "SELECT SKEWNESS(cost) FROM visits",
)
ROOT = SqlRefusal(
    "a root or a logarithm, which can fail on a row",
    "Compute it into a column of the table.",
    "SELECT SUM(SQRT(cost)) FROM visits",
)
WHOLE = SqlRefusal(
    "a division of whole numbers, which can fail",
    "Write / for division, and GROUP BY BIN(age, 0, 100, 10) for ranges.",
    "SELECT COUNT(*) FROM visits WHERE age // 2 = 1",
)
LISTING = SqlRefusal(
    "a list of values, which would show rows",
    "Count them by group: SELECT ward, COUNT(*) FROM visits GROUP BY ward.",
    "SELECT STRING_AGG(ward, ',') FROM visits",
)
INTERVAL = SqlRefusal(
    "arithmetic with dates",
    "Compare with a date: day >= '2024-01-31', take a part: YEAR(day), MONTH(day), or count days:"
    " DATE_DIFF('day', day, DATE '2024-01-31').",
    "SELECT COUNT(*) FROM visits WHERE day + INTERVAL 1 MONTH > day",
)
NOW = SqlRefusal(
    "the time now, which makes an answer that cannot be repeated",
    "Write the date: day >= '2024-01-31'.",
    "SELECT COUNT(*) FROM visits WHERE at < CURRENT_TIMESTAMP",
)
WEEKDAY = SqlRefusal(
    "DAYOFWEEK, which begins on another day in every dialect",
    "Write EXTRACT(DOW FROM day), where Sunday is 0, or EXTRACT(ISODOW FROM day), where Monday is"
    " 1; or name the dialect.",
    "SELECT COUNT(*) FROM visits WHERE DAYOFWEEK(day) = 1",
)
SUBTOTALS = SqlRefusal(
    "ROLLUP",
    "Ask by the finest groups; SUM(COUNT(*)) OVER (PARTITION BY ward) is their total, and free.",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
)
TRUTH = SqlRefusal(
    "BOOL_AND, which one person can turn",
    "Ask how many: COUNT(*) FILTER (WHERE icu), or AVG(icu::INT).",
    "SELECT BOOL_AND(icu) FROM visits",
)
PIECES = SqlRefusal(
    "SPLIT_PART",
    "Write LIKE, STARTS_WITH, LEFT or SUBSTR, or compute it into a column of the table.",
    "SELECT COUNT(*) FROM visits WHERE SPLIT_PART(city, ' ', 1) = 'New'",
)
PARAMETER = SqlRefusal(
    "a parameter", "Write the value itself.", "SELECT COUNT(*) FROM visits WHERE age = ?"
)
REFUSED: dict[type[exp.Expr], SqlRefusal] = {
    exp.Window: WINDOW,
    exp.Subquery: SUBQUERY,
    exp.Select: SUBQUERY,
    exp.Exists: SUBQUERY,
    exp.Cast: CAST,
    exp.TryCast: CAST,
    exp.Rand: RANDOM,
    exp.Randn: RANDOM,
    exp.Uuid: RANDOM,
    exp.CurrentTimestamp: NOW,
    exp.CurrentDate: NOW.where("day < CURRENT_DATE"),
    exp.RegexpLike: REGULAR,
    exp.SimilarTo: REGULAR.where("ward SIMILAR TO 'A'")._replace(what="SIMILAR TO"),
    exp.Glob: REGULAR.where("ward GLOB 'A*'")._replace(what="GLOB"),
    exp.StrPosition: POSITION,
    exp.ConcatWs: SqlRefusal(
        "CONCAT_WS, which leaves out what is missing",
        "Write ward || '-' || city.",
        "SELECT COUNT(*) FROM visits WHERE concat_ws('-', ward, city) = 'A-Bonn'",
    ),
    exp.IntDiv: WHOLE,
    exp.Mod: WHOLE.where("cost % 2 = 1")._replace(what="%, a remainder, which can fail"),
    exp.Pow: SqlRefusal(
        "a power, which can be too large",
        "Multiply: cost * cost.",
        "SELECT SUM(cost ^ 9) FROM visits",
    ),
    exp.Sqrt: ROOT,
    exp.Ln: ROOT._replace(example="SELECT SUM(LN(cost)) FROM visits"),
    exp.Log: ROOT._replace(example="SELECT SUM(LOG10(cost)) FROM visits"),
    exp.Kurtosis: MOMENTS._replace(what="KURTOSIS", example="SELECT KURTOSIS(cost) FROM visits"),
    exp.MD5: SqlRefusal(
        "a hash of a column",
        "Group by the column itself, and hash the answer.",
        "SELECT MD5(ward), COUNT(*) FROM visits GROUP BY 1",
    ),
    exp.Floor: SqlRefusal(
        "FLOOR",
        "For ranges write GROUP BY BIN(age, 0, 100, 10), or FLOOR(age / 10) * 10 of a column with"
        " declared bounds.",
        "SELECT SUM(FLOOR(cost)) FROM visits",
    ),
    exp.WidthBucket: SqlRefusal(
        "WIDTH_BUCKET outside of GROUP BY",
        "Write GROUP BY WIDTH_BUCKET(age, 0, 100, 10), or compare: age >= 10 AND age < 20.",
        "SELECT COUNT(*) FROM visits WHERE WIDTH_BUCKET(age, 0, 100, 10) = 1",
    ),
    exp.GroupConcat: LISTING,
    exp.ArrayAgg: LISTING._replace(example="SELECT ARRAY_AGG(ward) FROM visits"),
    exp.ArrayUniqueAgg: LISTING._replace(example="SELECT COLLECT_SET(ward) FROM visits"),
    exp.AnyValue: LISTING._replace(example="SELECT ANY_VALUE(ward) FROM visits"),
    exp.IgnoreNulls: LISTING._replace(example="SELECT ANY_VALUE(ward) FROM visits"),
    exp.First: LISTING._replace(example="SELECT FIRST(ward) FROM visits"),
    exp.ArgMax: LISTING._replace(example="SELECT ARG_MAX(ward, cost) FROM visits"),
    exp.ArgMin: LISTING._replace(example="SELECT ARG_MIN(ward, cost) FROM visits"),
    exp.ApproxQuantiles: SqlRefusal(
        "APPROX_QUANTILES as a list",
        "Write QUANTILE_CONT(cost, [0.25, 0.5, 0.75]).",
        "SELECT APPROX_QUANTILES(cost, 4) FROM visits",
    ),
    exp.Interval: INTERVAL,
    exp.Rollup: SUBTOTALS,
    exp.Cube: SUBTOTALS._replace(
        what="CUBE", example="SELECT ward, COUNT(*) FROM visits GROUP BY CUBE (ward)"
    ),
    exp.GroupingSets: SUBTOTALS._replace(
        what="GROUPING SETS",
        example="SELECT ward, COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward), ())",
    ),
    exp.LogicalAnd: TRUTH,
    exp.LogicalOr: TRUTH._replace(
        what="BOOL_OR, which one person can turn", example="SELECT BOOL_OR(icu) FROM visits"
    ),
    exp.SplitPart: PIECES,
    exp.Split: PIECES.where("SPLIT(city, ' ')[1] = 'New'")._replace(what="SPLIT"),
    exp.RegexpSplit: PIECES.where("SPLIT(city, ' ')[1] = 'New'")._replace(what="SPLIT"),
    exp.SubstringIndex: PIECES.where("SUBSTRING_INDEX(city, ' ', 1) = 'New'")._replace(
        what="SUBSTRING_INDEX"
    ),
    exp.Replace: PIECES.where("REPLACE(city, 'a', 'b') = 'b'")._replace(what="REPLACE"),
    exp.LastDay: SqlRefusal(
        "LAST_DAY",
        "Write DATE_TRUNC('month', day), the first day of the month.",
        "SELECT COUNT(*) FROM visits WHERE LAST_DAY(day) = '2024-01-31'",
    ),
    exp.Format: SqlRefusal(
        "FORMAT of a number",
        "Write ROUND(AVG(cost), 1), and choose how it looks where you show it.",
        "SELECT FORMAT('{:.1f}', AVG(cost)) FROM visits",
    ),
    exp.TimestampDiff: SqlRefusal(
        "a number of whole hours",
        "Compare it, TIMESTAMPDIFF(HOUR, at, left_at) >= 24, or count hours that begin:"
        " DATE_DIFF('hour', at, left_at).",
        "SELECT AVG(TIMESTAMPDIFF(HOUR, at, left_at)) FROM visits",
    ),
    exp.MonthsBetween: INTERVAL.where("months_between(day, day) > 1"),
    exp.DayOfWeek: WEEKDAY,
    exp.Placeholder: PARAMETER,
    exp.Parameter: PARAMETER.where("age = $name"),
}
REFUSED_CALLS = {
    "AGE": INTERVAL.where("age(day, DATE '2000-01-31') > 18")._replace(
        what="AGE, an interval", instead="Write DATE_DIFF('day', start, end) / 365.25 for years."
    ),
    "WEEKDAY": WEEKDAY.where("WEEKDAY(day) = 1")._replace(
        what="WEEKDAY, which begins on another day in every dialect"
    ),
    "SKEWNESS": MOMENTS,
    "MAD": MOMENTS._replace(
        what="MAD",
        instead="Ask QUANTILE_CONT(cost, 0.75) - QUANTILE_CONT(cost, 0.25).",
        example="SELECT MAD(cost) FROM visits",
    ),
    "ENTROPY": MOMENTS._replace(
        what="ENTROPY",
        instead="Ask for the rows of each: SELECT ward, COUNT(*) FROM visits GROUP BY ward, and"
        " compute it of their shares.",
        example="SELECT ENTROPY(ward) FROM visits",
    ),
    "NOW": NOW.where("at < NOW()"),
    "GETDATE": NOW.where("at < GETDATE()"),
    "TODAY": NOW.where("day < TODAY()"),
    "CURDATE": NOW.where("day < CURDATE()"),
    "SYSDATE": NOW.where("day < SYSDATE()"),
}
DISTINCT = SqlRefusal(
    "SELECT DISTINCT of aggregates",
    "Leave DISTINCT out, or count different values: COUNT(DISTINCT ward).",
    "SELECT DISTINCT COUNT(*) FROM visits GROUP BY ward",
)
CLAUSES: dict[str, SqlRefusal] = {
    "hint": SqlRefusal(
        "a comment with a hint",
        "Leave out /*+ … */.",
        "SELECT /*+ REPARTITION(3) */ COUNT(*) FROM visits",
    ),
    "into": SqlRefusal(
        "INTO",
        "An answer is shown, not stored: .save writes it.",
        "SELECT COUNT(*) INTO t FROM visits",
    ),
    "laterals": SqlRefusal(
        "LATERAL",
        "Join a public table: JOIN cities USING (city).",
        "SELECT COUNT(*) FROM visits LATERAL VIEW explode(array(1)) t AS x",
    ),
    "windows": WINDOW._replace(
        what="WINDOW", example="SELECT COUNT(*) FROM visits WINDOW w AS (PARTITION BY ward)"
    ),
    "sample": SqlRefusal(
        "a sample",
        "Ask about all rows: noise protects them, and a sample of a file does not.",
        "SELECT COUNT(*) FROM visits TABLESAMPLE 10%",
    ),
    "pivots": SqlRefusal(
        "PIVOT",
        "Group instead: GROUP BY ward.",
        "SELECT COUNT(*) FROM visits PIVOT (SUM(cost) FOR ward IN ('A', 'B'))",
    ),
    "locks": SqlRefusal(
        "FOR UPDATE", "Leave it out: nothing is changed.", "SELECT COUNT(*) FROM visits FOR UPDATE"
    ),
}


OF_OTHER_ROWS = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)


def is_now(node: exp.Expr) -> bool:
    """Whether it is the time now, or the day today."""
    named = sql_name(node) in REFUSED_CALLS and REFUSED_CALLS[sql_name(node)].what == NOW.what
    return named or isinstance(node, exp.CurrentDate | exp.CurrentTimestamp | exp.CurrentDatetime)


def refuse_node(node: exp.Expr, instead: str = CONDITIONS) -> Unread:
    """The refusal of a node that has no translation."""
    if is_now(node):
        return NOW.at(node, edit=f"DATE '{datetime.now(UTC).date()}'")
    if sql_name(node) in REFUSED_CALLS:
        return REFUSED_CALLS[sql_name(node)].at(node, edit=_instead_of(node))
    if type(node) is exp.Bracket and type(node.this) in (exp.Split, exp.RegexpSplit):
        return REFUSED[type(node.this)].at(node)
    if type(node) is exp.Window and type(node.this) in OF_OTHER_ROWS:
        return OTHER_ROW.at(node)
    for kind in type(node).__mro__:
        if (refusal := REFUSED.get(cast("type[exp.Expr]", kind))) is not None:
            return refusal.at(node, edit=_instead_of(node))
    unknown = type(node) is exp.Anonymous  # another dialect may know it
    return Unread(f"Not answered: {sql_name(node)}", instead, node=node, puzzling=unknown)


def _instead_of(node: exp.Expr) -> str | None:
    """What can be written in place of a function that dialects understand differently."""
    if type(node) is exp.DayOfWeek or sql_name(node) == "WEEKDAY":  # as DuckDB means both
        of = node.expressions[0] if type(node) is exp.Anonymous and node.expressions else node.this
        return f"EXTRACT(DOW FROM {of.sql('duckdb')})" if isinstance(of, exp.Expr) else None
    if type(node) is exp.LastDay:
        return f"DATE_TRUNC('month', {node.this.sql('duckdb')})"
    if type(node) is exp.TimestampDiff and node.args.get("unit") is not None:
        end, start = (node.args[side].sql("duckdb") for side in ("this", "expression"))
        return f"DATE_DIFF('{str(node.args['unit'].name).lower()}', {start}, {end})"
    parts = node.args.get("expression") if type(node) is exp.ApproxQuantiles else None
    if parts is None or not str(parts.name).isdecimal() or not 1 < int(parts.name) <= MOST_PARTS:
        return None
    shares = [f"{number / int(parts.name):.6g}" for number in range(1, int(parts.name))]
    return f"QUANTILE_CONT({node.this.sql('duckdb')}, [{', '.join(shares)}])"


def sql_name(node: exp.Expr) -> str:
    """What kind of thing a node is: its SQL name."""
    name = node.this if type(node) is exp.Anonymous else None
    return str(name or node.key).upper()[:40]
