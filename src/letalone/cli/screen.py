"""One way to print: words and tables for people, one JSON object for programs.

A number that is shown as a bound is rounded towards caution: an epsilon and a
probability of being found out upwards, an interval outwards.
"""

import json
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from math import floor, log10
from pathlib import Path
from shutil import which
from textwrap import fill

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from letalone.answers import promise
from letalone.privacy.neighbours import Neighbours, relation_verb

WIDEST = 80  # a longer line is tiring to read, however wide the terminal is
MOST_DIGITS = 1500  # more than a float has, before and after the point
PLAIN = range(-4, 15)  # outside these powers of ten a number is written with an exponent
LARGE = 1e15  # an error bar above this has no use for its last digits
UNBROKEN = (" = ", " %")  # no line ends beside an equals sign, or before a percent sign
TOGETHER = "\N{NO-BREAK SPACE}"  # a space at which `flowing` does not break a line


def console(widest: int = WIDEST, *, stderr: bool = False) -> Console:
    """A console that is at most so many columns wide and leaves numbers uncoloured."""
    console = Console(highlight=False, stderr=stderr)
    if console.width <= widest:
        return console
    return Console(highlight=False, stderr=stderr, width=widest)


def table(*columns: str, right: Sequence[str] = (), rows: Iterable[Iterable[str]] = ()) -> Table:
    """A table with these headings; those in `right` are aligned to the right."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        # A number that is cut off would be another number.
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def print_json(command: str, content: Mapping[str, object]) -> None:
    """Print the result of a command as one JSON object."""
    print(json_text(command, content))


def json_text(command: str, content: Mapping[str, object]) -> str:
    """The result of a command as one JSON object, in one line."""
    document = {"format": 1, "command": command, **content}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, default=_as_text)


def is_terminal() -> bool:
    """Whether somebody looks at what is printed; a pipe or a file takes all of it."""
    return sys.stdout.isatty()


def _as_text(value: object) -> str:
    """What JSON has no kind for, and is written as text."""
    if isinstance(value, Path | date | Fraction):
        return str(value)
    raise TypeError(f"{type(value).__name__} is nothing that is printed as JSON")


def say(*paragraphs: str) -> None:
    """Print paragraphs in lines that fit; what follows a line break in one stays as it is."""
    width = console().width
    for paragraph in paragraphs:
        words, *lines = paragraph.split("\n")
        put(flowing(words, width), *lines)


def put(*parts: str | Table) -> None:
    """Print tables, and lines as they are: none is broken, so that it can be copied."""
    screen = console()
    for part in parts:
        screen.print(part, markup=False, soft_wrap=isinstance(part, str))


def program_name() -> str:
    """What to type to run letalone again: a path, where the shell would not find it."""
    started = Path(sys.argv[0])
    return str(started) if started.name == "letalone" and not which("letalone") else "letalone"


def rounded_up(number: float, digits: int) -> str:
    """So many digits after the point, and never less than the number."""
    return _round_to(number, digits, ROUND_CEILING)


def rounded_down(number: float, digits: int) -> str:
    """So many digits after the point, and never more than the number."""
    return _round_to(number, digits, ROUND_FLOOR)


def _round_to(number: float, digits: int, way: str) -> str:
    with localcontext(prec=MOST_DIGITS):
        unit = Decimal(1).scaleb(-digits)
        return f"{Decimal(number).quantize(unit, rounding=way):,f}"


def in_short(number: float) -> str:
    """A positive number as typed, or rounded up to six digits where that is shorter."""
    return min(_decimal_text(Decimal(repr(number))), _decimal_text(_up(number, 6)), key=len)


def number_text(number: float) -> str:
    """A number as people write it: 1e-6."""
    return _decimal_text(Decimal(repr(number)))


def in_two_digits(number: float) -> str:
    """A positive number rounded up to two digits: 0.014, 1.4e-5, 2,800."""
    return _decimal_text(_up(number, 2), plain=",f")


def _up(number: float, digits: int) -> Decimal:
    return Context(prec=digits, rounding=ROUND_CEILING).plus(Decimal(number))


def _decimal_text(number: Decimal, *, plain: str = "f") -> str:
    with localcontext(prec=MOST_DIGITS):
        short = number.normalize()
    if short.adjusted() in PLAIN:
        return format(short, plain)
    return f"{short:e}".replace("e+", "e")


def flowing(text: str, width: int) -> str:
    """A paragraph in lines of this width, broken at ordinary spaces only: not within ε = 1."""
    for signs in UNBROKEN:
        text = text.replace(signs, signs.replace(" ", TOGETHER))
    return fill(text, width, break_on_hyphens=False).replace(TOGETHER, " ")


def printable(text: str) -> str:
    """Values of a table may be in it: signs that could steer a terminal are shown as ?."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def protection_text(neighbours: Neighbours) -> str:
    """Whose privacy is protected, in the words of every command."""
    return f"each {neighbours.unit or 'unit'} ({relation_verb(neighbours.relation)} one)"


def percent_text(probability: float) -> str:
    """A probability in percent, rounded up, in more digits where it would seem to be 100 %."""
    percent = 100 * probability
    if percent >= 99.9:  # the float: above the number, so a digit after the point would say 100.0
        return promise.as_percent(probability)
    return f"{rounded_up(percent, 1)} %"


def with_error(value: float, error: float) -> tuple[str, str]:
    """A value and its error bar, short, the bar widened by what the value was rounded."""
    if error >= LARGE:
        with localcontext(prec=MOST_DIGITS):
            unit = Decimal(1).scaleb(Decimal(error).adjusted() - 2)
            shown = (Decimal(value) / unit).to_integral_value() * unit
            bar = (Decimal(error) / unit).to_integral_value(ROUND_CEILING) * unit + unit
            return _decimal_text(shown), _decimal_text(bar)
    if isinstance(value, int):
        return f"{value:,}", rounded_up(error, 0)
    digits = max(0, 2 - floor(log10(error)))
    return f"{value:,.{digits}f}", rounded_up(error + 0.5 * 10.0**-digits, digits)


@contextmanager
def progress_bar(words: str = "Drawing random ranks") -> Generator[Callable[[float], None] | None]:
    """What to call with fractions of the work done; None where nobody would see it.

    It is on the screen between the first call and that with 1, so that answers are printed without
    it; and it never takes standard output, which may go to a file.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    bar = Progress(
        console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )
    task = bar.add_task(words, total=1.0)

    def show(done: float) -> None:
        bar.update(task, completed=done)
        bar.start() if done < 1 else bar.stop()

    try:
        yield show
    finally:
        bar.stop()


@contextmanager
def waiting(words: str) -> Generator[None]:
    """Says what is waited for, until the end of the block."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(f"{words} …"):
        yield
