"""Reads from the plan of a lazy Polars frame how its rows are made, given the unit.

Polars shows its plan as nodes and expressions (what its GPU engine reads). A node or a function
that is not listed here, or has a setting that is not, is hidden: the owner may vouch for it. What
is known to look at several rows is refused, unless it looks at one person's rows only.

Theorem.  Where nothing is refused or hidden, each row of the frame is a function of rows of one
unit; without a unit, of one row.
  Proven:   by induction over the plan. Listed nodes and functions make a row of one row, or keep,
            drop, order or append rows. A window, a group or a duplicate is made of rows with equal
            keys, and the unit, followed to its column in the input by name, is among them; keys
            and the order in a window are by row, as Polars computes them before it parts the rows.
            What is in it may look at several rows, all one person's, but at no column as a whole.
            What is below a computed unit has no unit to be followed. Of files, only Parquet is
            listed: in others, how a line is read follows the lines before it.
  Tested:   tests/engines/test_lazy_plan.py: every kind of plan, with a person more and without
  Assumed:  Polars' nodes mean what they are called; of one person's rows that a sort holds equal,
            other people's do not decide the order

Expressions. A window or a group by person may look at several rows, which are all one's own. What
is outside of it may not, nor may the keys and the order of a window: Polars computes them before it
parts rows.

A function is listed with its family and the number of its settings: one that is not, or that has
a setting more than it had, is not known. Settings are constants of the plan, never cells, and say
only how each cell is worked on. A date without a format is not by row: Polars finds one format in
the cells, and reads all of them by it. Codes of categories (`to_physical`) follow the rows in which
a category came first, so they are not listed; nor is any function that draws at random.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from letalone.engines.core.provenance import IN_MEMORY, hides_its_making, mixes_people
from letalone.errors import ParameterError

SOURCE = "The lazy frame"
# Nodes that work by row, or by person, and all that can be set of them; words below are lists.
NODES = {
    "DataFrameScan": "df projection selection",
    "Scan": "file_info file_options hive_parts paths predicate scan_type source_sizes",
    "Filter": "input predicate",
    "Select": "expr input should_broadcast",
    "HStack": "exprs input should_broadcast",
    "SimpleProjection": "input",
    "Cache": "id_ input",
    "Sort": "by_column input slice sort_options",
    "Union": "inputs maintain_order rows slice",
    "MapFunction": "function input",
    "Distinct": "input options",
    "GroupBy": "aggs apply input keys maintain_order options",
}
ACROSS_NODES = {"Slice": "a limit", "HConcat": "columns put next to each other by position"}
SCAN = "a scan of {} (scan a Parquet file, or give the file itself: la.open('file.csv'))"
# Expressions of one row, and of several, with what is in them.
BY_ROW = {
    "Column": "",
    "Alias": "expr",
    "Cast": "expr",
    "BinaryExpr": "left right",
    "Ternary": "predicate truthy falsy",
}
SEVERAL = {
    "Agg": "arguments",
    "Len": "",
    "Sort": "expr",
    "SortBy": "expr by",
    "Filter": "input by",
    "Gather": "expr idx",
    "Slice": "input offset length",
    "Explode": "expr",
}
WINDOW = "function options order_by order_by_descending order_by_nulls_last partition_by"
# A whole column would be a list there; in IsIn, Polars shows one as an aggregate (implode).
LISTED = ("replace", "replace_strict", "Any", "Many")
COLUMNS = {"Strptime": "dates without a format, which is then found in the cells"}
# By family and number of settings. Lists, arrays and structs are cells: what they hold is one row.
FUNCTIONS_BY_ROW: Mapping[str, Mapping[int, str]] = {
    "": {
        0: "abs floor ceil negate sign sqrt cbrt log log1p exp pow fill_null coalesce as_struct"
        " max_horizontal min_horizontal replace replace_strict",
        1: "round_sig_figs truncate reinterpret hash sum_horizontal mean_horizontal",
        2: "round clip",
        4: "cut bin_intervals",
    },
    "BooleanFunction": {
        0: "AllHorizontal AnyHorizontal IsFinite IsInfinite IsNan IsNotNan IsNotNull IsNull Not",
        1: "IsBetween IsIn",
        3: "IsClose",
    },
    "StringFunction": {
        0: "Lowercase Uppercase Titlecase StripChars StripCharsStart StripCharsEnd StripPrefix"
        " StripSuffix StartsWith EndsWith LenBytes LenChars Slice Head Tail ZFill Reverse"
        " ExtractAll JsonPathMatch EscapeRegex HexEncode Base64Encode",
        1: "ContainsAny PadStart PadEnd Split SplitN Extract CountMatches ToInteger Normalize"
        " HexDecode Base64Decode",
        2: "Contains Replace ReplaceMany SplitExact ExtractGroups Find ConcatHorizontal Format",
        3: "ExtractMany FindMany",
        4: "Strptime",
    },
    "TemporalFunction": {
        0: "Year Month Day WeekDay Hour Minute Second Millisecond Microsecond Nanosecond Quarter"
        " Week IsoYear OrdinalDay Century Millennium IsLeapYear DaysInMonth MonthStart MonthEnd"
        " Date Time Truncate Round OffsetBy Replace",
        1: "ConvertTimeZone CastTimeUnit TimeStamp ToString Combine Duration TotalDays TotalHours"
        " TotalMinutes TotalSeconds TotalMilliseconds TotalMicroseconds TotalNanoseconds",
        2: "ReplaceTimeZone DatetimeFunction",
    },
    "ListFunction": {
        0: "Length Sum Mean Median Min Max ArgMin ArgMax Slice DropNulls CountMatches Concat Shift",
        1: "Get Contains Join Std Var ToArray Gather SetOperation",
        2: "Sort Diff",
    },
    "ArrayFunction": {
        0: "Length Sum Mean Median Min Max ToList",
        1: "Get Contains Std Var",
    },
    "StructFunction": {0: "JsonEncode", 1: "FieldByName RenameFields"},
}
FUNCTIONS_OF_SEVERAL = {
    "": "shift shift_and_fill diff pct_change rank cum_sum cum_prod cum_min cum_max cum_count"
    " interpolate interpolate_by fill_null_with_strategy reverse unique unique_counts mode top_k"
    " top_k_by arg_unique arg_min arg_max argwhere value_counts qcut quantile product drop_nulls"
    " drop_nans skew kurtosis entropy approx_n_unique rle rle_id peak_min peak_max null_count corr"
    " gather_every search_sorted index_of",
    "BooleanFunction": "All Any HasNulls IsUnique IsDuplicated IsFirstDistinct IsLastDistinct"
    " IsSorted",
    "EwmFunction": "Mean MeanBy Std Var",
    "RollingFunction": "Min Max Mean Sum Quantile Var Std Rank Skew Kurtosis",
    "RollingFunctionBy": "MinBy MaxBy MeanBy SumBy QuantileBy VarBy StdBy RankBy",
}
DRAWN = ("sample", "shuffle")


def check_lazy(frame: object, unit: str | None, *, vouched: bool) -> tuple[str, ...]:
    """What is hidden in a lazy frame's plan and vouched for; refuses what is not, or mixes people.

    A frame in memory that the plan begins with is hidden, too, but needs no word.
    """
    plan = _Plan(frame, unit)
    if plan.hidden and not vouched:
        raise hides_its_making(SOURCE.lower(), ", ".join(plan.hidden))
    return (*plan.hidden, *plan.frames)


class _Plan:
    """A walk over the nodes, from the last step to the first."""

    def __init__(self, frame: object, unit: str | None) -> None:
        self.hidden: list[str] = []
        self.frames: list[str] = []
        self._last = unit
        try:
            self._nodes: Any = _as_written(cast("Any", frame)).visit()
        except Exception:  # a plan that is not shown, for whatever reason
            self._hide("steps that Polars does not show")
        else:
            self._node(unit)

    def _node(self, unit: str | None) -> None:
        """The current node and all before it; `unit` is what the unit's column is called here."""
        try:
            node = self._nodes.view_current_node()
            inputs = list(self._nodes.get_inputs())
            unit = self._step(type(node).__name__, node, unit)
        except ParameterError:
            raise
        except Exception as error:  # Polars shows no Python functions, and may change
            self._hide(_name_hidden_step(str(error)))
            return
        here = self._nodes.get_node()
        for number in inputs:
            self._nodes.set_node(number)
            self._node(unit)
        self._nodes.set_node(here)

    def _step(self, kind: str, node: Any, unit: str | None) -> str | None:
        """Looks at one node; what the unit's column is called before it, where that can be said."""
        if kind in ACROSS_NODES:
            raise self._across(ACROSS_NODES[kind])
        if settings_of(node) != NODES.get(kind, "").split():
            self._hide("a join" if kind == "Join" else f"a step {kind}")
            return unit
        match kind:
            case "DataFrameScan":
                self._expressions(_as_list(node.selection), unit)
                self.frames[:] = [IN_MEMORY]
            case "Scan":
                self._file(node, unit)
            case "Sort" | "Union" if node.slice is not None:
                raise self._across("a limit")
            case "Sort":
                self._expressions(node.by_column, unit)
            case "Filter":
                self._expressions([node.predicate], unit)
            case "Select" | "HStack":
                made = node.expr if kind == "Select" else node.exprs
                unit = self._before(made, unit)  # expressions name columns of the input
                self._expressions(made, unit)
            case "MapFunction":
                return self._function(node.function, unit)
            case "Distinct":
                self._duplicates(node.options, unit)
            case "GroupBy":
                return self._group(node, unit)
            case _:
                pass  # rows appended to others, kept, or with fewer columns
        return unit

    def _file(self, node: Any, unit: str | None) -> None:
        if node.file_options.n_rows is not None or _skips(*node.scan_type):
            raise self._across("a limit")
        if node.file_options.row_index is not None:
            raise self._across("numbers of rows")
        if node.scan_type[0] != "parquet":
            self._hide(SCAN.format(node.scan_type[0]))
        self._expressions(_as_list(node.predicate), unit)

    def _function(self, function: Sequence[Any], unit: str | None) -> str | None:
        match str(function[0]):
            case "row_index":
                raise self._across("numbers of rows")
            case "explode":
                return None if unit in function[1] else unit
            case "unpivot" if unit in (None, *function[1]):
                return unit
            case "unnest":
                return None
            case name:
                self._hide(f"a step {name}")
                return unit

    def _duplicates(self, options: Sequence[Any], unit: str | None) -> None:
        _, subset, _, limit = options
        if limit is not None:
            raise self._across("a limit")
        if unit is None or (subset is not None and unit not in subset):
            raise self._across("one row of several people's (unique)")

    def _group(self, node: Any, unit: str | None) -> str | None:
        options = node.options
        if options.slice is not None:
            raise self._across("a limit")
        if unit is None or unit not in [key.output_name for key in node.keys]:
            raise self._across("groups of several people")
        if node.apply or options.dynamic is not None or options.rolling is not None:
            self._hide("groups by time, or by a function")
        before = self._before(node.keys, unit)
        if before is None:
            raise self._across("groups of several people")
        self._expressions(node.keys, before)
        self._expressions(node.aggs, before, within=True)
        return before

    def _before(self, made: Iterable[Any], unit: str | None) -> str | None:
        """The column that the unit is in the input; None where it is computed."""
        for expression in made:
            if expression.output_name == unit:
                node = self._nodes.view_expression(expression.node)
                return node.name if type(node).__name__ == "Column" else None
        return unit

    def _expressions(self, made: Iterable[Any], unit: str | None, *, within: bool = False) -> None:
        look = Expressions(self._nodes, unit, self._hide, self._across)
        for expression in made:
            look.at(expression.node, within=within)

    def _hide(self, what: str) -> None:
        if what not in self.hidden:
            self.hidden.append(what)

    def _across(self, what: str) -> ParameterError:
        return mixes_people(SOURCE, what, self._last)


def _as_written(frame: Any) -> Any:
    """The plan as it was written: an optimised one may have cut the rows of a frame already."""
    import polars as pl  # the frame is one of its own

    nothing: Any = pl.QueryOptFlags.none()
    return frame._ldf.with_optimizations(nothing._pyoptflags)


def _as_list(expression: Any) -> list[Any]:
    return [] if expression is None else [expression]


def _skips(kind: str, options: str, *_: object) -> bool:
    """Whether a file's first lines are left out."""
    chosen: dict[str, Any] = json.loads(options) if kind == "csv" else {}
    return any(chosen[name] for name in chosen if name.startswith("skip_"))


def _name_hidden_step(message: str) -> str:
    """What Polars does not show, from what it says instead: never of a cell."""
    if any(word in message for word in ("anonymousfunction", "python", "rolling map")):
        return "a Python function"
    if message.endswith(" scan"):
        return SCAN.format(message.removesuffix(" scan"))
    return "a step that Polars does not show"


@dataclass(frozen=True, slots=True)
class Expressions:
    """A walk over the expressions of one node, whose input has this unit."""

    nodes: Any
    unit: str | None
    hide: Callable[[str], None]
    across: Callable[[str], ParameterError]

    def at(self, number: int, *, within: bool = False) -> None:
        """An expression and all in it; `within` a window or group by person, rows are one's own."""
        node = self.nodes.view_expression(number)
        kind = type(node).__name__
        if kind == "Window":
            self._window(node)
        elif kind == "Literal":
            if type(node.value).__name__ == "PySeries":
                raise self.across("a column from elsewhere, by position")
        elif kind == "Function":
            self._called(node.function_data, node.input[1:], within=within)
            self._inner(node, "input", within=within)
        elif kind == "Rolling" or (kind in SEVERAL and not within):
            raise self.across(_over_rows(node.name if kind == "Agg" else kind.lower()))
        elif kind in BY_ROW or kind in SEVERAL:
            self._inner(node, (BY_ROW | SEVERAL)[kind], within=within)
        else:
            self.hide(f"an expression {kind}")

    def _inner(self, node: Any, names: str, *, within: bool) -> None:
        for name in names.split():
            part: Any = getattr(node, name)
            numbers = cast("list[int]", part if isinstance(part, list) else [part])
            for number in numbers:
                self.at(number, within=within)

    def _window(self, window: Any) -> None:
        """By the unit it sees one person's rows; never laid out anew; keys and order are by row."""
        keys = [self.nodes.view_expression(number) for number in window.partition_by]
        names = [key.name for key in keys if type(key).__name__ == "Column"]
        if self.unit is None or self.unit not in names or window.options.kind == "explode":
            raise self.across("a window over several people (over)")
        if settings_of(window) != WINDOW.split():
            self.hide("a window")
            return
        order = [] if window.order_by is None else [window.order_by]
        for number in (*window.partition_by, *order):
            self.at(number)
        self.at(window.function, within=True)

    def _called(self, data: Any, more: Sequence[int], *, within: bool) -> None:
        """A function by its name: of one row, of several, or not known."""
        parts = cast("tuple[Any, ...]", data if isinstance(data, tuple) else (data,))
        family, _, name = str(parts[0]).rpartition(".")
        kinds = {type(self.nodes.view_expression(number)).__name__ for number in more}
        if name.endswith(LISTED) and kinds - {"Literal"}:
            raise self.across(f"{name} with values of other rows")
        manner = manner_of(family, name, parts[1:])
        if manner is Manner.COLUMN or (manner is Manner.SEVERAL and not within):
            raise self.across(COLUMNS.get(name, _over_rows(name)))
        if manner is Manner.UNKNOWN:
            self.hide(f"a function {name}")


class Manner(Enum):
    """What a function looks at."""

    ROW = "a row"
    SEVERAL = "several rows, one person's where it is asked by person"
    COLUMN = "the whole column, also where it is asked by person"
    UNKNOWN = "unknown"


def manner_of(family: str, name: str, settings: Sequence[Any]) -> Manner:
    """What a function looks at, by its name and the settings that it has in the plan."""
    looks_at_all = {"Strptime": (None,), "rank": ("random",)}
    if name in DRAWN or (name in looks_at_all and settings[:1] == looks_at_all[name]):
        return Manner.COLUMN
    if name in FUNCTIONS_BY_ROW.get(family, {}).get(len(settings), "").split():
        return Manner.ROW
    several = FUNCTIONS_OF_SEVERAL.get(family, "").split()
    return Manner.SEVERAL if name in several else Manner.UNKNOWN


def settings_of(node: Any) -> list[str]:
    """All that can be set of a node or an expression."""
    return [name for name in dir(node) if not name.startswith("_")]


def _over_rows(name: str) -> str:
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name} over all rows"
