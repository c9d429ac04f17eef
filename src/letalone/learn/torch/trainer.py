"""Training networks privately at little more than the price of training them.

    trainer = PrivateTrainer(model, loss, epsilon=3, delta=1e-5, rows=60_000, epochs=20)
    trainer.fit((images, labels))

The plan and its noise are made from what is declared; the budget is charged; then data is seen. For
a loop of your own, `trainer.steps(dataset)` gives the same steps one by one.

  Proven:   docs/explanation/proofs/deep_learning.md and correlated_noise.md
  Tested:   tests/deep_learning
"""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

from torch import device, nn
from torch.optim import Optimizer

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, Number
from letalone.learn.account import Account, account_of
from letalone.learn.plan import FitRecord
from letalone.learn.torch.adam import SHARE, PrivateAdam
from letalone.learn.torch.arguments import (
    check_alone,
    check_optimizer,
    for_each_example,
)
from letalone.learn.torch.averages import move_average, take_average
from letalone.learn.torch.checkpoints import RunState, Snapshot, write
from letalone.learn.torch.examples import Examples, check_no_columns, is_table
from letalone.learn.torch.gradients.adders import pieces_for, read_backend
from letalone.learn.torch.gradients.checks import Augment, Way, check_layers, checked_way
from letalone.learn.torch.gradients.clipping import Automatic, Clip, read_clip
from letalone.learn.torch.gradients.precision import read_precision
from letalone.learn.torch.gradients.recording import Loss, by_book_keeping, trained
from letalone.learn.torch.noise.step_noise import noise_words
from letalone.learn.torch.progress import Progress, tell
from letalone.learn.torch.sampling import units_of
from letalone.learn.torch.steps import PrivateSteps
from letalone.learn.torch.team import Team, digest_of, team_of
from letalone.learn.torch.training_plan import TrainPlan, train_plan
from letalone.ledger.charging import Work, charged_work, uncharged_work
from letalone.privacy import Budget, Privacy
from letalone.privacy.curve import Json
from letalone.privacy.guard_rails import check_confirmed, find_risk
from letalone.randomness.bits import SYSTEM, BitSource

if TYPE_CHECKING:
    from letalone.learn.features.encoding import TableEncoder
    from letalone.learn.torch.tables import NetworkJob, PrivateTable

TOLD = 20  # times in a run, unless a checkpoint is written more often
FINISHED = (
    "This run was finished before: its steps were paid for once. Use the model that it left, or fit"
    " without resume=, which is charged."
)


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
    noise_bands: noise is correlated over so many steps, and units take turns; 1 is independent.
    distributed: all processes of torch.distributed's group take each step together.
    precision: "fast" computes in bfloat16, under an assumption that the plan tells. compile: the
    work on a piece is one compiled graph; a text names another backend of torch.compile than
    inductor. memory: "low" keeps hardly more than plain training, and takes longer.
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
        noise_bands: int = 1,
        distributed: bool | None = None,
        precision: str = "proven",
        compile: bool | str = False,  # noqa: A002  (as torch names it)
        memory: str = "usual",
        budget: Budget | Account | None = None,
    ) -> None:
        check_layers(model)
        self._is_distributed = distributed
        team_of(model, distributed=distributed)
        self.model, self.loss = model, for_each_example(loss)
        self.augment, self.average = augment, average
        self._backend, self._memory = read_backend(compile), memory
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
            bands=noise_bands,
            precision=read_precision(precision),
            is_compiled=self._backend is not None,
        )
        self.pieces = pieces_for(
            physical_batch_size,
            augment,
            batch=batch_size,
            precision=self.plan.precision,
            backend=self._backend,
            memory=memory,
        )
        self.optimizer = optimizer or PrivateAdam(trained(model).values())
        check_optimizer(self.optimizer, model)
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
        team = team_of(self.model, distributed=self._is_distributed)
        with team.or_leave():
            snapshot = Snapshot(self.model, self.optimizer, self.plan, RunState())
            told = self._every(every, checkpoint)
            ways = (checkpoint, progress) if team.is_first else (None, None)
            # Without a file nobody can go on with the run, so the ledger must not say so.
            goes_on = checkpoint is not None or resume is not None

            def train(steps: PrivateSteps) -> Json:
                return self._train(steps, snapshot, told, *ways, team)

            def on_rows(rows: Any, whose: Any) -> Json:
                return train(self._agreed(team, snapshot, None, rows, whose))

            if is_table(dataset):
                check_alone(team)
                if resume is not None:
                    snapshot.read(resume)
                job = self._job(dataset, unit, features, target)
                job = replace(job, run=snapshot.state.run, goes_on=goes_on, train=on_rows)
                return self._fit_table(dataset, job, confirm=confirm)
            check_no_columns(features, target)
            steps = self._agreed(team, snapshot, resume, dataset, unit)
            work = Training(lambda: train(steps))
            paid = self._paid(work, snapshot.state.run, goes_on=goes_on, team=team)
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

    def _every(self, every: int | None, checkpoint: str | os.PathLike[str] | None) -> int:
        """After so many steps a file is written: after whole rounds of all parts."""
        bands, least = self.plan.bands.count, max(1, self.plan.steps // TOLD)
        steps = int(COUNT.typed("every", every)) if every else -(-least // bands) * bands
        if checkpoint is not None and steps % bands:
            raise ParameterError(
                f"every is {every}, but must be a multiple of noise_bands = {bands}: a run goes on"
                " from its file with noise and turns of its own, after whole rounds."
            )
        return steps

    def _agreed(
        self,
        team: Team,
        snapshot: Snapshot,
        resume: str | os.PathLike[str] | None,
        dataset: Any,
        unit: Any,
    ) -> PrivateSteps:
        """The steps, where all processes were given the same."""
        with team.together():
            steps = self._prepared(dataset, unit, team)
            if resume is not None:
                snapshot.read(resume)
            steps.go_on_after(snapshot.state.taken)
        if team.size > 1:
            weights, plan = digest_of(self.model), str(self.plan.described())
            taken = str(snapshot.state.taken)
            team.check_same({"weights": weights, "plans": plan, "checkpoints": taken})
        return steps

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
        team = team_of(self.model, distributed=self._is_distributed)
        with team.or_leave():
            snapshot = Snapshot(self.model, self.optimizer, self.plan, RunState())
            steps = self._agreed(team, snapshot, None, dataset, unit)
            account, plan = self._account if team.is_first else None, self.plan
            paid = account and account.charge(
                plan.privacy, plan=plan.described(), epsilon=plan.epsilon, delta=plan.delta
            )
        try:
            yield steps
        finally:
            steps.close()
            team.leave()
            if account is not None and paid is not None:
                account.ledger.settle(paid, _facts(steps))

    def _prepared(self, dataset: Any, unit: Any, team: Team | None = None) -> PrivateSteps:
        if (unit is None) != (self.plan.per_unit is None):
            raise ParameterError(
                "unit= of the call and per_unit= of the trainer go together: whose each example is,"
                " and how many of one unit take part in a step, such as per_unit=8."
            )
        self.model.train()
        examples = Examples(dataset, _device_of(self.model), views=self.plan.views)
        like = examples.like_one()
        self._way: Way = checked_way(self.model, self.loss, like, self.augment)
        units = units_of(len(examples), unit, self.plan.per_unit or 1)
        if isinstance(self.optimizer, PrivateAdam):
            self.optimizer.noise_variance = self.plan.noise_variance
        steps = PrivateSteps(
            self.model,
            self.loss,
            self.plan,
            self._way,
            examples,
            units,
            self.pieces,
            self._bits,
            team=team,
        )
        steps.prepare(like)
        return steps

    def _train(
        self,
        steps: PrivateSteps,
        snapshot: Snapshot,
        every: int,
        checkpoint: str | os.PathLike[str] | None,
        progress: Callable[[Progress], object] | None,
        team: Team,
    ) -> Json:
        """All steps; what stops them leaves the model as it was last kept."""
        kept, planned = snapshot.kept(), self.plan.epsilon
        try:
            with team.together():
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
                            tell(progress, Progress(step, self.plan.steps, steps.epsilon, planned))
        except BaseException:
            snapshot.restore(kept)
            for parameter in trained(self.model).values():
                parameter.grad = None  # of a step that is taken anew
            raise
        finally:
            steps.close()
        team.end()
        take_average(snapshot.state.averaged, self.model)
        return _facts(steps)

    def _paid(self, work: "Training", run: str, *, goes_on: bool, team: Team) -> Json | None:
        plan, account = self.plan, self._account
        if account is None or not team.is_first:  # a run is charged once
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
        passes = "two backward passes" if self._memory == "low" else "one backward pass"
        how = f"in {passes}" if kept else "by one gradient for each example, which is slow"
        return FitRecord(
            f"PrivateTrainer({type(self.model).__name__})",
            plan.epsilon,
            plan.delta,
            plan.privacy,
            (*plan.words, f"gradients were clipped {how}", *noise_words(_device_of(self.model))),
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


def _facts(steps: PrivateSteps) -> Json:
    """What is stored of a run: that it was, and how many steps it took."""
    return {"format": 1, "kind": "training", "steps": str(steps.taken)}


def _device_of(model: nn.Module) -> device:
    """Where the model's trained weights lie, and with them the sums."""
    return next(iter(trained(model).values())).device
