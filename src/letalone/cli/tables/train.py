"""`letalone train FILE --target COLUMN`: a private model in a file, its price, and what is left.

Nothing but the same model is written over: a model was paid for, and a file may be its only copy.
The same training again is free and gives the same model, so it may be written over itself; and
over that of an earlier version of the data.

  Tested:   tests/cli/test_train.py
"""

from dataclasses import replace
from decimal import ROUND_FLOOR, Context, Decimal
from itertools import chain, count
from pathlib import Path
from typing import Any

from letalone.cli.offered import to_type, to_type_again
from letalone.cli.places import check_folder, schema_beside
from letalone.cli.screen import print_json, protection_text, say
from letalone.cli.tables import train_choice
from letalone.cli.tables.asked_table import AskedTable, open_to_ask
from letalone.cli.tables.table_commands import TrainOptions
from letalone.cli.tables.table_option import fingerprint_of, with_one_table
from letalone.cli.tables.train_choice import TrainingPlan, model_place
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError, UnsupportedQuery
from letalone.errors.problem import without_context
from letalone.exact.typed import as_typed, write_rational
from letalone.learn import model_files
from letalone.ledger import DataSet, digest_of
from letalone.ledger.chain.canonical import as_object
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.privacy.filters import left_in_words
from letalone.session.locating import ROW
from letalone.session.open_table import NOT_ON_SPARK
from letalone.sources.resolve import data_of
from letalone.sources.spark_names import is_spark_address

LISTED = 12
NAME = "The training"
DIGITS = 20


def train(options: TrainOptions) -> None:
    """Train, and print what it cost; with --dry-run, what it would cost."""
    if is_spark_address(data_of(options.file)):
        raise UnsupportedQuery(NOT_ON_SPARK)  # before a Spark is started

    def work() -> None:
        with open_to_ask(train_choice.as_question(options)) as table:
            _train(options, table)

    with_one_table(
        work,
        options.file,
        lambda choice: to_type_again("train", options, file=choice.file, table=choice.table),
    )


def _train(options: TrainOptions, table: AskedTable) -> None:
    plan = without_context(
        lambda: train_choice.plan_training(options, table),
        LetaloneError,
        error=lambda error: train_choice.with_command(error, options, table),
    )
    if options.dry_run:
        _print_preview(plan, table.known)
        return
    check_model_place(plan, table.ledger)
    session = table.look.session(plan.schema.unit or ROW)
    table.look.register(plan.budget)
    model = without_context(
        lambda: plan.estimator.fit(
            session,
            features=plan.features,
            target=options.target,
            knots=options.knots,
            confirm=True,  # by plan_training
        ),
        BudgetExceeded,
        error=lambda error: _affordable(error, options, table),
    )
    from letalone.learn.models import save

    standing = session.ledger.data_set(session.name)
    out = save(model, model_place(options))
    _print(plan, model, standing, path=table.ledger, out=out)


def _affordable(error: BudgetExceeded, options: TrainOptions, table: AskedTable) -> LetaloneError:
    """With a command that the budget allows; where nothing is left, with where to look."""
    now = replace(table, known=table.look.data_set)
    offer = train_choice.correct(error.problem, options, now)
    if offer is not None:
        return error.with_words(f"{error}\nTry:{to_type_again('train', offer)}")
    return error.with_words(
        f"{error} Models that were trained before are still free; only the owner can allow more."
        "\nTry:" + to_type("ledger", "show", str(table.ledger))
    )


def _print_preview(plan: TrainingPlan, known: DataSet | None) -> None:
    fits = None if known is None else plan.fits(known.state)
    if plan.options.as_json:
        print_json("train", {**_as_json(plan), "dry_run": True, "fits": fits})
        return
    enough = {None: "", True: " It fits into the budget.", False: " It does not fit."}[fits]
    say(*_lines(plan), f"That would spend ({plan.price}).{enough} Nothing was spent.")


def _print(plan: TrainingPlan, model: Any, standing: DataSet, *, path: Path, out: str) -> None:
    repeated = "free of charge" in str(model.release_.left)
    if plan.options.as_json:
        more = {
            "repeated": repeated,
            "budget": in_decimals(standing.budget),
            "remaining": in_decimals(standing.remaining),
            "ledger": path,
            "out": out,
        }
        print_json("train", {**_as_json(plan), **more})
        return
    say(
        *_lines(plan),
        f"{_cost(plan, repeated=repeated)} Left: about {left_in_words(standing.state)} of"
        f" ({standing.budget}), in {path}.",
        f"Written to {out}, with its receipt. letalone predict {out} FILE uses it.",
    )


def _cost(plan: TrainingPlan, *, repeated: bool) -> str:
    if not repeated:
        return f"It spent ({plan.price})."
    file = schema_beside(plan.options.file, plan.options.table).name
    return f"An earlier model, free of charge; if the data has changed, raise version in {file}."


def in_decimals(budget: Budget) -> dict[str, str]:
    """Both amounts as decimals, rounded down where they have more digits than are of use."""
    rounded = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    return {
        name: f"{rounded.divide(Decimal(amount.numerator), Decimal(amount.denominator)):f}"
        for name, amount in (("epsilon", budget.epsilon), ("delta", budget.delta))
    }


def _as_json(plan: TrainingPlan) -> dict[str, object]:
    return {
        "model": type(plan.estimator).__name__,
        "target": plan.options.target,
        "features": plan.features,
        "knots": plan.options.knots,
        "epsilon": plan.estimator.epsilon,
        "delta": plan.estimator.delta,
        "unit": plan.schema.unit or ROW,
        "words": list(plan.job.plan.words),
    }


def _lines(plan: TrainingPlan) -> list[str]:
    names = plan.features
    rest = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    knots = "" if plan.options.knots is None else f" Numbers have {plan.options.knots} knots each."
    unit = plan.schema.unit
    rows = "" if unit is None else f" One row of each {unit} counts."
    return [
        f"{type(plan.estimator).__name__} for {plan.options.target}, learned from"
        f" {', '.join(names[:LISTED])}{rest}.{knots}",
        f"Protects {protection_text(plan.schema.protects)}.{rows}",
        *(f"- {line}" for line in plan.job.plan.words),
    ]


def check_model_place(plan: TrainingPlan, ledger: Path) -> None:
    """Before anything is paid: the model can be written, and nothing else is lost by it."""
    options, place = plan.options, model_place(plan.options)
    check_folder(place)
    if not place.exists():
        return
    try:
        stored = model_files.read(place)
    except LetaloneError:
        raise ParameterError(
            f"{place} exists and is not a model file. Write elsewhere:"
            + to_type_again("train", options, out=place.with_suffix(".model.json"))
        ) from None
    if not _is_of(stored, plan, ledger):
        raise ParameterError(
            f"{place} holds another model, a {stored['model']}, which would be lost. Nothing was"
            f" charged. Write elsewhere:{to_type_again('train', options, out=_elsewhere(options))}"
        )


def _is_of(stored: Json, plan: TrainingPlan, ledger: Path) -> bool:
    """Whether the file holds what this training gives, of these rows or of an earlier version."""
    try:
        receipt = model_files.verify_signed(stored)
    except LetaloneError:
        return False
    if receipt is None or receipt.fingerprint != fingerprint_of(ledger):
        return False
    stored_plan = as_object(receipt.body["plan"], name="The plan")
    rows = as_object(stored_plan.get("rows", {}), name="The plan")
    held = {
        "data_set": receipt.body["data_set"],
        "model": stored_plan.get("model"),
        "target": stored_plan.get("target"),
        "where": rows.get("where"),
        "price": [stored["epsilon"], stored["delta"]],
    }
    return digest_of(held, name=NAME) == digest_of(_describe_plan(plan), name=NAME)


def _describe_plan(plan: TrainingPlan) -> Json:
    amounts = (plan.estimator.epsilon, plan.estimator.delta)
    return {
        "data_set": plan.schema.name,
        "model": plan.job.described(),
        "target": plan.job.target,
        "where": None,
        "price": [write_rational(as_typed(amount)) for amount in amounts],
    }


def _elsewhere(options: TrainOptions) -> Path:
    """A file that is not there yet, named for what the training has of its own."""
    parts = [] if options.knots is None else [f"knots{options.knots}"]
    parts += [] if options.model is None else [options.model]
    names = chain(parts, (str(number) for number in count(2)))
    places = (model_place(options).with_suffix(f".{name}.json") for name in names)
    return next(place for place in places if not place.exists())
