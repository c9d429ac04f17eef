"""Training networks privately at little more than the price of training them.

    trainer = PrivateTrainer(model, loss, epsilon=3, delta=1e-5, rows=60_000, epochs=20)
    trainer.fit((images, labels))

The plan and its noise are made from what is declared; the budget is charged; then data is seen. For
a loop of your own, `trainer.steps(dataset)` gives the same steps one by one.

  Proven:   docs/explanation/proofs/deep_learning.md
  Tested:   tests/deep_learning
"""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast
from warnings import warn

from torch import nn
from torch.nn.modules.loss import _Loss  # pyright: ignore[reportPrivateUsage]
from torch.optim import Optimizer

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, Number, as_typed
from letalone.learn.account import Account, account_of
from letalone.learn.plan import FitRecord
from letalone.learn.torch.adam import SHARE, PrivateAdam
from letalone.learn.torch.averages import move_average, take_average
from letalone.learn.torch.checkpoints import RunState, Snapshot, write
from letalone.learn.torch.checks import Augment, Way, check_layers, checked_way
from letalone.learn.torch.clipping import Automatic, Clip, read_clip
from letalone.learn.torch.examples import Examples, check_no_columns, is_table
from letalone.learn.torch.recording import Loss, by_book_keeping, trained
from letalone.learn.torch.sampling import units_of
from letalone.learn.torch.steps import Pieces, PrivateSteps
from letalone.learn.torch.terms import MOST_IN_SINGLE
from letalone.learn.torch.training_plan import TrainPlan, train_plan
from letalone.ledger.charging import Work, charged_work, uncharged_work
from letalone.privacy import Budget, Privacy
from letalone.privacy.bounds import six
from letalone.privacy.curve import Json
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.randomness.bits import SYSTEM, BitSource

if TYPE_CHECKING:
    from letalone.learn.features.encoding import TableEncoder
    from letalone.learn.torch.tables import NetworkJob, PrivateTable

PIECE = MOST_IN_SINGLE  # units at once, where nothing else is asked for
LARGEST_PIECE = 512  # beyond, the bound of rounding is not proven
TOLD = 20  # times in a run, unless a checkpoint is written more often
FINISHED = (
    "This run was finished before: its steps were paid for once. Use the model that it left, or fit"
    " without resume=, which is charged."
)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, and what it has revealed so far; nothing of it depends on data."""

    step: int
    steps: int
    epsilon: float
    planned: Number

    def __str__(self) -> str:
        spent, planned = six(as_typed(self.epsilon)), six(as_typed(self.planned))
        return f"step {self.step:,} of {self.steps:,}: ε = {spent} of {planned}"


class PrivateTrainer:
    """Trains a PyTorch model so that it reveals at most (epsilon, delta) about each unit.

    rows: how many units are declared; it is not counted, since that would tell. batch_size: how
    many of them take part in a step on average. clip: `Automatic()`, `Flat(norm)`, `PerLayer(norm)`
    or a norm. noise: a multiple of the clip, where another than the least is wanted; then training
    stops where the budget ends. optimizer: any of torch.optim over the model's parameters;
    `PrivateAdam` if none is given. per_unit: so many examples of a unit take part in a step, where
    `fit` is told whose they are. views: how often each example is shown in a step, each time after
    `augment`. physical_batch_size: so many units are worked on at once, always exactly so many
    where it is given. average: 0.999 takes the mean of the weights over the last steps.
    """

    _bits: BitSource = SYSTEM

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        *,
        epsilon: Number,
        delta: Number,
        rows: int,
        epochs: Number = 10,
        batch_size: int = 512,
        clip: Clip | Number | None = None,
        noise: Number | None = None,
        optimizer: Optimizer | None = None,
        per_unit: int | None = None,
        views: int = 1,
        augment: Augment | None = None,
        physical_batch_size: int | None = None,
        average: float | None = None,
        budget: Budget | Account | None = None,
    ) -> None:
        check_layers(model)
        self.model, self.loss = model, _for_each_example(loss)
        self.augment, self.average = augment, average
        if average is not None:
            SHARE.typed("average", average)
        self.plan: TrainPlan = train_plan(
            epsilon=epsilon,
            delta=delta,
            rows=rows,
            batch_size=batch_size,
            epochs=epochs,
            noise=noise,
            clip=Automatic() if clip is None else read_clip(clip),
            per_unit=None if per_unit is None else int(COUNT.typed("per_unit", per_unit)),
            views=int(COUNT.typed("views", views)),
        )
        self.pieces = _pieces(physical_batch_size, augment)
        self.optimizer = optimizer or PrivateAdam(trained(model).values())
        _check_optimizer(self.optimizer, model)
        self._account = account_of(budget)
        self.release_: FitRecord | None = None
        self.encoder_: TableEncoder | None = None  # what turned a table's rows into features

    @property
    def privacy(self) -> Privacy:
        """What training reveals; known before any data is."""
        return self.plan.privacy

    @property
    def budget(self) -> Account | None:
        """The account that is charged."""
        return self._account

    def fit(
        self,
        dataset: Any,
        *,
        unit: Any = None,
        features: Sequence[str] | None = None,
        target: str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int | None = None,
        resume: str | os.PathLike[str] | None = None,
        progress: Callable[[Progress], object] | None = None,
        confirm: bool = False,
    ) -> Self:
        """Trains the model in place; charges the budget first.

        dataset: a pair of tensors, a dataset of pairs, or a table from `la.open` (or some of its
        rows), whose `features` predict its `target` and whose own budget is charged. unit: whose
        each example is, as a column of labels; a table knows. checkpoint: a file, written after
        `every` steps. resume: a file of a run that was cut short, which goes on and is not charged
        again. progress=print tells how far it is.
        """
        check_confirmed(find_risk(self.plan.epsilon), confirm=confirm)
        snapshot = Snapshot(self.model, self.optimizer, self.plan, RunState())
        if resume is not None:
            snapshot.read(resume)
        told = int(COUNT.typed("every", every)) if every else max(1, self.plan.steps // TOLD)

        def train(steps: PrivateSteps) -> Json:
            steps.go_on_after(snapshot.state.taken)
            return self._train(steps, snapshot, told, checkpoint, progress)

        def on_rows(rows: Any, whose: Any) -> Json:
            return train(self._prepared(rows, whose))

        # Without a file nobody can go on with the run, so the ledger must not say so.
        goes_on = checkpoint is not None or resume is not None
        if is_table(dataset):
            job = self._job(dataset, unit, features, target)
            job = replace(job, run=snapshot.state.run, goes_on=goes_on)
            job = replace(job, train=on_rows)
            return self._fit_table(dataset, job, confirm=confirm)
        check_no_columns(features, target)
        steps = self._prepared(dataset, unit)
        paid = self._paid(Training(lambda: train(steps)), snapshot.state.run, goes_on=goes_on)
        self.release_ = self._record(paid)
        return self

    def _job(
        self, table: Any, unit: Any, features: Sequence[str] | None, target: str | None
    ) -> "NetworkJob":
        """What a table is asked for; the model is checked by rows of nobody."""
        if unit is not None or self._account is not None:
            raise ParameterError(
                "unit= or budget= is given, but a table has a unit and a budget of its own, which"
                " is charged. Leave both out."
            )
        from letalone.learn.torch.tables import job_of  # loads scikit-learn

        job = job_of(table, features, target, plan=self.plan, model=type(self.model).__name__)
        try:
            self._prepared(*job.no_rows())
        except RuntimeError as error:
            raise ParameterError(
                f"{job.words_of_features} The model fails on them: {error}"
            ) from None
        return job

    def _fit_table(self, table: Any, job: "NetworkJob", *, confirm: bool) -> Self:
        settled = cast("PrivateTable", table).train(job, confirm=confirm)
        if settled.repeated:
            raise ParameterError(FINISHED)
        self.encoder_ = job.encoder
        privacy = self.plan.privacy.labelled(job.protects)
        record = replace(self._record(settled.receipt), privacy=privacy)
        self.release_ = replace(record, left=str(settled.remaining))
        return self

    @contextmanager
    def steps(
        self, dataset: Any, *, unit: Any = None, confirm: bool = False
    ) -> Generator[PrivateSteps]:
        """The private steps for a loop of your own, all charged before the first."""
        check_confirmed(find_risk(self.plan.epsilon), confirm=confirm)
        if is_table(dataset):
            raise ParameterError(
                "A loop of your own does not get the rows of a table, whose budget it would not"
                " charge. Call trainer.fit(table, target=…), or give tensors."
            )
        steps, account, plan = self._prepared(dataset, unit), self._account, self.plan
        paid = account and account.charge(
            plan.privacy, plan=plan.described(), epsilon=plan.epsilon, delta=plan.delta
        )
        try:
            yield steps
        finally:
            steps.close()
            if account is not None and paid is not None:
                account.ledger.settle(paid, _facts(steps))

    def _prepared(self, dataset: Any, unit: Any) -> PrivateSteps:
        if (unit is None) != (self.plan.per_unit is None):
            raise ParameterError(
                "unit= of the call and per_unit= of the trainer go together: whose each example is,"
                " and how many of one unit take part in a step, such as per_unit=8."
            )
        self.model.train()
        device = next(iter(trained(self.model).values())).device
        examples = Examples(dataset, device, views=self.plan.views)
        self._way: Way = checked_way(self.model, self.loss, examples.like_one(), self.augment)
        units = units_of(len(examples), unit, self.plan.per_unit or 1)
        if isinstance(self.optimizer, PrivateAdam):
            self.optimizer.noise_variance = self.plan.noise_variance
        return PrivateSteps(
            self.model, self.loss, self.plan, self._way, examples, units, self.pieces, self._bits
        )

    def _train(
        self,
        steps: PrivateSteps,
        snapshot: Snapshot,
        every: int,
        checkpoint: str | os.PathLike[str] | None,
        progress: Callable[[Progress], object] | None,
    ) -> Json:
        """All steps; what stops them leaves the model as it was last kept."""
        kept, planned = snapshot.kept(), self.plan.epsilon
        try:
            for step in steps:
                self.optimizer.step()
                snapshot.state.taken = step
                if self.average is not None:
                    move_average(snapshot.state.averaged, self.model, self.average, step)
                if step % every == 0 or step == self.plan.steps:
                    if checkpoint is not None:
                        kept = snapshot.kept()
                        write(kept, checkpoint)
                    if progress is not None:
                        _tell(progress, Progress(step, self.plan.steps, steps.epsilon, planned))
        except BaseException:
            snapshot.restore(kept)
            raise
        finally:
            steps.close()
        take_average(snapshot.state.averaged, self.model)
        return _facts(steps)

    def _paid(self, work: "Training", run: str, *, goes_on: bool) -> Json | None:
        plan, account = self.plan, self._account
        if account is None:
            uncharged_work(work)
            return None
        charge = account.price(
            plan.privacy,
            plan=plan.described(),
            epsilon=plan.epsilon,
            delta=plan.delta,
            run=run,
        )
        settled = charged_work([account.payer], charge, work, repeats=goes_on)
        if settled.repeated:
            raise ParameterError(FINISHED)
        return settled.receipt

    def _record(self, receipt: Json | None) -> FitRecord:
        plan, kept = self.plan, self._way is by_book_keeping
        how = "in one backward pass" if kept else "by one gradient for each example, which is slow"
        return FitRecord(
            f"PrivateTrainer({type(self.model).__name__})",
            plan.epsilon,
            plan.delta,
            plan.privacy,
            (*plan.words, f"gradients were clipped {how}"),
            plan.described(),
            receipt,
            self._account,
        )


class Training(Work):
    """All steps of a run, which are charged at once."""

    failure = "training could not be finished"

    def __init__(self, train: Callable[[], Json]) -> None:
        self._train = train

    def make(self) -> Json:
        return self._train()


def _tell(progress: Callable[[Progress], object], told: Progress) -> None:
    """What a listener does wrong stops no run: what was charged would be lost."""
    try:
        progress(told)
    except Exception as error:
        warn(f"progress failed with {type(error).__name__}; training goes on.", stacklevel=2)


def _facts(steps: PrivateSteps) -> Json:
    """What is stored of a run: that it was, and how many steps it took."""
    return {"format": 1, "kind": "training", "steps": str(steps.taken)}


def _pieces(size: int | None, augment: Augment | None) -> Pieces:
    if size is None:
        return Pieces(PIECE, padded=False, augment=augment)
    if int(COUNT.typed("physical_batch_size", size)) > LARGEST_PIECE:
        raise ParameterError(
            f"physical_batch_size is {size}, but must be at most {LARGEST_PIECE}: of more gradients"
            " at once rounding is not bounded closely enough. batch_size may be larger."
        )
    return Pieces(size, padded=True, augment=augment)


def _for_each_example(loss: Loss) -> Loss:
    """Losses of torch.nn, made to give a number for each example."""
    if isinstance(loss, _Loss) and loss.reduction == "mean":
        raise ParameterError(
            f"loss averages over the batch. Give torch.nn.{type(loss).__name__}(reduction='none'),"
            " which has one number for each example."
        )
    return loss


def _check_optimizer(optimizer: Optimizer, model: nn.Module) -> None:
    """Refuses an optimizer of other weights: they would never move."""
    known = {id(p) for group in optimizer.param_groups for p in group["params"]}
    if not known & {id(p) for p in trained(model).values()}:
        raise ParameterError(
            "The optimizer holds none of the model's trained parameters. Make it from the same"
            " model: torch.optim.SGD(model.parameters(), lr=0.1)."
        )
