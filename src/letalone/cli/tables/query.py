"""`letalone query FILE "SELECT …"`: a private answer, its error bars, and what is left.

The table is opened once, the question is priced once. What is refused is refused before the ledger
hears of it, with commands that would be answered. Then the budget is charged, and only then are
the data looked at.
"""

from dataclasses import replace
from itertools import count
from math import isfinite
from pathlib import Path

from letalone.cli.offered import to_type, to_type_again
from letalone.cli.places import schema_beside
from letalone.cli.tables.answer_files import check_answer_file, check_writable, write_answer
from letalone.cli.tables.asked_table import AskedTable, open_to_ask
from letalone.cli.tables.corrections import at_price, fit_budget, to_larger_budget, with_commands
from letalone.cli.tables.show_preview import print_preview
from letalone.cli.tables.show_release import (
    Offer,
    QueryResult,
    WrittenFiles,
    answer_as_json,
    answer_of,
    print_answer,
    total_price,
)
from letalone.cli.tables.table_commands import QueryOptions
from letalone.cli.tables.table_option import (
    TableChoice,
    rename_table,
    table_in,
    with_one_table,
)
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError
from letalone.errors.installing import not_installed
from letalone.errors.problem import without_context
from letalone.privacy import guard_rails
from letalone.privacy.budget import brief
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.session.pricing import Priced
from letalone.session.query import Query
from letalone.session.steps.in_steps import FoundAnswer, in_steps_here
from letalone.session.steps.two_questions import FirstAnswer, PricedBoth, price_both, tell_first
from letalone.sources.places import is_schema_file
from letalone.sources.resolve import is_address
from letalone.sql.text import EXPLAIN


def query(options: QueryOptions) -> None:
    """Ask, and print what came back; with --dry-run, what it would cost."""
    if EXPLAIN.match(options.sql):
        options = replace(options, dry_run=True)
    if options.csv and (options.as_json or options.dry_run):
        raise ParameterError(
            f"--csv prints the rows of an answer, so it does not go with"
            f" {'--json' if options.as_json else '--dry-run'}. Leave one of them out."
        )

    def work() -> None:
        with open_to_ask(options) as table:
            _ask(options, table)

    def command(choice: TableChoice) -> str:
        sql = rename_table(options.sql, choice.name)
        return to_type_again("query", options, file=choice.file, table=choice.table, sql=sql)

    def again(choice: TableChoice) -> None:
        query(replace(options, file=choice.file, table=choice.table))

    is_open = options.table is None and not is_schema_file(options.file)
    with_one_table(
        work,
        options.file,
        command,
        named=table_in(options.sql),
        again=again if is_open else None,
    )


def _ask(options: QueryOptions, table: AskedTable) -> None:
    priced = without_context(
        lambda: _price(options, table),
        LetaloneError,
        error=lambda error: with_commands(error, options, table),
    )
    if options.dry_run:
        print_preview(priced, options, table.known)
        return
    _check_targets(options, table)
    result = _release(options, table, priced)
    written = _write(result, options)
    print_answer(result, written)
    if written.failed is not None:
        raise written.failed


def _price(options: QueryOptions, table: AskedTable) -> Offer | PricedBoth:
    """The question at its price, which a budget that is named now must allow."""
    epsilon = options.epsilon or 0
    if not options.dry_run and isfinite(epsilon):  # before it is refused for not fitting
        check_confirmed(find_risk(epsilon), confirm=options.yes)
    priced = _priced_as_asked(options, table.read(options))
    cost = f"This costs ({brief(total_price(priced))})"
    table.check_new_budget(table.budget(options), priced.fits_into, cost)
    if not options.dry_run and (table.known is None or priced.fits):
        check_confirmed(priced.risk, confirm=options.yes)
    return priced


def _priced_as_asked(options: QueryOptions, query: Query) -> Offer | PricedBoth:
    price = {"delta": options.delta or 0, "confidence": options.confidence}
    epsilon = options.epsilon or 0
    if query.first is not None:
        return price_both(query, epsilon, **price)
    if options.private_bounds:
        return query.price_with_bounds(epsilon, **price)
    return in_steps_here(query.price_in_steps(epsilon, **price))


def _release(options: QueryOptions, table: AskedTable, priced: Offer | PricedBoth) -> QueryResult:
    table.look.register(table.budget(options))
    first, offer, answered = without_context(
        lambda: _answer_all(priced),
        BudgetExceeded,
        error=lambda error: error.with_words(
            f"{error}{_affordable(error, priced, options, table)}"
        ),
    )
    answer = answered.priced.here()
    finds_limit = not isinstance(offer, Priced) and offer.limit is not None
    is_whole = isinstance(priced, PricedBoth)
    more = (priced if is_whole else offer if finds_limit else answer).how_many_more()
    standing = answer.table.standing()
    return QueryResult(options, offer, answered, standing, more, table.ledger, first)


def _answer_all(
    priced: Offer | PricedBoth,
) -> tuple[tuple[FirstAnswer, ...], Offer, FoundAnswer]:
    """The numbers that are asked first, the question with them, and its answer, which tells them.

    A price that needs a second word had it before, or was refused.
    """
    if not isinstance(priced, PricedBoth):
        return (), priced, _answer(priced)
    first = priced.ask_first(confirm=True)
    offer = in_steps_here(priced.price_outer(first))
    answer = _answer(offer)
    return first, offer, replace(answer, release=tell_first(answer.release, first))


def _answer(priced: Offer) -> FoundAnswer:
    if isinstance(priced, Priced):
        return FoundAnswer({}, None, priced, release=replace(priced, confirmed=True).release())
    return replace(priced, confirmed=True).release()


def _affordable(
    error: BudgetExceeded,
    priced: Offer | PricedBoth,
    options: QueryOptions,
    table: AskedTable,
) -> str:
    """A command that the budget allows; where nothing is left, where to look."""
    now, known = replace(options, budget=None), table.look.data_set
    last = answer_of(priced.offers[-1] if isinstance(priced, PricedBoth) else priced)
    if known is not None and not known.budget.delta and last.terms.privacy.certain_leak() > 0:
        return f" The owner types:{to_larger_budget(known, table.ledger)}"
    largest = error.fits
    if largest is not None and largest.epsilon <= guard_rails.MAX_UNCONFIRMED:
        offer = at_price(now, largest)
    else:
        offer = fit_budget(now, known)
    if offer is not None:
        return f" Try:{to_type_again('query', offer)}"
    return (
        " Questions that were answered before are still free; only the owner can allow more. Try:"
        + to_type("ledger", "show", str(table.ledger))
    )


def _check_targets(options: QueryOptions, table: AskedTable) -> None:
    """Before anything is spent: the files that are to be written can be."""
    for option, path in (("--plot", options.plot), ("--receipt", options.receipt)):
        if path is not None:
            check_writable(option, path)
    if options.out is not None:
        _check_out(options, options.out, _list_kept_files(options, table))
    if options.plot is not None:
        _check_plot(options, options.plot)


def _check_plot(options: QueryOptions, plot: Path) -> None:
    from letalone.drawing import FORMATS, can_draw  # who draws nothing loads nothing of it

    if not can_draw(plot):
        raise ParameterError(
            not_installed("--plot", "matplotlib", "plot")
            + f" Without a picture:{to_type_again('query', options, plot=None)}"
        )
    if plot.suffix.lower() not in FORMATS:
        raise ParameterError(
            f"--plot is {plot}, but must end in {', '.join(FORMATS)}. Try:"
            + to_type_again("query", options, plot=plot.with_suffix(".svg"))
        )


def _list_kept_files(options: QueryOptions, table: AskedTable) -> list[Path]:
    """Files that no answer is written over."""
    if is_address(options.file):
        return [table.ledger]
    return [Path(options.file), table.ledger, schema_beside(options.file, options.table)]


def _check_out(options: QueryOptions, out: Path, kept: list[Path]) -> None:
    """Refuses a place for the answer, with a command that writes to another or over the file."""
    names = (Path(f"answer{number or ''}.csv") for number in count())
    free = next(path for path in names if not path.exists())
    elsewhere = to_type_again("query", options, out=free)
    without_context(
        lambda: check_answer_file("--out", out, kept=kept),
        ParameterError,
        error=lambda error: ParameterError(f"{error} Try:{elsewhere}"),
    )
    if out.exists() and not options.force:
        over = to_type_again("query", options, force=True)
        raise ParameterError(f"{out} is there already. Write over it, or name another:{over}")


def _write(result: QueryResult, options: QueryOptions) -> WrittenFiles:
    """The files; what cannot be written is said beside the answer, which was paid for."""
    release = result.release
    out, plot, receipt = options.out, options.plot, options.receipt
    remarks: list[str] = []
    failed: Exception | None = None
    try:
        if out is not None:
            written = WrittenFiles(out, plot, receipt)
            write_answer(out, release, answer_as_json(result, written))
    except OSError as error:
        out, failed = None, error
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
    return WrittenFiles(out, plot, receipt, tuple(remarks), failed)
