"""What k, l and t leave open: two attacks on the very table, and a private release beside them.

Homogeneity: everyone in a group has the same sensitive value, so anyone who finds a person's group
knows it, however large the group is. Background knowledge: the attacker knows values that the
person does not have; those who are left with one value are known. Both need no computation, and
both work on a table that has k, exactly as promised.

Differential privacy bounds something else: not what a table looks like, but how much any one
person's row can change what is published.

Theorem.  After an ε-private release the odds between two values of one person, whatever an
attacker knew before, have changed by at most a factor of e^ε where neighbours replace one, and
e^2ε where they add or remove one.
  Proven:   Bayes: posterior odds are prior odds times P[release | one value] / P[release | other],
            a ratio between neighbours, by D1 and D3 (docs/explanation/neighbours.md)
  Tested:   tests/anonymity/test_limits.py: counts of the attacks against plain Python
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, inf

import numpy as np

from letalone.anonymity.diversity import distinct
from letalone.anonymity.measuring import Anonymity, Diversity, certain_of, measure
from letalone.answers.promise import as_percent
from letalone.answers.release import ReleaseRecord
from letalone.errors import ParameterError
from letalone.errors.spelling import plural_counted
from letalone.exact.typed import EPSILON, Number
from letalone.privacy.neighbours import ADD_REMOVE, REPLACE

ROUND_UP = 1 + 2.0**-48  # more than exp and the reading of ε can lose
FACTS = 3  # values that an attacker may know a person not to have
WHY = (
    "A table with k, l and t is not private: these people are exposed by the table itself, without"
    " a mistake in it. Differential privacy bounds what a release can say about any one of them."
)


@dataclass(frozen=True, slots=True)
class Exposure:
    """Who is exposed about one sensitive column.

    `known[b]` are the people whose value is certain to an attacker who can rule out b wrong
    values; `known[0]` is the homogeneity attack. `ruled_out` is the mean share of the table's
    values that a person's group rules out. `guessed` is how often the likeliest value of the
    group is right, that is one of the person's, `guessed_before` that of the table.
    """

    column: str
    people: int
    known: tuple[int, ...]
    ruled_out: float
    guessed: float
    guessed_before: float
    counted: str = "people"  # or rows, where no unit was named

    @property
    def certain(self) -> int:
        """The people whose value is certain to anyone who finds their group."""
        return self.known[0]

    def __str__(self) -> str:
        more = f"; {self.known[1]:,} if one wrong value is ruled out, {self.known[2]:,} if two are"
        guesses = f"{100 * self.guessed:.0f} % (before: {100 * self.guessed_before:.0f} %)"
        everyone = plural_counted(self.people, self.counted)
        return (
            f"{self.column}: certain for {self.certain:,} of {everyone}{more};"
            f" a guess is right for {guesses}"
        )


@dataclass(frozen=True, slots=True)
class Beside:
    """What a private release lets an attacker do: `odds` is by how much odds can change."""

    epsilon: float
    odds: float
    rows: tuple[Mapping[str, object], ...] = ()

    def surest(self, before: float = 0.5) -> float:
        """How sure an attacker can become of one of two values, from a chance before."""
        return before / (before + (1 - before) / self.odds)

    def __str__(self) -> str:
        return (
            f"A private release at ε = {self.epsilon:g}: certain for 0 people. Who gives a value an"
            f" even chance before is at most {as_percent(self.surest())} sure of it after."
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """What `limits` found."""

    anonymity: Anonymity
    exposures: Mapping[str, Exposure]
    beside: Beside

    def to_json(self) -> dict[str, object]:
        """The numbers, without any value of the table."""
        fields = ("people", "known", "ruled_out", "guessed", "guessed_before")
        return {
            "exposed": {
                name: {field: getattr(exposure, field) for field in fields}
                for name, exposure in self.exposures.items()
            },
            "private": {"epsilon": self.beside.epsilon, "odds": self.beside.odds, "certain": 0},
        }

    def __str__(self) -> str:
        return "\n".join([*map(str, self.exposures.values()), str(self.beside), WHY])


def limits(
    table: object,
    *,
    quasi_identifiers: Iterable[str],
    sensitive: Iterable[str],
    unit: str | None = None,
    release: ReleaseRecord | None = None,
    epsilon: Number = 1,
    table_name: str | None = None,
) -> Limits:
    """Attacks a table as it is, and says what a private release would allow instead.

    `release` is one that was made with `la.open`; without it, one of `epsilon` with neighbours
    that add or remove a person is spoken of. `unit` is the column that identifies a person.
    """
    anonymity = measure(
        table,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        unit=unit,
        table_name=table_name,
    )
    return limits_of(anonymity, release=release, epsilon=epsilon)


def limits_of(
    found: Anonymity, *, release: ReleaseRecord | None = None, epsilon: Number = 1
) -> Limits:
    """The same for a table that was measured."""
    if not found.sensitive:
        raise ParameterError(
            "No sensitive column was named, so there is nothing to learn about people. Name one,"
            " such as sensitive=['diagnosis']."
        )
    exposures = {name: _exposure(diversity, found) for name, diversity in found.sensitive.items()}
    if release is not None:
        return Limits(found, exposures, _of_release(release))
    spent = float(EPSILON.typed("epsilon", epsilon))
    return Limits(found, exposures, Beside(spent, _odds(2 * spent)))


def _exposure(one: Diversity, found: Anonymity) -> Exposure:
    cells, sizes = one.cells, found.group_sizes
    number = distinct(cells)
    starts = np.flatnonzero(np.diff(cells.group, prepend=-1))
    everyone = int(sizes.sum())  # in each of their groups
    return Exposure(
        column=one.column,
        people=found.people,
        known=tuple(certain_of(one, found, facts) for facts in range(FACTS)),
        ruled_out=float(np.sum(sizes * (one.values - number)) / (everyone * one.values)),
        guessed=int(np.maximum.reduceat(cells.count, starts).sum()) / everyone,
        guessed_before=int(one.whole.max()) / found.people,
        counted=found.counted,
    )


def _of_release(release: ReleaseRecord) -> Beside:
    if release.delta > 0:
        raise ParameterError(
            "The release has a δ above 0, so that its odds have no bound that always holds. Give"
            " one that was released with an ε alone."
        )
    label = release.privacy.neighbours or ADD_REMOVE
    factor = 1 if label.relation is REPLACE.relation else 2
    return Beside(release.epsilon, _odds(factor * release.epsilon), tuple(release.rows()))


def _odds(epsilon: float) -> float:
    """e^ε, rounded up."""
    return exp(epsilon) * ROUND_UP if epsilon < 700 else inf
