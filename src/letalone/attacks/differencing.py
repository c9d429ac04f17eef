"""Differencing: two harmless questions, one person between them.

    SELECT COUNT(DISTINCT person) ... WHERE diagnosis = 'asthma'
    SELECT COUNT(DISTINCT person) ... WHERE diagnosis = 'asthma' AND NOT (zip = ... AND ...)

Both answers are large, so a rule against small groups lets them pass. Their difference is 1 where
the person who is left out of the second has the diagnosis, and 0 where not. Against exact answers
the attacker is always right. The same two questions through `la.open`, each for half of ε, have
noise of their own, and asking again gives the same answer.

Theorem.  The two answers together are ε-private, so D6 bounds every test on them, differences
among these. `rates` is the test "the difference is above 1/2" over many draws of the very noise.
  Proven:   docs/explanation/proofs/geometric.md, proofs/composition.md
  Tested:   tests/attacks/test_differencing.py: always right on exact answers; within D6 else
"""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import isfinite
from typing import ClassVar, cast

import duckdb
import numpy as np
from sqlglot import exp

from letalone.answers.promise import as_percent, best_guess
from letalone.attacks import stage
from letalone.attacks.counted_table import Counted, Whole, joint_keys, names_of, read
from letalone.attacks.rates import Rates, bound
from letalone.attacks.result import AttackReport, Line, beyond_line
from letalone.drawing.chart import Chart, ChartAxis, Series, SeriesStyle
from letalone.engines.duckdb.lockdown import LockedDuck
from letalone.engines.frames.coded import FIRST
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, EPSILON, Number
from letalone.mechanisms import Geometric
from letalone.plans.aggregates.requests import count_distinct
from letalone.plans.expressions import Expression, col
from letalone.privacy import Budget, Privacy
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.session.opening import open as open_table
from letalone.session.session import Session

KNOWN = ("zip", "birth_date", "gender")
HALF = 0.5
ALARM_RATES = tuple(step / 16 for step in range(17))  # few: a composed curve takes its time
THRESHOLDS = range(-12, 14)  # of the difference, for the points of the picture


@dataclass(frozen=True, slots=True)
class Differencing(AttackReport):
    """How often an attacker who subtracts two answers is right about a person.

    `exact_right` and `private_right` of `targets` people, half of whom have the value where there
    are enough; `rates` of the same test over many draws of the noise; `curve` its (false alarms,
    detection) at other thresholds.
    """

    questions: tuple[str, str]
    targets: int
    exact_right: int
    private_right: int
    rates: Rates
    curve: tuple[tuple[float, float], ...]
    privacy: Privacy
    epsilon: float
    _json: ClassVar[str] = (
        "questions targets exact_right private_right rates most_at_measured=_most_at_measured"
        " exceeds best_guess=_best_guess epsilon"
    )

    @property
    def exceeds(self) -> bool:
        """Whether the test finds more than the answers promise; 95 % sure."""
        return self.rates.exceeds(self.privacy)

    @property
    def _best_guess(self) -> float:
        return best_guess(self.privacy)

    @property
    def _most_at_measured(self) -> float:
        return self.rates.allowed(self.privacy)

    @property
    def words(self) -> str:
        return (
            "Two questions that differ in one person, each about many people, were asked about"
            f" {self.targets:,} people in turn. Subtracting exact answers was right about"
            f" {self.exact_right:,} of them. The same questions through letalone, at"
            f" ε = {self.epsilon:g} for both, were right about {self.private_right:,}. Over many"
            f" draws of the noise this test finds {as_percent(self.rates.detection)} at"
            f" {as_percent(self.rates.false_alarm)} false alarms. A bet at even odds is won at most"
            f" {as_percent(self._best_guess)} of the time, however the answers are combined,"
            " and asking again gives the same answer."
        )

    def lines(self) -> list[Line]:
        rates, allowed = self.rates, self._most_at_measured
        exact, private = (
            f"{n:,} of {self.targets:,}" for n in (self.exact_right, self.private_right)
        )
        guess = f"at most {as_percent(self._best_guess)}"
        return [
            ("right about a person", exact, private),
            ("bets at even odds won", "no limit", guess),
            ("found over many draws of the noise", "", rates.told()),
            ("false alarms then", "", as_percent(rates.false_alarm)),
            ("found at this many (95 % confidence)", "no limit", f"at most {as_percent(allowed)}"),
            beyond_line(self.exceeds),
        ]

    def _picture(self) -> Chart:
        across, up = zip(*self.curve, strict=True)
        test = Series(
            f"difference of two answers, ε = {self.epsilon:g}", across, up, SeriesStyle.POINTS
        )
        exact = Series("difference of exact answers", (0.0,), (1.0,), SeriesStyle.POINTS)
        limit = bound(self.privacy, self._limit_label, ALARM_RATES)
        title = "Two answers that differ in one person: does this person have the diagnosis?"
        shown = (test, exact, limit)
        return Chart(title, ChartAxis("false alarms"), ChartAxis("share found"), shown)


def subtract(
    table: object = None,
    *,
    person: str = "patient_id",
    sensitive: str = "diagnosis",
    value: object = None,
    known: Iterable[str] = KNOWN,
    targets: Number = 20,
    epsilon: Number = 1.0,
    trials: Number = 20_000,
    seed: int = 1979,
    bits: BitSource = SYSTEM,
) -> Differencing:
    """Isolates people by two questions, against exact answers and against `la.open`.

    table: a file or frame; without one, a made-up hospital. person: tells its people apart.
    sensitive, value: the secret; without a value, the most frequent one.
    known: what the attacker knows of a person; people who are alike in it are not attacked.
    Each target meets a fresh session whose whole budget is epsilon; nothing is written down.
    """
    spent = EPSILON.typed("epsilon", epsilon)
    number, draws = int(COUNT.typed("targets", targets)), int(COUNT.typed("trials", trials))
    source = stage.make_town(2_000, patients=500).hospital if table is None else table
    names = names_of("known", known)
    secret = _SecretTable(
        read(source, [person, sensitive, *names]), person, sensitive, tuple(names)
    )
    has = secret.people_with(value)
    chosen = _choose_targets(np.random.default_rng(seed), secret.alone(), has, number)
    exact = _subtract_exact(secret, value, chosen)
    private = [_subtract_private(secret, value, target, spent) for target in chosen]
    truth = [target in has for target in chosen]
    noise = Geometric(epsilon=spent / 2, sensitivity=1)
    first, second = _in_sql(secret, value, chosen[0])
    rates, curve = _simulate_test(noise, draws, bits)
    return Differencing(
        questions=(first.sql("duckdb"), second.sql("duckdb")),
        targets=len(chosen),
        exact_right=_right(exact, truth),
        private_right=_right(private, truth),
        rates=rates,
        curve=curve,
        privacy=noise.privacy * 2,
        epsilon=float(spent),
    )


@dataclass(frozen=True, slots=True)
class _SecretTable:
    """The people of a table, what is known of them, and their secret."""

    rows: Counted
    person: str
    sensitive: str
    known: tuple[str, ...]

    def codes(self, name: str) -> Whole:
        return self.rows.columns[name].codes

    def code_of(self, value: object) -> int:
        """The code of a value of the secret, as typed; of the commonest one where it is None."""
        column = self.rows.columns[self.sensitive]
        if value is None:
            return self._commonest()
        if str(value) not in column.texts():
            raise ParameterError(f"Nobody has this value of {self.sensitive!r}. Name another.")
        return FIRST + column.texts().index(str(value))

    def _commonest(self) -> int:
        column = self.rows.columns[self.sensitive]
        number = np.bincount(column.codes, weights=self.rows.rows, minlength=column.size)
        finite = [_is_finite(cell) for cell in column.objects(np.arange(FIRST, column.size))]
        if not any(finite):
            raise ParameterError(
                f"{self.sensitive!r} holds no value that could be asked for: its rows are empty, or"
                " not finite. Name another column in sensitive."
            )
        return FIRST + int(np.where(finite, number[FIRST:], -1).argmax())

    def people_with(self, value: object) -> frozenset[int]:
        """The codes of those who have the value in some row."""
        here = self.codes(self.sensitive) == self.code_of(value)
        return frozenset(self.codes(self.person)[here].tolist())

    def alone(self) -> Whole:
        """The codes of people whose known values are there, theirs alone and always the same."""
        key, _ = joint_keys(self.rows, self.rows, self.known)
        pairs = np.unique(np.stack([key, self.codes(self.person)]), axis=1)
        pairs = pairs[:, (pairs[0] >= 0) & (pairs[1] > 1)]
        keys, number = np.unique(pairs[0], return_counts=True)
        people, times = np.unique(pairs[1], return_counts=True)
        sole = np.isin(pairs[0], keys[number == 1]) & np.isin(pairs[1], people[times == 1])
        return pairs[1, sole & ~np.isin(pairs[1], self._beyond_numbers())]

    def _beyond_numbers(self) -> Whole:
        """The codes of people of whom something known is infinite, which SQL has no word for."""
        is_infinite = np.zeros(len(self.rows.rows), np.bool_)
        for column in (self.rows.columns[name] for name in self.known):
            values = [*([0] * FIRST), *column.objects(np.arange(FIRST, column.size))]
            is_finite = np.array([_is_finite(cell) for cell in values], np.bool_)
            is_infinite |= ~is_finite[column.codes]
        return self.codes(self.person)[is_infinite]

    def wanted(self, value: object) -> object:
        return self.rows.columns[self.sensitive].objects(np.array([self.code_of(value)]))[0]

    def facts(self, target: int) -> list[tuple[str, object]]:
        place = int(np.flatnonzero(self.codes(self.person) == target)[0])
        columns = [self.rows.columns[name] for name in self.known]
        return [
            (column.name, column.objects(column.codes[place : place + 1])[0]) for column in columns
        ]


def _is_finite(value: object) -> bool:
    return not isinstance(value, float) or isfinite(value)


def _choose_targets(
    generator: np.random.Generator, alone: Whole, has: frozenset[int], number: int
) -> list[int]:
    """Half with the value and half without, as far as there are such people."""
    mixed = generator.permutation(alone).tolist()
    if not mixed:
        raise ParameterError(
            "Nobody is alone with what is known of them, all of it finite. Name more in known."
        )
    having = [target for target in mixed if target in has]
    others = [target for target in mixed if target not in has]
    half = max(number // 2, number - len(others))
    return (having[:half] + others)[:number]


def _right(differences: Sequence[float], truth: Sequence[bool]) -> int:
    guesses = zip(differences, truth, strict=True)
    return sum((difference > HALF) == has for difference, has in guesses)


def _conditions(secret: _SecretTable, value: object, target: int) -> tuple[Expression, Expression]:
    has: Expression = col(secret.sensitive) == secret.wanted(value)
    facts: list[Expression] = [col(name) == fact for name, fact in secret.facts(target)]
    return has, has & ~reduce(lambda one, other: one & other, facts)


def _in_sql(secret: _SecretTable, value: object, target: int) -> tuple[exp.Select, exp.Select]:
    people = exp.Count(this=exp.Distinct(expressions=[_name(secret.person)]))
    has = _equal(secret.sensitive, secret.wanted(value))
    is_them = exp.and_(*(_equal(name, fact) for name, fact in secret.facts(target)))
    first = exp.select(people).from_("data").where(has)
    return first, first.where(exp.not_(is_them))


def _name(column: str) -> exp.Column:
    return exp.column(exp.to_identifier(column, quoted=True))


def _equal(column: str, value: object) -> exp.EQ:
    return exp.EQ(this=_name(column), expression=exp.convert(value))


def _subtract_exact(secret: _SecretTable, value: object, targets: Sequence[int]) -> list[int]:
    """The exact answers on DuckDB, the first less the second, for each target."""
    with closing(LockedDuck()) as duck:
        duck.connection.register("data", secret.rows.as_frame())
        questions = [_in_sql(secret, value, target) for target in targets]
        return [_answer(duck, first) - _answer(duck, second) for first, second in questions]


def _answer(duck: LockedDuck, question: exp.Select) -> int:
    """The exact answer; an error of the engine quotes values, so it is not passed on."""
    try:
        return cast("int", duck.run(question)[0][0])
    except duckdb.Error:
        pass
    raise ParameterError(
        "The two questions cannot be asked of this table: the type of a column in known, or of the"
        " sensitive one, has no equality in SQL. Name other columns."
    )


def _subtract_private(secret: _SecretTable, value: object, target: int, epsilon: Fraction) -> float:
    table = open_table(secret.rows.as_frame(), unit=secret.person, budget=Budget(epsilon=epsilon))
    with closing(table):
        first, second = (
            _count(table, condition, epsilon / 2)
            for condition in _conditions(secret, value, target)
        )
    return first - second


def _count(table: Session, condition: Expression, epsilon: Fraction) -> int:
    answer = table.where(condition).agg(n=count_distinct()).release(epsilon=epsilon)
    return cast("int", answer.rows()[0]["n"])


def _simulate_test(
    noise: Geometric, trials: int, bits: BitSource
) -> tuple[Rates, tuple[tuple[float, float], ...]]:
    """The test over many draws of the noise of both answers; and at every other threshold."""
    having, lacking = (
        noise.release(np.full(trials, first, np.int64), bits=bits)
        - noise.release(np.zeros(trials, np.int64), bits=bits)
        for first in (1, 0)
    )
    counts = [(int((lacking > cut).sum()), int((having > cut).sum())) for cut in THRESHOLDS]
    alarms, caught = int((lacking > HALF).sum()), int((having > HALF).sum())
    curve = tuple((wrong / trials, right / trials) for wrong, right in counts)
    return Rates(caught, trials, alarms, trials), curve
