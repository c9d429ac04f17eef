"""k-means by noisy rounds: counts and sums of every cluster get noise in each round.

Values become whole places from −2^17 to 2^17 between the bounds, and centres are rounded to
places, so that distances are exact whole numbers and the cluster of a row depends on that row and
the published centres alone. Distances are measured in units of the bounds.

Theorem.  In each round a row is in one cluster: it moves the counts by 1, and the sums by √width
in L2 and width in L1. Rounds compose.
  Proven:   docs/explanation/proofs/statistics_learners.md, section 6
  Tested:   tests/learn/test_clusters.py

No `labels_` and no `inertia_`: exact ones would be functions of the data without noise.

The first centres are spread over the cube from −1 to 1 without looking at data: balls of one
radius are put at random into it without touching each other, and the radius shrinks until all fit.
The random numbers are public.

Su, Cao, Li, Bertino, Jin: Differentially private k-means clustering (2016): DPLloyd, its rule for
the number of rounds, its split between counts and sums, and the first centres (section 3).
"""

from dataclasses import dataclass, replace
from math import cbrt, isqrt, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin

from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, EPSILON, Constraint, Number
from letalone.learn.account import Account
from letalone.learn.features import column_bounds
from letalone.learn.noisy_sums.sums import UNIT, NoisySums, in_a_box, noisy_sums, of_rows
from letalone.learn.noisy_sums.wholes import Floats, product, within_bounds
from letalone.learn.scikit import fitted_rows
from letalone.learn.training import Labels, PrivateEstimator, Released
from letalone.privacy import Budget
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

Places = NDArray[np.int64]
USUAL_ROWS = 10_000  # for the number of rounds, where no number of rows is declared
MIN_ROUNDS, MAX_ROUNDS = 2, 7  # rounds
SEED = Constraint(
    "a whole number from 0 to 2^32 − 1",
    lambda x: x.denominator == 1 and 0 <= x < 2**32,
    "It is public: it fixes where the first centres lie.",
    (-1, 0.5, 2.0**32, float("nan")),
)
SHRINK = 0.95
TRIES = 50  # places for one ball before the radius is given up


@dataclass(frozen=True, slots=True)
class Rounds(column_bounds.SumsPlan):
    """The plan: first centres in steps, and the noise of each round."""

    bounds: column_bounds.ColumnBounds
    noise: NoisySums
    rounds: int
    first: tuple[tuple[float, ...], ...] | None
    number: int
    seed: int
    _model: ClassVar[str] = "KMeans"

    @property
    def words(self) -> tuple[str, ...]:
        return self.bounds.words, f"{self.rounds} rounds; {self.noise.words}"

    def _facts(self) -> Json:
        first = self.first and [[number.hex() for number in row] for row in self.first]
        return {
            "clusters": self.number,
            "rounds": self.rounds,
            "first": first or f"packed {self.seed}",
        }

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        del labels
        lower, upper = self.bounds.known(rows, self.noise, bits)
        places = within_bounds(rows, lower, upper)
        centres = self._first(lower, upper)
        for _ in range(self.rounds):
            centres = self._next(places, centres, bits)
        middle, half = lower / 2 + upper / 2, upper / 2 - lower / 2
        return {
            "cluster_centers_": middle + centres / UNIT * half,
            "middle_": middle,
            "n_iter_": self.rounds,
            "lower_": lower,
            "upper_": upper,
        }

    def _first(self, lower: Floats, upper: Floats) -> Floats:
        if self.first is not None:
            return within_bounds(np.array(self.first), lower, upper)
        return np.rint(pack_centres(self.number, len(lower), seed=self.seed) * UNIT)

    def _next(self, places: Floats, centres: Floats, bits: BitSource) -> Floats:
        """Noisy means; a cluster whose count drowns in noise keeps its centre."""
        member = (nearest(places, centres)[:, np.newaxis] == np.arange(len(centres))) * 1.0
        ones = np.ones((len(places), 1))
        counts = self.noise.release("rows", product(member, ones, largest=1)[:, 0], bits)
        sums = self.noise.release("sums", product(member, places, largest=UNIT), bits)
        drowned = counts * UNIT <= self.noise.deviation("sums")
        means = np.rint(np.clip(sums / np.maximum(counts, 1.0)[:, np.newaxis], -UNIT, UNIT))
        return np.where(drowned[:, np.newaxis], centres, means)


class KMeans(ClusterMixin, PrivateEstimator):
    """k-means; `bounds` are declared, or found with "private".

    `n_iter` is the number of rounds; if it is not given it follows from epsilon, the number of
    clusters and features, and `rows`, about how many rows are expected (a public guess). `init`
    are public first centres; otherwise they are spread at random by the public `random_state`.
    """

    cluster_centers_: Floats
    lower_: Floats
    upper_: Floats

    def __init__(
        self,
        n_clusters: int = 8,
        epsilon: Number = 1.0,
        delta: Number = 0,
        *,
        bounds: column_bounds.BoundsLike = None,
        n_iter: int | None = None,
        rows: int | None = None,
        init: ArrayLike | None = None,
        random_state: int = 0,
        budget: Budget | Account | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon, self.delta = epsilon, delta
        self.bounds, self.n_iter, self.rows = bounds, n_iter, rows
        self.init, self.random_state = init, random_state
        self._keep(budget)

    def _plan(self, width: int) -> Rounds:
        number = int(COUNT.typed("n_clusters", self.n_clusters))
        bounds, rounds = column_bounds.read_bounds(self.bounds, width), self._rounds(number, width)
        root = isqrt(max(width - 1, 0)) + 1
        both = of_rows(), in_a_box("sums", width, degree=1, weight=2 * root)
        measures = column_bounds.with_purchases(
            [replace(measure, times=rounds) for measure in both], bounds
        )
        noise = noisy_sums(measures, epsilon=self.epsilon, delta=self.delta)
        seed = int(SEED.typed("random_state", self.random_state))
        return Rounds(bounds, noise, rounds, _centres(self.init, number, width), number, seed)

    def _rounds(self, number: int, width: int) -> int:
        if self.n_iter is not None:
            return int(COUNT.typed("n_iter", self.n_iter))
        rows = USUAL_ROWS if self.rows is None else int(COUNT.typed("rows", self.rows))
        epsilon = EPSILON.typed("epsilon", self.epsilon)
        each = (width + cbrt(4 * width * 0.225**2)) ** 3
        least = sqrt(500 * number**3 * each) / rows
        return int(max(MIN_ROUNDS, min(MAX_ROUNDS, float(epsilon) / least)))

    def predict(self, X: Any) -> Places:  # noqa: N803
        """The cluster of each row: that of the nearest centre."""
        rows = fitted_rows(self, X, missing="middle_")
        spot = [
            within_bounds(some, self.lower_, self.upper_) for some in (rows, self.cluster_centers_)
        ]
        return nearest(*spot)

    def fit_predict(self, X: Any, y: Any = None, **parameters: Any) -> Places:  # noqa: N803
        """Fits, and the cluster of each row. What is returned is private data, as X is."""
        return self.fit(X, y, **parameters).predict(X)


def nearest(places: Floats, centres: Floats) -> Places:
    """The nearest centre; all are whole, so that distances are exact, and the first wins a tie."""
    norms = np.sum(centres**2, axis=1)
    return np.argmin(norms - 2 * (places @ centres.T), axis=1)


def _centres(
    init: ArrayLike | None, number: int, width: int
) -> tuple[tuple[float, ...], ...] | None:
    if init is None:
        return None
    centres = np.asarray(init, np.float64)
    if centres.shape != (number, width) or not np.all(np.isfinite(centres)):
        raise ParameterError(
            f"init must be finite numbers, a row for each of {number} clusters and a column for"
            f" each of {width} features. It is public: it must not come from the data."
        )
    return tuple(tuple(float(number) for number in row) for row in centres)


def pack_centres(number: int, width: int, *, seed: int) -> Floats:
    """So many centres, each as far from the others and from the walls as was found."""
    generator = np.random.default_rng(seed)
    radius = 1.0
    while True:
        centres = _try_packing(number, width, radius, generator)
        if centres is not None:
            return centres
        radius *= SHRINK


def _try_packing(
    number: int, width: int, radius: float, generator: np.random.Generator
) -> Floats | None:
    centres = np.empty((0, width))
    for _ in range(number):
        places = generator.uniform(-1 + radius, 1 - radius, (TRIES, width))
        apart = np.linalg.norm(places[:, np.newaxis] - centres, axis=2).min(axis=1, initial=np.inf)
        free = np.flatnonzero(apart >= 2 * radius)
        if not free.size:
            return None
        centres = np.vstack([centres, places[free[0]]])
    return centres
