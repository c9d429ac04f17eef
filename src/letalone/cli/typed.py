"""Options that several commands have, each declared once. Only typer is loaded for them."""

from pathlib import Path
from typing import Annotated, Any

import typer

TABLE = "A table: a file (.csv, .parquet, .duckdb), postgresql://… or spark:…"


def read_number(word: str) -> float:
    """The number that was typed, or an error with a remedy."""
    from letalone.cli.numbers import number

    return number(word)


def read_whole_number(word: str) -> int:
    """The whole number that was typed, or an error with a remedy."""
    from letalone.cli.numbers import whole_number

    return whole_number(word)


def number(words: str, *, show_default: bool = True) -> Any:
    """An option that takes a number."""
    return typer.Option(help=words, parser=read_number, metavar="NUMBER", show_default=show_default)


def whole_number(words: str, *, hidden: bool = False) -> Any:
    """An option that takes a whole number."""
    return typer.Option(help=words, parser=read_whole_number, metavar="NUMBER", hidden=hidden)


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Epsilon = Annotated[float | None, number("The privacy to spend. Smaller is more private.")]
Confidence = Annotated[float, number("How often the error bar must be right.")]
AnyTable = Annotated[str, typer.Argument(help=TABLE, metavar="FILE")]
DataFile = Annotated[str, typer.Argument(help="A file: .csv, .parquet or .duckdb.", metavar="FILE")]
TableName = Annotated[
    str | None,
    typer.Option("--table", help="Which table of a DuckDB file or a server.", metavar="NAME"),
]
TableOfFile = Annotated[
    str | None, typer.Option("--table", help="Which table of a DuckDB file.", metavar="NAME")
]
SideTableName = Annotated[
    str | None,
    typer.Option(
        "--side-table",
        help="On a server, a copy with ranks that may be written.",
        metavar="NAME",
        hidden=True,  # so that the rest fits a screen
    ),
]
LedgerOption = Annotated[
    Path | None,
    typer.Option("--ledger", help="The ledger; else NAME.letalone.db beside it.", metavar="PATH"),
]
UnitOption = Annotated[
    str | None,
    typer.Option("--unit", help="The column that tells people apart, or 'row'.", metavar="COLUMN"),
]
KeptHead = Annotated[
    str | None, typer.Option(help="A head that you kept elsewhere.", metavar="HASH")
]
OwnersKey = Annotated[
    str | None, typer.Option(help="The owner's key or its fingerprint.", metavar="DIGITS")
]
