"""Commands that are offered in place of a refused one: its options with the remedies applied.

An error carries its remedies as data. Those of everything that is missing are applied to the
record of options at once. What the corrected question still lacks is found as it was for the
refused one, by reading and planning it: nothing is compiled, opened or charged for an offer. That
it fits into the budget is read off the budget alone, with the worst curve of its ε and δ.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from math import floor, log10
from typing import Any

from letalone.cli.offered import to_type, to_type_again
from letalone.cli.screen import in_short
from letalone.cli.tables.asked_table import AskedTable
from letalone.cli.tables.option_values import read_budget, usual_budget
from letalone.cli.tables.table_commands import QueryOptions
from letalone.cli.tables.table_option import NOT_TYPED, TO_FILL_IN
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError, remedies
from letalone.errors.codes import Code, Group
from letalone.errors.in_options import EXAMPLE_BOUNDS, example_keys, in_options
from letalone.errors.problem import Argument, Problem, Remedy
from letalone.exact.typed import as_typed
from letalone.ledger import DataSet
from letalone.privacy import ApproxDP, PureDP
from letalone.privacy.filters import FilterState, charge_filter, open_filter
from letalone.session.steps.bounds_purchase import BOUNDS_SHARE
from letalone.session.steps.row_limit import AUTO, ROWS_SHARE

MAX_ROUNDS = 10
LEAST_EPSILON = Fraction(1, 1000)  # below it an answer is of little use
ALTERNATIVES = (Code.BOUNDS_TOO_RISKY,)  # besides what is missing: any remedy is a command
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


def reworded(error: LetaloneError, words: str, problem: Problem) -> LetaloneError:
    """The error in these words; a wrong parameter is no more than that, whatever its class was."""
    return (ParameterError(problem) if isinstance(error, ParameterError) else error).with_words(
        words
    )


def with_commands(error: LetaloneError, options: QueryOptions, table: AskedTable) -> LetaloneError:
    """The error in the words of the terminal, with the commands that would be answered."""
    words = in_option_words(error, QueryOptions)
    offers = list(make_offers(error.problem, options, table))
    lines = dict.fromkeys(_command(offer, options, table) for offer in offers)
    if not table.has_types and _asks_other(error.problem, options, offers, table.count):
        # What was asked can be, once columns have types.
        unit = table.likely_unit or TO_FILL_IN
        lines = {to_type("init", options.file, "--unit", unit): None}
        words += f"{NOT_TYPED} Try:"
    elif offers:
        words += _to_fill_in(words, options, offers) + _opening(error, options, offers, table.count)
    return reworded(error, words + "".join(lines), replace(error.problem, others=()))


def _asks_other(
    problem: Problem, options: QueryOptions, offers: list[QueryOptions], count: str
) -> bool:
    """Whether nothing but a count is offered for a question that was understood."""
    edits = [one for one in problem.remedies if isinstance(one, remedies.EditSql)]
    is_unread = not edits and any(isinstance(one, remedies.AskInstead) for one in problem.remedies)
    return not is_unread and options.sql != count and all(one.sql == count for one in offers)


def make_offers(
    problem: Problem, options: QueryOptions, table: AskedTable
) -> Iterator[QueryOptions]:
    """The options with all that is wrong put right: one for each of the first remedies."""
    is_choice = problem.code.group is Group.MISSING or problem.code in ALTERNATIVES
    possible = [one for one in problem.remedies if _is_possible(one, options, table)]
    for remedy in possible or (None,):
        begun = options if remedy is None else apply_remedy(remedy, options)
        rest = (problem,) if remedy is None else problem.others
        offer = _finish(begun, rest, table)
        fitting = None if offer is None else fit_budget(offer, table.known)
        if fitting is not None and fitting != options:  # the same again would be refused again
            yield fitting
            if not is_choice:
                return


def _is_possible(remedy: Remedy, options: QueryOptions, table: AskedTable) -> bool:
    """Finding keys takes a δ, and those that are listed are not found."""
    if not isinstance(remedy, remedies.FindKeys):
        return True
    return not options.keys and (table.known is None or table.known.budget.delta > 0)


def _finish(
    options: QueryOptions, todo: tuple[Problem, ...], table: AskedTable
) -> QueryOptions | None:
    """The options once nothing is wrong with them; None where no remedy helps."""
    seen = list[QueryOptions]()
    for _ in range(MAX_ROUNDS):
        for problem in todo:
            options = _remedy(problem, options, table, seen)
        seen.append(options)
        problem = table.find_problem(options)
        if problem is None:
            return options
        todo = (replace(problem, others=()), *problem.others)
    return None


def _remedy(
    problem: Problem, options: QueryOptions, table: AskedTable, seen: list[QueryOptions]
) -> QueryOptions:
    """The options with the first remedy that is new to them; else a count of rows is asked."""
    name = problem.facts.get("name")
    choices = list(problem.remedies)
    if isinstance(name, Argument) and name in USUAL_VALUES:
        choices.append(remedies.SetValue(name, USUAL_VALUES[name]))
    for remedy in (*choices, remedies.AskInstead(table.count)):
        changed = apply_remedy(remedy, options)
        if changed not in (options, *seen):
            return changed
    return replace(options, keys=(), bounds=(), private_bounds=False)


def apply_remedy(remedy: Remedy, options: Any) -> Any:
    """The options with one remedy applied; as they were where it is not about options.

    They are those of `letalone query`, or of another command that has the options in question.
    """
    match remedy:
        case remedies.SetEpsilon(epsilon) | remedies.LowerEpsilon(float() as epsilon):
            return replace(options, epsilon=epsilon)
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
    """With a budget that allows it, or, where the ledger has one, with an ε that fits."""
    if known is not None:
        for epsilon in _epsilons(options, known):
            offer = replace(options, epsilon=epsilon, budget=None)
            if fits(offer, known.state):
                return offer
        return None
    if options.budget is None or fits(options, open_filter(read_budget(options.budget))):
        return options
    return replace(options, budget=usual_budget(options.epsilon, options.delta))


def _epsilons(options: QueryOptions, known: DataSet) -> Iterator[float]:
    """That of the options, then what is left, rounded down to two digits, then ever less."""
    if options.epsilon is not None:
        yield options.epsilon
    left = known.remaining.epsilon
    while left >= LEAST_EPSILON:
        unit = Fraction(10) ** (floor(log10(left)) - 1)
        yield float(left // unit * unit)
        left /= 2


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
    return to_type_again("query", offer, **({"unit": TO_FILL_IN} if is_made_up else {}))


def _to_fill_in(words: str, options: QueryOptions, offers: list[QueryOptions]) -> str:
    """What stands in the commands as an example and was not spoken of."""
    typed = {*options.keys, *options.bounds}
    added = [word for one in offers for word in (*one.keys, *one.bounds) if word not in typed]
    examples = dict.fromkeys(word.partition("=")[2] for word in added)
    unsaid = [example for example in examples if example not in words]
    return f" Put what is publicly known in place of {' and '.join(unsaid)}." if unsaid else ""


def _opening(
    error: LetaloneError, options: QueryOptions, offers: list[QueryOptions], count: str
) -> str:
    typed = options.epsilon
    is_less = typed is not None and typed > 0 and any((one.epsilon or 0) < typed for one in offers)
    if is_less and not isinstance(error, BudgetExceeded):
        return f" With less ε, since {in_short(typed or 0)} does not fit into the budget:"
    if options.sql != count and all(one.sql == count for one in offers):
        return " Another question, which would be answered:"
    return " Try:"
