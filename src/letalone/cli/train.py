"""`letalone train FILE --target COLUMN`: a private model in a file, its price, and what is left."""

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from letalone.cli.model_place import check_model_place
from letalone.cli.offered import to_type
from letalone.cli.places import ledger_path
from letalone.cli.progress import bar
from letalone.cli.screen import console, flowing, print_json, protected
from letalone.cli.source import Source, known_data_set, offering, read_source
from letalone.cli.training import Ready, Training, advice, ready
from letalone.engines.sources import WhichTable
from letalone.engines.spark_address import is_spark_address
from letalone.errors import BudgetExceeded, LetaloneError, ParameterError, UnsupportedQuery
from letalone.ledger import DataSet
from letalone.privacy import Budget
from letalone.privacy.filters import left_in_words
from letalone.session import ROW, Session
from letalone.session.beside import is_schema_file, schema_beside, source_of
from letalone.session.opening import open as open_table
from letalone.session.table import NOT_ON_SPARK

LISTED = 12
DIGITS = 20


def train(asked: Training) -> None:
    """Train, and print what it cost; with --dry-run, what it would cost."""
    _check_kind(asked.file)
    source = _source(asked)
    path = ledger_path(asked.file, asked.ledger)
    known = known_data_set(path, source.schema.name)
    found = _ready(asked, source, known)
    if asked.dry_run:
        _print_preview(found, known)
        return
    check_model_place(found, path)
    try:
        model, left = _trained(found, path, known)
    except BudgetExceeded as error:
        words = f"{error}{_affordable(error, asked, source, path)}"
    else:
        from letalone.learn.models import save

        _print(found, model, left, path=path, out=save(model, asked.place))
        return
    raise BudgetExceeded(words)


def _affordable(error: BudgetExceeded, asked: Training, source: Source, path: Path) -> str:
    """A command that the budget allows; where nothing is left, where to look."""
    found = advice(error, asked, source, known_data_set(path, source.schema.name))
    return found or (
        " Models that were trained before are still free; only the owner can allow more.\nTry:"
        + to_type("ledger", "show", str(path))
    )


def _check_kind(file: str) -> None:
    """Refuses a table of Spark by its address, before a Spark is started."""
    if is_spark_address(source_of(file) if is_schema_file(file) else file):
        raise UnsupportedQuery(NOT_ON_SPARK)


def _source(asked: Training) -> Source:
    try:
        return read_source(asked.file, table=asked.table)
    except WhichTable as error:
        found = error
    raise offering(
        found, asked.file, lambda named: asked.command(file=named.file, table=named.table)
    )


def _ready(asked: Training, source: Source, known: DataSet | None) -> Ready:
    try:
        return ready(asked, source, known)
    except LetaloneError as error:
        kind = ParameterError if isinstance(error, ParameterError) else type(error)
        words = f"{error}{advice(error, asked, source, known)}"
    raise kind(words)


def _trained(found: Ready, path: Path, known: DataSet | None) -> tuple[Any, DataSet]:
    asked = found.asked
    with (
        bar() as progress,
        open_table(
            asked.file,
            unit=found.schema.unit or ROW,
            budget=found.budget or (known and known.budget),
            ledger=path,
            table=asked.table,
            side_table=asked.side_table,
            progress=progress,
        ) as session,
    ):
        return _fitted(found, session), session.ledger.data_set(session.name)


def _fitted(found: Ready, session: Session) -> Any:
    asked = found.asked
    return found.estimator.fit(
        session, features=found.features, target=asked.target, knots=asked.knots
    )


def _print_preview(found: Ready, known: DataSet | None) -> None:
    fits = None if known is None else found.fits(known.state)
    if found.asked.as_json:
        print_json("train", {**_said(found), "dry_run": True, "fits": fits})
        return
    screen = console()
    enough = {None: "", True: " It fits into the budget.", False: " It does not fit."}[fits]
    lines = [*_lines(found), f"That would cost ({found.price}).{enough} Nothing was spent."]
    for line in lines:
        screen.print(flowing(line, screen.width), markup=False)


def _print(found: Ready, model: Any, left: DataSet, *, path: Path, out: str) -> None:
    repeated = "free of charge" in str(model.release_.left)
    if found.asked.as_json:
        more = {
            "repeated": repeated,
            "budget": in_decimals(left.budget),
            "remaining": in_decimals(left.remaining),
            "ledger": str(path),
            "out": out,
        }
        print_json("train", {**_said(found), **more})
        return
    screen = console()
    lines = [
        *_lines(found),
        f"{_cost(found, repeated=repeated)} Left: about {left_in_words(left.state)} of"
        f" ({left.budget}), in {path}.",
        f"Written to {out}, with its receipt. letalone predict {out} FILE uses it.",
    ]
    for line in lines:
        screen.print(flowing(line, screen.width), markup=False)


def _cost(found: Ready, *, repeated: bool) -> str:
    if not repeated:
        return f"It cost ({found.price})."
    file = schema_beside(found.asked.file, found.asked.table).name
    return f"An earlier model, free of charge; if the data has changed, raise version in {file}."


def in_decimals(budget: Budget) -> dict[str, str]:
    """Both amounts as decimals, rounded down where they have more digits than are of use."""
    rounded = Context(prec=DIGITS, rounding=ROUND_FLOOR)
    amounts = {"epsilon": budget.epsilon, "delta": budget.delta}
    return {name: f"{_divided(one, rounded):f}" for name, one in amounts.items()}


def _divided(amount: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(amount.numerator), Decimal(amount.denominator))


def _said(found: Ready) -> dict[str, object]:
    return {
        "model": type(found.estimator).__name__,
        "target": found.asked.target,
        "features": found.features,
        "knots": found.asked.knots,
        "epsilon": found.estimator.epsilon,
        "delta": found.estimator.delta,
        "unit": found.schema.unit or ROW,
        "words": list(found.job.plan.words),
    }


def _lines(found: Ready) -> list[str]:
    names = found.features
    rest = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    knots = "" if found.asked.knots is None else f" Numbers have {found.asked.knots} knots each."
    one = "" if found.schema.unit is None else f" One row of each {found.schema.unit} counts."
    return [
        f"{type(found.estimator).__name__} for {found.asked.target}, learned from"
        f" {', '.join(names[:LISTED])}{rest}.{knots}",
        f"Protects {protected(found.schema.protects)}.{one}",
        *(f"- {line}" for line in found.job.plan.words),
    ]
