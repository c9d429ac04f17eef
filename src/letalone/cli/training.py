"""A training that can be done: everything is decided, and no data was touched.

`ready` checks what was typed against what is public. What is refused is refused before the ledger
hears of it, with a command that would be done.
"""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from letalone import learn
from letalone.cli.chosen import MODELS, REGRESSORS, features_of, model_of, other_columns, target_of
from letalone.cli.commands.query import QueryOptions
from letalone.cli.commands.train import TrainOptions
from letalone.cli.mending import NOT_TYPED
from letalone.cli.offered import to_type, to_type_again
from letalone.cli.ready import Missing, budget_of, unit_of
from letalone.cli.request import USUAL_DELTA, usual_budget
from letalone.cli.screen import how_to_install
from letalone.cli.source import Source, unit_example, unit_to_try
from letalone.engines.addresses import is_address
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError
from letalone.ledger import DataSet
from letalone.plans.schema import SUFFIX, Column, Schema
from letalone.plans.types import Type
from letalone.privacy import Budget
from letalone.privacy.filters import FilterState, brief, charged, opened
from letalone.session.beside import is_schema_file, schema_beside

USUAL_EPSILON = 1.0
EXAMPLES = 3


def as_question(options: TrainOptions) -> QueryOptions:
    """What a training shares with a question."""
    return QueryOptions(
        options.file,
        "",
        epsilon=options.epsilon,
        delta=options.delta,
        unit=options.unit,
        budget=options.budget,
        dry_run=options.dry_run,
    )


def model_place(options: TrainOptions) -> Path:
    """Where the model is written."""
    return options.out or Path(f"{_file_stem(options.file, options.table)}.{options.target}.json")


def _file_stem(file: str, table: str | None) -> str:
    """What a table is called in the names of files: that of a server as its schema file is."""
    if is_address(file) or is_schema_file(file):
        return schema_beside(file, table).name.removesuffix(SUFFIX)
    return Path(file).stem


@dataclass(frozen=True, slots=True)
class Ready:
    """A training with its price; `estimator` and `job` are those of letalone.learn."""

    asked: TrainOptions
    schema: Schema
    budget: Budget | None
    estimator: Any
    job: Any

    @property
    def price(self) -> Budget:
        """The price of the model."""
        return Budget(self.estimator.epsilon, self.estimator.delta)

    @property
    def features(self) -> list[str]:
        """The columns that it learns from."""
        return list(self.job.features)

    def fits(self, state: FilterState) -> bool:
        """Whether a budget in this state allows it."""
        try:
            charged(state, self.job.privacy, delta=self.price.delta or None)
        except BudgetExceeded:
            return False
        return True


def ready(asked: TrainOptions, source: Source, known: DataSet | None) -> Ready:
    """The training with its price, or a refusal in words."""
    if find_spec("sklearn") is None:
        raise ParameterError(f"Models need scikit-learn: {how_to_install('learn')}.")
    schema = source.schema.protecting(unit_of(as_question(asked), source, known))
    target = target_of(asked.target, schema)
    features = features_of(asked.features, schema, target)
    model = model_of(asked.model, target)
    if asked.epsilon is None:
        raise Missing(
            "--epsilon is missing: the privacy to spend on this model. Smaller is more private; 0.5"
            " to 2 is usual.",
            {"epsilon": USUAL_EPSILON},
        )
    _check_declared(asked, schema, target, features=features, numbers=model in REGRESSORS.values())
    estimator = getattr(learn, model)(epsilon=asked.epsilon, delta=asked.delta or 0)
    job = estimator.job_for(schema, features=features, target=target.name, knots=asked.knots)
    budget = budget_of(as_question(asked), known)
    found = Ready(asked, schema, budget, estimator, job)
    if known is None and budget is not None and not found.fits(opened(budget)):
        raise BudgetExceeded(
            f"The model costs ({brief(found.price)}), which a budget of ({budget}) does not allow."
            " Nothing was charged, and the budget was not written down: name a larger one, or ask"
            " for less."
        )
    return found


def advice(error: LetaloneError, asked: TrainOptions, source: Source, known: DataSet | None) -> str:
    """A command that would be done, where one is found."""
    offers: tuple[dict[str, Any], ...] = error.offers if isinstance(error, Missing) else ({},)
    tried = [one for offer in offers for one in _changed(replace(asked, **offer), source, known)]
    passing = next((one for one in tried if _passes(one, source, known)), None)
    if passing is None and not source.has_types and " init " not in str(error):
        unit = asked.unit or unit_example(source.schema, known)
        return f"{NOT_TYPED}\nTry:{_init(replace(asked, unit=unit))}"
    return "" if passing is None else "\nTry:" + to_type_again("train", passing)


def _init(asked: TrainOptions) -> str:
    """The command that writes a schema file, to be typed."""
    unit = [] if asked.unit is None else ["--unit", asked.unit]
    table = [] if asked.table is None else ["--table", asked.table]
    return to_type("init", asked.file, *unit, *table)


def _changed(asked: TrainOptions, source: Source, known: DataSet | None) -> list[TrainOptions]:
    """The training with what is missing, then with a delta, a budget or a model that fit."""
    asked = replace(asked, target=_nearest(asked, source))
    if asked.unit is None and not source.declares_unit and known is None:
        asked = replace(asked, unit=unit_to_try(source.schema))
    asked = replace(asked, epsilon=asked.epsilon or USUAL_EPSILON)
    if asked.budget is None and known is None and not asked.dry_run:
        asked = replace(asked, budget=usual_budget(as_question(asked)))
    both = (asked, replace(asked, delta=asked.delta or USUAL_DELTA))
    richer = [replace(one, budget=usual_budget(as_question(one))) for one in both]
    budgets = richer if known is None and not asked.dry_run else [replace(asked, budget=None)]
    left = [] if known is None else [_left(known)]
    less = [replace(one, epsilon=epsilon, budget=None) for epsilon in left for one in both]
    others = [replace(one, model=name) for one in both for name in MODELS if asked.model]
    return [*both, *budgets, *less, *others]


def _nearest(asked: TrainOptions, source: Source) -> str | None:
    """The target, or the column that may have been meant by it."""
    names = [one.name for one in source.schema.columns if one.name != asked.unit]
    near = [] if asked.target in names else get_close_matches(asked.target or "", names, n=1)
    return near[0] if near else asked.target


def _left(known: DataSet) -> float:
    """What is left, a little less and with two digits."""
    left = float(known.remaining.epsilon) * 0.95
    return float(f"{left:.1e}") if left > 0 else USUAL_EPSILON


def _passes(asked: TrainOptions, source: Source, known: DataSet | None) -> bool:
    try:
        found = ready(asked, source, known)
    except LetaloneError:
        return False
    return known is None or found.fits(known.state)


def _check_declared(
    asked: TrainOptions,
    schema: Schema,
    target: Column,
    *,
    features: list[str] | None,
    numbers: bool,
) -> None:
    """Refuses columns of which too little is declared, and says what to write where."""
    columns = [schema.column(name) for name in features or ()]
    others = other_columns(schema, target)
    lacking = [_lacking(one, numbers=one.type.is_numeric) for one in columns if not _known(one)]
    if numbers and (target.lower is None or target.upper is None):
        lacking.append(_lacking(target, numbers=True))
    if not numbers and target.keys is None and target.type is not Type.BOOLEAN:
        lacking.append(_lacking(target, numbers=False))
    if not lacking and (features or any(_known(one) for one in others)):
        return
    lacking = lacking or [_lacking(one, numbers=one.type.is_numeric) for one in others]
    file = schema_beside(asked.file, asked.table)
    if not file.exists():
        raise ParameterError(
            "Bounds and keys are declared in a schema file, which is not there yet. Write it, and"
            f" fill them in:{_init(asked)}"
        )
    raise ParameterError(
        "Bounds and keys are never read off the data. Write what is publicly known into"
        f" {file.name}, in place of these examples:{''.join(lacking[:EXAMPLES])}"
    )


def _known(column: Column) -> bool:
    bounded = column.lower is not None and column.upper is not None
    return bounded or column.keys is not None or column.type is Type.BOOLEAN


def _lacking(column: Column, *, numbers: bool) -> str:
    rows = ("lower = 0", "upper = 100") if numbers else (f"keys = [{_example(column)}]",)
    return "".join(f"\n    {line}" for line in (f"[columns.{column.name}]", *rows))


def _example(column: Column) -> str:
    return "0, 1" if column.type is Type.INTEGER else '"A", "B"'
