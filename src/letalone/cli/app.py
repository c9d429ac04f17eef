"""What can be typed, and how an error leaves.

Exit codes: 0 done; 1 a fault of letalone or of the machine; 2 wrong usage; 3 the budget
does not allow it; 4 not supported. With --json the result is one JSON object on standard
output. An error is one JSON object on standard error, and standard output stays empty,
so that a pipe never takes an error for an answer.
"""

import json
import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from letalone.errors import LetaloneError

INTERRUPTED = 130
MECHANISMS = ("laplace", "geometric", "gaussian", "discrete-gaussian")

app = typer.Typer(
    name="letalone",
    help="Answers about sensitive data that expose no one in it.",
    epilog="Start with: letalone demo",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
explain = typer.Typer(
    name="explain",
    help="Say what a number means, in words and in a picture.",
    rich_markup_mode=None,
)
app.add_typer(explain)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Epsilon = Annotated[
    float | None, typer.Option(help="The privacy to spend. Smaller is more private.")
]
Delta = Annotated[float | None, typer.Option(help="Probability that the promise may fail.")]
Confidence = Annotated[float, typer.Option(help="How often the error bar must be right.")]


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    as_json: AsJson = False,
) -> None:
    """Answers about sensitive data that expose no one in it."""
    context.obj = as_json
    if version:
        from letalone import __version__

        typer.echo(json.dumps({"version": __version__}) if as_json else f"letalone {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def demo(context: typer.Context, as_json: AsJson = False) -> None:
    """Ask a made-up hospital five questions, privately."""
    from letalone.cli.demo import demo

    demo(as_json=as_json or context.obj)


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
        float | None,
        typer.Option(help="The most one person can change all values together (required)."),
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    scale: Annotated[
        float | None, typer.Option(help="Size of the noise, instead of --epsilon.")
    ] = None,
    sigma: Annotated[
        float | None, typer.Option(help="Size of Gaussian noise, instead of --epsilon.")
    ] = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
) -> None:
    """Add noise to numbers: private answers, error bar, price."""
    from letalone.cli.noise import Amount, noise

    amount = Amount(sensitivity=sensitivity, epsilon=epsilon, delta=delta, scale=scale, sigma=sigma)
    as_json = as_json or context.obj
    noise(mechanism, values or [], amount, confidence=confidence, as_json=as_json)


@app.command()
def doctor(context: typer.Context, as_json: AsJson = False) -> None:
    """Check this installation: versions, extras, random bits."""
    from letalone.cli.doctor import doctor

    doctor(as_json=as_json or context.obj)


@explain.callback(invoke_without_command=True)
def start_explaining(context: typer.Context, as_json: AsJson = False) -> None:
    """Say what a number means, in words and in a picture."""
    context.obj = as_json or context.obj
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@explain.command("epsilon")
def explain_epsilon(
    context: typer.Context,
    value: Annotated[float, typer.Argument(help="The epsilon to explain.", metavar="VALUE")] = 1.0,
    delta: Annotated[float, typer.Option(help="Probability that the promise may fail.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """What an epsilon promises to a person in the data."""
    from letalone.cli.explain_epsilon import explain_epsilon

    explain_epsilon(value, delta=delta, as_json=as_json or context.obj)


@explain.command("error")
def explain_error(
    context: typer.Context,
    epsilon: Annotated[float, typer.Option(help="The privacy spent.")] = 1.0,
    delta: Annotated[float, typer.Option(help="The delta of the Gaussian noise.")] = 1e-6,
    people: Annotated[int, typer.Option(help="People, where the dimension varies.")] = 10_000,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw to this file (.svg, .png, .pdf).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What privacy costs in accuracy, and which noise to choose."""
    from letalone.cli.explain_error import Setting, explain_error

    setting = Setting(epsilon=epsilon, delta=delta, people=people)
    explain_error(setting, plot=plot, as_json=as_json or context.obj)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; nothing but a code and words leaves."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal without Greek letters shows a question mark, not a traceback.
            stream.reconfigure(errors="replace")
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
        return type(error).__name__, str(error), error.exit_code
    if isinstance(error, typer.Abort):
        return "Aborted", "Stopped before the end.", 1
    if isinstance(error, typer.TyperException):
        return "UsageError", error.format_message(), error.exit_code
    if isinstance(error, OSError):
        return type(error).__name__, f"{error.strerror}: {error.filename}", 1
    # The text of an unforeseen exception may quote data, so it is not shown.
    hint = "LETALONE_TRACEBACK=1 shows where; look it over before you send it to anyone."
    return "InternalError", f"letalone failed ({type(error).__name__}). {hint}", 1
