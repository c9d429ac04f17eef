"""What a release reveals: a curve of (epsilon, delta) pairs.

For neighbours with output laws P and Q the curve is
    delta(epsilon) = sup over both orders of sup over events S of P(S) - e^epsilon Q(S),
the largest over all neighbours. A mechanism has this whole curve, never one pair.

Theorem.  (1) delta falls as epsilon grows, and delta(-e) = 1 - e^-e (1 - delta(e)), so a
curve is given by its values at epsilon >= 0.  (2) Every test that tells P from Q with
P[false alarm] = a misses with probability at least the supremum over all real epsilon of
1 - delta(epsilon) - e^epsilon a.  (3) Replacing one unit is a group of two.
  Proven:   docs/explanation/proofs/curves.md; group.md for (3)
  Tested:   tests/laws/test_curves.py, for every curve; tests/privacy
  Assumed:  Arb is correct

A subclass is pure data with two formulas, `certified_delta` and `certified_missed`, in a file of
its own under `@curve("its kind")`; everything that people call is derived here, rounded towards
caution. Where it knows more of itself (its rho, the pair of laws behind it), it says so by
overriding a default. Nobody else asks for its type.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from math import inf, isinf, log
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias, TypeVar, dataclass_transform

from letalone.errors import LetaloneError, NeighboursDiffer
from letalone.exact import typed
from letalone.exact.balls import ball
from letalone.exact.typed import COUNT, DELTA, FINITE, PROBABILITY, Number
from letalone.privacy import bounds
from letalone.privacy.bounds import ZERO, Bound, Bounds, above, at_most, below, exceeds, once
from letalone.privacy.curves.pure_terms import pure_divergence, pure_mu_squared, pure_rho
from letalone.privacy.neighbours import ADD_REMOVE, Neighbours, read_label, read_neighbours, unify
from letalone.privacy.search import edge

if TYPE_CHECKING:
    from letalone.privacy.loss.pairs import Losses

FORMAT = 1
USUAL_DELTA = Fraction(1, 10**6)
FARTHEST_EPSILON = 1e6
HUGE_RHO = 10**9  # an epsilon that large promises nothing; one part in 10^3 more does no harm
SMALLEST = 5e-324
Json = dict[str, object]
Orders: TypeAlias = "tuple[Losses, ...]"

REPEATS = typed.whole_from(0, "It is how often the mechanism is run.")


Curve = TypeVar("Curve", bound="Privacy")
Combinator = TypeVar("Combinator", bound=Callable[..., "Privacy"])
KINDS: dict[str, type["Privacy"]] = {}
COMBINATORS: dict[str, Callable[..., "Privacy"]] = {}


@dataclass_transform(frozen_default=True)
def curve(kind: str) -> Callable[[type[Curve]], type[Curve]]:
    """Makes a class a frozen record whose values are stored under this kind, for ever."""

    def register(declared: type[Curve]) -> type[Curve]:
        # slots make the class a second time: that one is registered.
        made = dataclass(frozen=True, slots=True, init=False, repr=False)(declared)
        known = KINDS.setdefault(kind, made)
        if known.__qualname__ != made.__qualname__:
            raise TypeError(f"Curves of kind {kind!r} are {known.__qualname__} already.")
        KINDS[kind], made.kind = made, kind
        return made

    return register


def combinator(function: Combinator) -> Combinator:
    """Makes a function known here that builds curves from others, which import this module."""
    COMBINATORS[function.__name__] = function
    return function


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Privacy(ABC):
    """What a release reveals: `.epsilon(delta)`, `.delta(epsilon)`, `.tradeoff(false_alarm)`."""

    kind: ClassVar[str]
    exact: ClassVar[bool] = True
    is_sampled: ClassVar[bool] = False  # whether the release is computed on a sample

    neighbours: Neighbours | None

    # What a subclass says.

    @abstractmethod
    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """Bounds on delta at an epsilon that is 0 or more."""

    @abstractmethod
    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Bounds on P[missed detection] of the best test; the false-alarm rate is below 1."""

    @abstractmethod
    def for_group(self, size: int) -> "Privacy":
        """The curve for a group of two or more; neighbours need not be set."""

    def parameters(self) -> Json:
        """The parameters, as they are stored and as the constructor takes them: the fields."""
        return {name: _as_stored(value) for name, value in self._fields()}

    def described(self) -> str:
        """The parameters, as a person would write them."""
        return ", ".join(f"{name}={_as_written(value)}" for name, value in self._fields())

    def named(self) -> str:
        """The kind of curve with its parameters, such as PureDP(epsilon=1)."""
        return f"{type(self).__name__}({self.described()})"

    def _fields(self) -> "list[tuple[str, Fraction | int | Privacy]]":
        names = [field.name for field in fields(self) if field.name != "neighbours"]
        return [(name.removeprefix("stated_"), getattr(self, name)) for name in names]

    def also_for_group(self, size: int) -> "tuple[Privacy, ...]":
        """Curves proven for a group, beside P2; `Grouped` takes the least."""
        del size
        return ()

    def upper_delta(self, epsilon: Fraction) -> Bound:
        """The upper bound alone, for curves where the lower one is extra work."""
        return self.certified_delta(epsilon).upper

    def lower_missed(self, false_alarm: Fraction) -> Bound:
        """The lower bound alone, for curves where the upper one is extra work."""
        return self.certified_missed(false_alarm).lower

    def worst_loss(self) -> Bound | None:
        """The largest finite loss, from which on delta stays; None: it falls for ever."""
        return None

    def certain_leak(self) -> Bound:
        """The delta that no epsilon removes: the probability of an infinite loss."""
        return ZERO

    # What it is in the terms of each notion: a rational rounded up, None where nothing is.

    def pure_epsilon(self) -> Fraction | None:
        """The epsilon of pure DP."""
        worst = self.worst_loss()
        if worst is None or not bounds.is_zero(self.certain_leak()):
            return None
        return bounds.rational_above(worst)

    def gdp_mu_squared(self) -> Fraction | None:
        """The square of the mu of Gaussian DP."""
        epsilon = self.pure_epsilon()
        return None if epsilon is None else pure_mu_squared(epsilon)

    def zcdp_rho(self) -> Fraction | None:
        """The rho of zCDP."""
        epsilon = self.pure_epsilon()
        return None if epsilon is None else pure_rho(epsilon)

    def renyi_divergence(self, order: Fraction) -> Fraction | None:
        """The Renyi divergence at an order above 1."""
        rho, epsilon = self.zcdp_rho(), self.pure_epsilon()
        if rho is None or epsilon is None:
            return None if rho is None else order * rho
        return min(order * rho, pure_divergence(order, epsilon))

    @property
    def has_family(self) -> bool:
        """Whether a filter's account knows the curve by its parameter, not by one point only."""
        return self.worst_loss() is not None or self.zcdp_rho() is not None

    def why_not(self) -> str:
        """Why a conversion to another notion is refused."""
        if not bounds.is_zero(self.certain_leak()):
            return (
                "with some probability it may show everything, and then the divergence is infinite"
            )
        return "its privacy loss has no bound, or no theorem with a proof leads there"

    # How the accountant sees it.

    def losses(self) -> "Orders | None":
        """The losses for each way in which the tables may differ; None: composed by P3.

        One for a symmetric curve. Else a record is removed, or added; for a group, one for each
        number of its records that are removed, all of them first.
        """
        return _losses(self.labelled(None))

    def make_losses(self) -> "Orders | None":
        """What `losses` remembers: a subclass that has a pair of laws makes it here."""
        return None

    def directions(self) -> int:
        """How many units the losses tell apart: all such parts of a list share the order."""
        return 0

    def reached(self) -> "Orders":
        """Losses that some release with this curve reaches, for bounds from below."""
        return (self.losses() or ())[:1]

    # How it composes.

    def as_parts(self) -> "tuple[Part, ...]":
        """The releases that this is a list of, each with how often it was run."""
        return ((self, 1),)

    def split_leak(self) -> "tuple[Privacy, ...]":
        """Curves that together reveal no less, the leak in one by itself."""
        return (self,)

    @property
    def is_group_rule(self) -> bool:
        """Whether the curve of a group is P2, or above the truth in another way."""
        return False

    # What people ask.

    def delta(self, epsilon: Number) -> float:
        """The smallest delta for this epsilon, rounded up."""
        number = FINITE.typed("epsilon", epsilon)
        if number < 0:
            return self.delta_bounds(epsilon)[1]
        return min(1.0, above(self.upper_delta(number)))

    def delta_bounds(self, epsilon: Number) -> tuple[float, float]:
        """Certified bounds on the smallest delta for this epsilon (lower, upper)."""
        both = self.delta_at(FINITE.typed("epsilon", epsilon))
        return _in_order(max(0.0, below(both.lower)), min(1.0, above(both.upper)))

    def delta_at(self, epsilon: Fraction) -> Bounds:
        """Bounds on delta at any real epsilon; below zero from the other order (proof, 2)."""
        if epsilon >= 0:
            return self.certified_delta(epsilon)
        return Bounds(*(_mirror(bound, epsilon) for bound in self.certified_delta(-epsilon)))

    def epsilon(self, delta: Number) -> float:
        """The smallest epsilon for this delta, rounded up.

        It is inf where no epsilon will do: a delta of 0 for noise whose privacy loss has no
        bound (Gaussian), or a delta below the probability of an infinite loss.
        """
        return self._epsilon_above(DELTA.typed("delta", delta))

    def epsilon_bounds(self, delta: Number) -> tuple[float, float]:
        """Certified bounds on the smallest epsilon for this delta (lower, upper)."""
        number = DELTA.typed("delta", delta)
        return _in_order(self._epsilon_below(number), self._epsilon_above(number))

    def tradeoff(self, false_alarm: Number) -> float:
        """The least P[missed detection] of any test with this false-alarm rate, rounded down."""
        rate = PROBABILITY.typed("false_alarm", false_alarm)
        return max(0.0, below(self.lower_missed(rate))) if rate < 1 else 0.0

    def tradeoff_bounds(self, false_alarm: Number) -> tuple[float, float]:
        """Certified bounds on the least P[missed detection] at this false-alarm rate."""
        rate = PROBABILITY.typed("false_alarm", false_alarm)
        both = self.certified_missed(rate) if rate < 1 else bounds.exactly(ZERO)
        return _in_order(max(0.0, below(both.lower)), min(1.0, max(0.0, above(both.upper))))

    def group(self, size: Number) -> "Privacy":
        """What the release reveals about any `size` units together (P2; exact where known)."""
        number = int(COUNT.typed("size", size))
        return self if number == 1 else self.for_group(number).labelled(self.neighbours)

    def __mul__(self, times: Number) -> "Privacy":
        """The curve of that many runs, each with fresh noise."""
        return COMBINATORS["repeat"](self, int(REPEATS.typed("times", times)))

    def __rmul__(self, times: Number) -> "Privacy":
        return self * times

    def __add__(self, other: "Privacy") -> "Privacy":
        """What both releases reveal together: `compose`."""
        return COMBINATORS["compose"](self, other)

    def sampled(self, rate: Number) -> "Privacy":
        """The curve of the release on a fresh, secret random part of the units.

        Each unit with this probability (Poisson) under add/remove, or where nothing is set; a
        batch of fixed size, this share of the units, under replace.
        """
        return COMBINATORS["sample"](self, rate)

    def shuffled(self, reports: Number) -> "Privacy":
        """The curve of a shuffled batch of such reports, one a person (a local mechanism).

        It takes one closed batch of at least this many honest reports of the same mechanism,
        without times, addresses or tokens; neighbours are replace.
        """
        return COMBINATORS["shuffled"](self, reports=reports)

    def under(self, neighbours: Neighbours) -> "Privacy":
        """The same release for other neighbours (D3); only add/remove to replace is possible."""
        label, neighbours = self.neighbours, read_neighbours(neighbours)
        if label is not None and label.relation is neighbours.relation:
            return self.labelled(unify(label, neighbours))
        if neighbours.relation is ADD_REMOVE.relation:
            raise NeighboursDiffer(_no_way_back(label))
        unit = neighbours.unit or (label.unit if label is not None else None)
        unify(label, ADD_REMOVE if unit is None else ADD_REMOVE.of(unit))
        return self.group(2).labelled(neighbours if unit is None else neighbours.of(unit))

    def with_neighbours(self, neighbours: Neighbours) -> "Self":
        """The same curve, said to hold for these neighbours; refused where others are set."""
        return self.labelled(unify(self.neighbours, neighbours))

    def labelled(self, neighbours: Neighbours | None) -> "Self":
        """The same curve with this label, whatever it was; people call `with_neighbours`."""
        if neighbours == self.neighbours:
            return self
        twin = copy(self)
        object.__setattr__(twin, "neighbours", neighbours)
        return twin

    def to_json(self) -> Json:
        """A form that outlives the process: `from_json` reads it back, exactly."""
        known = self.neighbours
        label = known and {"relation": known.relation.value, "unit": known.unit}
        return {"format": FORMAT, "kind": self.kind, "neighbours": label, **self.parameters()}

    def __str__(self) -> str:
        unit = f", {self.neighbours}" if self.neighbours is not None else ""
        return f"{self.named()}: {self._price()}{unit}"

    __repr__ = __str__

    # How the answers are found.

    def fill(self, neighbours: Neighbours | None, **fields: object) -> None:
        """Set the fields of a record that is being made; constructors call it, nothing else."""
        for name, value in {"neighbours": read_label(neighbours), **fields}.items():
            object.__setattr__(self, name, value)

    def _price(self) -> str:
        leak = self.certain_leak()
        if self.worst_loss() is None:
            at = max(USUAL_DELTA, 2 * leak) if isinstance(leak, Fraction) else USUAL_DELTA
            at = min(at, Fraction(1, 2))
            epsilon, delta = (bounds.shown_above(x) for x in (self._printed(at), above(at)))
            return f"ε = {epsilon} at δ = {delta}"
        delta = "" if leak == 0 else f", δ = {bounds.shown_above(min(1.0, above(leak)))}"
        return f"ε = {bounds.shown_above(above(self.worst_loss() or ZERO))}{delta}"

    def _printed(self, delta: Fraction) -> float:
        """An epsilon that is enough, at once: where it is huge anyway, from the rho of zCDP.

        At the order 1 + u of Renyi's divergence, delta <= e^(u (rho (1 + u) - e)); with u =
        sqrt(log(1/delta) / rho) that is delta for e = rho + 2 sqrt(rho log(1/delta)).
        """
        rho = self.zcdp_rho()
        if rho is not None and rho > HUGE_RHO:
            return above(once(lambda: ball(rho) + 2 * (ball(rho) * -ball(delta).log()).sqrt()))
        try:
            return self._epsilon_above(delta)
        except (OverflowError, ValueError):  # beyond what any float holds
            return inf

    def _epsilon_above(self, delta: Fraction) -> float:
        return self.least_epsilon(self.upper_delta, delta)

    def least_epsilon(self, upper_delta: Callable[[Fraction], Bound], delta: Fraction) -> float:
        """The least epsilon at which a certified upper curve is at most delta."""
        leak, worst = self.certain_leak(), self.worst_loss()
        if not at_most(leak, delta) or (worst is None and leak == delta):
            return inf
        largest = above(worst) if worst is not None else inf
        if leak == delta == 0:
            return largest
        _, least = edge(
            lambda epsilon: at_most(upper_delta(bounds.lowest_reading(epsilon)), delta),
            start=1.0 if isinf(largest) or largest == 0 else largest,
            gap=lambda epsilon: log_ratio(upper_delta(Fraction(epsilon)), delta),
        )
        return min(least, largest)

    def _epsilon_below(self, delta: Fraction) -> float:
        leak, worst = self.certain_leak(), self.worst_loss()
        if self.exact and worst is not None and leak == delta == 0:
            return below(worst)  # below the worst loss, delta is above 0
        if (self.exact and exceeds(leak, delta)) or (worst is None and delta == 0):
            return inf
        last, _ = edge(
            lambda x: not exceeds(self.certified_delta(bounds.highest_reading(x)).lower, delta),
            gap=lambda x: log_ratio(self.certified_delta(Fraction(x)).lower, delta),
            limit=FARTHEST_EPSILON,
        )
        return last


Part = tuple[Privacy, int]  # a curve, and how often it was run


@lru_cache(maxsize=256)
def _losses(curve: Privacy) -> "Orders | None":
    return curve.make_losses()


def _in_order(lower: float, upper: float) -> tuple[float, float]:
    """Both, if they can be true together: a bound that is certainly false must not leave."""
    if lower <= upper:
        return lower, upper
    raise LetaloneError(
        f"The certified bounds contradict each other: the lower one is {lower!r}, the upper one "
        f"{upper!r}. One of them is wrong, so neither is given. This is a fault of letalone: "
        "please report it with the curve and the question."
    )


def _mirror(bound: Bound, epsilon: Fraction) -> Bound:
    # 1 - e^-e (1 - delta) = (1 - e^-e) + e^-e delta: two positive terms, nothing cancels.
    return once(lambda: -ball(epsilon).expm1() + ball(epsilon).exp() * bounds.as_ball(bound))


def _as_stored(value: Fraction | int | Privacy) -> object:
    if isinstance(value, Privacy):
        return value.to_json()
    return typed.write_rational(Fraction(value))


def _as_written(value: Fraction | int | Privacy) -> str:
    if isinstance(value, Privacy):
        return value.named()
    if isinstance(value, int):
        return bounds.at_a_glance(Fraction(value))
    return bounds.format_number(value)


def log_ratio(bound: Bound, limit: Fraction) -> float:
    """Roughly ln(bound / limit), to guess where they meet."""
    return log(max(above(bound), SMALLEST)) - log(max(float(limit), SMALLEST))


def _no_way_back(label: Neighbours | None) -> str:
    if label is None:
        return (
            "These neighbours are not set, so they cannot be converted to add/remove. If the "
            "sensitivity was taken under add/remove, say so: .with_neighbours(ADD_REMOVE)."
        )
    return (
        f"A guarantee for '{label}' does not give one for add/remove: it says nothing about "
        "tables of different size. Compute the sensitivity under add/remove instead."
    )
