"""What people who know pandas or Polars type, and what works here instead.

An attribute that is not there stays an AttributeError, so that `hasattr` tells the truth.

  Tested:   tests/session/test_habits_of_pandas.py
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from letalone.errors.spelling import did_you_mean

WHERE = 'Write .where(la.col("age") >= 65).'
GROUPED = 'Write .group_by("ward", keys=["A", "B"]).agg(n=la.count()).'
NO_ROWS = "Rows are private and are not shown; .columns has the names and types."
NUMBERS = 'Ask for numbers: .agg(n=la.count(), bill=la.mean("cost", lower=0, upper=5000)).'
COUNTED = "How many rows there are is private. Ask: .agg(n=la.count()).release(epsilon=…)."
COMPUTED = 'Write .derive(half=la.col("cost") / 2).'
JOINED = 'Write .join(frame, on="city").'
ASK_FIRST = "Ask first: .release(epsilon=…) gives an answer, which has .to_pandas() and .plot()."
SORTED = "Ask first, and sort the answer: .release(epsilon=…).to_pandas() is a frame."
A_COLUMN = f'A column is la.col("cost"). {NUMBERS}'

OF_TABLES: Mapping[str, str] = {
    **dict.fromkeys(("filter", "query", "loc", "iloc", "isin"), WHERE),
    **dict.fromkeys(("groupby", "value_counts", "pivot_table", "crosstab"), GROUPED),
    **dict.fromkeys(("head", "tail", "sample", "iterrows", "itertuples", "values"), NO_ROWS),
    **dict.fromkeys(("dtypes", "info", "unique"), NO_ROWS),
    **dict.fromkeys(("describe", "mean", "sum", "median", "std", "var", "min", "max"), NUMBERS),
    **dict.fromkeys(("quantile", "aggregate", "select", "hist", "corr", "nunique"), NUMBERS),
    **dict.fromkeys(("count", "shape", "size", "height"), COUNTED),
    **dict.fromkeys(("assign", "with_columns", "apply", "eval"), COMPUTED),
    "merge": JOINED,
    **dict.fromkeys(("sort_values", "sort", "nlargest"), SORTED),
    **dict.fromkeys(("to_pandas", "to_polars", "to_csv", "to_excel", "to_dict", "plot"), ASK_FIRST),
}
WRITTEN = ("to_csv", "to_excel", "to_parquet", "to_markdown", "to_latex", "to_html", "to_string")
OF_FRAMES = (
    *("head", "tail", "describe", "sort_values", "loc", "iloc", "values", "index", "pivot", "T"),
    *("set_index", "merge", "round", "sum", "mean", "min", "max", "query", "shape"),
)
OF_ANSWERS: Mapping[str, str] = {
    **{name: f"Write .to_pandas().{name}(…)." for name in WRITTEN},
    **{name: f"A frame has it: .to_pandas().{name}." for name in OF_FRAMES},
    "to_dict": "Write .rows(): a list of dictionaries.",
    "to_numpy": "Write .to_pandas().to_numpy().",
    "value": 'Write float(answer), or answer["n"].',
    "write_csv": "Write .to_polars().write_csv(…).",
}


def no_attribute(of: object, name: str, roads: Mapping[str, str]) -> AttributeError:
    """The error of an attribute that is not there, with the road that works."""
    kind = type(of).__name__
    if name.startswith("_"):
        return AttributeError(f"{kind!r} object has no attribute {name!r}")
    road = roads.get(name)
    near = [known for known in dir(type(of)) if not known.startswith("_")]
    advice = did_you_mean(name, near, quoted=False) if road is None else f" {road}"
    return AttributeError(f"{kind} has no .{name}.{advice}", name=name)


class NoFrame:
    """A table or a question, which is no frame: what a frame does leads to what works."""

    __slots__ = ()

    if not TYPE_CHECKING:  # for a type checker none of these is there

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, OF_TABLES)

        def __getitem__(self, name: object) -> NoReturn:
            raise TypeError(f"{type(self).__name__} hands out no rows or columns. {A_COLUMN}")

        def __len__(self) -> int:
            raise TypeError(COUNTED)

        def __bool__(self) -> bool:
            return True  # not by its length


class NoAnswerFrame:
    """An answer, which is no frame but gives one."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise no_attribute(self, name, OF_ANSWERS)
