"""Numbers as they are sent: 0.1 is one tenth, and "1/3" is a third."""

from decimal import Decimal
from fractions import Fraction
from typing import Annotated

from pydantic import Field, StringConstraints

UNSIGNED = r"([0-9]{1,40}(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,3})?|[0-9]{1,40}/[1-9][0-9]{0,39})"
Float = Annotated[float, Field(strict=True, allow_inf_nan=False)]  # true is no number
Typed = Float | Annotated[str, StringConstraints(pattern=f"^{UNSIGNED}$")]
Signed = Float | Annotated[str, StringConstraints(pattern=f"^-?{UNSIGNED}$")]


def exact(typed: float | str) -> Fraction:
    """The rational that was sent: a float means its shortest decimal, and text its digits."""
    if isinstance(typed, str):
        return Fraction(typed) if "/" in typed else Fraction(Decimal(typed))
    return Fraction(repr(typed))
