"""`letalone query FILE "SELECT …"`: a private answer, its error bars, and what is left.

The table is opened once, the question is priced once. What is refused is refused before the ledger
hears of it, with commands that would be answered. Then the budget is charged, and only then are
the data looked at.
"""

from dataclasses import replace

from letalone.cli.offered import to_type, to_type_again
from letalone.cli.places import check_folder
from letalone.cli.screen import how_to_install
from letalone.cli.tables.asked_table import AskedTable, open_to_ask
from letalone.cli.tables.corrections import fit_budget, with_commands
from letalone.cli.tables.show_preview import print_preview
from letalone.cli.tables.show_release import (
    Offer,
    QueryResult,
    WrittenFiles,
    print_answer,
    total_price,
)
from letalone.cli.tables.table_commands import QueryOptions
from letalone.cli.tables.table_option import TableChoice, rename_table, table_in, with_one_table
from letalone.drawing import FORMATS, can_draw
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError
from letalone.errors.problem import without_context
from letalone.privacy.budget import brief
from letalone.session.pricing import Priced
from letalone.session.release import Release
from letalone.session.steps.in_steps import FoundAnswer, in_steps_here
from letalone.sql.text import EXPLAIN


def query(options: QueryOptions) -> None:
    """Ask, and print what came back; with --dry-run, what it would cost."""
    if EXPLAIN.match(options.sql):
        options = replace(options, dry_run=True)

    def work() -> None:
        with open_to_ask(options) as table:
            _ask(options, table)

    def command(choice: TableChoice) -> str:
        sql = rename_table(options.sql, choice.name)
        return to_type_again("query", options, file=choice.file, table=choice.table, sql=sql)

    with_one_table(work, options.file, command, named=table_in(options.sql))


def _ask(options: QueryOptions, table: AskedTable) -> None:
    priced = without_context(
        lambda: _price(options, table),
        LetaloneError,
        error=lambda error: with_commands(error, options, table),
    )
    if options.dry_run:
        print_preview(priced, options, table.known)
        return
    _check_targets(options)
    result = _release(options, table, priced)
    written = _write(result.release, options)
    print_answer(result, written)
    if written.failed is not None:
        raise written.failed


def _price(options: QueryOptions, table: AskedTable) -> Offer:
    """The question at its price, which a budget that is named now must allow."""
    query = table.read(options)
    epsilon, delta, sure = options.epsilon or 0, options.delta or 0, options.confidence
    if options.private_bounds:
        priced = query.price_with_bounds(epsilon, delta=delta, confidence=sure)
    else:
        priced = in_steps_here(query.price_in_steps(epsilon, delta=delta, confidence=sure))
    cost = f"This costs ({brief(total_price(priced))})"
    table.check_new_budget(table.budget(options), priced.fits_into, cost)
    return priced


def _release(options: QueryOptions, table: AskedTable, priced: Offer) -> QueryResult:
    table.look.register(table.budget(options))
    found = without_context(
        lambda: _answer(priced),
        BudgetExceeded,
        error=lambda error: error.with_words(f"{error}{_affordable(options, table)}"),
    )
    answer = found.priced.here()
    finds_limit = not isinstance(priced, Priced) and priced.limit is not None
    more = (priced if finds_limit else answer).how_many_more()
    standing = answer.table.standing()
    return QueryResult(options, priced, found, standing, more, table.ledger)


def _answer(priced: Offer) -> FoundAnswer:
    if isinstance(priced, Priced):
        return FoundAnswer({}, None, priced, priced.release())
    return priced.release()


def _affordable(options: QueryOptions, table: AskedTable) -> str:
    """A command that the budget allows; where nothing is left, where to look."""
    offer = fit_budget(options, table.look.data_set)
    if offer is not None:
        return f" Try:{to_type_again('query', offer)}"
    return (
        " Questions that were answered before are still free; only the owner can allow more. Try:"
        + to_type("ledger", "show", str(table.ledger))
    )


def _check_targets(options: QueryOptions) -> None:
    """Before anything is paid: the files that are to be written can be."""
    for path in filter(None, (options.plot, options.receipt)):
        check_folder(path)
    if options.plot is not None and not can_draw(options.plot):
        raise ParameterError(
            f"--plot needs matplotlib, which is not installed: {how_to_install('plot')}. Without a"
            f" picture:{to_type_again('query', options, plot=None)}"
        )
    if options.plot is not None and options.plot.suffix.lower() not in FORMATS:
        raise ParameterError(
            f"--plot is {options.plot}, but must end in {', '.join(FORMATS)}. Try:"
            + to_type_again("query", options, plot=options.plot.with_suffix(".svg"))
        )


def _write(release: Release, options: QueryOptions) -> WrittenFiles:
    """The files; what cannot be written is said beside the answer, which was paid for."""
    plot, receipt = options.plot, options.receipt
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
    return WrittenFiles(plot, receipt, tuple(remarks), failed)
