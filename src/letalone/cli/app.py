"""What can be typed, and how an error leaves.

Exit codes: 0 done; 1 a fault of letalone or of the machine; 2 wrong usage; 3 the budget
does not allow it; 4 not supported; 5 the data set is frozen; 6 a ledger or a receipt was
changed; 7 a check found something (audit, lint). With --json the result is one JSON object
on standard output. An error is one JSON object on standard error, and standard output stays empty,
so that a pipe never takes an error for an answer.
"""

import codecs
import json
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from letalone.errors import LetaloneError

INTERRUPTED = 130
IN_PLAIN_LETTERS = "letalone.plain"
MECHANISMS = ("laplace", "geometric", "gaussian", "discrete-gaussian")
THEOREMS = ("total", "tail", "shortfall", "survey", "dimensions")


class OnOneScreen(TyperGroup):
    """Its help says the few options in one line, so that all commands fit the screen."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options in one line, then the commands."""
        names = [", ".join(option.opts) for option in self.get_params(ctx)]
        formatter.write(f"\nOptions: {'; '.join(names)}\n")
        self.format_commands(ctx, formatter)


class NumberOrFile(TyperGroup):
    """`letalone explain x.json` is short for `letalone explain receipt x.json`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant: a file that is no command's name is a receipt."""
        if args[0] not in self.commands and (args[0].endswith(".json") or Path(args[0]).is_file()):
            args = ["receipt", *args]
        return super().resolve_command(ctx, args)


class Attacks(TyperGroup):
    """`letalone attack NAME`: the table of attacks is loaded when one of them is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the attacks."""
        from letalone.cli.attack import ATTACKS

        return [*super().list_commands(ctx), *ATTACKS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of one attack."""
        from letalone.cli.attack import command

        return super().get_command(ctx, cmd_name) or command(cmd_name)


app = typer.Typer(
    name="letalone",
    cls=OnOneScreen,
    help="Answers about sensitive data that expose no one. Try: letalone demo",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
explain = typer.Typer(
    name="explain",
    cls=NumberOrFile,
    help="Say what a number or a receipt means.",
    rich_markup_mode=None,
)
app.add_typer(explain)
ledger = typer.Typer(
    name="ledger",
    help="Look at the record of what was spent.",
    rich_markup_mode=None,
)
app.add_typer(ledger)
attack = typer.Typer(
    name="attack",
    cls=Attacks,
    help="What an attacker learns, today and from a private release.",
    rich_markup_mode=None,
)
app.add_typer(attack)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
SLACK = "Slack in probability beside epsilon: far below 1/n for n people."


def _read_number(word: str) -> float:
    from letalone.cli.numbers import number

    return number(word)


def _read_whole_number(word: str) -> int:
    from letalone.cli.numbers import whole_number

    return whole_number(word)


def _number(words: str, *, show_default: bool = True) -> Any:
    """An option that takes a number."""
    return typer.Option(
        help=words, parser=_read_number, metavar="NUMBER", show_default=show_default
    )


Epsilon = Annotated[float | None, _number("The privacy to spend. Smaller is more private.")]
Confidence = Annotated[float, _number("How often the error bar must be right.")]


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    as_json: AsJson = False,
) -> None:
    """Answers about sensitive data that expose no one. Try: letalone demo"""
    context.obj = as_json
    if version:
        from letalone import __version__

        found = {"format": 1, "command": "version", "version": __version__}
        typer.echo(json.dumps(found) if as_json else f"letalone {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        _print_help(context, as_json=as_json)


@app.command()
def demo(context: typer.Context, as_json: AsJson = False) -> None:
    """Ask a made-up hospital two questions, privately, on DuckDB."""
    from letalone.cli.demo import demo

    demo(as_json=as_json or context.obj)


TABLE = "A table: .csv, .parquet or .duckdb."
DataFile = Annotated[str, typer.Argument(help=TABLE, metavar="FILE")]
TableName = Annotated[
    str | None, typer.Option("--table", help="Which table of a DuckDB file.", metavar="NAME")
]
LedgerOption = Annotated[
    Path | None,
    typer.Option("--ledger", help="The ledger; else NAME.letalone.db beside it.", metavar="PATH"),
]
UnitOption = Annotated[
    str | None,
    typer.Option("--unit", help="The column that tells people apart, or 'row'.", metavar="COLUMN"),
]


@app.command(epilog="Example: letalone init visits.csv --unit patient_id")
def init(
    context: typer.Context,
    file: DataFile,
    unit: UnitOption = None,
    table: TableName = None,
    yes: Annotated[bool, typer.Option("--yes", help="Guessed types may be known.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write down what is public about a table, to fill in."""
    from letalone.cli.init import init

    as_json = as_json or context.obj
    init(file, unit=unit, table_name=table, yes=yes, force=force, as_json=as_json)


@app.command(
    epilog='Example: letalone query visits.csv "SELECT COUNT(*) FROM visits" --epsilon 1',
)
def query(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help=TABLE, metavar="FILE", hidden=True)],
    sql: Annotated[
        str,
        typer.Argument(help="A SELECT with COUNT, SUM, AVG, …", metavar="SQL", hidden=True),
    ],
    epsilon: Epsilon = None,
    delta: Annotated[float | None, _number("Slack in probability: far below 1/n.")] = None,
    unit: UnitOption = None,
    keys: Annotated[
        list[str] | None, typer.Option(help="Groups: ward=A,B,C.", metavar="COLUMN=KEYS")
    ] = None,
    bounds: Annotated[
        list[str] | None, typer.Option(help="Values clamped: cost=0:1000.", metavar="COLUMN=BOUNDS")
    ] = None,
    public: Annotated[
        list[str] | None,
        typer.Option(help="Tables to join: cities=cities.csv.", metavar="NAME=FILE"),
    ] = None,
    private_bounds: Annotated[
        bool, typer.Option("--private-bounds", help="Buy bounds with a fifth of epsilon.")
    ] = False,
    max_rows: Annotated[
        int | None,
        typer.Option(help="Rows that count per unit.", parser=_read_whole_number, metavar="NUMBER"),
    ] = None,
    max_groups: Annotated[
        int | None,
        typer.Option(
            help="Groups that a unit counts in.",
            parser=_read_whole_number,
            metavar="NUMBER",
            hidden=True,  # so that the rest fits a screen
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="How the SQL is spelled: duckdb, postgres, spark or bigquery; else the first.",
            metavar="NAME",
            hidden=True,  # so that the rest fits a screen
        ),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="For all questions, named once.", metavar="EPSILON[:DELTA]")
    ] = None,
    ledger: LedgerOption = None,
    table: TableName = None,
    confidence: Annotated[float, _number("How often a bar must be right.")] = 0.95,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say price and errors; spend nothing.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="With all notes, in words.", hidden=True)
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw to this .svg, .png or .pdf.")] = None,
    receipt: Annotated[Path | None, typer.Option(help="Write a signed receipt (.json).")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a table in SQL: a private answer, error bars, price."""
    from letalone.cli.query import query
    from letalone.cli.request import Request

    request = Request(
        file=file,
        sql=sql,
        epsilon=epsilon,
        delta=delta,
        unit=unit,
        keys=tuple(keys or ()),
        bounds=tuple(bounds or ()),
        public=tuple(public or ()),
        private_bounds=private_bounds,
        max_rows=max_rows,
        max_groups=max_groups,
        dialect=dialect,
        budget=budget,
        ledger=ledger,
        table=table,
        confidence=confidence,
        dry_run=dry_run,
        explain=explain,
        plot=plot,
        receipt=receipt,
        as_json=as_json or context.obj,
    )
    query(request)


@app.command(
    epilog="Example: letalone train people.csv --target income --epsilon 1 --budget 4:1e-4",
)
def train(
    context: typer.Context,
    file: DataFile,
    target: Annotated[
        str | None, typer.Option(help="The column to predict.", metavar="COLUMN")
    ] = None,
    epsilon: Epsilon = None,
    delta: Annotated[float | None, _number("Slack in probability: far below 1/n.")] = None,
    features: Annotated[
        str | None,
        typer.Option(help="Columns to learn from; else all declared.", metavar="A,B,…"),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="logistic, svc, trees, bayes or linear.", metavar="NAME")
    ] = None,
    unit: UnitOption = None,
    budget: Annotated[
        str | None, typer.Option(help="For all that is asked, once.", metavar="EPSILON[:DELTA]")
    ] = None,
    ledger: LedgerOption = None,
    table: TableName = None,
    out: Annotated[
        Path | None, typer.Option(help="The model's file; else NAME.TARGET.json.", metavar="PATH")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say price and method; spend nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Learn to predict a column: a private model, with its receipt."""
    from letalone.cli.train import train
    from letalone.cli.training import Training

    asked = Training(
        file=file,
        target=target,
        epsilon=epsilon,
        delta=delta,
        features=features,
        model=model,
        unit=unit,
        budget=budget,
        ledger=ledger,
        table=table,
        out=out,
        dry_run=dry_run,
        as_json=as_json or context.obj,
    )
    train(asked)


@app.command(epilog="Example: letalone predict people.income.json new.csv --out predictions.csv")
def predict(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="A file that train wrote.", metavar="MODEL")],
    file: DataFile,
    table: TableName = None,
    keep: Annotated[
        str | None, typer.Option(help="Columns to copy beside it: id,…", metavar="A,B,…")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write all: .csv or .parquet.", metavar="PATH")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What a model says of the rows of a table."""
    from letalone.cli.predict import Predicting, predict

    predict(Predicting(model, file, table, keep, out, as_json or context.obj))


@app.command()
def describe(
    context: typer.Context,
    file: DataFile,
    table: TableName = None,
    ledger: LedgerOption = None,
    as_json: AsJson = False,
) -> None:
    """What is public about a table, and its budget."""
    from letalone.cli.describe import describe

    describe(file, table_name=table, ledger=ledger, as_json=as_json or context.obj)


@app.command(
    epilog="Example: letalone anonymity a.csv --quasi-identifiers zip,age --sensitive ill",
)
def anonymity(
    context: typer.Context,
    file: DataFile,
    quasi_identifiers: Annotated[
        str | None, typer.Option(help="What others may know: zip,birth.", metavar="COLUMNS")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="What they must not learn.", metavar="COLUMNS")
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(help="Make so many alike.", parser=_read_whole_number, metavar="NUMBER"),
    ] = None,
    l: Annotated[  # noqa: E741
        int | None,
        typer.Option(help="With so many values.", parser=_read_whole_number, metavar="NUMBER"),
    ] = None,
    t: Annotated[float | None, _number("And as close to the table as this.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write it: .csv or .parquet.")] = None,
    hierarchy: Annotated[
        list[str] | None, typer.Option(help="Or dates, ranges, sets.", metavar="COLUMN=prefixes")
    ] = None,
    max_suppressed: Annotated[float, _number("Share of rows left out.")] = 0.01,
    population: Annotated[
        int | None,
        typer.Option(help="People around it.", parser=_read_whole_number, metavar="NUMBER"),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures.")] = None,
    table: TableName = None,
    as_json: AsJson = False,
) -> None:
    """How anonymous a table is: k, l, t; and make it so."""
    from letalone.cli.anonymity import Request, anonymity, names_in

    request = Request(
        file=file,
        quasi_identifiers=names_in(quasi_identifiers),
        sensitive=names_in(sensitive),
        k=k,
        l=l,
        t=t,
        hierarchies=tuple(hierarchy or ()),
        max_suppressed=max_suppressed,
        population=population,
        table=table,
        out=out,
        html=html,
        as_json=as_json or context.obj,
    )
    anonymity(request)


@app.command(
    context_settings={"ignore_unknown_options": True},  # -5 is a number, not an option
    epilog="Example: letalone noise geometric 42 --epsilon 0.5 --sensitivity 1",
)
def noise(
    context: typer.Context,
    mechanism: Annotated[
        str, typer.Argument(help=f"One of {', '.join(MECHANISMS)}.", metavar="MECHANISM")
    ],
    values: Annotated[
        list[str] | None,
        typer.Argument(help="Numbers; from standard input if none is given.", metavar="VALUE"),
    ] = None,
    sensitivity: Annotated[
        float | None, _number("The most one person can change all values together (required).")
    ] = None,
    epsilon: Epsilon = None,
    delta: Annotated[
        float | None,
        _number("Slack in probability, far below 1/n; with --sigma, where to read epsilon (1e-6)."),
    ] = None,
    scale: Annotated[float | None, _number("Size of the noise, instead of --epsilon.")] = None,
    sigma: Annotated[
        float | None, _number("Standard deviation of Gaussian noise, instead of --epsilon.")
    ] = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Add noise to numbers: private answers, error bar, price."""
    from letalone.cli.noise import Amount, noise

    amount = Amount(sensitivity=sensitivity, epsilon=epsilon, delta=delta, scale=scale, sigma=sigma)
    as_json = as_json or context.obj
    noise(mechanism, values or [], amount, confidence=confidence, as_json=as_json)


@app.command(
    context_settings={"ignore_unknown_options": True},  # "-3 * …" is a text, though a wrong one
    epilog='Example: letalone account "1000 * laplace(epsilon=0.1)" --delta 1e-6',
)
def account(
    context: typer.Context,
    expression: Annotated[
        str, typer.Argument(help="Releases, such as '3 * laplace(epsilon=0.1)'.", metavar="TEXT")
    ],
    delta: Annotated[
        float | None, _number("Where to say epsilon: far below 1/n (1e-6 if not given).")
    ] = None,
    epsilon: Annotated[float | None, _number("Say the delta at this epsilon instead.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the curve to this file (.svg).")] = None,
    as_json: AsJson = False,
) -> None:
    """What releases reveal together, certified from both sides."""
    from letalone.cli.account import account

    account(expression, delta=delta, epsilon=epsilon, plot=plot, as_json=as_json or context.obj)


@app.command(
    context_settings={"ignore_unknown_options": True},
    epilog='Example: letalone calibrate "100 * gaussian(sigma=?)" --epsilon 1 --delta 1e-6',
)
def calibrate(
    context: typer.Context,
    expression: Annotated[
        str, typer.Argument(help="Releases, with a ? for the number to find.", metavar="TEXT")
    ],
    epsilon: Epsilon = None,
    delta: Annotated[
        float | None, _number("Slack in probability: far below 1/n (0 if not given).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the noise, number or rate that keeps a promise."""
    from letalone.cli.account import calibrate

    calibrate(expression, epsilon=epsilon, delta=delta, as_json=as_json or context.obj)


@app.command(epilog="Example: letalone audit mycode:noisy_count --claimed-epsilon 1")
def audit(
    context: typer.Context,
    mechanism: Annotated[
        str | None,
        typer.Argument(help="A function: mycode:noisy_count.", metavar="MODULE:NAME"),
    ] = None,
    claimed_epsilon: Annotated[float | None, _number("What it claims.")] = None,
    claimed_delta: Annotated[float, _number("And its delta.")] = 0.0,
    one: Annotated[str | None, typer.Option(help="An input.", metavar="VALUE")] = None,
    other: Annotated[str | None, typer.Option(help="Its neighbour.", metavar="VALUE")] = None,
    table: Annotated[
        Path | None, typer.Option(help="Or a table; neighbours are found.", metavar="FILE")
    ] = None,
    unit: UnitOption = None,
    samples: Annotated[
        int | None,
        typer.Option(help="Draws on each.", parser=_read_whole_number, metavar="NUMBER"),
    ] = None,
    confidence: Annotated[float, _number("How rarely it may be wrong.")] = 0.95,
    many: Annotated[bool, typer.Option("--many", help="It takes (value, count).")] = False,
    timing: Annotated[bool, typer.Option("--timing", help="Audit the time it takes.")] = False,
    itself: Annotated[bool, typer.Option("--self", help="Audit letalone's own.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw to this .svg, .png or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Hold a mechanism's outputs against its claim."""
    from letalone.cli.audit import Request, run_audit

    request = Request(
        mechanism=mechanism,
        claimed_epsilon=claimed_epsilon,
        claimed_delta=claimed_delta,
        one=one,
        other=other,
        table=table,
        unit=unit,
        samples=samples,
        confidence=confidence,
        many=many,
        timing=timing,
        itself=itself,
        plot=plot,
        as_json=as_json or context.obj,
    )
    raise typer.Exit(run_audit(request))


@app.command(epilog="Example: letalone lint script.py")
def lint(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Scripts or folders.", metavar="FILE")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find slips in a script that break its privacy."""
    from letalone.cli.lint import lint_files

    raise typer.Exit(lint_files(paths or [], as_json=as_json or context.obj))


@app.command()
def doctor(context: typer.Context, as_json: AsJson = False) -> None:
    """Check this installation: versions, extras, random bits."""
    from letalone.cli.doctor import doctor

    doctor(as_json=as_json or context.obj)


@explain.callback(invoke_without_command=True)
def start_explaining(context: typer.Context, as_json: AsJson = False) -> None:
    """Say what a number or a receipt means, in words: `letalone explain x.json` works, too."""
    context.obj = as_json or context.obj
    if context.invoked_subcommand is None:
        _print_help(context, as_json=context.obj)


@explain.command(
    "epsilon",
    context_settings={"ignore_unknown_options": True},  # -1 is a number, though a wrong one
)
def explain_epsilon(
    context: typer.Context,
    value: Annotated[
        float, typer.Argument(help="The epsilon to explain.", parser=_read_number, metavar="VALUE")
    ] = 1.0,
    delta: Annotated[float, _number(SLACK)] = 0.0,
    as_json: AsJson = False,
) -> None:
    """What an epsilon promises to a person in the data."""
    from letalone.cli.explain_epsilon import explain_epsilon

    explain_epsilon(value, delta=delta, as_json=as_json or context.obj)


@explain.command("error")
def explain_error(
    context: typer.Context,
    theorem: Annotated[
        str | None,
        typer.Option(help=f"One of {', '.join(THEOREMS)}; otherwise the last two.", metavar="NAME"),
    ] = None,
    epsilon: Annotated[float, _number("The privacy spent.")] = 1.0,
    delta: Annotated[
        float, _number("The delta of the Gaussian noise; 1e-6 if not given.", show_default=False)
    ] = 1e-6,
    people: Annotated[
        int,
        typer.Option(
            help="People, where the dimension varies.", parser=_read_whole_number, metavar="NUMBER"
        ),
    ] = 10_000,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw to this file (.svg, .png, .pdf).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What privacy costs in accuracy, and which noise to choose."""
    from letalone.cli.explain_error import Setting, explain_error

    setting = Setting(epsilon=epsilon, delta=delta, people=people)
    explain_error(setting, theorem=theorem, plot=plot, as_json=as_json or context.obj)


@explain.command("receipt")
def explain_receipt(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="The receipt of an answer.", metavar="FILE")],
    key: Annotated[
        str | None, typer.Option(help="The owner's key or its fingerprint.", metavar="DIGITS")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What an answer reveals, in a paragraph to quote."""
    from letalone.cli.explain_receipt import explain_receipt

    explain_receipt(path, key=key, as_json=as_json or context.obj)


@attack.callback(invoke_without_command=True)
def start_attack(context: typer.Context, as_json: AsJson = False) -> None:
    """What an attacker learns, today and from a private release; on made-up data or your own."""
    context.obj = as_json or context.obj
    if context.invoked_subcommand is None:
        _print_help(context, as_json=context.obj)


LedgerFile = Annotated[Path, typer.Argument(help="The file of the ledger.", metavar="LEDGER")]
KeptHead = Annotated[
    str | None, typer.Option(help="A head that you kept elsewhere.", metavar="HASH")
]


@ledger.callback(invoke_without_command=True)
def start_ledger(context: typer.Context, as_json: AsJson = False) -> None:
    """Look at the record of what was spent."""
    context.obj = as_json or context.obj
    if context.invoked_subcommand is None:
        _print_help(context, as_json=context.obj)


@ledger.command("show")
def ledger_show(context: typer.Context, path: LedgerFile, as_json: AsJson = False) -> None:
    """Budgets, what is spent, what is left, and the key's fingerprint."""
    from letalone.cli.ledger import show

    show(path, as_json=as_json or context.obj)


@ledger.command("verify")
def ledger_verify(
    context: typer.Context, path: LedgerFile, head: KeptHead = None, as_json: AsJson = False
) -> None:
    """Check the chain and do every charge again."""
    from letalone.cli.ledger import verify

    verify(path, head=head, as_json=as_json or context.obj)


@ledger.command("export")
def ledger_export(
    context: typer.Context,
    path: LedgerFile,
    to: Annotated[Path, typer.Argument(help="The JSON file to write.", metavar="FILE")],
    as_json: AsJson = False,
) -> None:
    """Write it as JSON, for others to check."""
    from letalone.cli.ledger import export

    export(path, to, as_json=as_json or context.obj)


@app.command("verify")
def verify_file(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(help="A receipt, a model or an exported ledger.", metavar="FILE")
    ],
    key: Annotated[
        str | None, typer.Option(help="The owner's key or its fingerprint.", metavar="DIGITS")
    ] = None,
    head: KeptHead = None,
    as_json: AsJson = False,
) -> None:
    """Check a receipt offline: is it as it was signed?"""
    from letalone.cli.verify import verify

    verify(path, key=key, head=head, as_json=as_json or context.obj)


def _print_help(context: typer.Context, *, as_json: bool) -> None:
    """The help of a group of commands; as JSON, their names and what each does."""
    if not as_json:
        typer.echo(context.get_help())
        return
    group = cast("Any", context.command)
    children = {name: group.get_command(context, name) for name in group.list_commands(context)}
    commands = {name: child.get_short_help_str(100) for name, child in children.items()}
    found = {"format": 1, "command": context.info_name, "help": group.help, "commands": commands}
    typer.echo(json.dumps(found))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; nothing but a code and words leaves."""
    sys.stdout = sys.stdout or _nowhere()  # there is none where the caller has closed it
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal without Greek letters shows Latin ones, not a traceback.
            stream.reconfigure(errors=IN_PLAIN_LETTERS)
    try:
        code = app(arguments, prog_name="letalone", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # The reader has gone; without this the interpreter complains when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _report(error, as_json="--json" in arguments)


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    from letalone.cli.letters import in_plain_letters

    return in_plain_letters(error)


codecs.register_error(IN_PLAIN_LETTERS, _in_plain_letters)


def _nowhere() -> TextIOWrapper:
    return Path(os.devnull).open("w", encoding="utf-8")


def _report(error: Exception, *, as_json: bool) -> int:
    """Say what was wrong on standard error and return the exit code."""
    if os.environ.get("LETALONE_TRACEBACK"):
        raise error
    kind, message, code = _describe(error)
    if as_json:
        report = {"format": 1, "error": kind, "message": message, "exit_code": code}
        print(json.dumps(report, ensure_ascii=False), file=sys.stderr)
    elif isinstance(error, typer.TyperException) and hasattr(error, "show"):
        cast("Any", error).show()  # with the usage line
    else:
        print(f"Error: {message}", file=sys.stderr)
    return code


def _describe(error: Exception) -> tuple[str, str, int]:
    if isinstance(error, LetaloneError):
        from letalone.cli.wording import in_terminal_words

        return type(error).__name__, in_terminal_words(str(error)), error.exit_code
    if isinstance(error, typer.Abort):
        return "Aborted", "Stopped before the end.", 1
    if isinstance(error, typer.TyperException):
        return "UsageError", error.format_message(), error.exit_code
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        return type(error).__name__, f"{error.strerror or type(error).__name__}{where}", 1
    # The text of an unforeseen exception may quote data, so it is not shown.
    hint = "LETALONE_TRACEBACK=1 shows where; look it over before you send it to anyone."
    return "InternalError", f"letalone failed ({type(error).__name__}). {hint}", 1
