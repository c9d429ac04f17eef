"""Checks the expressions of a lazy Polars frame: cells are made of one row, or of one person's.

A window or a group by person may look at several rows, which are all one's own. What is outside of
it may not, nor may the keys and the order of a window: Polars computes them before it parts rows.

A function is listed with its family and the number of its settings: one that is not, or that has
a setting more than it had, is not known. Settings are constants of the plan, never cells, and say
only how each cell is worked on. A date without a format is not by row: Polars finds one format in
the cells, and reads all of them by it. Codes of categories (`to_physical`) follow the rows in which
a category came first, so they are not listed; nor is any function that draws at random.

  Tested:   tests/engines/test_lazy_plan.py
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from letalone.errors import ParameterError

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
