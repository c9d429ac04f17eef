"""Columns made of others of the answer: CASE, COALESCE, comparisons, GREATEST, texts of keys.

    SELECT ward, CASE WHEN COUNT(*) > 100 THEN 'large' ELSE 'small' END AS size … GROUP BY ward
    SELECT CASE WHEN sex = 'f' THEN 'women' ELSE 'men' END AS who, COUNT(*) … GROUP BY sex

They look at noisy numbers and keys, never at rows, so they are free, and have no ranges.

  Tested:   tests/session/test_answer_formulas.py, against DuckDB
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, cast

from sqlglot import exp

from letalone.answers.row_formulas import Calculation, Fixed, RowFormula
from letalone.sql.date_functions import FLOATS, TEXTS, WHOLE
from letalone.sql.names import only
from letalone.sql.refusals import refuse_node
from letalone.sql.values import COMPARED

MISSING = Fixed(None)


class CellReading(Protocol):
    """Reads a column of SELECT as a formula over columns of the answer."""

    def read(self, node: exp.Expr) -> RowFormula: ...

    def compare(
        self, op: str, left: RowFormula, right: RowFormula, node: exp.Expr
    ) -> RowFormula: ...


Read = Callable[[CellReading, exp.Expr], RowFormula]


def _or_null(reading: CellReading, node: exp.Expr | None) -> RowFormula:
    return MISSING if node is None or type(node) is exp.Null else reading.read(node)


def _of_parts(op: str, *names: str) -> Read:
    """An operation on the parts that a node has under these names."""

    def read(reading: CellReading, node: exp.Expr) -> RowFormula:
        only(node, *names, "typed", "safe", "coalesce", "ignore_nulls", "is_null", "is_nvl")
        return Calculation(op, tuple(reading.read(part) for part in _parts(node, names)))

    return read


def _parts(node: exp.Expr, names: tuple[str, ...]) -> Iterator[exp.Expr]:
    for name in names:
        value = cast("exp.Expr | list[exp.Expr] | None", node.args.get(name))
        yield from value if isinstance(value, list) else [] if value is None else [value]


def _case(reading: CellReading, node: exp.Expr) -> RowFormula:
    only(node, "this", "ifs", "default")
    subject = None if node.this is None else reading.read(node.this)
    parts: list[RowFormula] = []
    for branch in cast("list[exp.If]", node.args["ifs"]):
        condition = reading.read(branch.this)
        if subject is not None:
            condition = reading.compare("=", subject, condition, branch)
        parts += [condition, _or_null(reading, branch.args["true"])]
    return Calculation("case", (*parts, _or_null(reading, node.args.get("default"))))


def _if(reading: CellReading, node: exp.Expr) -> RowFormula:
    only(node, "this", "true", "false")
    results = [_or_null(reading, node.args.get(name)) for name in ("true", "false")]
    return Calculation("case", (reading.read(node.this), *results))


def _is(reading: CellReading, node: exp.Expr) -> RowFormula:
    only(node, "this", "expression")
    operand, value = reading.read(node.this), cast("exp.Is", node).expression
    if type(value) is exp.Null:
        return Calculation("missing", (operand,))
    met = reading.compare("=", operand, reading.read(value), node)
    return Calculation("case", (met, Fixed(True), Fixed(False)))


def _one_of(reading: CellReading, node: exp.Expr) -> RowFormula:
    only(node, "this", "expressions")
    operand = reading.read(node.this)
    met = [reading.compare("=", operand, reading.read(value), node) for value in node.expressions]
    return Calculation("or", tuple(met))


def _read_between(reading: CellReading, node: exp.Expr) -> RowFormula:
    only(node, "this", "low", "high", words={"symmetric": "BETWEEN SYMMETRIC"})
    operand, low, high = (reading.read(node.args[name]) for name in ("this", "low", "high"))
    ends = reading.compare(">=", operand, low, node), reading.compare("<=", operand, high, node)
    return Calculation("and", ends)


def _read_comparison(reading: CellReading, node: exp.Expr) -> RowFormula:
    only(node, "this", "expression")
    binary = cast("exp.Binary", node)
    sides = reading.read(binary.this), reading.read(binary.expression)
    return reading.compare(COMPARED[type(node)], *sides, node)


def _cast(reading: CellReading, node: exp.Expr) -> RowFormula:
    """A noisy number as a float is itself; as a whole number or a decimal it is rounded."""
    only(node, "this", "to", "_type", "safe")
    kind = cast("exp.DataType", node.args["to"])
    digits = [str(part.name) for part in kind.expressions]
    if kind.this in TEXTS:
        return Calculation("joined", (reading.read(node.this),))
    if kind.this not in (*WHOLE, *FLOATS):
        raise refuse_node(node)
    operand = reading.read(node.this)
    if kind.this in FLOATS and len(digits) < 2:
        return operand
    return Calculation("rounded", (operand, Fixed(int(digits[1]) if len(digits) > 1 else 0)))


OF_CELLS: Mapping[type[exp.Expr], Read] = {
    exp.Case: _case,
    exp.If: _if,
    exp.Is: _is,
    exp.In: _one_of,
    exp.Between: _read_between,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.And: _of_parts("and", "this", "expression"),
    exp.Or: _of_parts("or", "this", "expression"),
    exp.Not: _of_parts("not", "this"),
    exp.Coalesce: _of_parts("coalesce", "this", "expressions"),
    exp.Greatest: _of_parts("greatest", "this", "expressions"),
    exp.Least: _of_parts("least", "this", "expressions"),
    exp.Concat: _of_parts("joined", "expressions"),
    exp.DPipe: _of_parts("joined", "this", "expression"),
    exp.Upper: _of_parts("capitals", "this"),
    exp.Lower: _of_parts("small letters", "this"),
    exp.Length: _of_parts("length", "this"),
    exp.Trunc: _of_parts("truncated", "this", "decimals"),
    exp.Floor: _of_parts("floor", "this"),
    exp.Ceil: _of_parts("ceiling", "this"),
    exp.Sqrt: _of_parts("root", "this"),
    exp.Exp: _of_parts("exponential", "this"),
    exp.Ln: _of_parts("logarithm", "this"),
    **dict.fromkeys(COMPARED, _read_comparison),
}
# Kinds of columns that no formula over aggregates has: their ranges would not be known.
WITHOUT_RANGE = tuple(
    kind
    for kind in OF_CELLS
    if kind not in (exp.Cast, exp.TryCast, exp.Floor, exp.Ceil, exp.Sqrt, exp.Exp, exp.Ln)
)
FUNCTIONS_OF_CELLS = tuple(kind for kind in OF_CELLS if issubclass(kind, exp.Func))
