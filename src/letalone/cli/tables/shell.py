"""`letalone shell FILE`: question after question about one table, with the budget in the prompt.

A question ends with a semicolon and may have options behind it: `SELECT …; --keys ward=A,B`. It is
run as the words that `letalone query` would be typed with, so it is priced, charged, shown and
refused in the same way; a refused one ends nothing. A line that begins with `letalone` is run as
it stands, so that a command which a refusal offers can be pasted.

  Tested:   tests/cli/test_shell.py
"""

import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import TokenType
from sqlglot.tokens import Tokenizer

from letalone.cli.app import run
from letalone.cli.offered import given_options
from letalone.cli.screen import put, say
from letalone.cli.tables.asked_table import open_to_ask
from letalone.cli.tables.table_commands import QueryOptions, ShellOptions
from letalone.cli.tables.table_option import known_data_set
from letalone.engines.catalogue import ENGINES
from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.exact.typed import expand_home
from letalone.plans.schema import Schema
from letalone.privacy.bounds import six
from letalone.privacy.filters import left_in_words
from letalone.sources.files import DATABASES, table_name
from letalone.sql.names import quote_name

HISTORY = Path("~/.letalone/shell_history")  # of questions that were answered, and no others
MOST_KEPT = 1000
NEVER_ENDED = 2
PROGRAM = "letalone "
WORDS = ("help", "exit", "quit")  # without their point, too: no question begins so
NO_BUDGET = " No budget is set yet: the first question names it, as in ; --budget 2:1e-6"
HELP = """\
A question ends with ; and may have options behind it, as in letalone query:
  SELECT ward, COUNT(*) FROM visits GROUP BY ward; --keys ward=A,B
.preview SELECT …;    its price and errors; spends nothing
.epsilon 0.1          the ε of each question from now on; .delta 1e-8 likewise
.keys ward=A,B        groups, from now on; .bounds cost=0:1000 likewise
.settings             what is set; .clear forgets keys, bounds and δ
.budget               what is left; .history lists the questions asked
.columns              what is public about the table; .tables lists tables
.quit                 ends it (or quit); Ctrl-C drops what is typed and spends nothing"""


def shell(options: ShellOptions) -> int:
    """Ask until there is nothing more to read; the exit code of the last question that failed."""
    session = ShellSession(options, *_look(options))
    is_seen = sys.stdin.isatty() and not options.as_json
    if is_seen:
        _use_readline(session)
        say(_welcome(session))
    code = 0
    for text in _inputs(session, is_seen=is_seen):
        try:
            end = session.take(text)
        except ParameterError as error:
            _complain(f"Error: {error}")
            end = error.exit_code
        if end is None:
            break
        code = end or code
    return 0 if is_seen else code


def _look(options: ShellOptions) -> tuple[Schema, Path]:
    """The table's public schema and where its ledger lies; or the error that says what is wrong."""
    with open_to_ask(_as_question(options)) as table:
        return table.look.schema, table.ledger


def _as_question(options: ShellOptions) -> QueryOptions:
    return QueryOptions(
        options.file, "", ledger=options.ledger, table=options.table, name=options.name
    )


@dataclass(slots=True)
class ShellSession:
    """What was typed before: the settings, and what of a question has no end yet."""

    options: ShellOptions
    schema: Schema
    ledger: Path
    settings: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    typed: str = ""

    def __post_init__(self) -> None:
        for name, value in given_options(self.options):
            values = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
            if name:
                self.settings[name] = [str(value) for value in values if value is not True]

    @property
    def prompt(self) -> str:
        """The table with what is left of its budget; or that a question goes on."""
        if self.typed:
            return "   ...> "
        known = known_data_set(self.ledger, self.schema.name)
        rest = "" if known is None else f" ε {six(known.remaining.epsilon, up=False)} left"
        return f"{self.schema.name}{rest}> "

    def take(self, line: str) -> int | None:
        """Do what a line says; the exit code of the last that was done, None to end it all."""
        first = line.split()[:1]
        bare = line.strip().rstrip(";").strip().lower()
        if not self.typed and bare in WORDS:
            return self._command(f".{bare}")
        if first and first[0].startswith(".") and (not self.typed or first[0] in DOTS):
            return self._command(line.strip())
        if not self.typed and line.startswith(PROGRAM):
            return run(_words(line)[1:])
        self.typed = f"{self.typed}\n{line}" if self.typed else line
        code = 0
        while (parts := split_question(self.typed)) is not None:
            sql, more, self.typed = parts
            code = self.ask(sql, more) or code
        self.typed = self.typed if self.typed.strip() else ""
        return code

    def ask(self, sql: str, more: str = "") -> int:
        """What `letalone query` does with these words."""
        extra = _words(more)
        if not sql.strip():
            return 0
        code = run(["query", self.options.file, sql, *self.given_words(), *extra])
        if code == 0:
            _keep(sql, more)
        return code

    def given_words(self) -> list[str]:
        """The settings as options of a command."""
        return [
            word
            for name, values in self.settings.items()
            for word in ([part for value in values for part in (name, value)] or [name])
        ]

    def _command(self, line: str) -> int | None:
        name, _, rest = line.partition(" ")
        command = DOTS.get(name)
        if command is None:
            _complain(f"{name} is not a command here.{did_you_mean(name, DOTS)} .help lists all.")
            return NEVER_ENDED
        return command(self, rest.strip())

    def set(self, name: str, value: str) -> int:
        """Keep an option for all later questions; keys and bounds are added to those before."""
        if not value:
            _complain(f"{name.replace('--', '.')} needs a value, as in .help.")
            return NEVER_ENDED
        several = name in ("--keys", "--bounds")
        before = self.settings.get(name, []) if several else []
        column = value.partition("=")[0]
        kept = [word for word in before if word.partition("=")[0] != column]
        self.settings[name] = [*kept, value]
        return 0

    def show_settings(self) -> int:
        """Print them as options."""
        put(" ".join(self.given_words()) or "Nothing is set.")
        return 0

    def clear(self) -> int:
        """Forget keys, bounds and δ."""
        for name in ("--keys", "--bounds", "--delta"):
            self.settings.pop(name, None)
        return 0

    def show_budget(self) -> int:
        """Print what is left."""
        known = known_data_set(self.ledger, self.schema.name)
        if known is None:
            put(NO_BUDGET.strip())
        else:
            put(f"Left: about {left_in_words(known.state)} of {known.budget} ({self.ledger})")
        return 0

    def show_tables(self) -> int:
        """Print the tables of the file, or the one that there is."""
        is_database = Path(self.options.file).suffix.lower() in DATABASES
        places = ENGINES.tables(self.options.file) if is_database else ()
        put(*([table_name(*place) for place in places] or [quote_name(self.schema.name)]))
        return 0

    def describe(self) -> int:
        """What is public about the table."""
        kept = ["--ledger", str(self.ledger)]
        which = [] if self.options.table is None else ["--table", self.options.table]
        return run(["describe", self.options.file, *which, *kept])

    def history(self) -> int:
        """The questions asked."""
        if not self.ledger.exists():
            put("No question was asked yet.")
            return 0
        return run(["ledger", "history", str(self.ledger), self.schema.name])

    def preview(self, text: str) -> int:
        """The price and the errors of a question."""
        sql, more, _ = split_question(text if ";" in text else f"{text};") or (text, "", "")
        return run(
            ["query", self.options.file, sql, *self.given_words(), *_words(more), "--dry-run"]
        )


DOTS: dict[str, Callable[[ShellSession, str], int | None]] = {
    ".help": lambda _, __: put(HELP) or 0,
    ".budget": lambda session, _: session.show_budget(),
    ".tables": lambda session, _: session.show_tables(),
    ".columns": lambda session, _: session.describe(),
    ".history": lambda session, _: session.history(),
    ".preview": ShellSession.preview,
    ".epsilon": lambda session, value: session.set("--epsilon", value),
    ".delta": lambda session, value: session.set("--delta", value),
    ".keys": lambda session, value: session.set("--keys", value),
    ".bounds": lambda session, value: session.set("--bounds", value),
    ".settings": lambda session, _: session.show_settings(),
    ".clear": lambda session, _: session.clear(),
    ".quit": lambda _, __: None,
    ".exit": lambda _, __: None,
}


def split_question(text: str) -> tuple[str, str, str] | None:
    """A question, its options and what follows; None while it has no semicolon outside quotes."""
    try:
        tokens = Tokenizer().tokenize(text)
    except TokenError:  # a quote or a comment that is not closed yet
        return None
    end = next((token.end for token in tokens if token.token_type is TokenType.SEMICOLON), None)
    if end is None:
        return None
    line, _, after = text[end + 1 :].partition("\n")
    if line.lstrip().startswith("--") and line.lstrip()[2:3].isalpha():
        return text[:end], line.strip(), after
    return text[:end], "", text[end + 1 :].lstrip()


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise ParameterError(f"A quote is not closed: {text.strip()}") from None


def _inputs(session: ShellSession, *, is_seen: bool) -> Iterator[str]:
    """The lines that are typed or piped; Ctrl-C drops what has no end yet."""
    while True:
        try:
            yield input(session.prompt if is_seen else "")
        except KeyboardInterrupt:
            session.typed = ""
            _complain("Dropped: nothing was asked. .quit ends it.")
            if not is_seen:
                raise
        except EOFError:
            break
    if is_seen:
        put("")
    elif session.typed.strip():
        yield ";"  # what a pipe ends with is a question, too


def _complain(words: str) -> None:
    print(words, file=sys.stderr)


def _welcome(session: ShellSession) -> str:
    columns = ", ".join(column.name for column in session.schema.columns[:8])
    more = len(session.schema.columns) - 8
    listed = f"{columns} and {more} more" if more > 0 else columns
    price = "" if "--epsilon" in session.settings else " Set the ε of a question: .epsilon 0.1"
    known = known_data_set(session.ledger, session.schema.name)
    budget = NO_BUDGET if known is None and "--budget" not in session.settings else ""
    return f"{session.schema.name}: {listed}. End a question with ; and see .help.{price}{budget}"


def _use_readline(session: ShellSession) -> None:
    """Arrow keys, and Tab for names; nothing where the platform has no readline."""
    try:
        import readline
    except ImportError:
        return
    words = [*DOTS, quote_name(session.schema.name), *(c.name for c in session.schema.columns)]

    def complete(start: str, number: int) -> str | None:
        matching = [word for word in words if word.lower().startswith(start.lower())]
        return matching[number] if number < len(matching) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n,()=;")
    readline.parse_and_bind("tab: complete")
    place = expand_home(HISTORY)
    if place.exists():
        readline.read_history_file(place)


def _keep(sql: str, more: str) -> None:
    """Write an answered question to the history: a refused one may name somebody."""
    if not sys.stdin.isatty():
        return
    place = expand_home(HISTORY)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = place.read_text(encoding="utf-8").splitlines() if place.exists() else []
        line = f"{sql}; {more}".replace("\n", " ").strip()
        place.write_text("\n".join([*before[-MOST_KEPT:], line]) + "\n", encoding="utf-8")
        place.chmod(0o600)
    except OSError:
        return
