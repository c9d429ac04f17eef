"""`letalone attack NAME`: what an attacker learns today, and from a private release.

`ATTACKS` is the table of them. A row names the function of `letalone.attacks`, the words and the
example of the help, and the options in their order there; an option names its argument. The
function is loaded when its command runs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, NamedTuple

import typer
from typer.main import get_command

from letalone.attacks.result import AttackReport
from letalone.cli.column_names import names_in, own_or_made_up
from letalone.cli.places import drawable
from letalone.cli.screen import in_short, print_json, printable, put, say, table
from letalone.cli.typed import TableGroup, command, new_app, new_group, number, text, whole_number

Typed = Mapping[str, Any]  # all values that were typed, by option


class AttackOption(NamedTuple):
    """An option of an attack; `read` makes an argument of what was typed."""

    name: str
    kind: Any
    declared: Any
    default: Any = None
    read: Callable[[Any, Typed], Any] | None = None
    argument: str | None = None  # where the function has another name for it


@dataclass(frozen=True, slots=True)
class Attack:
    """A row of the table: `function` is `module:name` of letalone.attacks."""

    function: str
    words: str
    example: str
    options: tuple[AttackOption, ...]


FILES = ("file", "register")  # in the order of the function's arguments


def _file(words: str, name: str = "file") -> AttackOption:
    return AttackOption(name, str | None, typer.Argument(help=words, metavar=name.upper()))


def _number(name: str, default: float, words: str) -> AttackOption:
    return AttackOption(name, float, number(words), default)


def _whole(name: str, default: int | None, words: str) -> AttackOption:
    return AttackOption(name, int | None, whole_number(words), default)


def _text(name: str, words: str, metavar: str = "COLUMN") -> AttackOption:
    return AttackOption(name, str | None, text(words, metavar))


def _columns(name: str, words: str, metavar: str = "COLUMN") -> AttackOption:
    """Columns as people type them: with commas between, or the option repeated."""

    def read(names: tuple[str, ...], typed: Typed) -> tuple[str, ...]:
        return names_in(names, typed["file"])

    return AttackOption(name, tuple[str, ...], text(words, metavar), read=read)


def _own_column(name: str, words: str, made_up: str) -> AttackOption:
    """A column of one's file; `made_up` is the one of the made-up data, or `module:CONSTANT`."""

    def read(column: str | None, typed: Typed) -> str:
        names = (_constant(made_up),)
        return column or own_or_made_up(f"--{name}", None, names, file=typed["file"])[0]

    return AttackOption(name, str | None, text(words, "COLUMN"), read=read)


def _own_columns(name: str, words: str, made_up: str | Sequence[str]) -> AttackOption:
    """The same for several columns."""

    def read(columns: tuple[str, ...], typed: Typed) -> tuple[str, ...]:
        return own_or_made_up(f"--{name}", columns, _constant(made_up), file=typed["file"])

    return AttackOption(name, tuple[str, ...], text(words, "COLUMN"), read=read)


def _linked_columns(columns: tuple[str, ...], typed: Typed) -> tuple[str, ...]:
    """The columns to join on: without a register, the file is joined with made-up people."""
    made_up = _constant("linkage:QUASI_IDENTIFIERS")
    file = typed["file"] if typed["register"] else None
    return own_or_made_up("--on", columns, made_up, file=file)


def _constant(named: Any) -> Any:
    """What is named, or the constant of an attack's module, which is loaded no earlier."""
    if not isinstance(named, str) or ":" not in named:
        return named
    return resolve_name(f"letalone.attacks.{named}")


FILE = _file("A table; without one, made-up data.")
PEOPLE_FILE = _file("A table, a row a person; without one, made-up data.")
EPSILON = _number("epsilon", 1.0, "Of the private answer next to it.")
DELTA = _number("delta", 0.0, "Of the private model.")
PEOPLE = _whole("people", 100, "Drawn from the table.")
MODELS = _whole("models", 200, "Trained, of each kind.")
FEATURES = _columns("features", "What it predicts from; else all others.", "COLUMNS")
PERSON = _own_column("person", "The column that identifies a person.", "person")
PLOT = AttackOption(
    "plot",
    Path | None,
    typer.Option(help="Draw it to this file (.svg, .png, .pdf).", callback=drawable),
)


def _seed_option(year: int) -> AttackOption:
    return _whole("seed", year, "Of the attacker's draws.")


ATTACKS = {
    "linkage": Attack(
        "linkage:link",
        "Join a table without names with a register that has them.",
        "linkage patients.csv voters.csv --on zip,birth,gender --name name",
        (
            FILE,
            _file("A table with names.", "register"),
            AttackOption(
                "on",
                tuple[str, ...],
                text("The columns of both to join on.", "COLUMNS"),
                read=_linked_columns,
                argument="quasi_identifiers",
            ),
            _text("name", "Of the register, for examples."),
            _text("person", "Tells the table's people apart."),
            _text("sensitive", "What the examples show."),
            EPSILON,
        ),
    ),
    "pseudonyms": Attack(
        "pseudonyms:reverse_hashes",
        "Reverse pseudonyms that are hashes of something short.",
        "pseudonyms calls.csv --columns caller --pattern 202555####",
        (
            FILE,
            _columns("columns", "Those to try; else all that look like it."),
            AttackOption(
                "pattern",
                tuple[str, ...],
                text("More to try: # is a digit, @ a letter.", "PATTERN"),
                argument="patterns",
            ),
            _whole("largest", 1_000_000, "Whole numbers below this are tried."),
            EPSILON,
        ),
    ),
    "histories": Attack(
        "histories:single_out",
        "How few points of a history tell a person from all others.",
        "histories phones.csv --person user --points cell,hour",
        (
            FILE,
            PERSON,
            _own_columns("points", "What a point is made of.", ("film", "month")),
            _whole("most", 6, "The most points known."),
            _whole("people", 500, "How many are looked for."),
            EPSILON,
            _seed_option(2008),
        ),
    ),
    "homer": Attack(
        "frequencies:trace_member",
        "Was this person in the study? From published frequencies alone.",
        "homer answers.csv --columns q1,q2,q3 --people 50",
        (
            FILE,
            _columns("columns", "Attributes: columns of 0 and 1."),
            _whole("people", 100, "In a study."),
            _whole("attributes", 1_000, "Of the made-up data."),
            _number("false_alarm", 0.05, "Outsiders accused."),
            _whole("trials", 1_000, "Studies drawn."),
            EPSILON,
            _seed_option(2008),
        ),
    ),
    "heat-map": Attack(
        "heat_map:find_cells",
        "Find the cells of a map that betray who was there.",
        "heat-map runs.parquet --person runner --place row,column",
        (
            FILE,
            PERSON,
            _own_columns("place", "What a cell is made of.", ("x", "y")),
            _whole("few", 10, "A cell with fewer people is lonely."),
            _whole("max_cells", 10, "Most cells per person."),
            EPSILON,
        ),
    ),
    "differencing": Attack(
        "differencing:subtract",
        "Ask two questions that differ in one person, and subtract.",
        "differencing visits.csv --person id --sensitive ill --known zip,age",
        (
            FILE,
            _own_column("person", "The column that identifies a person.", "patient_id"),
            _own_column("sensitive", "The secret.", "diagnosis"),
            _text("value", "Of the secret; else the commonest.", "TEXT"),
            _own_columns("known", "What the attacker knows.", "differencing:KNOWN"),
            _whole("targets", 20, "People attacked."),
            EPSILON,
            _seed_option(1979),
        ),
    ),
    "reconstruction": Attack(
        "reconstruction:reconstruct",
        "Get a secret column back from sums over random people.",
        "reconstruction clinic.csv --column sick --equals yes --epsilon 1",
        (
            FILE,
            _text("column", "The secret."),
            _text("equals", "The value that counts; else it holds 0 and 1.", "TEXT"),
            _whole("rows", 100, "People attacked."),
            _whole("questions", None, "Asked; else 4 for each."),
            EPSILON,
            _seed_option(2003),
        ),
    ),
    "membership": Attack(
        "membership:infer_membership",
        "Was this person's row in the data that a model was trained on?",
        "membership people.csv --target income --epsilon 1",
        (
            PEOPLE_FILE,
            _own_column("target", "What the model predicts.", "stage:TARGET"),
            FEATURES,
            PEOPLE,
            MODELS,
            _number("false_alarm", 0.05, "Strangers accused."),
            EPSILON,
            DELTA,
            _seed_option(2022),
        ),
    ),
    "inversion": Attack(
        "inversion:invert_model",
        "Guess a person's secret with a model; find people's rows in its file.",
        "inversion patients.csv --target dose --sensitive gene",
        (
            PEOPLE_FILE,
            _own_column("target", "What the model predicts.", "stage:OUTCOME"),
            _own_column("sensitive", "The feature that is guessed.", "stage:SENSITIVE"),
            FEATURES,
            PEOPLE,
            MODELS,
            EPSILON,
            DELTA,
            _seed_option(2014),
        ),
    ),
    "canaries": Attack(
        "canaries:extract_secrets",
        "Plant secrets in a text and get them out of a model of it.",
        'canaries mails.txt --secret-pattern "my pin is ####"',
        (
            _file("A text; without one, made-up notes."),
            AttackOption(
                "secret_pattern",
                str,
                text("Its form: # is a digit, @ a letter.", "PATTERN"),
                "the door code is #####",
                argument="pattern",
            ),
            _whole("secrets", 5, "Planted in turn."),
            _whole("length", 48, "Lines are cut to it."),
            EPSILON,
            _seed_option(2019),
        ),
    ),
}


def _attack_command(name: str) -> Any:
    attack, app = ATTACKS[name], new_app()
    options = (*attack.options, PLOT)

    def work(*, plot: Path | None, as_json: bool, **typed: Any) -> None:
        files = [typed[name] for name in FILES if name in typed]
        arguments = {
            option.argument or option.name: (
                option.read(typed[option.name], typed) if option.read else typed[option.name]
            )
            for option in attack.options
            if option.name not in FILES
        }
        result = _constant(attack.function)(*files, **arguments)
        report(name, result, plot=plot, as_json=as_json)

    work.__doc__ = attack.words
    work.__annotations__ = {
        option.name: Annotated[option.kind, option.declared] for option in options
    }
    parameters = [
        Parameter(option.name, Parameter.KEYWORD_ONLY, default=option.default) for option in options
    ]
    setattr(work, "__signature__", Signature(parameters))  # noqa: B010
    command(app, name, work=work, epilog=f"Example: letalone attack {attack.example}")(work)
    return get_command(app)


class Attacks(TableGroup):
    """`letalone attack NAME`: a row of the table of attacks."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(ATTACKS, _attack_command, **attributes)


app = new_app()
WORDS = "What an attacker learns without and with privacy."
app.add_typer(new_group(WORDS, cls=Attacks), name="attack")


def report(name: str, result: AttackReport, *, plot: Path | None, as_json: bool) -> None:
    """Print what was found in fewer than 25 lines, and draw it where that is asked."""
    if plot is not None:
        result.plot(plot)
    if as_json:
        print_json(f"attack {name}", result.to_json() | {"plot": plot})
        return
    heads = ("", "published today", f"letalone, ε = {in_short(result.epsilon)}")
    rows = [map(printable, line) for line in result.lines()]
    put(table(*heads, right=heads[1:], rows=rows), "")
    say(printable(result.words))
    if plot is not None:
        put(f"Wrote {plot}.")
