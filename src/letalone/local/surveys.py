"""Several questions to the same people: ε is split over them, or each person answers one at random.

Theorem.  Split: each question gets ε/k, and what a person sends costs the sum, at most ε. Sampled:
the question is drawn without a look at the answers, and the one report costs ε.
  Proven:   docs/explanation/proofs/local_frequencies.md, section 10
  Tested:   the cost of both; that each question is drawn equally often; estimates

With k questions, sampling has k times the variance of a question at ε, and asks fewer people;
splitting has the variance of ε/k. For small ε that is k² times as much, so sampling is better.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any, ClassVar, Literal, cast

import numpy as np

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError
from letalone.exact.typed import Number, refusal, write_rational
from letalone.local.frequencies.choosing import best
from letalone.local.frequencies.oracle import FrequencyOracle
from letalone.local.numeric.numbers import Hybrid, NumberOracle
from letalone.local.ratios import LOCAL_EPSILON, read_epsilon
from letalone.mechanisms.parameters import fill
from letalone.mechanisms.values import list_values
from letalone.privacy import REPLACE, Privacy, PureDP, compose
from letalone.randomness.bits import SYSTEM, BitSource
from letalone.randomness.uniform import sample_belows

Question = int | Sequence[Hashable] | tuple[float, float]
Oracle = FrequencyOracle | NumberOracle
How = Literal["auto", "sample", "split"]


@dataclass(frozen=True, slots=True, init=False)
class Survey:
    """Several questions with one ε for a person.

    Parameters: `questions` is a mapping from names to a list of answers to choose from, or to a
    pair (lower, upper) for a number; `epsilon` is what all that a person sends costs. `how` is
    "sample" (each person answers one question), "split" (each answers all, with less ε for each) or
    "auto", which takes the one with the smaller variance.
    """

    kind: ClassVar[str] = "survey"

    oracles: Mapping[str, Oracle]
    epsilon: Fraction
    how: Literal["sample", "split"]

    def __init__(
        self, questions: Mapping[str, Question], *, epsilon: Number, how: How = "auto"
    ) -> None:
        if not _names_of(questions):
            raise ParameterError(
                "A survey needs a mapping from the names of its questions, one or more, to what"
                ' can be answered, such as {"smokes": ["yes", "no"], "age": (18, 99)}.'
            )
        if how not in ("auto", "sample", "split"):
            raise refusal("how", how, "'auto', 'sample' or 'split'")
        total = read_epsilon(epsilon)
        chosen = _best_way(questions, total) if how == "auto" else how
        each = total / len(questions) if chosen == "split" else total
        fill(self, oracles=_make_all(questions, each), epsilon=total, how=chosen)

    @property
    def privacy(self) -> Privacy:
        """What all that one person sends reveals about their answers."""
        if self.how == "sample":
            return PureDP(self.epsilon).with_neighbours(REPLACE)
        return compose(*(oracle.privacy for oracle in self.oracles.values()))

    def privatize(
        self, answers: Mapping[str, object], *, bits: BitSource = SYSTEM
    ) -> dict[str, Any]:
        """Reports by question, from the answers of one person or of many.

        Answers are one for each question, or a list of the same length for each. With sampling, a
        person's report stands under one question alone.
        """
        if _names_of(answers) != set(self.oracles):
            raise ParameterError(f"Answers are needed for exactly: {', '.join(self.oracles)}.")
        lists = {name: _as_list(answers[name]) for name in self.oracles}
        people = {len(given) for given in lists.values()}
        if len(people) != 1:
            raise ParameterError("The lists of answers differ in length: one entry a person.")
        return self._report(lists, people.pop(), bits)

    def estimate(
        self, reports: Mapping[str, object], confidence: Number = 0.95
    ) -> dict[str, Estimate]:
        """The estimate of each question that was reported on."""
        names = _names_of(reports)
        if names is None or not names <= set(self.oracles):
            raise ParameterError(
                "Reports of a survey are a mapping from its questions, as privatize gives them:"
                f" {', '.join(self.oracles)}."
            )
        return {
            name: self.oracles[name].estimate(given, confidence) for name, given in reports.items()
        }

    def describe(self) -> dict[str, object]:
        """All that a client needs to make reports, as JSON values."""
        return {
            "kind": self.kind,
            "how": self.how,
            "epsilon": write_rational(self.epsilon),
            "questions": {name: oracle.describe() for name, oracle in self.oracles.items()},
        }

    def _report(
        self, lists: dict[str, list[object]], people: int, bits: BitSource
    ) -> dict[str, Any]:
        if self.how == "split":
            return {
                name: self.oracles[name].privatize(given, bits=bits)
                for name, given in lists.items()
            }
        drawn = sample_belows(len(lists), people, bits)
        reports: dict[str, Any] = {}
        for place, (name, given) in enumerate(lists.items()):
            answers = [given[person] for person in np.flatnonzero(drawn == place).tolist()]
            if answers:
                reports[name] = self.oracles[name].privatize(answers, bits=bits)
        return reports


def _names_of(named: object) -> set[object] | None:
    """The names of a mapping; of what is none, None."""
    return set(cast("Mapping[object, object]", named)) if isinstance(named, Mapping) else None


def _best_way(questions: Mapping[str, Question], total: Fraction) -> Literal["sample", "split"]:
    """That with the smaller variance; a part of ε that no report can have is too small to split."""
    each = total / len(questions)
    if not LOCAL_EPSILON.holds(each):
        return "sample"
    gain = _gain(_make_all(questions, total), _make_all(questions, each))
    return "split" if gain > 0 else "sample"


def _make_all(questions: Mapping[str, Question], epsilon: Fraction) -> dict[str, Oracle]:
    return {name: _make(asked, epsilon) for name, asked in questions.items()}


def _make(asked: Question, epsilon: Fraction) -> Oracle:
    if isinstance(asked, tuple):
        ends = cast("tuple[float, ...]", asked)
        if len(ends) == 2:
            return Hybrid(*ends, epsilon=epsilon)
        raise refusal("a question", asked, "a list of answers, or a pair (lower, upper)")
    return best(asked, epsilon=epsilon, n=1).oracle


def _gain(sampled: Mapping[str, Oracle], part: Mapping[str, Oracle]) -> float:
    """How much smaller variances are with splitting: the sum of logarithms."""
    count = len(sampled)

    def ratio(name: str) -> float:
        oracle = sampled[name]
        return (count * oracle.variance(1) + (count - 1) * _spread(oracle)) / part[name].variance(1)

    return sum(log(ratio(name)) for name in sampled)


def _spread(oracle: Oracle) -> float:
    """How much answers differ between people: even answers, or numbers at both bounds."""
    if isinstance(oracle, FrequencyOracle):
        return (1 - 1 / oracle.size) / oracle.size
    return (oracle.upper - oracle.lower) ** 2 / 4


def _as_list(column: object) -> list[object]:
    given = list_values(column)
    if hasattr(given, "__array__"):
        return cast("list[object]", np.atleast_1d(np.asarray(cast("Any", given))).tolist())
    return cast("list[object]", given) if isinstance(given, list) else [given]
