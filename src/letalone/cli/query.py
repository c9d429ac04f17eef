"""`letalone query FILE "SELECT …"`: a private answer, its error bars, and what is left.

The table is opened once, the question is priced once. What is refused is refused before the ledger
hears of it, with commands that would be answered. Then the budget is charged, and only then are
the data looked at.
"""

from dataclasses import replace
from importlib.util import find_spec

from letalone.answers.figure import FORMATS
from letalone.cli.asked_table import AskedTable, open_to_ask
from letalone.cli.corrections import fit_budget, with_commands
from letalone.cli.offered import to_type, to_type_again
from letalone.cli.screen import how_to_install
from letalone.cli.show_preview import print_preview
from letalone.cli.show_release import (
    Offer,
    QueryResult,
    WrittenFiles,
    print_answer,
    total_price,
)
from letalone.cli.table_commands import QueryOptions
from letalone.cli.table_option import TableChoice, offer_tables, rename_table, table_in
from letalone.engines.sources import WhichTable
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import problem
from letalone.errors.remedies import NameBudget
from letalone.privacy import Budget
from letalone.privacy.filters import brief
from letalone.session import Release
from letalone.session.bounds_purchase import Bounds
from letalone.session.pricing import Priced
from letalone.sql.text import EXPLAIN


def query(options: QueryOptions) -> None:
    """Ask, and print what came back; with --dry-run, what it would cost."""
    if EXPLAIN.match(options.sql):
        options = replace(options, dry_run=True)
    try:
        with open_to_ask(options) as table:
            _ask(options, table)
            return
    except WhichTable as error:
        refused = _offer_tables(error, options)
    raise refused


def _ask(options: QueryOptions, table: AskedTable) -> None:
    priced = _price(options, table)
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
    """The question at its price; or a refusal with the commands that its remedies make."""
    try:
        query = table.read(options)
        price = query.price_with_bounds if options.private_bounds else query.price
        priced = price(
            options.epsilon or 0, delta=options.delta or 0, confidence=options.confidence
        )
        _check_new_budget(priced, table.budget(options), table)
    except LetaloneError as error:
        refused = with_commands(error, options, table)
    else:
        return priced
    raise refused


def _check_new_budget(priced: Offer, budget: Budget | None, table: AskedTable) -> None:
    """A budget is named once, so one that allows nothing is not written down."""
    if budget is None or table.known is not None or priced.fits_into(budget):
        return
    words = (
        f"This costs ({brief(total_price(priced))}), which a budget of ({budget}) does not allow."
        " Nothing was charged, and the budget was not written down: name a larger one, or ask for"
        " less."
    )
    refused = problem(Code.BUDGET_EXCEEDED, NameBudget(2), words=words)
    raise BudgetExceeded(replace(refused, advised=True))


def _release(options: QueryOptions, table: AskedTable, priced: Offer) -> QueryResult:
    table.look.register(table.budget(options))
    try:
        result = _answer(priced)
    except BudgetExceeded as error:
        refused = error.with_words(f"{error}{_affordable(options, table)}")
    else:
        answer, release, bounds = result
        standing, more = answer.table.data_set(), answer.how_many_more()
        return QueryResult(options, priced, release, bounds, standing, more, table.ledger)
    raise refused


def _answer(priced: Offer) -> tuple[Priced, Release, Bounds]:
    if isinstance(priced, Priced):
        return priced, priced.release(), {}
    bought = priced.release()
    return bought.priced, bought.release, bought.bounds


def _affordable(options: QueryOptions, table: AskedTable) -> str:
    """A command that the budget allows; where nothing is left, where to look."""
    offer = fit_budget(options, table.look.data_set)
    if offer is not None:
        return f" Try:{to_type_again('query', offer)}"
    return (
        " Questions that were answered before are still free; only the owner can allow more. Try:"
        + to_type("ledger", "show", str(table.ledger))
    )


def _offer_tables(error: WhichTable, options: QueryOptions) -> ParameterError:
    """Of several tables in a DuckDB file, the one of FROM is offered, or a few."""
    named = table_in(options.sql)
    tables = tuple(name for name in error.tables if name == named) or error.tables

    def command(choice: TableChoice) -> str:
        sql = rename_table(options.sql, choice.name)
        return to_type_again("query", options, file=choice.file, table=choice.table, sql=sql)

    return offer_tables(WhichTable(error.problem, tables), options.file, command)


def _check_targets(options: QueryOptions) -> None:
    """Before anything is paid: the files that are to be written can be."""
    for path in (options.plot, options.receipt):
        if path is not None and not path.absolute().parent.is_dir():
            raise ParameterError(f"There is no folder {path.parent}. Make it, or write elsewhere.")
    if options.plot is not None and find_spec("matplotlib") is None:
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
