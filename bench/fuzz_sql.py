"""Random SQL, valid and hostile, against a small table with planted secrets.

    python bench/fuzz_sql.py                      10^5 queries, an hour or two
    python bench/fuzz_sql.py --queries 1000 --seed 7
    python bench/fuzz_sql.py --http --queries 1000    over HTTP: fuzz_http.py says what is held

For every query: the outcome (the plan's digest, or the refusal) is the same on the emptied table;
no refusal, log or traceback holds a secret or an engine's words; nothing but a refusal of ours is
raised; no data are touched. A share of the questions is released, on a session of its own: what an
answer found with noise (a row limit) may decide later questions, so the two that are compared never
answer. Each answer is charged before data are touched, and no data set is frozen. Findings are
printed, and the exit code says whether there are any. Time is that of translation and planning, a
query.
"""

import argparse
import logging
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pandas as pd

import letalone as la
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.tables.compiled import compile_plan

SECRETS = ("Zyxwvut", "Qponmlk", "987654.25", "31415926", "1871-03-17")
ENGINE = (
    "Conversion Error", "Binder Error", "Parser Error", "Catalog Error", "Out of Range",
    "Invalid Input", "duckdb.", "sqlglot", "pyarrow", "site-packages", "INTERNAL",
)  # fmt: skip
SLOWEST = 20  # milliseconds, on average
RELEASED = 20  # one in so many questions that are understood
SCHEMA = Schema(
    "visits",
    (
        Column("id", Type.INTEGER),
        Column("ward", Type.TEXT, keys=("A", "B")),
        Column("name", Type.TEXT),
        Column("age", Type.INTEGER, Fraction(0), Fraction(120)),
        Column("cost", Type.NUMBER, Fraction(0), Fraction(1000)),
        Column("refund", Type.NUMBER),
        Column("day", Type.DATE),
        Column("at", Type.TIMESTAMP),
        Column("ok", Type.BOOLEAN),
        Column("odd name", Type.TEXT),
    ),
    unit="id",
)
COLUMNS = ["id", "ward", "name", "age", "cost", "refund", "day", "at", "ok", '"odd name"']
HOSTILE = [
    "'; DROP TABLE visits; --", "/*+ hint */", "\u202e", "cоst", "ｃost", "${x}", "?", "$1",
    "0x1F", "1e999", "NULL", "''", '"', "`", "\\", ";", "--", "/*", "*/", "))", "((", "::int",
    "::json", "OVER ()", "UNION SELECT 1", "INTO OUTFILE 'x'", "read_csv('/etc/passwd')",
    "(SELECT name FROM visits LIMIT 1)", "pg_sleep(9)", "random()", "getenv('HOME')", "COLLATE x",
    "LIKE '%'", "RETURNING *", "FOR UPDATE", "TABLESAMPLE 1%", "{{x}}", "\0", "error('x')",
    "CAST(name AS INTEGER)", "1/0", "name::DATE", "[1,2,3]", "{'a': 1}", "x -> x", "@@version",
    "information_schema.tables", "'file.parquet'", "LATERAL", "EXCEPT", "*", "AT TIME ZONE 'UTC'",
]  # fmt: skip


class Grammar:
    """Random queries: a half are meant to be answered, the others nearly so, or not at all."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.wildness = 0.0

    def query(self) -> str:
        """One query."""
        self.wildness = self.pick([0, 0, 0, 0.05, 0.3])
        text, chosen = self.select(), self.random.random()
        if chosen < 0.2:
            return self.damaged(text)
        return self.other(text) if chosen < 0.25 else text

    def select(self) -> str:
        """A SELECT with all its clauses."""
        joined = self.maybe(0.2)
        keys = [self.key(joined) for _ in range(self.pick([0, 0, 1, 1, 2]))]
        keys = list(dict.fromkeys(keys))
        asked = [f"{self.formula(2)} AS n{n}" for n in range(self.pick([1, 1, 2, 3]))]
        join = self.choose(
            [" JOIN cities c USING (ward)", " JOIN cities c ON v.ward = c.ward"], [self.join()]
        )
        table = self.choose(["visits v", "Visits AS v", "`visits` v"], ["visits", self.word()])
        text = f"SELECT {', '.join([*keys, *asked])} FROM {table}{join if joined else ''}"
        if self.maybe(0.5):
            text += f" WHERE {self.condition(3)}"
        if keys:
            groups = self.pick([keys, keys, [str(1 + n) for n in range(len(keys))]])
            text += f" GROUP BY {', '.join(groups)}"
        if self.maybe(0.15):
            left = self.choose([self.formula(1)], [*keys, self.value(1)])
            right = self.choose(["3"], ["'A;'", "'[0, 25)'", "'2024-01-01'", "TRUE"])
            text += f" HAVING {left} {self.comparison()} {right}"
        if self.maybe(0.2):
            text += f" ORDER BY {self.choose([*keys, 'n0', '1'], [self.formula(1), 'x'])}"
            text += self.pick(["", " DESC", " NULLS FIRST"])
        if self.maybe(0.15):
            text += f" LIMIT {self.choose(['3', '0'], ['-1', '1e3', 'ALL', self.word()])}"
        return self.pick(["", "", "", "", "EXPLAIN "]) + text

    def key(self, joined: bool) -> str:
        """A group column."""
        return self.choose(
            ["ward", "ok", "MONTH(day)", "BIN(age, 0, 100, 25)", "FLOOR(age / 40) * 40",
             "CASE WHEN age > 50 THEN 'o' ELSE 'y' END", "EXTRACT(hour FROM at)",
             "WIDTH_BUCKET(age, 0, 100, 4)", *(["c.region"] if joined else [])],
            ["name", "day", "cost", self.value(1), "DATE_TRUNC('month', day)", "TRUNC(at, 'MM')",
             f"DATE_TRUNC({self.value(0)}, {self.word()})", f"DATE_TRUNC('week', {self.value(1)})",
             f"WIDTH_BUCKET({self.value(1)}, 0, {self.value(0)}, 3)"],
        )  # fmt: skip

    def join(self) -> str:
        """A join that is refused, mostly."""
        kind = self.pick(["JOIN", "LEFT JOIN", "NATURAL JOIN", "CROSS JOIN", ",", "INNER JOIN"])
        on = self.pick(["USING (ward)", "ON v.ward = c.ward", "ON TRUE", "USING (name)", ""])
        return f" {kind} {self.pick(['cities c', 'visits w', 'towns c'])} {on}"

    def formula(self, depth: int) -> str:
        """An aggregate, or a formula over some."""
        if depth and self.maybe(0.3):
            left, right = (
                self.formula(depth - 1),
                self.choose([self.formula(depth - 1), "2"], ["'x'"]),
            )
            made = f"{left} {self.pick('+-*/')} {right}"
            return self.pick([made, f"({made})", f"ROUND({made}, 2)", f"ABS({made})", f"-({made})"])
        return self.choose([self.aggregate()], [self.constant(), self.value(1), self.word()])

    def aggregate(self) -> str:
        """One aggregate."""
        of = self.choose(
            ["age", "cost", "CLAMP(refund, -1, 9)", "GREATEST(0, LEAST(refund, 5))",
             f"CLAMP({self.number(2)}, 0, 99)", f"CLAMP({self.number(3)}, -5, 5)"],
            ["refund", self.value(2)],
        )  # fmt: skip
        return self.choose(
            ["COUNT(*)", "COUNT(name)", f"COUNT({of})", "COUNT(DISTINCT id)",
             "COUNT(DISTINCT ward)", f"SUM({of})", f"SUM({of})", f"AVG({of})", f"MIN({of})",
             f"MAX({of})", f"VAR_POP({of})",
             f"STDDEV({of})", f"MEDIAN({of})", f"QUANTILE_CONT({of}, 0.9)", f"CORR(age, {of})",
             f"PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {of})", f"COVAR_SAMP({of}, cost)",
             f"REGR_SLOPE(cost, {of})", f"COUNT_IF({self.condition(1)})",
             f"SUM({of}) FILTER (WHERE {self.condition(1)})"],
            [f"SUM(DISTINCT {of})", f"STRING_AGG({of}, ',')", f"FIRST({of})",
             f"{self.word()}({of})", f"QUANTILE_CONT({of}, 2)", f"AVG({of}) OVER ()"],
        )  # fmt: skip

    def number(self, depth: int) -> str:
        """A number of one row."""
        if not depth or self.maybe(0.3):
            return self.pick(["age", "cost", "refund", "v.age", "2", "0.5", "1e3"])
        one, other = self.number(depth - 1), self.number(depth - 1)
        return self.pick(
            [f"({one} {self.pick('+-*/')} {other})", f"-({one})", f"ABS({one})",
             f"COALESCE(refund, {one})", f"GREATEST(age, {one})", f"LEAST({one}, cost)",
             f"CASE WHEN {self.condition(depth - 1)} THEN {one} ELSE {other} END", "YEAR(day)",
             f"NULLIF({one}, age)"]
        )  # fmt: skip

    def value(self, depth: int) -> str:
        """Anything of one row, right or wrong."""
        if not depth or self.maybe(0.3):
            return self.pick([*COLUMNS, self.constant(), self.constant()])
        one, other = self.value(depth - 1), self.value(depth - 1)
        return self.pick(
            [f"{one} {self.pick('+-*/')} {other}", f"-{one}", f"({one})", f"ABS({one})",
             f"COALESCE({one}, {other})", f"GREATEST({one}, {other})", f"YEAR({one})",
             f"{one} % {other}", f"{one} // {other}", f"CAST({one} AS INTEGER)",
             f"{one} || {other}", f"CLAMP({one}, -1, {self.constant()})", f"{self.word()}({one})"]
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        """A condition on one row."""
        if depth > 0 and self.maybe(0.4):
            one, other = self.condition(depth - 1), self.condition(depth - 1)
            return self.pick([f"{one} AND {other}", f"({one} OR {other})", f"NOT {one}"])
        number = self.number(min(max(depth, 0), 1))
        return self.choose(
            [f"{number} {self.pick(['=', '<>', '<', '<=', '>', '>=', '!='])} age", "ok",
             "ward = 'A'", "ward IN ('A', 'it''s')", f"{number} IS NULL", "name IS NOT NULL",
             "cost BETWEEN 1 AND 99.5", "day >= '2024-01-31'", "at < TIMESTAMP '2024-01-31 10:00'",
             "name <> 'x'", "MONTH(day) = 3", "\"odd name\" = ''"],
            [f"{self.value(1)} {self.comparison()} {self.value(1)}", "ward LIKE 'A%'",
             f"{self.value(1)} IN (SELECT 1)", f"{self.value(1)} = {self.constant()}"],
        )  # fmt: skip

    def comparison(self) -> str:
        """Any comparison."""
        return self.choose(["=", "<>", "<", "<=", ">", ">=", "!="], ["IS DISTINCT FROM", "~"])

    def constant(self) -> str:
        """Any constant."""
        return self.pick(
            ["0", "1", "65", "-3", "0.1", "1e3", "1e400", "9223372036854775808", "'A'", "'B'",
             "'it''s'", "TRUE", "NULL", "'2024-01-31'", "DATE '2024-01-31'", "'x'", '"A"',
             "TIMESTAMP '2024-01-31 10:00:00'", "DATE 'x'", "0x10"]
        )  # fmt: skip

    def damaged(self, text: str) -> str:
        """The text with something cut, put in or put in place of a word."""
        place = self.random.randrange(len(text) + 1)
        match self.random.randrange(5):
            case 0:
                return text[:place]
            case 1:
                return text[:place] + self.pick(HOSTILE) + text[place:]
            case 2:
                words = text.split(" ")
                words[self.random.randrange(len(words))] = self.pick([*HOSTILE, self.word()])
                return " ".join(words)
            case 3:
                return text + " " + self.pick(HOSTILE)
            case _:
                return text[:place] + chr(self.random.randrange(1, 0x3000)) + text[place:]

    def other(self, text: str) -> str:
        """Another statement, or several."""
        return self.pick(
            [f"WITH t AS ({text}) SELECT * FROM t", f"{text}; {text}", f"({text})", "", "SELECT",
             f"{text} UNION {text}", f"CREATE TABLE t AS {text}", f"COPY ({text}) TO 'x'",
             f"SELECT * FROM ({text})", "PRAGMA database_list", "SET x = 1", "ATTACH 'x'",
             "(" * self.random.randrange(200) + text, text * 40, "SELECT name FROM visits",
             "SELECT * FROM visits WHERE name = 'A'", f"SELECT COUNT(*) FROM visits -- {text}"]
        )  # fmt: skip

    def word(self) -> str:
        """A name that means nothing, or something else."""
        return self.pick(["x", "foo", "lower", "visits", "rowid", "csot", "current_date", "main.x"])

    def choose(self, tame: list[str], wild: list[str]) -> str:
        """One of the tame choices, or of the wild ones where the query is wild."""
        return self.pick(wild if self.maybe(self.wildness) else tame)

    def pick(self, choices: Any) -> Any:
        """One of the choices."""
        return self.random.choice(choices)

    def maybe(self, chance: float) -> bool:
        """True this often."""
        return self.random.random() < chance


def frame() -> pd.DataFrame:
    """Twelve rows; what must not come out is in SECRETS."""
    size = 12
    moment = pd.Timestamp(SECRETS[4])
    return pd.DataFrame(
        {
            "id": [int(SECRETS[3])] * 3 + list(range(size - 3)),
            "ward": ["A", "B", SECRETS[0]] * 4,
            "name": [SECRETS[1], None, "A"] * 4,
            "age": [None, 50, 130] * 4,
            "cost": [float(SECRETS[2]), float("nan"), -1.0] * 4,
            "refund": [float(SECRETS[2]), float("inf"), 0.0] * 4,
            "day": pd.Series([moment, pd.NaT, moment] * 4).dt.date,
            "at": [moment, pd.NaT, moment] * 4,
            "ok": pd.array([True, False, None] * 4, dtype="boolean"),
            "odd name": [SECRETS[0], "", "\x1b[31m"] * 4,
        }
    ).astype({"age": "Int64"})


CITIES = pd.DataFrame({"ward": ["A", "B"], "region": ["N", "S"], "size": [1.0, 2.0]})


class Watched:
    """A session that counts how often its engine is asked for data."""

    def __init__(self, rows: pd.DataFrame) -> None:
        import pyarrow as pa

        table = pa.Table.from_pandas(rows, preserve_index=False)
        kinds = {"day": pa.date32(), "id": pa.int64(), "age": pa.int64(), "ok": pa.bool_()}
        texts = dict.fromkeys(("ward", "name", "odd name"), pa.string())
        numbers = dict.fromkeys(("cost", "refund"), pa.float64())
        kinds |= {**texts, **numbers, "at": pa.timestamp("us")}
        fields = [pa.field(name, kinds[name]) for name in table.column_names]
        self.session = la.open(
            table.cast(pa.schema(fields)), schema=SCHEMA, budget=la.Budget(10**9, 0.5)
        )
        self.touched = 0
        engine = self.session._table.engine
        for name in ("prepare", "measure", "discover"):
            self._watch(engine, name, getattr(engine, name))

    def _watch(self, engine: Any, name: str, call: Callable[..., Any]) -> None:
        def counted(*given: Any, **named: Any) -> Any:
            self.touched += 1
            return call(*given, **named)

        setattr(engine, name, counted)

    def asked(self, sql: str) -> tuple[la.Query | None, str]:
        """The question and its name, or what was said instead."""
        try:
            question = self.session.sql(sql, bounds=None, tables=TABLES)
            plan = question.plan
            compile_plan(plan, epsilon=1, delta=Fraction(1, 10**6))
        except la.LetaloneError as error:
            trace = "".join(traceback.format_exception(error, limit=0))
            return None, f"{type(error).__name__}: {error}\n{trace}"
        return question, plan.digest()


TABLES = {"cities": CITIES}


class Heard(logging.Handler):
    """All that anybody logs."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@dataclass
class Fuzzer:
    """Asks, compares, and keeps what it finds."""

    full: Watched
    empty: Watched
    paid: Watched  # the full table again, for answers
    heard: Heard = field(default_factory=Heard)
    findings: list[str] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def check(self, sql: str, *, release: bool) -> None:
        try:
            self._check(sql, release=release)
        except Exception as error:
            self._found(f"{type(error).__name__} for {sql!r}: {traceback.format_exc()}")

    def _check(self, sql: str, *, release: bool) -> None:
        before, start = self.full.touched, time.process_time()
        question, said = self.full.asked(sql)
        self.seconds += time.process_time() - start
        _, elsewhere = self.empty.asked(sql)
        self._expect(said == elsewhere, "depends on data", sql, f"{said}\n{elsewhere}")
        self._expect(self.full.touched == before, "data touched without a charge", sql, said)
        self._quiet(sql, said)
        self.counted["understood" if question else "refused"] += 1
        if question is not None and release:
            self._release(sql)

    def _release(self, sql: str) -> None:
        table = self.paid.session._table
        question, said = self.paid.asked(sql)
        self._quiet(sql, said)
        if question is None:
            return
        before, charged = self.paid.touched, table.standing().releases
        try:
            found = question.release(epsilon=1, delta=Fraction(1, 10**6))
        except la.DataSetFrozen as error:
            self._expect(False, "an engine failed", sql, str(error))
            table.ledger.thaw(table.name, "fuzz")
            return
        except la.LetaloneError as error:
            self._expect(self.paid.touched == before, "touched, then refused", sql, str(error))
            self._quiet(sql, str(error))
            return
        self.counted["released"] += 1
        paid = table.standing().releases - charged
        well = paid in (1, 2) or found.repeated  # two where a row limit is found first
        self._expect(well, "an answer without a charge", sql, str(paid))
        self._expect(bool(found.columns), "a charge without an answer", sql, "")
        self._quiet(sql, f"{found}\n{found.explain(sql=False)}\n{found.rows()}")

    def _quiet(self, sql: str, said: str) -> None:
        for word in (*SECRETS, *ENGINE):
            told = word in said and word not in sql
            self._expect(not told, f"{word!r} was said", sql, said)
        self._expect(not self.heard.said, "something was logged", sql, str(self.heard.said))
        self.heard.said.clear()

    def _expect(self, fine: bool, what: str, sql: str, more: str) -> None:
        if not fine:
            self._found(f"{what} for {sql!r}: {more[:2000]}")

    def _found(self, finding: str) -> None:
        self.findings.append(finding)
        print(f"\n- {finding}", file=sys.stderr, flush=True)


def fuzzer() -> Fuzzer:
    """One with fresh sessions, about the table and about the emptied table."""
    made = Fuzzer(Watched(frame()), Watched(frame().iloc[:0]), Watched(frame()))
    logging.getLogger().addHandler(made.heard)
    logging.getLogger().setLevel(logging.DEBUG)
    return made


def over_http(queries: int, seed: int) -> int:
    """The same queries, sent to the curator's service."""
    from contextlib import ExitStack

    from fuzz_http import http_fuzzer

    with ExitStack() as stack:
        made, grammar, start = http_fuzzer(stack), Grammar(seed), time.perf_counter()
        for number in range(queries):
            made.check(grammar.query(), release=number % RELEASED == 0)
        passed = time.perf_counter() - start
    for finding in made.findings:
        print(f"- {finding}", file=sys.stderr)
    print(f"seed {seed}: {queries:,} queries over HTTP in {passed:.0f} s", dict(made.counted))
    print(f"{len(made.findings)} findings")
    return int(bool(made.findings))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--queries", type=int, default=10**5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--http", action="store_true", help="ask the curator's service")
    given = parser.parse_args()
    if given.http:
        return over_http(given.queries, given.seed)
    made, grammar, start = fuzzer(), Grammar(given.seed), time.perf_counter()
    for number in range(given.queries):
        made.check(grammar.query(), release=number % RELEASED == 0)
        if number % 1000 == 999:
            print(
                f"\r{number + 1:,} queries, {len(made.findings)} findings", end="", file=sys.stderr
            )
    passed = time.perf_counter() - start
    each = 1000 * made.seconds / given.queries
    print(f"seed {given.seed}: {given.queries:,} queries in {passed:.0f} s", dict(made.counted))
    print(f"translation and planning: {each:.2f} ms a query, at most {SLOWEST} are allowed")
    print(f"{len(made.findings)} findings")
    return int(bool(made.findings) or each > SLOWEST)


if __name__ == "__main__":
    sys.exit(main())
