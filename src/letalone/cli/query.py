"""`letalone query FILE "SELECT …"`: a private answer, its error bars, and what is left.

Everything that can be refused from public facts is refused before the ledger hears of it,
with a command that would be answered. Then the budget is charged, and only then are the data
looked at.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from math import floor, log10
from pathlib import Path

from letalone.answers.picture import FORMATS
from letalone.cli.answer import Answered, Written, print_answer, print_preview
from letalone.cli.mending import advice
from letalone.cli.offered import to_type
from letalone.cli.places import ledger_path
from letalone.cli.progress import bar
from letalone.cli.ready import Bounds, Ready, ready
from letalone.cli.request import Request, completed, table_in
from letalone.cli.screen import how_to_install
from letalone.cli.source import Source, known_data_set, read_source
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError
from letalone.exact.typed import as_typed
from letalone.ledger import DataSet
from letalone.plans.trees import Computable
from letalone.privacy.filters import brief
from letalone.session import ROW, Query, Release, Session
from letalone.session.opening import open as open_table
from letalone.session.releasing import priced
from letalone.sql.text import EXPLAIN

LEAST = Fraction(1, 1000)  # below it an answer is of little use


def query(request: Request) -> None:
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


def _source(request: Request) -> Source:
    """The table; where a DuckDB file has several, the one in FROM is offered."""
    try:
        return read_source(request.file, table=request.table)
    except ParameterError as error:
        words = str(error)
    named = table_in(request.sql) if request.table is None else None
    raise ParameterError(f"{words}{_with_table(request, named)}")


def _with_table(request: Request, table: str | None) -> str:
    if table is None:
        return ""
    try:
        read_source(request.file, table=table)
    except ParameterError:
        return ""
    return f" Try:{request.command(table=table)}"


def _ready(request: Request, source: Source, known: DataSet | None) -> Ready:
    try:
        return ready(request, source, known)
    except LetaloneError as error:
        kind = ParameterError if isinstance(error, ParameterError) else type(error)
        words = f"{error}{advice(error, request, source, known)}"
    raise kind(words)


def _check_targets(request: Request) -> None:
    """Before anything is paid: the files that are to be written can be."""
    for path in (request.plot, request.receipt):
        if path is not None and not path.absolute().parent.is_dir():
            raise ParameterError(f"There is no folder {path.parent}. Make it, or write elsewhere.")
    if request.plot is not None and find_spec("matplotlib") is None:
        raise ParameterError(
            f"--plot needs matplotlib, which is not installed: {how_to_install('plot')}. Without a"
            f" picture:{request.command(plot=None)}"
        )
    if request.plot is not None and request.plot.suffix.lower() not in FORMATS:
        raise ParameterError(
            f"--plot is {request.plot}, but must end in {', '.join(FORMATS)}. Try:"
            + request.command(plot=request.plot.with_suffix(".svg"))
        )


def _written(release: Release, request: Request) -> Written:
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
        bar() as progress,
        open_table(
            request.file,
            unit=asked.schema.unit or ROW,
            budget=asked.budget or (known and known.budget),
            ledger=path,
            table=request.table,
            progress=progress,
        ) as session,
    ):
        bounds = _bought(asked, session)
        question = _question(asked, session, asked.bounded(bounds), grouped=True)
        epsilon, delta = asked.answer.epsilon, asked.answer.delta
        release = question.release(epsilon=epsilon, delta=delta, confidence=request.confidence)
        more = session.how_many_more(question, epsilon=epsilon, delta=delta)
        return Answered(asked, release, bounds, session.budget, session.remaining, more, path)


def _bought(asked: Ready, session: Session) -> Bounds:
    """The bounds that are bought first, with their share of epsilon."""
    if asked.bounds is None:
        return {}
    question = _question(asked, session, asked.bounds_asked, grouped=False)
    epsilon, confidence = asked.bounds.epsilon, asked.request.confidence
    digest = _digest(question, epsilon=epsilon, confidence=confidence)
    _check_both_fit(asked, question, digest=digest)
    release = question.release(epsilon=epsilon, confidence=confidence)
    (row,) = release.rows()
    ends = {name: (row[f"{name}_lower"], row[f"{name}_upper"]) for name in asked.bought}
    return {name: (as_typed(lower), as_typed(upper)) for name, (lower, upper) in ends.items()}


def _digest(question: Query, *, epsilon: Fraction, confidence: float) -> str:
    found = priced(question.table, question.plan, epsilon=epsilon, confidence=confidence)
    return found.asked.digest


def _check_both_fit(asked: Ready, question: Query, *, digest: str) -> None:
    """Bounds are not bought where nothing would be left for the answer; a repeat is free."""
    table = question.table
    found = table.data_set()
    if asked.fits(found.state) or table.ledger.repeat_of(table.name, digest) is not None:
        return
    error = BudgetExceeded(
        f"Bounds and answer cost ({brief(asked.total)}) together, and do not fit into the budget of"
        f" {table.name!r}, ({found.budget}): about ({brief(found.remaining, up=False)}) is left."
        " Nothing was charged; the refusal is written down."
    )
    table.ledger.refuse(table.name, error, digest=digest)
    raise error


def _question(
    asked: Ready, session: Session, aggregates: Mapping[str, Computable], *, grouped: bool
) -> Query:
    question = session.agg(**aggregates)
    for join in asked.parts.joins:
        frame, on = asked.frames[join.name], dict(join.on)
        question = question.join(frame, on=on, name=join.name)
    if grouped:
        question = replace(question, arrangement=asked.parts.arrangement)
    if asked.parts.where is not None:
        question = question.where(asked.parts.where)
    if grouped and asked.parts.groups:
        question = question.group_by(*asked.parts.groups, keys=asked.keys)
    most = asked.request.max_rows if grouped else asked.rows_for_bounds
    if most is not None:
        question = question.bound(max_rows=most)
    if grouped and asked.request.max_groups is not None:
        question = question.bound(max_groups=asked.request.max_groups)
    return question


def _affordable(asked: Ready, source: Source, path: Path) -> str:
    """A command that the budget allows; where nothing is left, where to look."""
    known = known_data_set(path, source.schema.name)
    whole = completed(replace(asked.request, budget=None), source, known)
    for epsilon in _smaller(known.remaining.epsilon if known else Fraction(0)):
        tried = ready(replace(whole, epsilon=epsilon), source, known)
        if known is not None and tried.fits(known.state):
            return f" Try:{tried.request.command()}"
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
