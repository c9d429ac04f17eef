"""Training on a table that has a budget of its own: `estimator.fit(table, target="income")`.

The table is what `la.open` gives, or some of its rows. Features are encoded by the bounds and keys
of the schema, which also declare what the estimator would have to be told otherwise: the norm of
rows, the classes, the bounds of features and target.

  Tested:   tests/learn/test_sessions.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.typed import Number
from letalone.learn.features.encoding import TableEncoder, declaration_of
from letalone.learn.features.row_cells import quietly
from letalone.learn.plan import FitPlan
from letalone.learn.stored import stored_model
from letalone.ledger.charging import Settled
from letalone.plans.fit_job import FitColumns, FitJob
from letalone.plans.schema import Schema
from letalone.plans.types import Type
from letalone.plans.unnamed import check_no_feature
from letalone.privacy import Neighbours, Privacy
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource


@runtime_checkable
class PrivateTable(Protocol):
    """A table with a budget of its own that models can be trained on: `la.open` gives one."""

    def trainable_schema(self) -> Schema:
        """What is public about the rows; refused where no model can be trained on them."""
        ...

    def train(self, job: FitJob, *, confirm: bool = False) -> Settled:
        """Charges, fetches rows, fits and settles; or gives back what the same job gave before."""
        ...


@dataclass(frozen=True, slots=True)
class TableJob:
    """A fit of some columns of a table."""

    model: str
    encoder: TableEncoder
    target: str | None
    epsilon: Number
    delta: Number
    plan: FitPlan
    bits: BitSource
    protects: Neighbours

    @property
    def features(self) -> Sequence[str]:
        return tuple(self.encoder.columns)

    @property
    def per_unit(self) -> None:
        """One row of each unit."""

    @property
    def goes_on(self) -> bool:
        return True

    @property
    def privacy(self) -> Privacy:
        return self.plan.privacy

    def described(self) -> Json:
        encoding = self.encoder.to_json()
        return {"estimator": self.model, "encoding": encoding, "plan": self.plan.described()}

    def fit(self, columns: FitColumns) -> Json:
        with quietly():
            rows = self.encoder.transform({name: columns[name] for name in self.features})
            labels = None if self.target is None else columns[self.target]
            return stored_model(self.plan.fitted(rows, labels, self.bits))


def encoder_for(
    schema: Schema, features: Sequence[str] | None, target: str | None, *, knots: int | None = None
) -> TableEncoder:
    """The encoder for the named columns; for all that the schema declares if none are named."""
    if isinstance(features, str):
        raise ParameterError(f"features is {features!r}, but must be a list of columns.")
    names = features if features is not None else encodable(schema, target)
    if not names:
        raise ParameterError(
            f"No column of {schema.name!r} can be learned from: declare the lower and upper of"
            " numbers, and the keys of others, in its schema."
        )
    if len(set(names)) < len(names):
        raise ParameterError("features names a column twice. Name each once.")
    check_no_feature(schema, names)
    return TableEncoder.of(schema, names, knots=knots)


def check_target(schema: Schema, target: str | None, *, numbers: bool) -> None:
    """Refuses a target of the wrong type: what is learned from it would fail on the data."""
    if target is not None and target == schema.unit:
        raise ParameterError(f"Column {target!r} is the unit, whom nothing is told about.")
    if target is not None and numbers and not schema.column(target).type.is_numeric:
        raise ParameterError(
            f"Column {target!r} is {schema.column(target).type.value}, but this model predicts"
            " numbers. Choose a classifier, such as LogisticRegression, or another target."
        )


def encodable(schema: Schema, target: str | None) -> list[str]:
    """The columns of which enough is declared: bounds, keys, or truth values."""
    others = [column for column in schema.columns if column.name not in (schema.unit, target)]
    return [column.name for column in others if declaration_of(column) is not None]


def declared_by(schema: Schema, encoder: TableEncoder, target: str | None) -> dict[str, object]:
    """What the schema says in place of parameters that an estimator was not given."""
    known: dict[str, object] = {"data_norm": encoder.norm, "bounds": (-1.0, 1.0)}
    known["groups"] = encoder.groups  # the features of one category
    if target is None:
        return known
    column = schema.column(target)
    if column.lower is not None and column.upper is not None:
        known["target_bounds"] = (float(column.lower), float(column.upper))
    if column.keys is not None:
        known["classes"] = [key for key in column.keys if key is not None]
    elif column.type is Type.BOOLEAN:
        known["classes"] = [False, True]
    return known


def width_of(encoder: TableEncoder) -> int:
    """How many features the encoder makes."""
    return int(np.size(encoder.get_feature_names_out()))
