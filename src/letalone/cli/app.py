"""The table of commands, and how an error leaves.

A command is a row of `COMMANDS`, and what can be typed after it is declared in one of `FILES`, with
the words of the row as its help. The file is loaded when one of its commands is chosen.

Exit codes: 0 done; 1 a fault of letalone or of the machine; 2 wrong usage; 3 the budget
does not allow it; 4 not supported; 5 the owner has to act; 6 a ledger or a receipt was
changed; 7 a check found something (audit, lint). With --json the result is one JSON object
on standard output. An error is one JSON object on standard error, with its code, facts and remedies
as the service has them, and standard output stays empty, so that a pipe never takes an error for an
answer.
"""

import codecs
import json
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.main import get_command

from letalone.cli.typed import AsJson, TableGroup, print_help
from letalone.errors import LetaloneError

COMMANDS = {
    "demo": "Ask sample data of a hospital two questions, privately.",
    "init": "Write the schema file of a table: what is public about it.",
    "convert": "Make a Parquet file of a CSV or an Excel file.",
    "query": "Ask a table in SQL: a private answer, with ranges.",
    "shell": "Ask question after question, with the budget in the prompt.",
    "train": "Learn to predict a column: a private model, with its receipt.",
    "predict": "Apply a model to a table.",
    "describe": "Show what is public about a table, and the budget left.",
    "anonymity": "How anonymous a table is: k, l, t; and make it so.",
    "noise": "Add noise to numbers: private answers, with the error.",
    "account": "What several answers reveal together, with proven bounds.",
    "calibrate": "Find the noise, number or rate that keeps a promise.",
    "audit": "Test whether a mechanism keeps its claimed epsilon.",
    "lint": "Find privacy problems in a script or notebook.",
    "doctor": "Check this installation: versions, extras, random bits.",
    "verify": "Check offline that a receipt is unchanged since it was signed.",
    "explain": "Explain a word (delta, budget, ...), a number or a receipt.",
    "ledger": "Look at the ledger: what was spent, and on what.",
    "serve": "Let others ask: a service with budgets, purposes and a ledger.",
    "survey": "Ask people who keep their answers to themselves.",
    "completion": "Let bash, zsh or fish complete commands and options.",
    "attack": "What an attacker learns without and with privacy.",
}
FILES = {
    "trust.attack": ("attack",),
    "noise.noise_commands": ("noise", "account", "calibrate", "explain"),
    "tables.table_commands": (
        "demo", "init", "convert", "query", "shell", "train", "predict", "describe", "anonymity",
    ),
    "trust.trust_commands": (
        "audit", "lint", "doctor", "verify", "ledger", "serve", "survey", "completion",
    ),
}  # fmt: skip
# Whose errors come from functions of Python, and options that Python calls otherwise.
SAID_IN_OPTIONS = ("anonymity", "attack", "audit", "serve", "train")
ALSO = {
    "on": "quasi_identifiers",
    "pattern": "patterns",
    "spark_schema": "spark_schemas",
    "time_step": "time_step_seconds",
}
INTERRUPTED = 130
COMPLETING = "_LETALONE_COMPLETE"  # what a shell sets that asks how a word may go on
IN_PLAIN_LETTERS = "letalone.plain"
# Where a terminal cannot show a sign: a Latin letter or a likeness of it. Signs of tables and
# pictures have likenesses of one character, so that columns stay straight.
LIKENESSES = {
    "ε": "e", "δ": "d", "β": "b", "σ": "s", "≤": "<=", "≥": ">=", "±": "+-", "√": "sqrt ",
    "∞": "inf", "‖": "|", "…": "...", "·": ".", "░": ":", "█": "#", "│": "|", "─": "-", "└": "+",
    "×": "x", "−": "-", "’": "'", "Δ": "D", "₁": "1", "∈": "in",
}  # fmt: skip


class Commands(TableGroup):
    """The rows of the table; the help loads none of them and fits one screen."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(COMMANDS, _load, **attributes)

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """What it is, in a line that the commands follow."""
        formatter.write(f"{self.help}. Commands:\n")

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """The commands: the few options stand in the usage line."""
        with formatter.indentation():
            formatter.write_dl(list(COMMANDS.items()))


def _load(name: str) -> Any:
    file = next(file for file, names in FILES.items() if name in names)
    declared: Any = get_command(import_module(f"letalone.cli.{file}").app)
    return declared.commands[name]


app = typer.Typer(
    name="letalone",
    cls=Commands,
    help="Answers about sensitive data that expose no one. Try: letalone demo",
    options_metavar="[--version] [--json] [-h, --help]",
    add_completion=False,  # `letalone completion` prints it
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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

        content = {"format": 1, "command": "version", "version": __version__}
        typer.echo(json.dumps(content) if as_json else f"letalone {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print_help(context, as_json=as_json)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; nothing but a code and words leaves."""
    sys.stdout = sys.stdout or _nowhere()  # there is none where the caller has closed it
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal without Greek letters shows Latin ones, not a traceback.
            stream.reconfigure(errors=IN_PLAIN_LETTERS)
    if COMPLETING in os.environ:
        import_module("typer.completion").completion_init()
    try:
        code = app(arguments, prog_name="letalone", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # The reader has gone; without this the interpreter complains when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as stopped:
        for note in getattr(stopped, "__notes__", ()):
            print(note, file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        return _report(error, arguments)


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """What `codecs.register_error` asks for: the likenesses, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(LIKENESSES.get(sign, "?") for sign in signs), error.end


codecs.register_error(IN_PLAIN_LETTERS, _in_plain_letters)


def _nowhere() -> TextIOWrapper:
    return Path(os.devnull).open("w", encoding="utf-8")


def _report(error: Exception, arguments: list[str]) -> int:
    """Say what was wrong on standard error and return the exit code."""
    as_json = "--json" in arguments
    if os.environ.get("LETALONE_TRACEBACK"):
        raise error
    kind, message, code = _describe(error, arguments)
    if as_json:
        report = {"format": 1, "error": kind, "message": message, "exit_code": code}
        print(json.dumps(report | _members(error), ensure_ascii=False), file=sys.stderr)
    elif isinstance(error, typer.TyperException) and hasattr(error, "show"):
        cast("Any", error).show()  # with the usage line
    else:
        print(f"Error: {message}", file=sys.stderr)
    return code


def _members(error: Exception) -> dict[str, Any]:
    """What programs read of an error, as they do in answers of the service."""
    if not isinstance(error, LetaloneError):
        usage = isinstance(error, typer.TyperException) and not isinstance(error, typer.Abort)
        code = "VALUE_NOT_ALLOWED" if usage else "OTHER"
        return {"code": code, "facts": {}, "remedies": []}
    from letalone.errors.members import members_on

    return members_on("options", error.problem, _write_fact)


def _write_fact(fact: Any) -> Any:
    """A budget as other commands print it; all else as text."""
    if not hasattr(fact, "epsilon"):
        return str(fact)
    return {"epsilon": str(fact.epsilon), "delta": str(fact.delta)}


def _options(arguments: list[str]) -> dict[str, str]:
    """The options of the command that was typed, by the names of its arguments in Python."""
    command = get_command(app)
    if not set(SAID_IN_OPTIONS) & set(arguments[:1]):
        return {}
    for word in (word for word in arguments if not word.startswith("-")):
        command = getattr(command, "commands", {}).get(word, command)
    options = {
        str(parameter.name): parameter.opts[0]
        for parameter in command.params
        if parameter.opts[0].startswith("--")
    }
    return options | {also: options[name] for name, also in ALSO.items() if name in options}


def _describe(error: Exception, arguments: list[str]) -> tuple[str, str, int]:
    if isinstance(error, LetaloneError):
        from letalone.errors.in_options import in_options

        options = _options(arguments)
        words = in_options(error.problem, lambda name: options.get(name, name))
        return type(error).__name__, words, error.exit_code
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
