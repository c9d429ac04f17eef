"""`letalone query FILE "SELECT …"`: a private answer, its error bars, and what is left.

Everything that can be refused from public facts is refused before the ledger hears of it,
with a command that would be answered. Then the budget is charged, and only then are the data
looked at.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from math import floor, log10
from pathlib import Path

from letalone.answers.figure import FORMATS
from letalone.cli.answer import Answered, Written, print_answer
from letalone.cli.commands.query import QueryOptions
from letalone.cli.dry_run import print_preview
from letalone.cli.mending import advice
from letalone.cli.offered import to_type, to_type_again
from letalone.cli.places import ledger_path
from letalone.cli.ready import Ready, ready
from letalone.cli.request import about, completed, table_in
from letalone.cli.screen import how_to_install, progress_bar
from letalone.cli.source import Named, Source, known_data_set, offering, read_source
from letalone.cli.two_steps import released
from letalone.engines.sources import WhichTable
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError
from letalone.ledger import DataSet
from letalone.session import ROW, Release
from letalone.session.opening import open as open_table
from letalone.sql.text import EXPLAIN

LEAST = Fraction(1, 1000)  # below it an answer is of little use


def query(request: QueryOptions) -> None:
    """Ask, and print what came back; with --dry-run, what it would cost."""
    source = _source(request)
    path = ledger_path(request.file, request.ledger)
    known = known_data_set(path, source.schema.name)
    if EXPLAIN.match(request.sql):
        request = replace(request, dry_run=True)
    asked = _ready(request, source, known)
    if request.dry_run:
        print_preview(asked, known)
        return
    _check_targets(request)
    try:
        found = _answered(asked, path, known)
    except BudgetExceeded as error:
        words = f"{error}{_affordable(asked, source, path)}"
    else:
        written = _written(found.release, request)
        print_answer(found, written)
        if written.failed is not None:
            raise written.failed
        return
    raise BudgetExceeded(words)


def _source(request: QueryOptions) -> Source:
    """The table by the name that was given; of several in a DuckDB file, FROM's is offered."""
    try:
        found = read_source(request.file, table=request.table)
        name = found.schema.name if request.name is None else request.name
        return replace(found, schema=replace(found.schema, name=name))
    except WhichTable as error:
        named = table_in(request.sql)
        tables = tuple(name for name in error.tables if name == named) or error.tables
        which = WhichTable(str(error), tables)
    raise offering(which, request.file, lambda named: _with_table(request, named))


def _with_table(request: QueryOptions, named: Named) -> str:
    sql = about(request.sql, named.name)
    return to_type_again("query", request, file=named.file, table=named.table, sql=sql)


def _ready(request: QueryOptions, source: Source, known: DataSet | None) -> Ready:
    try:
        return ready(request, source, known)
    except LetaloneError as error:
        kind = ParameterError if isinstance(error, ParameterError) else type(error)
        words = f"{error}{advice(error, request, source, known)}"
    raise kind(words)


def _check_targets(request: QueryOptions) -> None:
    """Before anything is paid: the files that are to be written can be."""
    for path in (request.plot, request.receipt):
        if path is not None and not path.absolute().parent.is_dir():
            raise ParameterError(f"There is no folder {path.parent}. Make it, or write elsewhere.")
    if request.plot is not None and find_spec("matplotlib") is None:
        raise ParameterError(
            f"--plot needs matplotlib, which is not installed: {how_to_install('plot')}. Without a"
            f" picture:{to_type_again('query', request, plot=None)}"
        )
    if request.plot is not None and request.plot.suffix.lower() not in FORMATS:
        raise ParameterError(
            f"--plot is {request.plot}, but must end in {', '.join(FORMATS)}. Try:"
            + to_type_again("query", request, plot=request.plot.with_suffix(".svg"))
        )


def _written(release: Release, request: QueryOptions) -> Written:
    """The files; what cannot be written is said beside the answer, which was paid for."""
    plot, receipt = request.plot, request.receipt
    remarks: list[str] = []
    failed: Exception | None = None
    try:
        if plot is not None:
            release.plot(plot)
    except ParameterError as error:
        remarks.append(f"{plot} was not written. {error}")
        plot = None
    except OSError as error:
        plot, failed = None, error
    try:
        if receipt is not None:
            release.save(receipt)
    except (LetaloneError, OSError) as error:
        receipt, failed = None, error
    return Written(plot, receipt, tuple(remarks), failed)


def _answered(asked: Ready, path: Path, known: DataSet | None) -> Answered:
    request = asked.request
    with (
        progress_bar() as progress,
        open_table(
            request.file,
            unit=asked.schema.unit or ROW,
            budget=asked.budget or (known and known.budget),
            ledger=path,
            name=request.name,
            table=request.table,
            side_table=request.side_table,
            progress=progress,
        ) as session,
    ):
        step = released(asked, session)
        epsilon, delta = asked.answer.epsilon, asked.answer.delta
        more = session.how_many_more(step.question, epsilon=epsilon, delta=delta)
        left = step.question.table.data_set()
        return Answered(asked, step.release, step.bounds, left, more, path)


def _affordable(asked: Ready, source: Source, path: Path) -> str:
    """A command that the budget allows; where nothing is left, where to look."""
    known = known_data_set(path, source.schema.name)
    whole = completed(replace(asked.request, budget=None), source, known)
    for epsilon in _smaller(known.remaining.epsilon if known else Fraction(0)):
        tried = ready(replace(whole, epsilon=epsilon), source, known)
        if known is not None and tried.fits(known.state):
            return f" Try:{to_type_again('query', tried.request)}"
    return (
        " Questions that were answered before are still free; only the owner can allow more. Try:"
        + to_type("ledger", "show", str(path))
    )


def _smaller(left: Fraction) -> Iterator[float]:
    """What is left, rounded down to two digits, then ever less."""
    while left >= LEAST:
        unit = Fraction(10) ** (floor(log10(left)) - 1)
        yield float(left // unit * unit)
        left /= 2
