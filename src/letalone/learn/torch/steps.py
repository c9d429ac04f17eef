"""Private steps: each draws its units, clips and adds up their gradients, and adds the noise.

    for _ in steps:        # the noisy gradient is in .grad of every trained parameter
        optimizer.step()

A step is counted before it reads anything, and there is none beyond the plan: what is read is
always accounted for. The sum is noised once, however many pieces it was computed in, and divided
by the declared size of a batch only then. A step that nobody takes part in has noise, too.

Theorem.  One step is a Gaussian release of deviation noise * longest on a Poisson sample, of a sum
that one unit moves by at most `longest`, rounding included. With `noise_bands`, so are the steps
that share one turn of a unit, together.
  Proven:   docs/explanation/proofs/deep_learning.md and correlated_noise.md
  Tested:   tests/deep_learning/test_steps.py: sensitivity by brute force, the law of the noise
  Assumed:  what a layer computes for one example does not depend, bit for bit, on the others
"""

from collections.abc import Iterable, Iterator
from typing import Any

from torch import nn

from letalone.errors import ParameterError
from letalone.learn.torch.examples import Examples
from letalone.learn.torch.gradients.adders import Pieces
from letalone.learn.torch.gradients.checks import Way, augmented, made_up
from letalone.learn.torch.gradients.computing import PieceShare, Summing
from letalone.learn.torch.gradients.recording import ExampleBatch, Loss, trained
from letalone.learn.torch.gradients.sums import Sums, emptied, single_will_do
from letalone.learn.torch.luck import secret_luck
from letalone.learn.torch.noise.correlated import Correlated
from letalone.learn.torch.sampling import Piece, Units, bins_for, pieces_of
from letalone.learn.torch.team import Team
from letalone.learn.torch.tensors import split
from letalone.learn.torch.training_plan import TrainPlan
from letalone.learn.torch.turns import UnitTurns
from letalone.randomness.bits import BitSource
from letalone.randomness.keyed.run_keys import RunKeys


class PrivateSteps(Iterator[int]):
    """The planned steps, one after the other; each leaves a noisy gradient in `.grad`."""

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        plan: TrainPlan,
        way: Way,
        examples: Examples,
        units: Units,
        pieces: Pieces,
        bits: BitSource,
        *,
        team: Team | None = None,
    ) -> None:
        self.plan, self._taken, self._is_open = plan, 0, True
        self._model, self._bits = model, bits
        self._adder = pieces.adder(Summing(model, loss, way, plan.clip, plan.precision))
        self._examples, self._units, self._pieces = examples, units, pieces
        self._sums: Sums | None = None  # the memory of the last ones
        self._keys = RunKeys(bits)
        self._team, self._noise = team or Team(), Correlated(plan.bands)
        self._turns = UnitTurns(len(units), plan.bands.count, bits)

    def prepare(self, like: tuple[Any, Any]) -> None:
        """Has all that can fail for examples of these shapes fail now, with made-up ones."""
        pieces, rows = self._pieces, self._units.most * self.plan.views

        def batch() -> ExampleBatch:
            return augmented(made_up(like, pieces.size * rows), pieces.augment)

        for doubles in (False,) if self.plan.precision.is_fast else (False, True):
            self._adder.prepare(batch, PieceShare(rows, doubles))

    @property
    def taken(self) -> int:
        """How many steps were begun."""
        return self._taken

    @property
    def epsilon(self) -> float:
        """What they reveal at the planned delta; for all of the plan this is charged."""
        return self.plan.epsilon_after(self._taken)

    def go_on_after(self, taken: int) -> None:
        """Counts the steps that an earlier part of this run took."""
        self._taken = max(self._taken, taken)

    def close(self) -> None:
        """No further step."""
        self._is_open = False

    def __next__(self) -> int:
        if not self._is_open:
            raise ParameterError(
                "This run is over: its budget was charged for one loop. Start another run."
            )
        if self._taken >= self.plan.steps:
            raise StopIteration
        self._taken += 1  # before anything is read
        try:
            self._write(self._clipped_sums())
        except BaseException:
            self.close()  # later steps would be correlated with one that is not there
            raise
        return self._taken

    def _clipped_sums(self) -> Sums:
        plan, size, team = self.plan, self._pieces.size, self._team
        bins = team.bins(bins_for(plan.batch_size, size))
        single = plan.precision.is_fast or single_will_do(
            plan.batch_size, bins, size, in_order=team.size == 1
        )
        sums = self._sums = emptied(self._sums, trained(self._model), single=single)
        with secret_luck(sums.total.device, self._bits):
            own = team.shared(self._draw(bins))
            with team.together():
                for piece in own:
                    self._add(piece, sums)
                sums.finished()
        team.add_up(sums.total)
        return sums

    def _draw(self, bins: int) -> Iterable[Piece]:
        """Who takes part, in pieces; nothing is drawn before the first is asked for."""
        pieces, bits = self._pieces, self._bits
        drawn = self._turns.draw(self._taken, self.plan.rate)
        yield from pieces_of(
            drawn, self._units, bins=bins, size=pieces.size, padded=pieces.padded, bits=bits
        )

    def _add(self, piece: Piece, sums: Sums) -> None:
        batch = augmented(self._examples.batch(piece), self._pieces.augment)
        doubles = piece.doubles and not self.plan.precision.is_fast
        self._adder.add(batch, sums, PieceShare(piece.places.shape[1] * self.plan.views, doubles))

    def _write(self, sums: Sums) -> None:
        """The noisy sum, divided, as the gradient of every trained parameter."""
        sigma, divisor = self.plan.noise * self.plan.clip.longest, self.plan.batch_size
        with self._team.together():
            if self._team.is_first:  # noise of each process would be more than was planned
                self._noise.write(
                    sums.total,
                    sums.gradient,
                    sigma=sigma,
                    divisor=divisor,
                    bits=self._bits,
                    keys=self._keys,
                    step=self._taken,
                )
        self._team.spread(sums.gradient)
        parts = split(sums.gradient, sums.sizes)
        for parameter, part in zip(trained(self._model).values(), parts, strict=True):
            parameter.grad = part.view_as(parameter).to(parameter.dtype)
