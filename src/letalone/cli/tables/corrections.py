"""Commands that are offered in place of a refused one: its options with the remedies applied.

An error carries its remedies as data. Those of everything that is missing are applied to the
record of options at once. What the corrected question still lacks is found as it was for the
refused one, by reading and planning it: nothing is compiled, opened or charged for an offer. That
it fits into the budget is read off the budget alone, with the worst curve of its ε and δ.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from letalone.cli.offered import to_type, to_type_again
from letalone.cli.screen import in_short, number_text
from letalone.cli.tables.asked_table import AskedTable
from letalone.cli.tables.convert import to_respell
from letalone.cli.tables.option_values import USUAL_DELTA, read_budget, usual_budget
from letalone.cli.tables.table_commands import QueryOptions
from letalone.cli.tables.table_option import NOT_TYPED, TO_FILL_IN
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError, remedies
from letalone.errors.codes import Code, Group
from letalone.errors.in_options import (
    EXAMPLE_BOUNDS,
    EXAMPLE_KEYS,
    OTHER_KEYS,
    example_keys,
    in_options,
)
from letalone.errors.problem import Argument, Problem, Remedy
from letalone.exact.typed import as_typed
from letalone.ledger import DataSet
from letalone.privacy import ApproxDP, Budget, PureDP, guard_rails
from letalone.privacy.filters import FilterState, charge_filter, open_filter
from letalone.privacy.largest import largest_price
from letalone.session.steps.bounds_purchase import BOUNDS_SHARE
from letalone.session.steps.row_limit import AUTO, ROWS_SHARE

MAX_ROUNDS = 10
Options = TypeVar("Options")
LEAST_EPSILON = Fraction(1, 1000)  # below it an answer is of little use
PARTS_OF_DELTA = 100
COUNT = "COUNT("
EXAMPLE_CLAMP = ", 0, 1000)"
EXAMPLES = {EXAMPLE_BOUNDS, OTHER_KEYS, *EXAMPLE_KEYS.values(), EXAMPLE_CLAMP.strip(", )")}
WITH_COMMA = "\nIf they are numbers with a decimal comma (1.234,50), first make a file with points:"
NO_DELTA = "\nTo have groups found, the budget needs a δ, which its owner can add:"
ALTERNATIVES = (
    Code.BOUNDS_TOO_RISKY,
    Code.NOT_CONFIRMED,
)  # besides what is missing: any remedy is a command
USUAL_VALUES: dict[str, Any] = {
    "epsilon": 0.5, "delta": None, "confidence": 0.95, "max_rows": None, "max_groups": None,
}  # fmt: skip


def in_option_words(error: LetaloneError, options: type) -> str:
    """The first problem in the words of a command with these options, which set arguments."""
    known = {field.name for field in fields(options)}
    return in_options(
        replace(error.problem, others=()),
        lambda name: f"--{name.replace('_', '-')}" if name in known else name,
    )


def reword(error: LetaloneError, words: str, problem: Problem) -> LetaloneError:
    """The error in these words; a wrong parameter is no more than that, whatever its class was."""
    return (ParameterError(problem) if isinstance(error, ParameterError) else error).with_words(
        words
    )


def with_commands(error: LetaloneError, options: QueryOptions, table: AskedTable) -> LetaloneError:
    """The error in the words of the terminal, with the commands that would be answered."""
    words = in_option_words(error, QueryOptions)
    offers = list(make_offers(error.problem, options, table))
    lines = dict.fromkeys(_command(offer, options, table) for offer in offers)
    lacks_delta = _lacks_delta(error.problem, options, table)
    if not table.has_types and _asks_other(error.problem, options, offers, table.count):
        # What was asked can be, once columns have types.
        unit = table.likely_unit or TO_FILL_IN
        lines = {to_type("init", options.file, "--unit", unit): None}
        words += f"{NOT_TYPED} Try:"
    elif offers:
        words += _to_fill_in(words, options, offers) + _opening(error, options, offers)
    else:
        lines |= _respelled(error.problem, options)
    if lacks_delta and table.known is not None:
        lines |= {NO_DELTA + to_larger_budget(table.known, table.ledger): None}
    return reword(error, words + "".join(lines), replace(error.problem, others=()))


def _respelled(problem: Problem, options: QueryOptions) -> dict[str, None]:
    """The command for cells with a decimal comma, where a column of text should be of numbers."""
    texts = [remedy for remedy in problem.remedies if isinstance(remedy, remedies.DeclareTypes)]
    columns = [name for remedy in texts for name in remedy.columns]
    command = to_respell(options.file, columns, options.encoding) if columns else ""
    return {f"{WITH_COMMA}{command}": None} if command else {}


def _lacks_delta(problem: Problem, options: QueryOptions, table: AskedTable) -> bool:
    """Whether groups could be found if the budget had a δ."""
    finds = any(isinstance(remedy, remedies.FindKeys) for remedy in problem.remedies)
    return finds and not options.keys and table.known is not None and not table.known.budget.delta


def to_larger_budget(known: DataSet, ledger: Path) -> str:
    """The owner's command that adds a δ to a budget."""
    budget = f"{number_text(float(known.budget.epsilon))}:{number_text(USUAL_DELTA)}"
    return to_type("ledger", "raise", str(ledger), known.name, budget)


def _asks_other(
    problem: Problem, options: QueryOptions, offers: list[QueryOptions], count: str
) -> bool:
    """Whether nothing but a count is offered for a question that was understood."""
    edits = [remedy for remedy in problem.remedies if isinstance(remedy, remedies.EditSql)]
    is_unread = not edits and "construct" in problem.facts
    return not is_unread and options.sql != count and all(offer.sql == count for offer in offers)


def make_offers(
    problem: Problem, options: QueryOptions, table: AskedTable
) -> Iterator[QueryOptions]:
    """The options with all that is wrong put right: one for each of the first remedies."""
    is_choice = problem.code.group is Group.MISSING or problem.code in ALTERNATIVES
    possible = [remedy for remedy in problem.remedies if _is_possible(remedy, options, table)]
    for remedy in possible or (None,):
        begun = options if remedy is None else apply_remedy(_price(remedy, options, table), options)
        rest = (problem,) if remedy is None else problem.others
        offer = _finish(begun, rest, table)
        fitting = None if offer is None else fit_budget(offer, table.known)
        if fitting is None or _is_too_dear(fitting, options):
            continue
        if fitting != options:  # the same again would be refused again
            yield fitting
            if not is_choice:
                return


def _is_too_dear(offer: QueryOptions, options: QueryOptions) -> bool:
    """Whether it takes a second word, and another ε or a larger budget than was typed."""
    is_other = offer.epsilon != options.epsilon or offer.budget not in (None, options.budget)
    return (
        is_other
        and options.budget is not None
        and (offer.epsilon or 0) > guard_rails.MAX_UNCONFIRMED
    )


def _is_possible(remedy: Remedy, options: QueryOptions, table: AskedTable) -> bool:
    """Finding keys takes a δ, and those that are listed are not found."""
    if not isinstance(remedy, remedies.FindKeys):
        return True
    return not options.keys and (table.known is None or table.known.budget.delta > 0)


def _price(remedy: Remedy, options: QueryOptions, table: AskedTable) -> Remedy:
    """Finding keys takes a hundredth of the budget's δ, so that many questions can."""
    if not isinstance(remedy, remedies.FindKeys):
        return remedy
    typed = None if options.budget is None else read_budget(options.budget)
    budget = typed if table.known is None else table.known.budget
    delta = as_typed(USUAL_DELTA) if budget is None or not budget.delta else budget.delta
    return remedies.FindKeys(float(delta / PARTS_OF_DELTA))


def correct(
    options: Options,
    todo: tuple[Problem, ...],
    *,
    remedy: Callable[[Problem, Options, list[Options]], Options],
    find_problem: Callable[[Options], Problem | None],
) -> Options | None:
    """The options once nothing is wrong with them; None where no remedy helps.

    `remedy` gives options that are none of those seen, or the same where it knows no others.
    """
    seen = list[Options]()
    for _ in range(MAX_ROUNDS):
        for problem in todo:
            options = remedy(problem, options, seen)
        if options in seen:
            return None
        seen.append(options)
        problem = find_problem(options)
        if problem is None:
            return options
        todo = (replace(problem, others=()), *problem.others)
    return None


def _finish(
    options: QueryOptions, todo: tuple[Problem, ...], table: AskedTable
) -> QueryOptions | None:
    return correct(options, todo, remedy=_remedy, find_problem=table.find_problem)


def _remedy(problem: Problem, options: QueryOptions, seen: list[QueryOptions]) -> QueryOptions:
    """The options with the first remedy that is new to them; else without what goes with it."""
    name = problem.facts.get("name")
    choices = list(problem.remedies)
    if isinstance(name, Argument) and name in USUAL_VALUES:
        choices.append(remedies.SetValue(name, USUAL_VALUES[name]))
    for remedy in choices:
        changed = apply_remedy(remedy, options)
        if changed not in (options, *seen):
            return changed
    return replace(options, keys=(), bounds=(), private_bounds=False)


def apply_remedy(remedy: Remedy, options: Any) -> Any:
    """The options with one remedy applied; as they were where it is not about options.

    They are those of `letalone query`, or of another command that has the options in question.
    """
    match remedy:
        case remedies.SetEpsilon(epsilon):
            return replace(options, epsilon=epsilon)
        case remedies.LowerEpsilon(float() as epsilon):
            return replace(options, epsilon=min(epsilon, float(guard_rails.MAX_UNCONFIRMED)))
        case remedies.NameUnit(likely):
            return replace(options, unit=likely or "row")
        case remedies.NameBudget():
            return replace(options, budget=usual_budget(options.epsilon, options.delta))
        case remedies.AddBounds(columns):
            added = tuple(f"{name}={EXAMPLE_BOUNDS}" for name in columns)
            return replace(options, bounds=(*options.bounds, *added), private_bounds=False)
        case remedies.BuyBounds():
            return replace(options, private_bounds=True)
        case remedies.NameKeys():
            added = tuple(f"{name}={keys}" for name, keys in example_keys(remedy).items())
            return replace(options, keys=(*options.keys, *added))
        case remedies.FindKeys(delta):
            return replace(options, delta=delta, keys=())
        case remedies.EditSql((start, end), text):
            return replace(options, sql=options.sql[:start] + text + options.sql[end:])
        case remedies.AskInstead(sql):
            return replace(options, sql=sql)
        case remedies.SetValue(name, example):
            return replace(options, **{str(name): example})
        case remedies.LeaveOut(name):
            (left_out,) = [field for field in fields(options) if field.name == str(name)]
            return replace(options, **{left_out.name: left_out.default})
        case remedies.Confirm():
            return replace(options, yes=True)
        case remedies.LimitRows(rows):
            return replace(options, max_rows=str(rows))
        case remedies.UseName(typed, meant):
            return _rename(options, typed, meant)
        case _:
            return options


def _rename(options: QueryOptions, typed: str, meant: str) -> QueryOptions:
    """A column of that name where an option has it; in the SQL an edit puts it right."""
    head, unit = f"{typed}=", meant if options.unit == typed else options.unit
    keys, bounds = (
        tuple(word.replace(head, f"{meant}=", word.startswith(head)) for word in words)
        for words in (options.keys, options.bounds)
    )
    return replace(options, unit=unit, keys=keys, bounds=bounds)


def fit_budget(options: QueryOptions, known: DataSet | None) -> QueryOptions | None:
    """With a budget that allows it, or, where the ledger has one, with an ε and a δ that fit."""
    if known is not None:
        return _fit_known(replace(options, budget=None), known)
    if options.budget is None or fits(options, open_filter(read_budget(options.budget))):
        return options
    return replace(options, budget=usual_budget(options.epsilon, options.delta))


def _fit_known(options: QueryOptions, known: DataSet) -> QueryOptions | None:
    """With the largest ε and δ, up to those that were typed, that fit whatever is asked.

    Less ε than was typed is at most what needs no second word.
    """
    state = known.state
    if options.epsilon and fits(options, state):
        return options
    largest = min(as_typed(options.epsilon or known.budget.epsilon), guard_rails.MAX_UNCONFIRMED)
    price_typed = Budget(largest, options.delta or 0)
    found = largest_price(
        lambda price: fits(at_price(options, price), state),
        price_typed,
        left=Budget(state.remaining.epsilon, state.leak_left),
    )
    return None if found is None or found.epsilon < LEAST_EPSILON else at_price(options, found)


def at_price(options: QueryOptions, price: Budget) -> QueryOptions:
    """The same at another price; a δ only where there was one."""
    delta = None if options.delta is None else float(price.delta)
    return replace(options, epsilon=float(price.epsilon), delta=delta)


def fits(options: QueryOptions, state: FilterState) -> bool:
    """Whether a budget allows any answer of this ε and δ, with what is found before it."""
    epsilon, delta = as_typed(options.epsilon or 0), as_typed(options.delta or 0)
    shares = [BOUNDS_SHARE] * options.private_bounds + [ROWS_SHARE] * (options.max_rows == AUTO)
    rest = epsilon * (1 - sum(shares))
    answer = ApproxDP(rest, delta) if delta else PureDP(rest)
    try:
        for share in shares:
            state = charge_filter(state, PureDP(epsilon * share))
        charge_filter(state, answer, delta=delta or None)
    except BudgetExceeded:
        return False
    return True


def _command(offer: QueryOptions, options: QueryOptions, table: AskedTable) -> str:
    """The command; a unit that nobody named and no name suggests is left to fill in."""
    is_made_up = table.likely_unit is None and offer.unit not in (None, options.unit)
    unit: dict[str, Any] = {"unit": TO_FILL_IN} if is_made_up else {}
    # An example that is pasted as it stands must not spend anything on nonsense.
    trial = offer.dry_run or _has_examples(offer, options) or _counts_instead(offer, options)
    return to_type_again("query", offer, **unit, dry_run=trial)


def _counts_instead(offer: QueryOptions, options: QueryOptions) -> bool:
    """Whether the command counts where no count was asked for, which is another question."""
    return COUNT in offer.sql.upper() and COUNT not in options.sql.upper()


def _examples(offer: QueryOptions, options: QueryOptions) -> list[str]:
    """Keys and bounds in a command that stand for those of the reader."""
    typed = {*options.keys, *options.bounds}
    added = [word for word in (*offer.keys, *offer.bounds) if word not in typed]
    clamps = EXAMPLE_CLAMP in offer.sql and EXAMPLE_CLAMP not in options.sql
    listed = [word.partition("=")[2] for word in added] + [EXAMPLE_CLAMP.strip(", )")] * clamps
    return list(dict.fromkeys(example for example in listed if example in EXAMPLES))


def _has_examples(offer: QueryOptions, options: QueryOptions) -> bool:
    return bool(_examples(offer, options))


def _to_fill_in(words: str, options: QueryOptions, offers: list[QueryOptions]) -> str:
    """What stands in the commands as an example and was not spoken of; and what to do then."""
    examples = dict.fromkeys(example for offer in offers for example in _examples(offer, options))
    unsaid = [example for example in examples if example not in words]
    advice = f" Put what is publicly known in place of {' and '.join(unsaid)}." if unsaid else ""
    spends = (
        " Once they are filled in, leave --dry-run out." if examples and not options.dry_run else ""
    )
    return advice + spends


def _opening(error: LetaloneError, options: QueryOptions, offers: list[QueryOptions]) -> str:
    typed = options.epsilon
    is_less = (
        typed is not None and typed > 0 and any((offer.epsilon or 0) < typed for offer in offers)
    )
    is_about_price = isinstance(error, BudgetExceeded) or error.code is Code.NOT_CONFIRMED
    if is_less and not is_about_price:
        return f" With less ε, since {in_short(typed or 0)} does not fit into the budget:"
    if all(_counts_instead(offer, options) for offer in offers):
        return " Another question, which would be answered:"
    return " Try:"
