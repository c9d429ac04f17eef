"""The functions of a lazy Polars frame: which work by row, and which on several rows, by name.

A function is listed with its family and the number of its settings: one that is not, or that has
a setting more than it had, is not known. Settings are constants of the plan, never cells, and say
only how each cell is worked on. A date without a format is not by row: Polars finds one format in
the cells, and reads all of them by it. Codes of categories (`to_physical`) follow the rows in which
a category came first, so they are not listed; nor is any function that draws at random.

  Tested:   tests/engines/test_lazy_plan.py
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

# By family and number of settings. Lists, arrays and structs are cells: what they hold is one row.
BY_ROW: Mapping[str, Mapping[int, str]] = {
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
SEVERAL = {
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


class Manner(Enum):
    """What a function looks at."""

    ROW = "a row"
    SEVERAL = "several rows, one person's where it is asked by person"
    COLUMN = "the whole column, also where it is asked by person"
    UNKNOWN = "unknown"


def manner_of(family: str, name: str, settings: Sequence[Any]) -> Manner:
    """What a function looks at, by its name and the settings that it has in the plan."""
    if (name == "Strptime" and settings[:1] == (None,)) or name in DRAWN:
        return Manner.COLUMN
    if name == "rank" and settings[:1] == ("random",):
        return Manner.COLUMN
    if name in BY_ROW.get(family, {}).get(len(settings), "").split():
        return Manner.ROW
    return Manner.SEVERAL if name in SEVERAL.get(family, "").split() else Manner.UNKNOWN
