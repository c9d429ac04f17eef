"""Decides what `letalone train` does: target, columns to learn from, model, price and place.

Nothing but what was typed, the schema and the ledger's budget decides here, and no data is
touched. What is refused comes with its remedies: changes of the options.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from letalone import learn
from letalone.cli.offered import to_type, to_type_again
from letalone.cli.places import schema_beside
from letalone.cli.tables import corrections
from letalone.cli.tables.asked_table import AskedTable
from letalone.cli.tables.corrections import apply_remedy, in_option_words, reword
from letalone.cli.tables.option_values import advise, usual_budget
from letalone.cli.tables.table_commands import QueryOptions, TrainOptions
from letalone.cli.tables.table_option import NOT_TYPED, TO_FILL_IN
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError
from letalone.errors.codes import Code
from letalone.errors.installing import not_installed
from letalone.errors.problem import Argument, Problem, Remedy
from letalone.errors.remedies import DeclareTypes, LeaveOut, SetEpsilon, SetValue
from letalone.errors.spelling import did_you_mean, nearest
from letalone.ledger import DataSet
from letalone.plans.schema import SUFFIX, Column, Schema
from letalone.plans.schema_file import key_in_file
from letalone.plans.types import Type
from letalone.privacy import Budget
from letalone.privacy.budget import brief
from letalone.privacy.filters import FilterState, charge_filter, open_filter
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.sources.places import is_schema_file
from letalone.sources.resolve import is_address

CLASSIFIERS = {
    "logistic": "LogisticRegression",
    "svc": "LinearSVC",
    "trees": "BoostedTreesClassifier",
    "bayes": "GaussianNB",
}
REGRESSORS = {"linear": "LinearRegression", "trees": "BoostedTreesRegressor"}
MODELS = (*CLASSIFIERS, *(name for name in REGRESSORS if name not in CLASSIFIERS))
TARGET, FEATURES, MODEL = Argument("target"), Argument("features"), Argument("model")
USUAL_EPSILON = 1.0
USUAL_DELTA = 1e-6
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """A training with its price; `estimator` and `job` are those of letalone.learn."""

    options: TrainOptions
    schema: Schema
    budget: Budget | None
    estimator: Any
    job: Any

    @property
    def price(self) -> Budget:
        return Budget(self.estimator.epsilon, self.estimator.delta)

    @property
    def features(self) -> list[str]:
        return list(self.job.features)

    def fits(self, state: FilterState) -> bool:
        try:
            charge_filter(state, self.job.privacy, delta=self.price.delta or None)
        except BudgetExceeded:
            return False
        return True


def plan_training(options: TrainOptions, table: AskedTable) -> TrainingPlan:
    """The training with its price, or a refusal with its remedies."""
    if find_spec("sklearn") is None:
        raise ParameterError(not_installed("A model", "scikit-learn", "learn"))
    question = as_question(options)
    unit, missing = table.unit(question)
    if missing:
        raise ParameterError(missing[0])
    schema = table.look.schema.protecting(unit)
    target = target_of(options.target, schema)
    features = features_of(options.features, schema, target)
    model = model_of(options.model, target)
    if options.epsilon is None:
        words = (
            "--epsilon is missing: the privacy to spend on this model. Smaller is more private; 0.5"
            " to 2 is usual."
        )
        raise _refusal(words, SetEpsilon(USUAL_EPSILON), code=Code.MISSING_EPSILON)
    numbers = model in REGRESSORS.values()
    _check_declared(options, schema, target, features=features, numbers=numbers)
    estimator = getattr(learn, model)(epsilon=options.epsilon, delta=options.delta or 0)
    job = estimator.job_for(schema, features=features, target=target.name, knots=options.knots)
    plan = TrainingPlan(options, schema, table.budget(question), estimator, job)
    for problem in table.missing_budget(question):
        raise ParameterError(problem)
    cost = f"The model costs ({brief(plan.price)})"
    table.check_new_budget(plan.budget, lambda budget: plan.fits(open_filter(budget)), cost)
    if not options.dry_run and (table.known is None or plan.fits(table.known.state)):
        check_confirmed(find_risk(options.epsilon), confirm=options.yes)
    return plan


def with_command(error: LetaloneError, options: TrainOptions, table: AskedTable) -> LetaloneError:
    """The error in the words of the terminal, with a command that would be done."""
    words = in_option_words(error, TrainOptions)
    offer = correct(error.problem, options, table)
    is_begun = any(isinstance(remedy, DeclareTypes) for remedy in error.remedies)
    if offer is not None:
        words += "\nTry:" + to_type_again("train", offer)
    elif not table.has_types and not is_begun:
        unit = options.unit or table.likely_unit or TO_FILL_IN
        words += f"{NOT_TYPED}\nTry:{_init(replace(options, unit=unit))}"
    return reword(error, words, error.problem)


def correct(problem: Problem, options: TrainOptions, table: AskedTable) -> TrainOptions | None:
    """The options once nothing is wrong with them; None where no remedy helps."""

    def remedy(problem: Problem, now: TrainOptions, seen: list[TrainOptions]) -> TrainOptions:
        changes = _changes(problem, now, table)
        return next((change for change in changes if change not in (options, now, *seen)), now)

    def find_problem(now: TrainOptions) -> Problem | None:
        try:
            plan = plan_training(now, table)
        except LetaloneError as error:
            return replace(error.problem, others=())
        is_fitting = table.known is None or plan.fits(table.known.state)
        return None if is_fitting else Problem(Code.BUDGET_EXCEEDED)

    offer = corrections.correct(options, (problem,), remedy=remedy, find_problem=find_problem)
    return None if offer == options else offer


def _changes(problem: Problem, options: TrainOptions, table: AskedTable) -> Iterator[TrainOptions]:
    """What may help, the likeliest first: the remedies, then a δ, less ε, another model."""
    for remedy in problem.remedies:
        yield apply_remedy(remedy, options)
    if options.delta is None and problem.code is not Code.BUDGET_EXCEEDED:
        yield replace(options, delta=USUAL_DELTA)
    if table.known is not None:
        yield replace(options, epsilon=_affordable_epsilon(table.known), budget=None)
    elif options.budget is not None:
        yield replace(options, budget=usual_budget(options.epsilon, options.delta))
    if options.model is not None:
        yield from (replace(options, model=name) for name in MODELS)


def _affordable_epsilon(known: DataSet) -> float:
    """What is left, a little less and with two digits."""
    remaining = float(known.remaining.epsilon) * 0.95
    return float(f"{remaining:.1e}") if remaining > 0 else USUAL_EPSILON


def _refusal(words: str, *remedies: Remedy, code: Code = Code.OTHER) -> ParameterError:
    return ParameterError(advise(words, *remedies, code=code))


def _init(options: TrainOptions) -> str:
    """The command that writes a schema file, to be typed."""
    unit = [] if options.unit is None else ["--unit", options.unit]
    table = [] if options.table is None else ["--table", options.table]
    return to_type("init", options.file, *unit, *table)


def as_question(options: TrainOptions) -> QueryOptions:
    """What a training shares with a question."""
    shared = ("epsilon", "delta", "unit", "budget", "ledger", "table", "side_table", "dry_run")
    return QueryOptions(options.file, "", **{name: getattr(options, name) for name in shared})


def model_place(options: TrainOptions) -> Path:
    """Where the model is written; a table of a server is called there as its schema file is."""
    stem = Path(options.file).stem
    if is_address(options.file) or is_schema_file(options.file):
        stem = schema_beside(options.file, options.table).name.removesuffix(SUFFIX)
    return options.out or Path(f"{stem}.{options.target}.json")


def target_of(named: str | None, schema: Schema) -> Column:
    """The column to predict."""
    columns = [column for column in schema.columns if column.name != schema.unit]
    target = next((column for column in columns if column.name == named), None)
    if target is not None:
        return target
    names = [column.name for column in columns]
    if named not in (None, schema.unit):
        near = nearest(named or "", names)
        words = _unknown_words(named, names, schema, to="predict")
        raise _refusal(words, *([SetValue(TARGET, near)] if near else []))
    wrong = (
        "--target is missing: the column that the model learns to predict."
        if named is None
        else f"--target is {named}, but this is the unit: it identifies people, and says"
        " nothing about them that could be predicted."
    )
    likely = [c for c in columns if c.keys is not None or c.type is Type.BOOLEAN]
    raise _refusal(
        f"{wrong} The columns are: {', '.join(names)}.",
        *(SetValue(TARGET, column.name) for column in likely[-1:]),
    )


def features_of(named: str | None, schema: Schema, target: Column) -> list[str] | None:
    """The columns to learn from; None for all of which enough is declared."""
    if named is None:
        return None
    names = [name.strip() for name in named.split(",") if name.strip()]
    others = [column.name for column in other_columns(schema, target)]
    if not names:
        raise _refusal(
            "--features names no column. Leave it out to learn from all that are declared, or name"
            f" some of: {', '.join(others)}.",
            LeaveOut(FEATURES),
        )
    for name in names:
        if name not in others:
            raise _no_feature(name, names, others, schema=schema, target=target)
    return names


def _no_feature(
    name: str, names: list[str], others: list[str], *, schema: Schema, target: Column
) -> ParameterError:
    """Why a column is none to learn from; with the nearest in its place, or without it."""
    what = {schema.unit: "unit", target.name: "target"}.get(name)
    near = None if what else nearest(name, others)
    kept = (near if feature == name else feature for feature in names)
    mended = [*dict.fromkeys(feature for feature in kept if feature is not None)]
    remedy = SetValue(FEATURES, ",".join(mended)) if mended else LeaveOut(FEATURES)
    if what is None:
        return _refusal(_unknown_words(name, others, schema, to="learn from"), remedy)
    why = {"unit": "it identifies people", "target": "it is what the model learns to predict"}
    return _refusal(
        f"--features names {name}, but this is the {what}: {why[what]}, and nothing is learned"
        f" from it. Leave it out. The other columns are: {', '.join(others)}.",
        remedy,
    )


def _unknown_words(name: str | None, names: list[str], schema: Schema, *, to: str) -> str:
    return (
        f"Column {name!r} is not in table {schema.name!r}. To {to} there are: {', '.join(names)}."
        + did_you_mean(name or "", names)
    )


def model_of(named: str | None, target: Column) -> str:
    """The estimator for the target: one that predicts numbers, or classes."""
    bounded = target.lower is not None or target.upper is not None
    is_number = target.type is Type.NUMBER or (bounded and target.keys is None)
    fitting = REGRESSORS if is_number else CLASSIFIERS
    if named is None:
        return next(iter(fitting.values()))
    if named in fitting:
        return fitting[named]
    if named not in MODELS:
        raise _refusal(
            f"--model is {named}, but must be one of: {', '.join(MODELS)}.", LeaveOut(MODEL)
        )
    if not is_number and target.type.is_numeric:
        return REGRESSORS[named]  # whole numbers are either, as what is declared allows
    predicts = "classes" if is_number else "numbers"
    either = " As soon as its keys are declared it has classes, too."
    raise _refusal(
        f"Column {target.name!r} is {target.type.value}, but this model predicts {predicts}. Models"
        f" that fit: {', '.join(fitting)}.{either * (target.type is Type.INTEGER)}",
        *(SetValue(MODEL, name) for name in fitting),
    )


def other_columns(schema: Schema, target: Column) -> list[Column]:
    """All that could be learned from: not the unit, nor the target."""
    return [column for column in schema.columns if column.name not in (schema.unit, target.name)]


def _check_declared(
    options: TrainOptions,
    schema: Schema,
    target: Column,
    *,
    features: list[str] | None,
    numbers: bool,
) -> None:
    """Refuses columns of which too little is declared, and says what to write where."""
    columns = [schema.column(name) for name in features or ()]
    others = other_columns(schema, target)
    lacking = [_lacking(c, numbers=c.type.is_numeric) for c in columns if not _is_declared(c)]
    if numbers and (target.lower is None or target.upper is None):
        lacking.append(_lacking(target, numbers=True))
    if not numbers and target.keys is None and target.type is not Type.BOOLEAN:
        lacking.append(_lacking(target, numbers=False))
    if not lacking and (features or any(_is_declared(column) for column in others)):
        return
    lacking = lacking or [_lacking(column, numbers=column.type.is_numeric) for column in others]
    file = schema_beside(options.file, options.table)
    if not file.exists():
        words = (
            "Bounds and keys are declared in a schema file, which is not there yet. Write it, and"
            f" fill them in:{_init(options)}"
        )
        raise _refusal(words, DeclareTypes(tuple(column.name for column in columns)))
    raise ParameterError(
        "Bounds and keys are never read off the data. Write what is publicly known into"
        f" {file.name}, in place of these examples:{''.join(lacking[:EXAMPLES])}"
    )


def _is_declared(column: Column) -> bool:
    bounded = column.lower is not None and column.upper is not None
    return bounded or column.keys is not None or column.type is Type.BOOLEAN


def _lacking(column: Column, *, numbers: bool) -> str:
    keys = "0, 1" if column.type is Type.INTEGER else '"A", "B"'
    rows = ("lower = 0", "upper = 100") if numbers else (f"keys = [{keys}]",)
    return "".join(f"\n    {line}" for line in (f"[columns.{key_in_file(column.name)}]", *rows))
