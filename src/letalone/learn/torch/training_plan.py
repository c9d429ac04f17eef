"""What training will do, decided from public facts: the steps, their noise, and what that reveals.

Each step draws every unit with probability batch_size / rows and adds Gaussian noise to the sum of
clipped gradients. `rows` is how many units are declared: it is never counted, so nothing here
depends on data.

Theorem.  T steps reveal T Gaussian releases with deviation `noise` and sensitivity 1, each on a
fresh Poisson sample at this rate: `GaussianDP(1 / noise).sampled(rate) * T`. With correlated noise
in b bands, units take turns: a step draws of one part in b only, with b times the rate, and T steps
are T / b such releases.
  Proven:   docs/explanation/proofs/deep_learning.md, section 1; correlated_noise.md
  Tested:   tests/deep_learning/test_plan.py
"""

from dataclasses import dataclass
from fractions import Fraction

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, SCALE, Number, as_typed
from letalone.learn.torch.gradients.clipping import Clip
from letalone.learn.torch.gradients.precision import ASSUMED, Precision
from letalone.learn.torch.noise.bands import BANDS, INDEPENDENT, Bands, bands_for, rounds_of
from letalone.privacy import ADD_REMOVE, Privacy
from letalone.privacy.bounds import six
from letalone.privacy.curve import Json
from letalone.privacy.planning import noise_for, steps_for, steps_of

COMPILED = (
    "as one compiled graph; assumed, not proven: what the compiler measures is what it adds up"
)
MOST_DRAWN = 1 << 18  # at once: beyond, the bound of rounding is not proven


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """The law of a training run: `print` says it in words."""

    epsilon: Number
    delta: Number
    rows: int
    batch_size: int
    steps: int
    noise: Fraction  # for sensitivity 1
    clip: Clip
    per_unit: int | None
    views: int
    bands: Bands = INDEPENDENT
    precision: Precision = Precision.PROVEN
    is_compiled: bool = False

    @property
    def rate(self) -> Fraction:
        """The probability with which each unit takes part in a step, if it is its turn."""
        return Fraction(self.batch_size * self.bands.count, self.rows)

    @property
    def privacy(self) -> Privacy:
        """What all steps reveal."""
        return self.privacy_after(self.steps)

    def privacy_after(self, steps: int) -> Privacy:
        """What so many steps reveal."""
        rounds = self.bands.rounds(steps)
        return steps_of(self.noise, self.rate, steps=rounds).labelled(ADD_REMOVE)

    def epsilon_after(self, steps: int) -> float:
        """The epsilon of so many steps at the planned delta, rounded up; at most that of all."""
        if steps == 0:
            return 0.0
        known = self.privacy_after(steps).epsilon(self.delta)
        # That all steps keep the planned pair was certified by the delta at that epsilon.
        return min(known, float(self.epsilon)) if steps <= self.steps else known

    @property
    def noise_variance(self) -> float:
        """The variance of the noise in each number of a step's gradient; of a late step's."""
        fresh = self.noise * self.clip.longest * self.bands.length / self.batch_size
        return float(fresh) ** 2 * self.bands.variance(self.steps)

    def error_against_independent(self) -> float:
        """The error of running sums, as a multiple of what independent noise would give them.

        It is for the same epsilon, delta, steps and batches. Below 1, correlated noise is better.
        """
        rate = Fraction(self.batch_size, self.rows)
        other = noise_for(self.epsilon, self.delta, steps=self.steps, rate=rate)
        own = float(self.noise) * self.bands.error_of_sums(self.steps)
        return own / (other * INDEPENDENT.error_of_sums(self.steps))

    @property
    def words(self) -> tuple[str, ...]:
        drawn = f"each of about {self.rows:,} units takes part with probability {six(self.rate)}"
        noise = f"Gaussian noise of {six(self.noise)} on each sum, {self.clip.words}"
        rest = [f"{self.steps:,} steps; {drawn}", noise]
        if self.bands.count > 1:
            rest.append(f"noise is correlated over {self.bands.count} steps, and units take turns")
        if self.per_unit is not None:
            rest.append(f"a unit is all examples of one label, {self.per_unit} of them a step")
        rest += [f"{self.views} views of each example"] * (self.views > 1)
        return (*rest, *self.precision.words, *([COMPILED] * self.is_compiled))

    def described(self) -> Json:
        numbers = {"rows": self.rows, "batch": self.batch_size, "steps": self.steps}
        numbers |= {"per_unit": self.per_unit or 0, "views": self.views}
        numbers |= {"bands": self.bands.count} if self.bands.count > 1 else {}
        shown = {name: str(number) for name, number in numbers.items()}
        longest = str(self.clip.longest)
        clip = {"clip": type(self.clip).__name__, "longest": longest, "noise": str(self.noise)}
        # What is assumed is named where anything is: plans without are as they always were.
        fast = {"precision": self.precision.value, "assumed": ASSUMED}
        assumed = fast if self.precision.is_fast else {}
        compiled = {"compiled": COMPILED} if self.is_compiled else {}
        return {"method": "private steps", **shown, **clip, **assumed, **compiled}

    def __str__(self) -> str:
        return "\n".join(self.words)


def train_plan(
    *,
    epsilon: Number,
    delta: Number,
    rows: int,
    batch_size: int,
    epochs: Number,
    noise: Number | None,
    clip: Clip,
    per_unit: int | None,
    views: int,
    bands: Number = 1,
    precision: Precision = Precision.PROVEN,
    is_compiled: bool = False,
) -> TrainPlan:
    """As many steps as the epochs have; fewer where the noise was given and the budget ends."""
    declared, batch = int(COUNT.typed("rows", rows)), int(COUNT.typed("batch_size", batch_size))
    if batch > min(declared, MOST_DRAWN):
        raise ParameterError(
            f"batch_size is {batch}, but must be at most rows = {declared}, and {MOST_DRAWN}: it"
            " is how many of them take part in a step on average."
        )
    steps = max(1, round(SCALE.typed("epochs", epochs) * declared / batch))
    turns = int(BANDS.typed("noise_bands", bands))
    rate = _rate_in_turn(declared, batch, turns)
    if noise is None:
        rounds = rounds_of(steps, turns)
        deviation = as_typed(noise_for(epsilon, delta, steps=rounds, rate=rate))
    else:
        deviation = SCALE.typed("noise", noise)
        steps = min(steps, turns * _affordable(epsilon, delta, deviation, rate))
    numbers = (epsilon, delta, declared, batch, steps, deviation)
    correlated = bands_for(turns, steps)
    return TrainPlan(*numbers, clip, per_unit, views, correlated, precision, is_compiled)


def _rate_in_turn(rows: int, batch: int, bands: int) -> Fraction:
    if batch * bands > rows:
        raise ParameterError(
            f"noise_bands is {bands}, but must be at most rows / batch_size = {rows // batch}: the"
            " units take turns, so a step draws from a part of them. Take fewer bands or a smaller"
            " batch_size."
        )
    return Fraction(batch * bands, rows)


def _affordable(epsilon: Number, delta: Number, noise: Fraction, rate: Fraction) -> int:
    steps = steps_for(epsilon, delta, sigma=noise, rate=rate)
    if steps == 0:
        raise ParameterError(
            f"With noise {six(noise)} not even one step keeps ε = {epsilon}, δ = {delta}. Leave"
            " noise out: it is then the least that all steps need."
        )
    return steps
