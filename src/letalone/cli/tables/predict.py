"""`letalone predict MODEL FILE`: what a model says of the rows of a table.

The model is private, so anyone may have it. What it says of a row is about that row: whoever sees
the predictions learns something of the table that they are for. A file is written over only if
it holds such predictions already, in its last column.
"""

import csv
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from letalone.cli.offered import to_type_again
from letalone.cli.places import check_folder
from letalone.cli.screen import print_json, put, say, table
from letalone.cli.tables.table_commands import PredictOptions
from letalone.engines.duckdb.duck_engine import DuckEngine, open_duck
from letalone.errors import ParameterError
from letalone.errors.installing import not_installed
from letalone.errors.problem import without_context
from letalone.plans.schema import Column, Schema, unknown_column
from letalone.plans.types import Type, type_of_value
from letalone.sources.files import WhichTable, find_files

SHOWN = 10
NAME = "prediction"
OUT = "predictions.csv"
Cells = dict[str, list[object]]
SUFFIXES = (".csv", ".parquet")
MAX_FIRST_LINE = 100_000  # characters of a first line


def predict(options: PredictOptions) -> None:
    """Print the predictions, or write them to a CSV or Parquet file."""
    fitted = _load(options.model)
    find_files(options.file)  # or says that it is not there
    target = getattr(fitted, "target_", None)
    name = NAME if target is None else f"predicted_{target}"
    _check_place(options, name)
    kept = _copy_columns(options, name)
    # What the model looks at is read as those columns were that it learned from.
    types = {name: _type(what) for name, what in fitted.encoder_.columns.items()}
    columns = _read(options, types)
    predicted = fitted.predict(columns) if len(next(iter(columns.values()))) else np.empty(0)
    values = cast("list[object]", predicted.tolist())
    if any(len(cells) != len(values) for cells in kept.values()):
        raise ParameterError(f"{options.file} has changed while it was read. Predict again.")
    if options.out is not None:
        _write(options.out, {**kept, name: values})
    if options.as_json:
        _print_json(options, target or NAME, kept, values)
        return
    _print(options, target or NAME, {**kept, name: values})


def _check_place(options: PredictOptions, name: str) -> None:
    """Before a row is read: the file can be written, and nothing else is lost by it."""
    if (out := options.out) is not None:
        without_context(
            lambda: _check_out(options, out, name),
            ParameterError,
            error=lambda error: ParameterError(f"{error}{_elsewhere(options, name)}"),
        )


def _check_out(options: PredictOptions, out: Path, name: str) -> None:
    # A file would hold something else than its name says.
    if out.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"--out is {out}, but must end in {' or '.join(SUFFIXES)}.")
    check_folder(out)
    if not out.exists():
        return
    if out.samefile(options.model):
        raise ParameterError(f"--out is {out}, which is the model. Write elsewhere.")
    if any(out.samefile(path) for path in find_files(options.file).paths):
        raise ParameterError(f"--out is {out}, which is the table itself. Write elsewhere.")
    if _names_in(out)[-1:] != [name]:
        raise ParameterError(
            f"{out} exists and is not a file of such predictions. Write elsewhere."
        )


def _elsewhere(options: PredictOptions, name: str) -> str:
    """A command that writes elsewhere, where one is found."""
    for place in (Path(OUT), Path(f"{Path(options.file).stem}.{OUT}")):
        try:
            _check_out(replace(options, out=place), place, name)
        except ParameterError:
            continue
        return f"\nTry:{to_type_again('predict', options, out=place)}"
    return ""


def _load(model: Path) -> Any:
    try:
        from letalone.learn.models import load
    except ModuleNotFoundError:
        raise ParameterError(not_installed("A model", "scikit-learn", "learn")) from None
    fitted = load(model)
    if not hasattr(fitted, "encoder_") or not hasattr(fitted, "predict"):
        raise ParameterError(
            f"{model} holds a model that was fitted on an array or that predicts nothing, so it"
            " does not know a table's columns. In Python: la.learn.load(path).predict(rows)."
        )
    return fitted


def _copy_columns(options: PredictOptions, name: str) -> Cells:
    """The columns to copy: whole numbers as such, all else as text, as exact as it is written."""
    if options.keep is None:
        return {}
    names = _names(options)
    if not options.kept_columns:
        raise ParameterError(f"--keep names no column. The columns are: {', '.join(names)}.")
    if name in options.kept_columns:
        raise ParameterError(
            f"--keep names {name}, as the predictions are called. Rename the column."
        )
    for column in options.kept_columns:
        if column not in names:
            raise unknown_column(
                column, list(names), table=options.table or Path(options.file).stem
            )
    cells = _read(options, dict.fromkeys(options.kept_columns, Type.TEXT))
    return {column: _copy_cells(names[column], cells[column]) for column in options.kept_columns}


def _copy_cells(kind: Type, cells: Any) -> list[object]:
    texts = cast("list[str | None]", cells.tolist())
    if kind is Type.INTEGER:
        return [None if cell is None else int(cell) for cell in texts]
    return list(texts)


def _names(options: PredictOptions) -> dict[str, Type]:
    with closing(_open_rows(options, {})) as engine:
        return {column.name: column.type for column in engine.schema().columns}


def _read(options: PredictOptions, types: Mapping[str, Type]) -> Mapping[str, Any]:
    with closing(_open_rows(options, types)) as engine:
        schema = Schema(NAME, tuple(Column(name, kind) for name, kind in types.items()))
        return engine.training_rows(schema, list(types), target=None, where=None)


def _open_rows(options: PredictOptions, types: Mapping[str, Type]) -> DuckEngine:
    return without_context(
        lambda: open_duck(options.file, types=types, table=options.table),
        WhichTable,
        error=lambda error: ParameterError(f"{error} Name it with --table."),
    )


def _type(what: object) -> Type:
    """The type of a column from what is declared of it."""
    if isinstance(what, tuple):
        return Type.NUMBER
    if isinstance(what, list):
        known = [value for value in cast("list[Any]", what) if value is not None]
        return type_of_value(known[0]) if known else Type.TEXT
    return Type.BOOLEAN


def _print_json(options: PredictOptions, target: str, kept: Cells, values: list[object]) -> None:
    is_shown = options.out is None  # what was written to a file is not printed, too
    content = {
        "model": options.model,
        "target": target,
        "rows": len(values),
        "predictions": values if is_shown else None,
        "kept": kept if is_shown else None,
        "out": options.out,
    }
    print_json("predict", content)


def _print(options: PredictOptions, target: str, columns: Cells) -> None:
    number = len(next(reversed(columns.values())))
    if options.out is None:
        rows = [
            [str(place + 1), *(_cell_text(column[place]) for column in columns.values())]
            for place in range(min(number, SHOWN))
        ]
        put(table("row", *columns, right=("row",), rows=rows))
    place = f", written to {options.out}" if options.out is not None else ""
    rest = f" --out {OUT} writes all." if options.out is None and number > SHOWN else ""
    say(
        f"{number:,} predictions of {target}{place}.{rest} The model is private; what it says of a"
        " row is about that row, so keep predictions as you keep the table."
    )


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _names_in(out: Path) -> list[str]:
    """The columns of a file; none where it cannot be read."""
    try:
        if out.suffix.lower() == ".parquet":
            return list(cast("Any", pq).read_schema(out).names)
        with out.open(newline="", encoding="utf-8", errors="replace") as file:
            first = file.readline(MAX_FIRST_LINE)
        return next(csv.reader([first]), list[str]())
    except (OSError, csv.Error, ValueError):  # ArrowInvalid is a ValueError
        return []


def _write(out: Path, columns: Mapping[str, Sequence[object]]) -> None:
    try:
        if out.suffix.lower() == ".parquet":
            content = {name: list(cells) for name, cells in columns.items()}
            cast("Any", pq).write_table(cast("Any", pa).table(content), out)
            return
        with out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    except OSError as error:
        raise ParameterError(f"{out} cannot be written: {error.strerror}.") from None
