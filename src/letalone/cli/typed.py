"""How commands are declared: alone, as rows of a table, and with the options that they take.

Options that several commands have are declared here once. Only typer is loaded for them. An option
is public, so an error quotes its value; a value that is to be hidden never comes here.
"""

import json
import re
from collections import UserDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from inspect import Parameter, Signature, get_annotations, isclass, signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, TypeVar, cast, dataclass_transform, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

Declared = TypeVar("Declared", bound=Callable[..., Any])

TABLE = "A table: a file (.csv, .parquet, .duckdb, .sqlite), postgresql://… or spark:…"
COMMA = re.compile(r"[+-]?\d+,\d+")
RATIO = re.compile(r"[+-]?\d+/[1-9]\d*")


def new_app(**settings: Any) -> typer.Typer:
    """The typer app of one command, or of a group of them."""
    return typer.Typer(rich_markup_mode=None, add_completion=False, **settings)


class Loaded(UserDict[str, Any]):
    """Commands by name; listing the names loads none of them."""

    def __init__(self, names: Iterable[str], load: Callable[[str], Any]) -> None:
        super().__init__(dict.fromkeys(names))
        self._load = load

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = self._load(name)
        return self.data[name]


class HelpInOrder:
    """Names the option of the help as it was declared: typer has its names from a set."""

    def get_help_option_names(self, ctx: Any) -> list[str]:
        names = cast("Any", super()).get_help_option_names(ctx)
        return [name for name in ctx.help_option_names if name in names]


class OneCommand(HelpInOrder, TyperCommand):
    """What `command` adds to an app. `sections` are headings with the options below each."""

    sections: Mapping[str, tuple[str, ...]] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """An option that does not exist may be the beginning of one that does."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            typed = getattr(error, "option_name", None)
            shown = [one for one in self.get_params(ctx) if not getattr(one, "hidden", False)]
            names = [name for one in shown for name in one.opts if name.startswith("--")]
            begun = [name for name in names if typed and name.startswith(typed)]
            if begun and hasattr(error, "possibilities"):
                cast("Any", error).possibilities = begun
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """All options; those of no section come last."""
        if not self.sections:
            super().format_options(ctx, formatter)
            return
        shown = {str(one.name): one.get_help_record(ctx) for one in self.get_params(ctx)}
        listed = {name for names in self.sections.values() for name in names}
        rest = tuple(name for name in shown if name not in listed)
        for title, names in (*self.sections.items(), ("Others", rest)):
            records = [record for name in names if (record := shown[name]) is not None]
            with formatter.section(title):
                formatter.write_dl(records)


class CommandGroup(HelpInOrder, TyperGroup):
    """What `new_group` makes."""


class TableGroup(CommandGroup):
    """A group whose commands are the rows of a table."""

    def __init__(self, names: Iterable[str], load: Callable[[str], Any], **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = cast("Any", Loaded(names, load))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.commands)


def new_group(words: str, cls: type[TyperGroup] = CommandGroup) -> typer.Typer:
    """An app of several commands, which shows its help where none of them is typed."""
    group = new_app(help=words, cls=cls)

    def start(context: typer.Context, as_json: AsJson = False) -> None:
        context.obj = as_json or context.obj
        if context.invoked_subcommand is None:
            print_help(context, as_json=context.obj)

    group.callback(invoke_without_command=True)(start)
    return group


def print_help(context: typer.Context, *, as_json: bool) -> None:
    """The help of a group of commands; as JSON, their names and what each does."""
    if not as_json:
        typer.echo(context.get_help())
        return
    group = cast("Any", context.command)
    children = {name: group.get_command(context, name) for name in group.list_commands(context)}
    commands = {name: child.get_short_help_str(100) for name, child in children.items()}
    content = {"format": 1, "command": context.info_name, "help": group.help, "commands": commands}
    typer.echo(json.dumps(content))


@dataclass_transform(frozen_default=True)
def command(
    app: typer.Typer,
    name: str,
    *,
    work: str | Callable[..., Any] | None = None,
    example: str | None = None,
    sections: Mapping[str, tuple[str, ...]] | None = None,
    **settings: Any,
) -> Callable[[Declared], Declared]:
    """Adds a command to an app: a function whose parameters are its options, or a record of them.

    A class becomes such a record, frozen. `work` takes the record, or the same options, and returns
    the exit code. It is a function, or the "folder.module:name" of one, whose module is loaded when
    the command runs, so that help is quick; if not given, NAME:NAME in the same folder.
    Every command has `--json`, which also counts where it stands before the command; a record has a
    field for it, `as_json`. `tuple[str, ...]` is an option to be repeated. The help of a command
    with many options has them in `sections`. An argument `file` is looked for first.
    """
    shown = type("SectionedCommand", (OneCommand,), {"sections": sections or {}})
    if example is not None:
        settings["epilog"] = f"Example: letalone {name} {example}"

    def add(declared: Declared) -> Declared:
        is_record = isclass(declared)
        place = work or f"{declared.__module__.split('.')[2]}.{name}:{name}"
        if is_record:
            declared = cast("Declared", dataclass(frozen=True, slots=True)(declared))
        options = {"as_json": AsJson, **get_annotations(declared)}
        parameters = list(signature(declared).parameters.values())
        if not is_record:
            parameters.append(Parameter("as_json", Parameter.KEYWORD_ONLY, default=False))
        several = {parameter.name for parameter in parameters if _is_tuple(options[parameter.name])}

        def typed(context: typer.Context, **values: Any) -> None:
            values |= {name: tuple(values[name] or ()) for name in several}
            values["as_json"] = values["as_json"] or bool(context.obj)
            if isinstance(values.get("file"), str):
                resolve_name("letalone.cli.first_look:check_there")(values["file"])
            run = work if callable(work) else resolve_name(f"letalone.cli.{place}")
            code = run(declared(**values)) if is_record else run(**values)
            if code:
                raise typer.Exit(code)

        first = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        kept = [first, *(_for_typer(one, options[one.name]) for one in parameters)]
        typed.__doc__ = declared.__doc__
        typed.__annotations__ = {parameter.name: parameter.annotation for parameter in kept}
        cast_to_any: Any = typed
        cast_to_any.__signature__ = Signature(kept)
        app.command(name, cls=shown, **settings)(typed)
        return declared

    return add


def _is_tuple(hint: Any) -> bool:
    return get_origin(hint) is Annotated and get_origin(get_args(hint)[0]) is tuple


def _for_typer(parameter: Parameter, hint: Any) -> Parameter:
    """The parameter as typer reads it: a tuple of any length is a list there, or nothing."""
    kept = parameter.replace(annotation=hint, kind=Parameter.KEYWORD_ONLY)
    if not _is_tuple(hint):
        return kept
    kind, *more = get_args(hint)
    listed: Any = list[get_args(kind)[0]]
    return kept.replace(annotation=Annotated[(listed | None, *more)], default=None)


def read_rate(word: str) -> float:
    """A number, also in percent: 5% is 0.05."""
    plain = word.strip()
    if not plain.endswith("%"):
        return read_number(word)
    return float(Decimal(str(read_number(plain.removesuffix("%").strip()))) / 100)


def read_number(word: str) -> float:
    """The number that was typed, or an error with a remedy."""
    try:
        return float(word)
    except ValueError:
        raise typer.BadParameter(_not_a_number(word, "a number such as 0.5")) from None


def read_whole_number(word: str) -> int:
    """The whole number that was typed (10000, 1e4), or an error with a remedy."""
    try:
        return as_whole(word)
    except ValueError:
        raise typer.BadParameter(_not_a_number(word, "a whole number such as 10000")) from None


ALL = "all"
AUTO = "auto"  # as in session.steps.row_limit, which takes long to import


def read_row_limit(word: str) -> str:
    """The digits of the row limit that was typed, or the word that asks for one to be found."""
    try:
        return word if word == AUTO else str(as_whole(word))
    except ValueError:
        words = _not_a_number(word, f"a whole number such as 10, or {AUTO}")
        raise typer.BadParameter(words) from None


def read_rows(word: str) -> str:
    """The digits of the number of rows that was typed, or the word for all of them."""
    try:
        if word == ALL or as_whole(word) > 0:
            return word if word == ALL else str(as_whole(word))
    except ValueError:
        pass
    raise typer.BadParameter(_not_a_number(word, f"a whole number such as 50, or {ALL}"))


def as_whole(word: str) -> int:
    """The whole number that a word stands for, as 42, 42.0 or 1e3; ValueError where it is none."""
    value = float(word)
    return int(value) if abs(value) < 2**53 and value.is_integer() else int(word)


def _not_a_number(word: str, needed: str) -> str:
    if word.startswith("-") and word.lstrip("-")[:1].isalpha():
        return f"{word} is not an option here, and not a number."
    remedy = ""
    if COMMA.fullmatch(word):
        remedy = f" Write a point, not a comma: {word.replace(',', '.')}"
    elif RATIO.fullmatch(word):
        above, _, below = word.partition("/")
        remedy = f" Write a decimal: {int(above) / int(below):.6g}"
    return f"'{word[:40]}' is given, but it must be {needed}.{remedy}"


def number(words: str, *names: str, show_default: bool = True) -> Any:
    """An option that takes a number; its names, where it has another than the parameter's."""
    return typer.Option(
        *names, help=words, parser=read_number, metavar="NUMBER", show_default=show_default
    )


def rate(words: str, *names: str) -> Any:
    """An option that takes a rate: 0.05, or 5%."""
    return typer.Option(*names, help=words, parser=read_rate, metavar="NUMBER")


def whole_number(words: str, *, hidden: bool = False) -> Any:
    """An option that takes a whole number."""
    return typer.Option(help=words, parser=read_whole_number, metavar="NUMBER", hidden=hidden)


def row_limit(words: str) -> Any:
    """An option that takes a row limit: a whole number, or `auto`."""
    return typer.Option(help=words, parser=read_row_limit, metavar="NUMBER|auto")


def rows_to_show(words: str) -> Any:
    """An option that takes a number of rows: a whole number, or `all`."""
    return typer.Option(help=words, parser=read_rows, metavar="NUMBER|all")


def text(words: str, metavar: str, *names: str, hidden: bool = False) -> Any:
    """An option that takes a text, shown as `metavar` in the help."""
    return typer.Option(*names, help=words, metavar=metavar, hidden=hidden)


def switch(name: str, words: str, *, hidden: bool = False) -> Any:
    """An option without a value."""
    return typer.Option(name, help=words, hidden=hidden)


AsJson = Annotated[bool, switch("--json", "Print one JSON object.")]
Epsilon = Annotated[float | None, number("The privacy to spend. Smaller is more private.")]
Confidence = Annotated[float, number("How often the range contains the result without noise.")]
AnyTable = Annotated[str, typer.Argument(help=TABLE, metavar="FILE")]
DataFile = Annotated[str, typer.Argument(help="A file: .csv, .parquet or .duckdb.", metavar="FILE")]
TableName = Annotated[str | None, text("Which table of a file or a server.", "NAME", "--table")]
TableOfFile = Annotated[str | None, text("Which table of a DuckDB file.", "NAME", "--table")]
SideTableName = Annotated[
    str | None,
    # Hidden, so that the rest fits a screen.
    text("Not needed any more, and ignored.", "NAME", "--side-table", hidden=True),
]
EncodingName = Annotated[
    str | None, text("Of a CSV file: cp1252 for Windows; else UTF-8.", "NAME", "--encoding")
]
CopyFile = Annotated[bool, switch("--copy", "Copy a file from https://, s3:// or gs:// here.")]
HiddenCopyFile = Annotated[bool, switch("--copy", "Copy a file from elsewhere.", hidden=True)]
SheetName = Annotated[str | None, text("Which sheet of an Excel file.", "NAME", "--table")]
LedgerOption = Annotated[
    Path | None, text("The ledger; else NAME.letalone.db next to it.", "PATH", "--ledger")
]
UnitOption = Annotated[
    str | None, text("The column that identifies a person, or 'row'.", "COLUMN", "--unit")
]
KeptHead = Annotated[str | None, text("A ledger hash that you stored.", "HASH")]
OwnersKey = Annotated[str | None, text("The owner's key or its fingerprint.", "DIGITS")]
Confirmed = Annotated[bool, switch("--yes", "Also at an ε that hardly protects.")]
Force = Annotated[bool, switch("--force", "Write over what is there.")]
PlotFile = Annotated[Path | None, typer.Option(help="Draw to this .svg, .png or .pdf.")]
