"""Everyday questions in SQL, as strangers write them: how many are answered, and how many rightly?

    python bench/questions.py [--json] [--only visits] [--show refused|wrong|all] [--engine duckdb]

Each question of `questions.sql` is asked of made-up tables with the bounds and keys that their
schemas declare, at a generous ε, and of plain DuckDB. A refusal is followed as it is printed: an
edit of the SQL is made, and bounds and keys that a person would know are given. Counted are

  first      answered as it was typed
  followed   answered in the end, the first ones included
  right      of the answers: 9 in 10 of their numbers are within their ranges, or, where they have
             none, within 2 % of the largest true number of the row; most rows are the truth's

A question whose truth differs by definition says its own, with --truth.
"""

import json
import math
import re
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from questions_data import Table, made_up_tables

import letalone as la
from letalone.errors import LetaloneError
from letalone.errors.remedies import AddBounds, ClampExpression, EditSql
from letalone.session.sql_question import public_schemas
from letalone.sql.edits import clamp_expressions
from letalone.sql.question import read_question

LIST = Path(__file__).with_suffix(".sql")
EPSILON, DELTA = 8, 1e-6
NEAR = 0.02  # of a number without a range
ENOUGH = 0.9  # of the numbers of an answer
MOST_STEPS = 3
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Asked:
    """A question of the list: of which table, written as where, met where."""

    table: str
    dialect: str
    met: str
    sql: str
    truth: str | None = None
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Outcome:
    """What became of a question; `followed` are the steps that messages told."""

    sql: str
    met: str
    outcome: str  # first, followed or refused
    right: bool | None = None
    code: str = ""
    message: str = ""
    followed: tuple[str, ...] = ()
    far: str = ""
    asked_in_the_end: str = ""


def read_list(text: str) -> Iterator[Asked]:
    for part in re.split(r"^--# ", text, flags=re.MULTILINE)[1:]:
        head, *lines = part.strip().splitlines()
        table, dialect, met = (word.strip() for word in head.split("|"))
        options = dict(line[2:].split(" ", 1) for line in lines if re.match(r"--[a-z]", line))
        sql = "\n".join(line for line in lines if not line.startswith("--")).rstrip(";\n ")
        yield Asked(table, dialect, met, sql, options.get("truth"), _bounds(options.get("bounds")))


def _bounds(text: str | None) -> dict[str, tuple[float, float]]:
    if text is None:
        return {}
    name, ends = text.split("=")
    low, high = ends.split(":")
    return {name.strip(): (float(low), float(high))}


def true_rows(asked: Asked, table: Table) -> tuple[list[str], list[Row]]:
    """What plain DuckDB says, asked the same in its own words."""
    with duckdb.connect() as database:
        database.register(table.name, table.rows)
        for name, frame in table.public.items():
            database.register(name, frame)
        dialect = asked.dialect
        sql = asked.truth or sqlglot.transpile(asked.sql, read=dialect, write="duckdb")[0]
        sql = re.sub(r'"?(dbo|public)"?\.', "", sql)
        result = database.execute(sql)
        return [column[0] for column in result.description or ()], result.fetchall()


def ask(asked: Asked, table: Table, session: la.Session) -> tuple[Outcome, la.Release | None]:
    """The answer, following what refusals say; the first refusal is what is told of it."""
    sql, bounds, first, steps = asked.sql, dict[str, tuple[float, float]](), None, list[str]()
    for _ in range(MOST_STEPS):
        try:
            question = session.sql(sql, bounds=bounds or None, tables=table.public)
            answer = question.release(epsilon=EPSILON, delta=DELTA, confirm=True)
        except LetaloneError as error:
            first = first or error
            step = follow(error, asked, sql, table)
            if step is None:
                break
            sql, bounds = step[0], {**bounds, **step[1]}
            steps.append(step[2])
            continue
        outcome = "first" if first is None else "followed"
        told = ("", "") if first is None else (code_of(first), str(first))
        done = Outcome(asked.sql, asked.met, outcome, None, *told, tuple(steps))
        return replace(done, asked_in_the_end=sql), answer
    told = code_of(first), str(first)
    return Outcome(asked.sql, asked.met, "refused", None, *told, tuple(steps)), None


def code_of(error: Exception | None) -> str:
    problem = getattr(error, "problem", None)
    return type(error).__name__ if problem is None else problem.code.name.lower()


def follow(
    error: LetaloneError, asked: Asked, sql: str, table: Table
) -> tuple[str, dict[str, tuple[float, float]], str] | None:
    """The SQL and the bounds after what the message says; None where it tells of no way."""
    problem = error.problem
    remedies = [] if problem is None else list(problem.remedies)
    for other in () if problem is None else problem.others:
        remedies += other.remedies
    if any(isinstance(remedy, ClampExpression) for remedy in remedies):
        remedies = [*_clamping(error, sql, table), *remedies]
    for remedy in remedies:
        match remedy:
            case EditSql(span, text):
                text = _known_ends(text, asked)
                return sql[: span[0]] + text + sql[span[1] :], {}, "edit"
            case AddBounds(columns) if all(name in asked.bounds for name in columns):
                return sql, {name: asked.bounds[name] for name in columns}, "bounds"
            case _:
                pass
    return None


def _clamping(error: LetaloneError, sql: str, table: Table) -> Sequence[object]:
    """The edits of the SQL that the command line prints for what has no bounds."""
    schemas = public_schemas(table.public)
    read = read_question(sql, table.session.schema, tables=schemas)
    return clamp_expressions(error.problem, read.places(), sql).remedies


def _known_ends(text: str, asked: Asked) -> str:
    """An example's ends, 0 and 1000, are replaced by what a person would know."""
    for low, high in asked.bounds.values():
        return text.replace(", 0, 1000)", f", {low:g}, {high:g})")
    return text


def compare(answer: la.Release, asked: Sequence[str], truth: Sequence[Row]) -> tuple[bool, str]:
    """Whether an answer is right; else what is far off."""
    rows = answer.rows()
    names = _aligned(rows, asked, len(truth[0]) if truth else 0)
    if not rows or not truth:
        empty = all(_is_empty(row) for row in rows)
        return empty and not truth, f"{len(rows)} rows, {len(truth)} in truth"
    tests = list[tuple[bool, str]]()
    keys = _key_places(rows, names, truth)
    by_key = {tuple(_plain(row[place]) for place in keys): row for row in truth}
    met = 0
    for row in rows:
        shown = _one_number_each(row, names)
        key = tuple(_plain(shown[place][0]) for place in keys)
        true = by_key.get(key)
        met += true is not None
        if true is None:
            continue
        for place, (value, low, high) in enumerate(shown):
            if place not in keys and place < len(true):
                size = max((abs(float(x)) for x in true if _finite(x)), default=0)
                held = _holds(value, low, high, true[place], size)
                tests.append((held, f"{key} {value} [{low}, {high}] for {true[place]}"))
    if met < 0.6 * min(len(rows), len(truth)):
        return False, f"other rows: {[list(r.values())[:2] for r in rows[:3]]}, {truth[:3]}"
    held = sum(test for test, _ in tests)
    far = next((words for test, words in tests if not test), "")
    return held >= ENOUGH * len(tests), far


def _is_empty(row: Mapping[str, Any]) -> bool:
    """A listed group that nobody is in: its numbers may be 0."""
    return any(name.endswith("_low") and value <= 0 for name, value in row.items())


def _aligned(rows: Sequence[Mapping[str, Any]], asked: Sequence[str], wide: int) -> list[str]:
    """The columns of the answer in the order of the truth's: by name, the others as they come."""
    names = [name for name in (rows[0] if rows else {}) if not _is_end(name, rows[0])]
    if wide != len(asked) or len(set(asked)) < len(asked):
        return names[-wide:] if wide else names
    others = iter([name for name in names if name not in asked][-wide:])
    extra = max(len(names) - wide, 0)  # groups that were not selected come first
    for _ in range(min(extra, sum(name not in asked for name in names))):
        next(others, None)
    return [name if name in names else next(others, name) for name in asked]


def _is_end(name: str, row: Mapping[str, object]) -> bool:
    return name.endswith(("_low", "_high")) and re.sub("_(low|high)$", "", name) in row


def _one_number_each(row: Mapping[str, Any], names: Sequence[str]) -> list[tuple[Any, Any, Any]]:
    return [(row.get(name), row.get(f"{name}_low"), row.get(f"{name}_high")) for name in names]


def _key_places(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], truth: Sequence[Row]
) -> list[int]:
    """Columns without ranges that are no computed numbers: those whose values truth has, too."""
    places = list[int]()
    for place, name in enumerate(names[: len(truth[0])]):
        values = {_plain(row.get(name)) for row in rows}
        known = {_plain(row[place]) for row in truth}
        ranged = f"{name}_low" in rows[0]
        numbers = [value for value in values if _finite(value)]
        is_number = bool(numbers) and any(value != int(value) for value in numbers)
        if (
            not ranged
            and not is_number
            and len(values & known) >= 0.6 * min(len(values), len(known))
        ):
            places.append(place)
    return places


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _plain(value: Any) -> Any:
    """A key as both sides write it: days without times, numbers as floats."""
    match value:
        case datetime():
            return value.date().isoformat() if value.time().isoformat() == "00:00:00" else value
        case date():
            return value.isoformat()
        case bool():
            return value
        case int() | float() | Decimal():
            return float(value)
        case str():
            return value.strip()
        case _:
            return value


def _holds(value: Any, low: Any, high: Any, true: Any, size: float) -> bool:
    if true is None or value is None:
        return true is None and value is None
    if isinstance(true, list):
        return False
    try:
        number = float(true)
    except (TypeError, ValueError):
        return _plain(value) == _plain(true)
    if isinstance(value, date | str):
        return False
    if low is not None and high is not None and low <= number <= high:
        return True
    return abs(float(value) - number) <= NEAR * max(abs(number), size)


def run(list_of: Sequence[Asked], tables: Mapping[str, Table]) -> Iterator[Outcome]:
    for asked in list_of:
        table = tables[asked.table]
        outcome, answer = ask(asked, table, table.session)
        if answer is not None:
            edited = outcome.asked_in_the_end
            is_other = edited != asked.sql and "CLAMP(" not in edited and asked.truth is None
            right, far = judge(replace(asked, sql=edited) if is_other else asked, table, answer)
            outcome = replace(outcome, right=right, far=far)
        yield outcome


def judge(asked: Asked, table: Table, answer: la.Release) -> tuple[bool, str]:
    """Whether the answer is the truth's, of several quantiles at once also as a list."""
    try:
        names, rows = true_rows(asked, table)
    except duckdb.Error as error:
        return False, f"DuckDB does not know: {error}"
    return compare(answer, names, [tuple(_spread(row)) for row in rows])


def _spread(row: Row) -> Iterator[Any]:
    for value in row:
        yield from value if isinstance(value, list | tuple) else [value]


def shares(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    total = len(outcomes)
    answered = [o for o in outcomes if o.outcome != "refused"]
    return {
        "questions": total,
        "first": sum(o.outcome == "first" for o in outcomes) / total,
        "followed": len(answered) / total,
        "right_of_answered": sum(bool(o.right) for o in answered) / max(len(answered), 1),
        "refused_by_code": dict(Counter(o.code for o in outcomes if o.outcome == "refused")),
    }


def report(outcomes: Sequence[Outcome], show: str | None) -> None:
    for met in dict.fromkeys(o.met.split(" 1")[0].rstrip("0123456789 ") for o in outcomes):
        part = [o for o in outcomes if o.met.startswith(met)]
        told = shares(part)
        print(
            f"{met:14} {told['questions']:4}  first {told['first']:6.1%}  followed"
            f" {told['followed']:6.1%}  right {told['right_of_answered']:6.1%}"
        )
    print(
        "all            ",
        {k: v if isinstance(v, int | dict) else f"{v:.1%}" for k, v in shares(outcomes).items()},
    )
    for o in outcomes:
        is_wrong = o.right is False
        if o.outcome == "refused" and show in ("refused", "all"):
            print(f"\nREFUSED {o.code}\n  {o.sql}\n  {o.message}")
        if is_wrong and show in ("wrong", "all"):
            print(f"\nWRONG\n  {o.sql}\n  {o.far}")


def main(given: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(description="Everyday questions in SQL.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", help="a table, or where questions are met")
    parser.add_argument("--list", type=Path, default=LIST, help="another list of questions")
    parser.add_argument("--show", choices=["refused", "wrong", "all"])
    options: Namespace = parser.parse_args(given)
    listed = [
        asked
        for asked in read_list(options.list.read_text())
        if options.only in (None, asked.table) or asked.met.startswith(options.only or "")
    ]
    outcomes = list(run(listed, made_up_tables()))
    if options.json:
        json.dump({**shares(outcomes), "outcomes": [asdict(o) for o in outcomes]}, sys.stdout)
    else:
        report(outcomes, options.show)


if __name__ == "__main__":
    main()
