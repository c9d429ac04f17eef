"""`letalone predict MODEL FILE`: what a model says of the rows of a table.

The model is private, so anyone may have it. What it says of a row is about that row: whoever sees
the predictions learns something of the table that they are for. A file is written over only if
it holds such predictions already.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from letalone.cli.offered import to_type
from letalone.cli.predictions import check_new, check_suffix, write
from letalone.cli.screen import console, flowing, how_to_install, print_json, table
from letalone.engines.duck import DuckEngine, open_duck
from letalone.engines.sources import WhichTable, find_files
from letalone.errors import ParameterError
from letalone.plans.schema import Column, Schema, unknown_column
from letalone.plans.types import Type, type_of_value

SHOWN = 10
NAME = "prediction"
OUT = "predictions.csv"
Cells = dict[str, list[object]]


@dataclass(frozen=True, slots=True)
class Predicting:
    """What was typed after `letalone predict`; the names are those of the options."""

    model: Path
    file: str
    table: str | None = None
    keep: str | None = None
    out: Path | None = None
    as_json: bool = False

    @property
    def kept(self) -> list[str]:
        """The columns to copy, each once."""
        names = [name.strip() for name in (self.keep or "").split(",")]
        return list(dict.fromkeys(name for name in names if name))

    def command(self, out: Path) -> str:
        """The command with another file to write, to be typed."""
        words = ["predict", str(self.model), self.file]
        words += ["--table", self.table] if self.table is not None else []
        words += ["--keep", self.keep] if self.keep is not None else []
        return to_type(*words, "--out", str(out), *["--json"] * self.as_json)


def predict(asked: Predicting) -> None:
    """Print the predictions, or write them to a CSV or Parquet file."""
    fitted = _loaded(asked.model)
    find_files(asked.file)  # or says that it is not there
    target = getattr(fitted, "target_", None)
    name = NAME if target is None else f"predicted_{target}"
    _check_place(asked, name)
    kept = _kept(asked, name)
    columns = _columns(fitted, asked)
    predicted = fitted.predict(columns) if len(next(iter(columns.values()))) else np.empty(0)
    values = cast("list[object]", predicted.tolist())
    if any(len(cells) != len(values) for cells in kept.values()):
        raise ParameterError(f"{asked.file} has changed while it was read. Predict again.")
    if asked.out is not None:
        write(asked.out, {**kept, name: values})
    if asked.as_json:
        _print_json(asked, target or NAME, kept, values)
        return
    _print(asked, target or NAME, {**kept, name: values})


def _check_place(asked: Predicting, name: str) -> None:
    """Before a row is read: the file can be written, and nothing else is lost by it."""
    if asked.out is None:
        return
    try:
        _check_out(asked, asked.out, name)
    except ParameterError as error:
        words = f"{error}{_elsewhere(asked, name)}"
    else:
        return
    raise ParameterError(words)


def _check_out(asked: Predicting, out: Path, name: str) -> None:
    check_suffix(out)
    if not out.absolute().parent.is_dir():
        raise ParameterError(f"There is no folder {out.parent}. Make it, or write elsewhere.")
    if not out.exists():
        return
    if out.samefile(asked.model):
        raise ParameterError(f"--out is {out}, which is the model. Write elsewhere.")
    if any(out.samefile(path) for path in find_files(asked.file).paths):
        raise ParameterError(f"--out is {out}, which is the table itself. Write elsewhere.")
    check_new(out, name)


def _elsewhere(asked: Predicting, name: str) -> str:
    """A command that writes elsewhere, where one is found."""
    for place in (Path(OUT), Path(f"{Path(asked.file).stem}.{OUT}")):
        try:
            _check_out(replace(asked, out=place), place, name)
        except ParameterError:
            continue
        return f"\nTry:{asked.command(place)}"
    return ""


def _loaded(model: Path) -> Any:
    try:
        from letalone.learn.models import load
    except ModuleNotFoundError:
        raise ParameterError(f"Models need scikit-learn: {how_to_install('learn')}.") from None
    fitted = load(model)
    if not hasattr(fitted, "encoder_") or not hasattr(fitted, "predict"):
        raise ParameterError(
            f"{model} holds a model that was fitted on an array or that predicts nothing, so it"
            " does not know a table's columns. In Python: la.learn.load(path).predict(rows)."
        )
    return fitted


def _columns(fitted: Any, asked: Predicting) -> Mapping[str, Any]:
    """The columns that the model looks at, read as those were that it learned from."""
    types = {name: _type(what) for name, what in fitted.encoder_.columns.items()}
    return _read(asked, types)


def _kept(asked: Predicting, name: str) -> Cells:
    """The columns to copy: whole numbers as such, all else as text, as exact as it is written."""
    if asked.keep is None:
        return {}
    names = _names(asked)
    if not asked.kept:
        raise ParameterError(f"--keep names no column. The columns are: {', '.join(names)}.")
    if name in asked.kept:
        raise ParameterError(
            f"--keep names {name}, as the predictions are called. Rename the column."
        )
    for one in asked.kept:
        if one not in names:
            raise unknown_column(one, list(names), table=asked.table or Path(asked.file).stem)
    cells = _read(asked, dict.fromkeys(asked.kept, Type.TEXT))
    return {one: _copied(names[one], cells[one]) for one in asked.kept}


def _copied(kind: Type, cells: Any) -> list[object]:
    found = cast("list[str | None]", cells.tolist())
    if kind is Type.INTEGER:
        return [None if cell is None else int(cell) for cell in found]
    return list(found)


def _names(asked: Predicting) -> dict[str, Type]:
    """The columns of the table with their own types."""
    with closing(_opened(asked, {})) as engine:
        return {column.name: column.type for column in engine.schema().columns}


def _read(asked: Predicting, types: Mapping[str, Type]) -> Mapping[str, Any]:
    with closing(_opened(asked, types)) as engine:
        schema = Schema(NAME, tuple(Column(name, kind) for name, kind in types.items()))
        return engine.training_rows(schema, list(types), target=None, where=None)


def _opened(asked: Predicting, types: Mapping[str, Type]) -> DuckEngine:
    try:
        return open_duck(asked.file, types=types, table=asked.table)
    except WhichTable as error:
        words = str(error)
    raise ParameterError(f"{words} Name it with --table.")


def _type(what: object) -> Type:
    """The type of a column from what is declared of it."""
    if isinstance(what, tuple):
        return Type.NUMBER
    if isinstance(what, list):
        known = [value for value in cast("list[Any]", what) if value is not None]
        return type_of_value(known[0]) if known else Type.TEXT
    return Type.BOOLEAN


def _print_json(asked: Predicting, target: str, kept: Cells, values: list[object]) -> None:
    whole = asked.out is None  # what was written to a file is not printed, too
    found = {
        "model": str(asked.model),
        "target": target,
        "rows": len(values),
        "predictions": values if whole else None,
        "kept": kept if whole else None,
        "out": None if asked.out is None else str(asked.out),
    }
    print_json("predict", found)


def _print(asked: Predicting, target: str, columns: Cells) -> None:
    screen = console()
    number = len(next(reversed(columns.values())))
    if asked.out is None:
        shown = table("row", *columns, right=("row",))
        for place in range(min(number, SHOWN)):
            cells = [_spelled(column[place]) for column in columns.values()]
            shown.add_row(str(place + 1), *cells)
        screen.print(shown, markup=False)
    place = f", written to {asked.out}" if asked.out is not None else ""
    rest = f" --out {OUT} writes all." if asked.out is None and number > SHOWN else ""
    words = (
        f"{number:,} predictions of {target}{place}.{rest} The model is private; what it says of a"
        " row is about that row, so keep predictions as you keep the table."
    )
    screen.print(flowing(words, screen.width), markup=False)


def _spelled(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
