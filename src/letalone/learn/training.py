"""How every estimator is fitted: a plan is made from shapes and paid for, then data is seen.

A plan is made from the constructor's parameters and the number of features alone. It knows its
privacy before any value is looked at, and gives back what may be published; nothing else becomes
an attribute.

What calls an estimator, a pipeline of scikit-learn or work that is sent to other processes, it is
not told. Both can be seen from the frames that called it, and both are slips that nobody would
notice otherwise: a scaler that learns in front of it, and a budget that other processes cannot
debit. What is not seen is not refused: this is help, and no guarantee.

  Tested:   tests/learn/test_training.py, test_pipelines.py, test_manners.py
"""

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning

from letalone.errors import ParameterError
from letalone.exact.typed import Number
from letalone.learn.account import Account, account_of
from letalone.learn.features.classes import check_numbers
from letalone.learn.features.encoding import TableEncoder
from letalone.learn.features.row_cells import as_objects, quietly
from letalone.learn.on_tables import (
    PrivateTable,
    TableJob,
    check_target,
    declared_by,
    encoder_for,
    width_of,
)
from letalone.learn.pipelines.steps import check_steps
from letalone.learn.plan import FitPlan, FitRecord, Floats, Labels, Released
from letalone.learn.scikit import copy_of, is_regressor, rows_of, with_parameters
from letalone.learn.stored import model_from, stored_model
from letalone.ledger.charging import Work, charged_work, uncharged_work
from letalone.plans.schema import Schema
from letalone.privacy import Budget, Privacy
from letalone.privacy.curve import Json
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.randomness.bits import SYSTEM, BitSource

__all__ = ["FitPlan", "FitRecord", "Floats", "Labels", "PrivateEstimator", "Released"]
EARLIER = " An earlier model, free of charge; raise the version if the data has changed."
OUTSIDE_PARAMETERS = ("budget",)
MOST_FRAMES = 60
MOST_OF_A_PIPELINE = 4  # its fit calls the last step's, by way of a decorator


class PrivateEstimator(BaseEstimator):
    """A scikit-learn estimator whose fit is paid for; `privacy_` says what it reveals."""

    epsilon: Number
    delta: Number
    _account: Account | None
    _bits: BitSource = SYSTEM
    _needs_labels = False

    n_features_in_: int
    encoder_: TableEncoder
    target_: str | None
    privacy_: Privacy
    release_: FitRecord

    @abstractmethod
    def _plan(self, width: int) -> FitPlan:
        """The plan for so many features; ParameterError where parameters do not fit."""

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        *,
        features: Sequence[str] | None = None,
        target: str | None = None,
        knots: int | None = None,
        confirm: bool = False,
    ) -> Self:
        """Learns from rows, one for each person; charges the budget first.

        X is an array, or a table from `la.open` (or some of its rows, `table.where(…)`): then
        `features` names the columns to learn from, all that its schema declares if none are named,
        `target` the one to predict, and the table's own budget is charged. With `knots`, such as 8,
        a linear classifier follows a curve along each number (see `TableEncoder`). Above ε = 10 a
        budget is charged with confirm=True only.
        """
        self._check_pipeline()
        if isinstance(X, PrivateTable):
            job = self._job(X, y, features=features, target=target, knots=knots)
            return self._fit_table(X, job, confirm=confirm)
        if features is not None or target is not None or knots is not None:
            raise ParameterError(
                "features, target and knots are for a table that la.open gave. Rows of an array"
                " are given with their labels: fit(X, y)."
            )
        rows, labels = self._read(X, y)
        plan = self._plan(rows.shape[1])
        if self._account is not None:
            check_confirmed(find_risk(self.epsilon), confirm=confirm)
        released, receipt = self._paid(plan, lambda: plan.fitted(rows, labels, self._bits))
        self.__dict__.pop("encoder_", None)
        self.__dict__.pop("target_", None)
        self._publish(plan, released, self._fit_of(plan, receipt=receipt, account=self._account))
        return self

    def _check_pipeline(self) -> None:
        """Refuses steps that learn from rows in front of this one, where they can be seen."""
        pipeline = pipeline_around(self)
        if pipeline is not None:
            check_steps(pipeline.steps[:-1], what=type(self).__name__)

    def _job(
        self,
        table: PrivateTable,
        y: Any,
        *,
        features: Sequence[str] | None,
        target: str | None,
        knots: int | None,
    ) -> TableJob:
        self._check_table(y, target)
        schema = table.trainable_schema()
        return self.job_for(schema, features=features, target=target, knots=knots)

    def _fit_table(self, table: PrivateTable, job: TableJob, *, confirm: bool) -> Self:
        settled = table.train(job, confirm=confirm)
        plan, encoder, target = job.plan, job.encoder, job.target
        remaining = f"{settled.remaining}{EARLIER * settled.repeated}"
        self.n_features_in_, self.encoder_, self.target_ = width_of(encoder), encoder, target
        self.__dict__.pop("feature_names_in_", None)
        fit = self._fit_of(plan, receipt=settled.receipt, left=remaining)
        fit = replace(fit, privacy=plan.privacy.labelled(job.protects))
        self._publish(plan, model_from(settled.stored), fit)
        return self

    def _check_table(self, y: Any, target: str | None) -> None:
        if y is not None:
            raise ParameterError(
                "y is given, but the labels of a table are one of its columns: name it, such as"
                " fit(table, target='income')."
            )
        if target is None and self._needs_labels:
            raise ParameterError(
                f"target is missing: {type(self).__name__} learns to predict one of the columns."
                " Name it, such as fit(table, target='income')."
            )
        if self._account is not None:
            raise ParameterError(
                "budget= is given, but a table has its own budget, which is charged. Leave"
                " one of them out: fit an array, or make the estimator without budget=."
            )

    def job_for(
        self,
        schema: Schema,
        *,
        features: Sequence[str] | None,
        target: str | None,
        knots: int | None = None,
    ) -> TableJob:
        """What a fit of a table would do, and its price: no data is seen, nothing is charged.

        What the schema declares stands in place of parameters that were not given.
        """
        target = target if self._needs_labels else None
        check_target(schema, target, numbers=is_regressor(self))
        if knots is not None and not self._takes_knots():
            raise ParameterError(
                f"knots is {knots!r}, but {type(self).__name__} does not use them. Leave knots out;"
                " LogisticRegression and LinearSVC take them."
            )
        encoder = encoder_for(schema, features, target, knots=knots)
        plan = self._declaring(declared_by(schema, encoder, target))._plan(width_of(encoder))
        model = type(self).__name__
        return TableJob(
            model, encoder, target, self.epsilon, self.delta, plan, self._bits, schema.protects
        )

    def _takes_knots(self) -> bool:
        """Whether a number may become several features: for linear classifiers."""
        return False

    def _declaring(self, known: Mapping[str, object]) -> Self:
        """A clone with the parameters filled in that it was not given."""
        given = cast("dict[str, Any]", self.get_params(deep=False))
        twin = self.__sklearn_clone__()
        missing = {name: value for name, value in known.items() if name in given}
        with_parameters(twin, {n: value for n, value in missing.items() if given[n] is None})
        return twin

    def _fit_of(
        self,
        plan: FitPlan,
        *,
        receipt: Json | None,
        account: Account | None = None,
        left: str | None = None,
    ) -> FitRecord:
        return FitRecord(
            type(self).__name__,
            self.epsilon,
            self.delta,
            plan.privacy,
            tuple(plan.words),
            plan.described(),
            receipt,
            account,
            left,
        )

    @property
    def budget(self) -> Account | None:
        """The account that fits debit: one object, shared with all clones."""
        return self._account

    def _keep(self, budget: Budget | Account | None) -> None:
        """For constructors: the account is a reference beside the parameters, not one of them.

        What is no budget is refused when the model is fitted, as other parameters are.
        """
        given = cast("object", budget)
        is_known = given is None or isinstance(given, Budget | Account)
        self._account = account_of(budget) if is_known else cast("Account", given)

    def _read(self, X: Any, y: Any) -> tuple[Floats, Labels | None]:  # noqa: N803
        """Rows as doubles and labels as they are: only shapes and types are looked at."""
        if y is None and self._needs_labels:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        rows = rows_of(self, X, fitting=True)
        labels = None if y is None else column_of(y, len(rows))
        if labels is not None and is_regressor(self):
            check_numbers(labels)
        return rows, labels

    def _paid(self, plan: FitPlan, work: Callable[[], Released]) -> tuple[Released, Json | None]:
        """The work, after it was charged, and its receipt.

        Whatever stops it, its words are not passed on.
        """
        account = account_of(self._account)
        fitting = ArrayFitting(work, is_stored=account is not None)
        if account is None:
            uncharged_work(fitting)
            return fitting.released, None
        charge = account.price(
            plan.privacy, plan=plan.described(), epsilon=self.epsilon, delta=self.delta
        )
        settled = charged_work([account.payer], charge, fitting, repeats=False)
        return fitting.released, settled.receipt

    def _publish(self, plan: FitPlan, released: Released, fit: FitRecord) -> None:
        del plan  # for those who publish more than attributes
        for name, value in released.items():
            setattr(self, name, value)
        self.privacy_, self.release_ = fit.privacy, fit

    def set_params(self, **params: Any) -> Self:
        """Sets parameters; `budget`, which is none, too."""
        given = dict(params)
        if "budget" in given:
            self._keep(given.pop("budget"))
        super().set_params(**given)  # pyright: ignore[reportUnknownMemberType]
        return self

    @classmethod
    def _get_param_names(cls) -> list[str]:
        names = cast("list[str]", super()._get_param_names())
        return [name for name in names if name not in OUTSIDE_PARAMETERS]

    def __sklearn_clone__(self) -> Self:
        if self._account is not None:
            self._account.check_reached(processes_around())
        parameters = cast("dict[str, Any]", self.get_params(deep=False))
        copied = {name: copy_of(value) for name, value in parameters.items()}
        twin = cast("Callable[..., Self]", type(self))(**copied, budget=self._account)
        for name in ("_metadata_request", "_sklearn_output_config", "_skl_callbacks", "_bits"):
            if name in self.__dict__:
                setattr(twin, name, self.__dict__[name])
        return twin

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_bits", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags


class LikelyClass(ClassifierMixin):
    """A classifier that says how likely each of its classes is, as a logarithm."""

    classes_: Labels

    @abstractmethod
    def predict_log_proba(self, X: Any) -> Floats:  # noqa: N803
        """The logarithm of each class's probability."""

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Each class's probability."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Labels:  # noqa: N803
        """The likeliest class."""
        likeliest = np.argmax(self.predict_log_proba(X), axis=1)
        return self.classes_[likeliest]


class ArrayFitting(Work):
    """Fits an array, which is at hand; `released` is what was made."""

    failure = "the fit could not be finished"
    released: Released

    def __init__(self, fit: Callable[[], Released], *, is_stored: bool) -> None:
        self._fit, self._is_stored = fit, is_stored

    def make(self) -> Json:
        with quietly():
            self.released = self._fit()
            return stored_model(self.released) if self._is_stored else {}


def column_of(labels: object, rows: int) -> Labels:
    """Labels as a column; only their shape is looked at.

    The labels of a list stay what they are: one text among numbers would turn all into text.
    """
    is_list = isinstance(labels, list | tuple)
    column = as_objects(cast("list[object]", labels)) if is_list else np.asarray(labels)
    if column.ndim == 2 and column.shape[1] == 1:
        words = "A column-vector y was passed when a 1d array was expected."
        warn(words, DataConversionWarning, stacklevel=2)
        column = column[:, 0]
    if column.ndim != 1 or len(column) != rows:
        raise ValueError(
            "y must be one column of labels, one for each row of X, but has another shape."
        )
    return column


def pipeline_around(estimator: object) -> Any:
    """The pipeline of scikit-learn whose last step is just being fitted; None without one."""
    for _, caller in zip(range(MOST_OF_A_PIPELINE), _callers(), strict=False):
        steps = getattr(caller, "steps", None)
        if isinstance(steps, list) and steps and steps[-1][-1] is estimator:
            return caller
    return None


def processes_around() -> int:
    """To how many other processes joblib is about to send what is copied now; 1 for none."""
    for caller in _callers():
        if type(caller).__name__ == "Parallel" and hasattr(caller, "_effective_n_jobs"):
            backend = getattr(caller, "_backend", None)
            threads = getattr(backend, "uses_threads", False)
            return 1 if threads else int(caller._effective_n_jobs())
    return 1


def _callers() -> Iterator[Any]:
    """What is called `self` in the frames above, the nearest first."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    for _ in range(MOST_FRAMES):
        frame = frame.f_back
        if frame is None:
            return
        caller = frame.f_locals.get("self")
        if caller is not None:
            yield caller
