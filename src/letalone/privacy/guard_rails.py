"""Guard rails: prices at which an answer hardly protects anybody are paid on purpose only.

Above ε = 10 whoever guesses whether somebody is in the data is right up to 99.995 % of the time.
An interval without a width says that the exact number is told. Both are mostly slips: 30 for 0.3,
or an error of 0.01 that was meant as 1 %. They are refused before anything is charged, unless
the caller confirms.

What is looked at is the price and the noise, never the data, so a refusal tells nothing.

  Tested:   tests/privacy/test_guard_rails.py, tests/session/test_confirming.py
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from letalone.errors import ParameterError
from letalone.errors.codes import Code
from letalone.errors.problem import Problem, problem
from letalone.errors.remedies import Confirm, SetEpsilon
from letalone.exact.typed import Number, as_typed, read_flag
from letalone.privacy.bounds import six

MAX_UNCONFIRMED = Fraction(10)  # the largest ε of one question that needs no second word
NEVER_EXACT = Fraction(1)  # up to this ε, noise is 0 in less than half of all draws
USUAL_EPSILON = 1.0
MAX_THRESHOLD = 1000  # people that a group needs to be found, without a second word


def find_risk(
    epsilon: Number, *, exact: Callable[[], Sequence[str]] = tuple, remark: str | None = None
) -> Problem | None:
    """Why this price needs a second word; None where it does not.

    `exact` names columns whose intervals would have no width; `remark` tells where ε is from.
    """
    price = as_typed(epsilon)
    columns = tuple(exact()) if price > NEVER_EXACT else ()
    because = "" if remark is None else f" {remark}"
    if price > MAX_UNCONFIRMED:
        words = (
            f"This costs ε = {six(price)}.{because} Above {MAX_UNCONFIRMED} an answer can show"
            " almost surely whether one person is in the data. Nothing was charged."
        )
    elif columns:
        words = (
            f"At ε = {six(price)} there is so little noise that the range of {', '.join(columns)}"
            f" has no width: the exact number would be shown.{because} Nothing was charged."
        )
    else:
        return None
    return problem(
        Code.NOT_CONFIRMED,
        SetEpsilon(USUAL_EPSILON),
        Confirm(),
        words=words,
        epsilon=float(price),
        limit=float(MAX_UNCONFIRMED),
        columns=columns,
    )


def check_confirmed(risk: Problem | None, *, confirm: bool) -> None:
    """Refuses a price that needs a second word, unless it was given."""
    if risk is not None and not read_flag("confirm", confirm):
        raise ParameterError(risk)
