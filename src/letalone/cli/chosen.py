"""What was chosen for a training: the target, the columns to learn from, and a model that fits.

Nothing but what was typed and the schema decides here. What is refused comes with what would do.
"""

from difflib import get_close_matches

from letalone.cli.ready import Missing
from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type

CLASSIFIERS = {
    "logistic": "LogisticRegression",
    "svc": "LinearSVC",
    "trees": "BoostedTreesClassifier",
    "bayes": "GaussianNB",
}
REGRESSORS = {"linear": "LinearRegression", "trees": "BoostedTreesRegressor"}
MODELS = (*CLASSIFIERS, *(name for name in REGRESSORS if name not in CLASSIFIERS))


def target_of(named: str | None, schema: Schema) -> Column:
    """The column to predict."""
    columns = [one for one in schema.columns if one.name != schema.unit]
    found = next((one for one in columns if one.name == named), None)
    if found is not None:
        return found
    names = [one.name for one in columns]
    if named not in (None, schema.unit):
        raise ParameterError(_unknown(named, names, schema, to="predict"))
    wrong = (
        "--target is missing: the column that the model learns to predict."
        if named is None
        else f"--target is {named}, but this is the unit: it tells people apart, and says"
        " nothing about them that could be predicted."
    )
    likely = [one for one in columns if one.keys is not None or one.type is Type.BOOLEAN]
    raise Missing(
        f"{wrong} The columns are: {', '.join(names)}.",
        *({"target": one.name} for one in likely[-1:]),
    )


def features_of(named: str | None, schema: Schema, target: Column) -> list[str] | None:
    """The columns to learn from; None for all of which enough is declared."""
    if named is None:
        return None
    names = [name.strip() for name in named.split(",") if name.strip()]
    others = [one.name for one in other_columns(schema, target)]
    if not names:
        raise Missing(
            "--features names no column. Leave it out to learn from all that are declared, or name"
            f" some of: {', '.join(others)}.",
            {"features": None},
        )
    for name in names:
        if name not in others:
            raise _no_feature(name, names, others, schema=schema, target=target)
    return names


def _no_feature(
    name: str, names: list[str], others: list[str], *, schema: Schema, target: Column
) -> Missing:
    """Why a column is none to learn from; with the nearest in its place, or without it."""
    what = {schema.unit: "unit", target.name: "target"}.get(name)
    near = [] if what else get_close_matches(name, others, n=1)
    mended = [*dict.fromkeys(other for one in names for other in (near if one == name else [one]))]
    offer = {"features": ",".join(mended) or None}
    if what is None:
        return Missing(_unknown(name, others, schema, to="learn from"), offer)
    why = {"unit": "it tells people apart", "target": "it is what the model learns to predict"}
    return Missing(
        f"--features names {name}, but this is the {what}: {why[what]}, and nothing is learned"
        f" from it. Leave it out. The other columns are: {', '.join(others)}.",
        offer,
    )


def _unknown(name: str | None, names: list[str], schema: Schema, *, to: str) -> str:
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
        raise Missing(
            f"--model is {named}, but must be one of: {', '.join(MODELS)}.", {"model": None}
        )
    if not is_number and target.type.is_numeric:
        return REGRESSORS[named]  # whole numbers are either, as what is declared allows
    predicts = "classes" if is_number else "numbers"
    either = " As soon as its keys are declared it has classes, too."
    raise Missing(
        f"Column {target.name!r} is {target.type.value}, but this model predicts {predicts}. Models"
        f" that fit: {', '.join(fitting)}.{either * (target.type is Type.INTEGER)}",
        *({"model": name} for name in fitting),
    )


def other_columns(schema: Schema, target: Column) -> list[Column]:
    """All that could be learned from: not the unit, nor the target."""
    return [one for one in schema.columns if one.name not in (schema.unit, target.name)]
