"""Reading back a curve that was stored as JSON.

Proven:   rationals are stored as text, so nothing is rounded
Tested:   the round trip for every curve; damaged and newer files are refused
"""

from collections.abc import Callable
from fractions import Fraction
from typing import cast

from letalone.errors import FormatError, LetaloneError
from letalone.privacy.approximate import ApproxDP, NoPrivacy
from letalone.privacy.bounded_range import BoundedRange
from letalone.privacy.composition import Composed
from letalone.privacy.curve import FORMAT, Json, Privacy
from letalone.privacy.discrete_gaussian import DiscreteGaussianPrivacy
from letalone.privacy.finite import Finite, FiniteGroup
from letalone.privacy.gaussian import GaussianDP
from letalone.privacy.geometric import GeometricPrivacy
from letalone.privacy.laplace import LaplacePrivacy
from letalone.privacy.neighbours import Neighbours, Relation
from letalone.privacy.pure import PureDP
from letalone.privacy.randomized_response import RandomizedResponsePrivacy
from letalone.privacy.zcdp import ZCDP

CURVES: tuple[type[Privacy], ...] = (
    PureDP,
    ApproxDP,
    NoPrivacy,
    GaussianDP,
    ZCDP,
    LaplacePrivacy,
    GeometricPrivacy,
    DiscreteGaussianPrivacy,
    RandomizedResponsePrivacy,
    BoundedRange,
    Finite,
    FiniteGroup,
    Composed,
)
DAMAGE = (LetaloneError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
ENVELOPE = ("format", "kind", "neighbours")
KINDS: dict[str, type[Privacy]] = {curve.kind: curve for curve in CURVES}


def from_json(stored: Json) -> Privacy:
    """The curve that `to_json` stored; refuses what is damaged or newer than this letalone."""
    written = stored.get("format")
    if not isinstance(written, int) or written < 1:
        raise FormatError("This is not a stored privacy curve: it has no 'format' number.")
    if written > FORMAT:
        raise FormatError(
            f"This privacy curve has format {written}, and this letalone reads up to format "
            f"{FORMAT}. Update letalone to read it."
        )
    kind = KINDS.get(str(stored.get("kind")))
    if kind is None:
        raise FormatError(
            f"This privacy curve is of kind {stored.get('kind')!r}; known kinds are: "
            f"{', '.join(KINDS)}."
        )
    try:
        return _restored(kind, stored)
    except FormatError:
        raise
    except DAMAGE as error:
        raise FormatError(f"This privacy curve of kind '{kind.kind}' is damaged: {error}") from None


def _restored(kind: type[Privacy], stored: Json) -> Privacy:
    rest = {name: value for name, value in stored.items() if name not in ENVELOPE}
    parameters = {name: _value(value) for name, value in rest.items()}
    make = cast("Callable[..., Privacy]", kind)
    return make(**parameters).labelled(_neighbours(stored.get("neighbours")))


def _value(stored: object) -> object:
    """Text is a rational, a list is a list, an object is a curve."""
    if isinstance(stored, str):
        return Fraction(stored)
    if isinstance(stored, list):
        return [_value(item) for item in cast("list[object]", stored)]
    if isinstance(stored, dict):
        return from_json(cast("Json", stored))
    raise TypeError(f"a {type(stored).__name__} where text was expected")


def _neighbours(stored: object) -> Neighbours | None:
    if stored is None:
        return None
    label = cast("dict[str, str | None]", stored)
    return Neighbours(Relation(label["relation"]), label["unit"])
