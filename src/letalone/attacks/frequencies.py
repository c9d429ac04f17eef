"""Homer: was this person in the study? From nothing but the published frequencies.

A study of n people publishes, for each of m attributes (alleles, answers), the share of its people
who have it. An attacker who knows a person's own attributes x and the frequencies p of the
population compares: is x nearer to the study's frequencies q than to p? Each attribute says
little; thousands together say it surely, once m is well above n.

    Homer's statistic   sum of |x - p| - |x - q|
    likelihood ratio    sum of x ln(q / p) + (1 - x) ln((1 - q) / (1 - p))
    inner product       sum of (x - p)(q - p), which does not mind a q outside 0 and 1

A trial is a target, the n - 1 others of a study, and somebody else; the target is in the study,
or the somebody else in their place. All are drawn independently of the trial's other world. So
the two worlds are neighbours under "replace one", with n public, and against counts with noise of
an ε-private mechanism D6 bounds every test.

Theorem.  Replacing a person moves each of the m counts by at most 1, so geometric noise of
sensitivity m gives ε to all of them together.
  Proven:   docs/explanation/proofs/geometric.md
  Tested:   tests/attacks/test_frequencies.py: power against exact frequencies, none beyond D6
            against private ones, and the alarm where the noise is forgotten
  Assumed:  on the stage, attributes are independent; in a table, its rows are the population

Homer and others: Resolving individuals contributing trace amounts of DNA to highly complex
mixtures (2008). Sankararaman, Obozinski, Jordan, Halperin: Genomic privacy and limits of
individual detection in a pool (2009). Dwork, Smith, Steinke, Ullman, Vadhan: Robust traceability
from trace amounts (2015).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from letalone.answers.promise import as_percent, most_caught
from letalone.attacks.counted_table import Counted, Whole, names_of, read, truths
from letalone.attacks.rates import Rates, judge_scores, series_of
from letalone.attacks.result import AttackReport, Line
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, EPSILON, PROBABILITY, Number, whole_from
from letalone.mechanisms import Geometric
from letalone.privacy import Privacy
from letalone.randomness.bits import SYSTEM, BitSource

Floats = NDArray[np.float64]
Statistic = Callable[[Floats, Floats, Floats], Floats]
ATTRIBUTE_SHARES = (0.05, 0.2, 0.5, 1)  # of the attributes, in the picture
TRIALS = whole_from(2, "Half of the trials set the threshold, half are counted.")
SIZE_FACTORS = (1, 4)  # so many times the people, in the picture
MAX_LINES = 8
LEAST_SHARE = 1e-3  # frequencies are kept away from 0 and 1, where the logarithm ends
RARE = 0.05  # attributes of the stage are at least so frequent, and so rare


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """One row a trial, one column an attribute; counts are of a study with so many people."""

    people: int
    target: Floats
    population: Floats
    with_target: Floats
    without_target: Floats

    @property
    def attributes(self) -> int:
        return self.target.shape[1]

    def first(self, attributes: int) -> "Pools":
        parts = (self.target, self.population, self.with_target, self.without_target)
        return Pools(self.people, *(part[:, :attributes] for part in parts))

    def released(self, noise: Callable[[Whole], Whole]) -> "Pools":
        both = (self.with_target, self.without_target)
        inside, outside = (noise(counts.astype(np.int64)).astype(np.float64) for counts in both)
        return replace(self, with_target=inside, without_target=outside)


def draw_pools(
    generator: np.random.Generator, *, people: int, attributes: int, trials: int
) -> Pools:
    """Studies of a made-up population with independent attributes."""
    share = RARE + (1 - 2 * RARE) * generator.random(attributes)
    shape = (trials, attributes)
    others = generator.binomial(people - 1, share, shape)
    target, other = ((generator.random(shape) < share).astype(np.float64) for _ in range(2))
    return Pools(people, target, np.broadcast_to(share, shape), others + target, others + other)


def pools_of_table(
    generator: np.random.Generator,
    table: object,
    columns: Iterable[str],
    *,
    people: int,
    trials: int,
) -> Pools:
    """Studies drawn from the rows of a table; the rest of its rows stands for the population."""
    matrix = _matrix(read(table, names_of("columns", columns)))
    rows, attributes = matrix.shape
    if rows < people + 2:
        raise ParameterError(
            f"people is {people}, but the table must have at least two rows more than a study."
            " Lower people."
        )
    parts = [np.empty((trials, attributes)) for _ in range(4)]
    total = matrix.sum(axis=0)
    for trial in range(trials):
        order = generator.choice(rows, people + 1, replace=False)
        chosen = matrix[order]
        target, other, others = chosen[0], chosen[1], chosen[2:].sum(axis=0)
        rest = (total - target - other - others) / (rows - people - 1)
        for part, value in zip(parts, (target, rest, others + target, others + other), strict=True):
            part[trial] = value
    return Pools(people, *parts)


def _matrix(counted: Counted) -> Floats:
    """A row for each person, a column for each attribute: 1 where they have it."""
    columns = counted.columns.values()
    parts = [truths(column.name, column.texts())[column.codes] for column in columns]
    return np.repeat(np.stack(parts, axis=1), counted.rows, axis=0)


@dataclass(frozen=True, slots=True)
class Power:
    """How often participants are found in a study of so many people and attributes."""

    people: int
    attributes: int
    rates: Rates
    _json: ClassVar[str] = (
        "people attributes detection=rates.detection false_alarm=rates.false_alarm"
        " interval=rates.interval alarms_at_most=rates._alarms_at_most members=rates.members"
        " outsiders=rates.outsiders"
    )


@dataclass(frozen=True, slots=True)
class Membership(AttackReport):
    """How often members of a study are found in what it published.

    `ratio` and `homer` are two statistics against exact frequencies, `private` is the inner
    product against private ones. `power` is that of `ratio` for other sizes.
    """

    people: int
    attributes: int
    alarm: float
    ratio: Rates
    homer: Rates
    private: Rates
    power: tuple[Power, ...]
    privacy: Privacy
    epsilon: float
    _json: ClassVar[str] = (
        "people attributes false_alarm=alarm likelihood_ratio=ratio homer private power"
        " most_allowed most_at_measured exceeds epsilon"
    )

    @property
    def most_allowed(self) -> float:
        """D6: the most that any test finds whose rate of false alarms is `alarm` exactly."""
        return most_caught(self.privacy, self.alarm)

    @property
    def most_at_measured(self) -> float:
        """D6 at the false alarms that this test gave; 95 % sure."""
        return self.private.allowed(self.privacy)

    @property
    def exceeds(self) -> bool:
        """Whether the private release gives away more than it promises; 95 % sure."""
        return self.private.exceeds(self.privacy)

    @property
    def words(self) -> str:
        keeps = "more than was promised" if self.exceeds else "which is within the promise"
        return (
            f"A study of {self.people:,} people publishes how frequent each of"
            f" {self.attributes:,} attributes is among them, and nothing else. Anyone who knows a"
            " person's attributes tells whether they took part:"
            f" {as_percent(self.ratio.detection)} of participants are found, at"
            f" {as_percent(self.ratio.false_alarm)} false alarms. Published"
            f" with ε = {self.epsilon:g}, {self.private.told()} are, at"
            f" {as_percent(self.private.false_alarm)}, {keeps}: whatever the test, no more than"
            f" {as_percent(self.most_at_measured)} can be found at this many (95 % confidence)."
            " More attributes do not help the attacker then: the noise grows with them."
        )

    def lines(self) -> list[Line]:
        exact, noisy = self.ratio.told(), self.private.told()
        alarms = (as_percent(self.ratio.false_alarm), as_percent(self.private.false_alarm))
        limit = f"at most {as_percent(self.most_allowed)}"
        return [
            (f"participants found ({as_percent(self.alarm)} meant)", exact, noisy),
            ("  false alarms then", *alarms),
            ("found by Homer's own statistic", as_percent(self.homer.detection), ""),
            (f"any test whatever ({as_percent(self.alarm)})", "no limit", limit),
            *(_line(power) for power in self.power[:MAX_LINES]),
        ]

    def _picture(self) -> Chart:
        sizes = sorted({power.people for power in self.power})
        every = tuple(sorted({float(power.attributes) for power in self.power}))
        exact = [
            _points(
                f"exact, {size:,} people", [power for power in self.power if power.people == size]
            )
            for size in sizes
        ]
        private = [Power(self.people, self.attributes, self.private)]
        noisy = _points(f"ε = {self.epsilon:g}, {self.people:,} people", private)
        allowed = (self.most_allowed,) * len(every)
        limit = Series(self._limit_label, every, allowed, SeriesStyle.BOUND)
        title = f"Was this person in the study? Found at {as_percent(self.alarm)} false alarms"
        up = "share of participants found"
        return Chart(
            title,
            ChartAxis("attributes", AxisKind.FACTORS),
            ChartAxis(up),
            (*exact, noisy, limit),
        )


def trace_member(
    table: object = None,
    *,
    columns: Iterable[str] = (),
    people: Number = 100,
    attributes: Number = 1_000,
    epsilon: Number = 1.0,
    false_alarm: Number = 0.05,
    trials: Number = 1_000,
    seed: int = 2008,
    bits: BitSource = SYSTEM,
) -> Membership:
    """Looks for members of a study in its published frequencies, exact and private.

    table: a file or frame whose `columns` hold 0 and 1 (or false and true), a row a person; the
    studies are then drawn from its rows. Without one, a made-up population with `attributes`.
    people: the size of a study. false_alarm: how often the attacker may be wrong about outsiders.
    bits: where the noise of the private release comes from.
    """
    size, count = int(COUNT.typed("people", people)), int(TRIALS.typed("trials", trials))
    alarm = float(PROBABILITY.typed("false_alarm", false_alarm))
    generator = np.random.default_rng(seed)
    spent = float(EPSILON.typed("epsilon", epsilon))
    if table is not None:
        studies = [pools_of_table(generator, table, columns, people=size, trials=count)]
    else:
        number = int(COUNT.typed("attributes", attributes))
        studies = [
            draw_pools(generator, people=size * larger, attributes=number, trials=count)
            for larger in SIZE_FACTORS
        ]
    power = tuple(point for pools in studies for point in _power(pools, alarm))
    return _trace_members(studies[0], power, alarm, spent, bits)


def _power(pools: Pools, alarm: float) -> list[Power]:
    sizes = sorted({max(1, int(pools.attributes * share)) for share in ATTRIBUTE_SHARES})
    return [Power(pools.people, m, _rates(pools.first(m), _ratio, alarm)) for m in sizes]


def _trace_members(
    pools: Pools, power: tuple[Power, ...], alarm: float, epsilon: float, bits: BitSource
) -> Membership:
    noise = Geometric(epsilon=epsilon, sensitivity=pools.attributes)
    hidden = pools.released(lambda counts: noise.release(counts, bits=bits))
    return Membership(
        people=pools.people,
        attributes=pools.attributes,
        alarm=alarm,
        ratio=_rates(pools, _ratio, alarm),
        homer=_rates(pools, _homer, alarm),
        private=_rates(hidden, _inner, alarm),
        power=power,
        privacy=noise.privacy,
        epsilon=epsilon,
    )


def _rates(pools: Pools, statistic: Statistic, alarm: float) -> Rates:
    inside = statistic(pools.target, pools.population, pools.with_target / pools.people)
    outside = statistic(pools.target, pools.population, pools.without_target / pools.people)
    return judge_scores(inside, outside, alarm)


def _ratio(x: Floats, p: Floats, q: Floats) -> Floats:
    """The log-likelihood of "in the study" against "not in it", attribute by attribute."""
    p, q = (np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE) for share in (p, q))
    return np.where(x > 0, np.log(q / p), np.log((1 - q) / (1 - p))).sum(axis=1)


def _homer(x: Floats, p: Floats, q: Floats) -> Floats:
    return (np.abs(x - p) - np.abs(x - q)).sum(axis=1)


def _inner(x: Floats, p: Floats, q: Floats) -> Floats:
    return ((x - p) * (q - p)).sum(axis=1)


def _line(one: Power) -> Line:
    words = f"{one.people:,} people, {one.attributes:,} attributes"
    return words, as_percent(one.rates.detection), ""


def _points(label: str, power: Sequence[Power]) -> Series:
    across = [float(point.attributes) for point in power]
    return series_of(label, across, [point.rates for point in power], SeriesStyle.POINTS)
