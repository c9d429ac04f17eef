"""PrivUnit: a direction that is likely to be near a person's unit vector.

A fresh public seed names M random directions. S are the k of them nearest to the vector u. The
report is the seed and a direction, each of S being r times as likely as each other one.

Theorem.  Whatever S is, if it has k members, the ratio is r ≤ e^ε: how S was found, and how floats
were rounded, does not matter. Directions are isotropic, so the mean of the reported one is m u,
m = (r − 1)/(kr + M − k) times the mean sum of the k largest of M cosines. Divided by m it is
unbiased, with mean squared error 1/m² − |v|² for a vector v of length at most 1, in whose place u
is v/|v| with probability (1 + |v|)/2, else −v/|v|.
  Proven:   docs/explanation/proofs/local_vectors.md
  Tested:   the exact law, for any S; draws, with power; unbiasedness, error and coverage
  Assumed:  for the estimate, not for privacy: what `directions` assumes, and `caps`

Bhowmick, Duchi, Freudiger, Kapoor, Rogers: Protection against reconstruction and its applications
in private federated learning (2018). Asi, Feldman, Talwar: Optimal algorithms for mean estimation
under local differential privacy (2022).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.exact.typed import CONFIDENCE, COUNT, Constraint, Number, write_rational
from letalone.local.numeric.mean_intervals import bennett_width
from letalone.local.ratios import ratio_below, read_epsilon
from letalone.local.reports import Reports, bytes_below, read_reports
from letalone.local.shuffling.likelihoods import LikelihoodAtoms, Patterns, atoms_under_blanket
from letalone.local.vectors.directions import SEED_BYTES, all_directions, named_directions
from letalone.local.vectors.pulls import Pull, best_chosen, enough_directions, pull_of
from letalone.mechanisms.parameters import fill
from letalone.mechanisms.values import Floats, read_floats
from letalone.privacy import REPLACE, Privacy
from letalone.privacy.bounds import six
from letalone.privacy.curves.finite import between
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.chance import Chance, sample_bernoullis
from letalone.randomness.uniform import sample_below, sample_belows

LARGEST_DIMENSION, MOST_DIRECTIONS = 1 << 14, 1 << 16
FINE = 1 << 53
OFF = 1e-9  # more than m and the directions are off, relative
DIMENSION = Constraint(
    f"a whole number from 2 to {LARGEST_DIMENSION}",
    lambda x: x.denominator == 1 and 2 <= x <= LARGEST_DIMENSION,
    "It is how many coordinates a vector has; for a single number use la.local.Hybrid.",
    (1, 0, -1, 2.5, LARGEST_DIMENSION + 1, float("nan")),
)
DIRECTIONS = Constraint(
    f"a whole number from 2 to {MOST_DIRECTIONS}",
    lambda x: x.denominator == 1 and 2 <= x <= MOST_DIRECTIONS,
    "More directions are more exact, and more work for each client.",
    (1, 0, 2.5, MOST_DIRECTIONS + 1, float("nan")),
)
LENGTH = Constraint("a number from 0 to 1", lambda x: 0 <= x <= 1, "Longer ones count as 1.", (2,))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PrivUnit:
    """Reports a random direction near a vector of length at most 1; estimates the mean vector.

    Parameters: `dimension` is how many coordinates a vector has; `epsilon` is what one report
    costs; `directions` is how many random directions each person compares: unless given, as many
    as bring the squared error within 1 % of that of a whole cap, and at most 4,096.
    """

    kind: ClassVar[str] = "priv_unit"

    dimension: int
    epsilon: Fraction
    directions: int

    def __init__(self, dimension: int, *, epsilon: Number, directions: int | None = None) -> None:
        size, price = int(DIMENSION.typed("dimension", dimension)), read_epsilon(epsilon)
        if directions is None:
            count = enough_directions(ratio_below(price), size)
        else:
            count = int(DIRECTIONS.typed("directions", directions))
        fill(self, dimension=size, epsilon=price, directions=count)

    @property
    def ratio(self) -> Fraction:
        """The likelihood ratio of a report, a rational at most e^ε."""
        return ratio_below(self.epsilon)

    @property
    def chosen(self) -> int:
        """How many directions count as near: those with which the error is smallest."""
        return best_chosen(self.ratio, self.directions, self.dimension)

    @property
    def pull(self) -> Pull:
        """How far a report points to the vector, on average."""
        return pull_of(self.ratio, self.chosen, self.directions, self.dimension)

    @property
    def privacy(self) -> Privacy:
        """What one report reveals about its owner's vector at most; neighbours are REPLACE."""
        weights = (self.ratio, Fraction(1), Fraction(self.directions, self.chosen) - 2)
        first, other, rest = (weight * self.chosen / self._total() for weight in weights)
        return between((first, other, rest), (other, first, rest)).with_neighbours(REPLACE)

    @property
    def report_bytes(self) -> int:
        """The seed and the number of a direction."""
        return SEED_BYTES + bytes_below(self.directions)

    def privatize(self, values: object, *, bits: BitSource = SYSTEM) -> Any:
        """A report for each row; a vector that is longer than 1 counts as its direction.

        Many reports are an array. For a single vector it is bytes.
        """
        vectors = self._read(values)
        rows = [self._report(unit, bits) for unit in draw_units(np.atleast_2d(vectors), bits)]
        if vectors.ndim == 1:
            return rows[0]
        return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, self.report_bytes)

    def estimate(self, reports: object, confidence: Number = 0.95) -> Estimate:
        """The mean vector, unbiased; each coordinate has its own interval inside of [−1, 1].

        A value is not cut to [−1, 1], which would bias it.
        """
        vectors = self.unbias(reports)
        level = float(CONFIDENCE.typed("confidence", confidence))
        if not len(vectors):
            raise ParameterError("There are no reports to estimate from. Give one or more.")
        value, (cosine, square) = vectors.mean(axis=0), self.pull
        worst = max(square, (1 - square) / (self.dimension - 1)) / cosine**2
        farthest = 1 / cosine + 1
        width = bennett_width(len(vectors), worst, farthest, level) + OFF * farthest
        low, high = np.clip(value - width, -1, 1), np.clip(value + width, -1, 1)
        return Estimate(value, low, high, level, self.privacy)

    def unbias(self, reports: object) -> Floats:
        """For each report a vector whose mean is the owner's."""
        rows = cast("NDArray[np.uint8]", read_reports(self, reports))
        if not len(rows):
            return np.empty((0, self.dimension))
        seeds = [row[:SEED_BYTES].tobytes() for row in rows]
        places = [int(place) for place in _places(rows)]
        return named_directions(seeds, places, self.dimension) / self.pull.cosine

    def variance(self, n: int, length: Number = 1) -> float:
        """The mean squared distance of an estimated mean of n vectors of this length."""
        size = float(LENGTH.typed("length", length))
        return (1 / self.pull.cosine**2 - size**2) / float(COUNT.typed("n", n))

    def blanket_atoms(self) -> LikelihoodAtoms:
        """Of two vectors with no near direction in common, for any seed."""
        some, rest = Fraction(self.chosen), Fraction(self.directions - 2 * self.chosen)
        weights: Patterns = {(1, 0): some, (0, 1): some, (0, 0): rest}
        masses = {held: weight / self._total() for held, weight in weights.items()}
        return atoms_under_blanket(masses, self.ratio)

    def crowds(self) -> tuple[LikelihoodAtoms, ...]:
        """Which directions two vectors share depends on the seed: nothing is claimed from below."""
        return ()

    def lie_of_two(self) -> Fraction | None:
        """There are more than two vectors."""
        return None

    def most_codes(self) -> int | None:
        """Reports are rows of bytes."""
        return None

    def is_report(self, rows: Reports) -> NDArray[np.bool_]:
        """Rows that name one of the directions."""
        return _places(cast("NDArray[np.uint8]", rows)) < self.directions

    def describe(self) -> dict[str, object]:
        """All that a client needs to make reports, as JSON values."""
        return {
            "kind": self.kind,
            "dimension": self.dimension,
            "epsilon": write_rational(self.epsilon),
            "ratio": write_rational(self.ratio),
            "directions": self.directions,
            "chosen": self.chosen,
        }

    def __repr__(self) -> str:
        return (
            f"PrivUnit({self.dimension} dimensions, ε = {six(self.epsilon)}, {self.chosen} of"
            f" {self.directions} directions, {self.report_bytes} bytes a report, squared error"
            f" {self.variance(1):.4g}/n)"
        )

    def _total(self) -> Fraction:
        return self.chosen * self.ratio + self.directions - self.chosen

    def _read(self, values: object) -> Floats:
        vectors = read_floats(cast("Any", values))
        if vectors.ndim not in (1, 2) or vectors.shape[-1] != self.dimension:
            raise ParameterError(
                f"The vectors have the shape {vectors.shape}, but must have {self.dimension}"
                " coordinates each: one vector, or a row for each person."
            )
        return vectors

    def _report(self, unit: Floats, bits: BitSource) -> bytes:
        seed = sample_below(1 << 8 * SEED_BYTES, bits).to_bytes(SEED_BYTES, "big")
        cosines = all_directions(seed, self.directions, self.dimension) @ unit
        order = np.argsort(-cosines, kind="stable")
        place = int(order[draw_rank(self.ratio, self.chosen, self.directions, bits)])
        return seed + place.to_bytes(self.report_bytes - SEED_BYTES, "big")


def draw_rank(ratio: Fraction, chosen: int, directions: int, bits: BitSource) -> int:
    """A place from 0 on; each of the first `chosen` is `ratio` times as likely as each other."""
    near = Chance(chosen * ratio / (chosen * ratio + directions - chosen))
    if sample_bernoullis(near, 1, bits)[0]:
        return sample_below(chosen, bits)
    return chosen + sample_below(directions - chosen, bits)


def draw_units(vectors: Floats, bits: BitSource) -> Floats:
    """Unit vectors whose mean is each vector, if it is at most 1 long, else its direction."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    scaled[largest[:, 0] == 0, 0] = 1.0  # any direction, with either sign
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    with np.errstate(over="ignore"):
        shares = np.minimum(lengths * largest[:, 0], 1.0)
    heads = FINE + np.rint(shares * FINE).astype(np.int64)
    kept = sample_belows(2 * FINE, len(vectors), bits) < heads
    lengths[~kept] *= -1
    return scaled / lengths[:, None]


def _places(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    places = np.zeros(len(rows), np.int64)
    for column in rows[:, SEED_BYTES:].T:
        places = places * 256 + column
    return places
