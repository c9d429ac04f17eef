"""Correlated noise on the sums of steps: fresh noise on a mixture, from which the past is taken.

What is noised is K·sums: the step's own sum and its shares of the sums before. What was published
before is then subtracted in the same shares, which leaves the step's own sum, and noise that takes
back what the steps before brought in. The noise itself is never stored, nor drawn a second time.

  Proven:   docs/explanation/proofs/correlated_noise.md, sections 1 and 3
  Tested:   tests/deep_learning/test_correlated.py: the law of the noise, with power
"""

from collections import deque
from fractions import Fraction

from torch import Tensor

from letalone.learn.torch.noise.bands import Bands
from letalone.learn.torch.noise.step_noise import write_noisy
from letalone.randomness.bits import BitSource
from letalone.randomness.keyed.run_keys import RunKeys


class Correlated:
    """The noise of a run, and what it must know of the last steps.

    The sums are private as the data are: they are nowhere but here, and in no file.
    """

    def __init__(self, bands: Bands) -> None:
        self._bands, self._shares = bands, [float(share) for share in bands.shares[1:]]
        self._sums: deque[Tensor] = deque(maxlen=bands.count - 1)  # the latest first
        self._published: deque[Tensor] = deque(maxlen=bands.count - 1)

    def write(
        self,
        total: Tensor,
        into: Tensor,
        *,
        sigma: Fraction,
        divisor: int,
        bits: BitSource,
        keys: RunKeys | None = None,
        step: int = 0,
    ) -> None:
        """Writes (total + noise) / divisor, where fresh noise has `sigma` times the length."""
        noised, sigma = self._mixed(total), sigma * self._bands.length
        write_noisy(noised, into, sigma=sigma, divisor=divisor, bits=bits, keys=keys, step=step)
        for share, published in zip(self._shares, self._published, strict=False):
            into.sub_(published, alpha=share)
        if self._shares:
            self._sums.appendleft(total.clone())
            self._published.appendleft(into.clone())  # whoever gets `into` may change it

    def _mixed(self, total: Tensor) -> Tensor:
        """The sum and its shares of the sums before; in doubles, which lose next to nothing."""
        if not self._sums:
            return total
        mixed = total.double() if total.dtype.itemsize < 8 else total.clone()
        for share, earlier in zip(self._shares, self._sums, strict=False):
            mixed.add_(earlier, alpha=share)
        return mixed
