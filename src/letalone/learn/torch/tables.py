"""Training a network on a table that has a budget of its own.

    trainer.fit(table, target="income")

The table is what `la.open` gives, or some of its rows. Its declared columns become features as for
every other estimator, numbers between -1 and 1; a declared target becomes the place among its keys,
or a number between its bounds. The table's ledger is charged before rows are read.

A run is a job of its own: another call is charged again, unless it goes on from a file.

  Proven:   what a row becomes depends on that row and the schema alone; the rest as for tensors
            (docs/explanation/proofs/deep_learning.md)
  Tested:   tests/deep_learning/test_tables.py
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from letalone.errors import ParameterError
from letalone.exact.typed import Number
from letalone.learn.features import classes
from letalone.learn.features.encoding import TableEncoder
from letalone.learn.features.row_cells import quietly
from letalone.learn.on_tables import PrivateTable, check_target, encoder_for, width_of
from letalone.learn.torch.tensors import as_tensor
from letalone.learn.torch.training_plan import TrainPlan
from letalone.plans.fit_job import UNIT_OF_ROWS, FitColumns
from letalone.plans.schema import Column, Schema
from letalone.plans.types import Type
from letalone.privacy import Neighbours, Privacy
from letalone.privacy.curve import Json

LARGEST_TARGET = 1e30  # beyond, losses and their slopes are no single-precision numbers
Rows = tuple[Tensor, Tensor]
Cells = NDArray[Any]
Train = Callable[[Rows, Cells | None], Json]

__all__ = ["NetworkJob", "PrivateTable", "TargetColumn", "job_of"]


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """A declared column as what a network learns to predict."""

    name: str
    keys: tuple[object, ...] | None  # None: a number between the bounds
    bounds: tuple[float, float]

    def read(self, cells: Cells) -> tuple[Tensor, Cells]:
        """What each cell becomes, and which rows have one: no other cell matters to it."""
        if self.keys is not None:
            codes = classes.codes_of(cells, np.array(self.keys, object))
            return as_tensor(codes.clip(min=0)), codes >= 0
        numbers = classes.numbers_of(cells).clip(*self.bounds)
        return as_tensor(np.nan_to_num(numbers).astype(np.float32)), np.isfinite(numbers)


@dataclass(frozen=True, slots=True)
class NetworkJob:
    """A run of private steps on some columns of a table."""

    encoder: TableEncoder
    label: TargetColumn
    plan: TrainPlan
    model: str
    protects: Neighbours
    run: str = ""
    train: Train | None = None
    goes_on: bool = False

    @property
    def features(self) -> Sequence[str]:
        return tuple(self.encoder.columns)

    @property
    def target(self) -> str:
        return self.label.name

    @property
    def per_unit(self) -> int | None:
        return self.plan.per_unit

    @property
    def epsilon(self) -> Number:
        return self.plan.epsilon

    @property
    def delta(self) -> Number:
        return self.plan.delta

    @property
    def privacy(self) -> Privacy:
        return self.plan.privacy

    @property
    def words_of_features(self) -> str:
        names, width = ", ".join(self.features), width_of(self.encoder)
        return f"The declared columns ({names}) are {width} features for each row."

    def described(self) -> Json:
        encoding = self.encoder.to_json()
        told = {"estimator": self.model, "encoding": encoding, "plan": self.plan.described()}
        return {**told, "run": self.run}

    def fit(self, columns: FitColumns) -> Json:
        with quietly():
            rows = self.encoder.transform({name: columns[name] for name in self.features})
            targets, known = self.label.read(columns[self.target])
            inputs = as_tensor(rows[known].astype(np.float32))
            unit = None if self.per_unit is None else columns[UNIT_OF_ROWS][known]
            train = cast("Train", self.train)
            return train((inputs, targets[as_tensor(known)]), unit)

    def no_rows(self) -> tuple[Rows, Cells | None]:
        """A dataset of nobody, by which a model is checked before anything is charged."""
        kind = torch.int64 if self.label.keys is not None else torch.float32
        unit = None if self.per_unit is None else np.empty(0, object)
        return (torch.zeros(0, width_of(self.encoder)), torch.zeros(0, dtype=kind)), unit


def target_of(schema: Schema, name: str | None) -> TargetColumn:
    """The target by what the schema declares; refused where that is too little."""
    if name is None:
        raise ParameterError(
            "target is missing: a network learns to predict one of the columns. Name it, such as"
            " fit(table, target='income')."
        )
    check_target(schema, name, numbers=False)
    column = schema.column(name)
    bounds = column.lower, column.upper
    if keys := _keys(column):
        return TargetColumn(name, keys, (0.0, 0.0))
    if None in bounds:
        raise ParameterError(
            f"Column {name!r} has no declared keys and no lower and upper, and they are not read"
            " off the data. Add them to its schema."
        )
    lower, upper = cast("tuple[Number, Number]", bounds)
    if max(abs(lower), abs(upper)) > LARGEST_TARGET:
        raise ParameterError(
            f"The bounds of column {name!r} must be between -{LARGEST_TARGET:g} and"
            f" {LARGEST_TARGET:g}: a network learns in single precision."
        )
    return TargetColumn(name, None, (float(lower), float(upper)))


def _keys(column: Column) -> tuple[object, ...]:
    if column.keys is not None:
        return tuple(key for key in column.keys if key is not None)
    return (False, True) if column.type is Type.BOOLEAN else ()


def job_of(
    table: PrivateTable,
    features: Sequence[str] | None,
    target: str | None,
    *,
    plan: TrainPlan,
    model: str,
) -> NetworkJob:
    """What training on a table would do: no data is seen, nothing is charged."""
    schema = table.trainable_schema()
    label = target_of(schema, target)
    return NetworkJob(encoder_for(schema, features, target), label, plan, model, schema.protects)
