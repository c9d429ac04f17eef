"""Reading the public parameters of mechanisms, and printing them.

An epsilon, a delta or a scale means the decimal that was typed; a sensitivity the larger
of its decimal and its binary reading, or a `Sensitivity` record, from which a mechanism
takes the norm that its theorem speaks of. What is printed is rounded up to six digits.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from letalone.errors import ParameterError
from letalone.exact.typed import EPSILON, SENSITIVITY, Constraint, Number, read_flag, whole_from
from letalone.mechanisms.sensitivity import Sensitivity
from letalone.privacy import ADD_REMOVE, Neighbours, Privacy
from letalone.privacy.neighbours import is_replace

SensitivityLike = Number | Sensitivity

WHOLE_SENSITIVITY = whole_from(
    1, "It is the most that one person can change the count; la.sensitivity computes it."
)

FLOAT_NOISE = Constraint(
    "from 2^-900 to 2^900",
    lambda x: Fraction(2) ** -900 <= x <= 2**900,
    "Measure the values in another unit.",
    (1e-300, 1e300, 2.0**-901, 2.0**901),
)
WHOLE_NOISE = Constraint(
    "from 2^-400 to 2^400",
    lambda x: Fraction(2) ** -400 <= x <= 2**400,
    "Choose an epsilon nearer to usual ones, such as 0.1 to 10.",
    (1e-130, 1e130, 2.0**-401, 2.0**401),
)
FACTOR = replace(FLOAT_NOISE, hint="Measure the utilities in another unit.")


def read_sensitivity(
    sensitivity: SensitivityLike, norm: Literal["l1", "l2"], rule: Constraint = SENSITIVITY
) -> tuple[Fraction, Neighbours | None]:
    """The sensitivity in a norm, and the neighbours that it was computed for, if told."""
    if not isinstance(sensitivity, Sensitivity):
        return rule.cautious("sensitivity", sensitivity), None
    number = sensitivity.l1 if norm == "l1" else sensitivity.l2
    if number is None:
        raise ParameterError(
            "The sensitivity has no L1 norm, but this mechanism needs one."
            " Tell la.sensitivity.mean_vector the dimension."
        )
    return rule.cautious("sensitivity", number), sensitivity.neighbours


def exactly_one(given: Mapping[str, object]) -> None:
    """Refuses both and neither of two ways to set the noise, by name; None is not given."""
    (first, privacy), (second, noise) = given.items()
    if (privacy is None) == (noise is None):
        count = "neither" if noise is None else "both"
        raise ParameterError(
            f"{first} and {second}: {count} given, but exactly one is needed."
            f" {first} fixes the privacy and {second} the noise; each follows from the other."
        )


def _monotone_neighbours(neighbours: Neighbours | None, *, monotone: bool) -> Neighbours | None:
    """The neighbours of a mechanism whose utilities may be declared monotone."""
    if not monotone:
        return neighbours
    if neighbours is not None and is_replace(neighbours):
        raise ParameterError(
            f"monotone is True, but the sensitivity is for {neighbours}. Only adding or removing"
            " a unit moves all utilities the same way: use ADD_REMOVE, or monotone=False."
        )
    return neighbours or ADD_REMOVE


def about(privacy: Privacy, neighbours: Neighbours | None) -> Privacy:
    """The curve, with its neighbours where they are known."""
    return privacy if neighbours is None else privacy.with_neighbours(neighbours)


def check_range(name: str, number: Fraction, rule: Constraint) -> Fraction:
    """The number, if floats can carry it; otherwise it may be too long to show."""
    if not rule.holds(number):
        size = "small" if number < 1 else "large"
        raise ParameterError(
            f"{name} is too {size} to compute with, but must be {rule.allowed}. {rule.hint}"
        )
    return number


def fill(record: object, **fields: object) -> None:
    """Sets fields of a frozen record, within its `__init__`."""
    for name, value in fields.items():
        object.__setattr__(record, name, value)


def fill_choice(
    record: object, *, epsilon: Number, sensitivity: SensitivityLike, monotone: bool
) -> None:
    """Reads what mechanisms that compare utilities share; refuses a ratio beyond floats."""
    size, neighbours = read_sensitivity(sensitivity, "l1")
    price = EPSILON.typed("epsilon", epsilon)
    check_range("epsilon / (2 · sensitivity)", price / (2 * size), FACTOR)
    rising = read_flag("monotone", monotone)
    fill(record, epsilon=price, sensitivity=size, monotone=rising)
    fill(record, neighbours=_monotone_neighbours(neighbours, monotone=rising))
