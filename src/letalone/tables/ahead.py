"""The price of an error: the smallest ε for which no error to expect is larger than asked.

Proven:   the ε returned was compiled and its errors compared; errors fall as ε grows
Tested:   the ε returned is enough, and the next smaller one of three digits is not
"""

from bisect import bisect_left
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import cast

from letalone.errors import ParameterError
from letalone.exact.typed import ERROR, Number
from letalone.plans.plan import Plan
from letalone.tables.compiled import compile_plan

FEWEST, MOST = 100, 1000  # three digits
FIRST, LAST = -6, 7  # the powers of ten between which ε is looked for


def epsilon_for(
    plan: Plan,
    *,
    error: Number | Mapping[str, Number],
    delta: Number = 0,
    confidence: Number = 0.95,
    rows: int | None = None,
) -> float:
    """The smallest ε of three digits with errors of at most `error`; no data is touched.

    `error` is one number for all aggregates, or one for each name. Means and variances need
    `rows`, how many rows a group has: a public number, or one from an earlier release. The
    error of a quantile is in rows (of rank).
    """
    limits = _limits(plan, error)

    def keeps(epsilon: Decimal) -> bool:
        priced = compile_plan(plan, epsilon=epsilon, delta=delta, confidence=confidence)
        return all(priced.expected_error(name, rows=rows) <= limits[name] for name in limits)

    powers = range(FIRST, LAST)
    place = bisect_left(powers, True, key=lambda power: keeps(_step(power) * MOST))
    if place == len(powers):
        raise ParameterError(
            "No epsilon up to 10 million gives errors this small. Allow larger ones, or narrow the"
            " bounds."
        )
    step = _step(powers[place])
    digits = range(FEWEST, MOST)  # the highest keeps
    return float(step * (FEWEST + bisect_left(digits, True, key=lambda n: keeps(step * n))))


def _step(power: int) -> Decimal:
    return Decimal(10) ** power / FEWEST


def _limits(plan: Plan, error: object) -> dict[str, Fraction]:
    names = [name for name, _ in plan.aggregates]
    if not isinstance(error, Mapping):
        return dict.fromkeys(names, ERROR.typed("error", error))
    given = cast("Mapping[str, object]", error)
    unknown = [name for name in given if name not in names]
    if unknown or not given:
        what = f"has no aggregate {unknown[0]!r}" if unknown else "is empty"
        known = ", ".join(names)
        raise ParameterError(f"error {what}, but must name some of the aggregates: {known}.")
    return {name: ERROR.typed(f"error of {name}", limit) for name, limit in given.items()}
