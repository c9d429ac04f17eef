"""A release computed on a random part of the table: amplification by sampling.

Theorem.  Let the base have the curve d, the same in both orders.
  Poisson, add/remove.  Each record is used with probability q, independently. With
  e^l = 1 + (e^e - 1)/q the curve for a removed record is q d(l); for an added one it is
  (1 - e^e (1 - q)) d(-l'), e^l' = 1 + (e^-e - 1)/q, and 0 from -ln(1 - q) on.
  Fixed size without replacement, replace.  q d(l) in both orders.
Sampling must be fresh and secret for every release, and of units, not of rows. A group's curve is
never the sampled curve of a group: each of its records has a coin of its own (`for_group`).
  Proven:   docs/explanation/proofs/loss_distributions.md, section 6; group.md, section 5
  Tested:   against brute force over finite mechanisms; rate 1 is the base, rate 0 is nothing

What a group shows of a Gaussian release on a Poisson sample is known exactly: the theorem is
in `mixtures`, its curve is `SampledGroup`.

Balle, Barthe, Gaboardi: Privacy amplification by subsampling (2018). Zhu, Dong, Wang:
Optimal accounting of differential privacy via characteristic function (2022).
"""

from contextlib import suppress
from fractions import Fraction
from functools import reduce
from typing import ClassVar

from letalone.errors import UnsupportedQuery
from letalone.exact.balls import Ball, ball, certain, fraction_above, fraction_below
from letalone.exact.typed import COUNT, PROBABILITY, Constraint, Number, refusal
from letalone.privacy.bounds import ONE, ZERO, Bound, Bounds, as_ball, larger, once, smaller
from letalone.privacy.composition import Composed
from letalone.privacy.curve import Orders, Privacy, combinator, curve
from letalone.privacy.curves.envelopes import highest_envelope, lowest_envelope
from letalone.privacy.curves.gaussian_curve import GaussianDP
from letalone.privacy.curves.grouped import Grouped
from letalone.privacy.curves.mixtures import (
    EXACT_SIZE,
    Mixtures,
    Sides,
    block_width,
    end_sides,
    sides_of,
)
from letalone.privacy.neighbours import ADD_REMOVE, REPLACE, Neighbours, Relation, unify

RATE = Constraint(
    "a number between 0 and 1, neither of them",
    lambda x: 0 < x < 1,
    "It is the share of the units that is used.",
    (0, 1, -0.5, 2, float("nan")),
)
MAX_GROUP_SIZE = 64
_UNPROVEN = (
    "Sampling is proven for a single release with one curve for both orders: Poisson under "
    "add/remove, a batch of fixed size under replace. Sample each release, then compose: "
    "p.sampled(rate) * n."
)


@curve("sampled")
class Sampled(Privacy):
    """The curve of a base release on a sample; `rate` is strictly between 0 and 1."""

    exact: ClassVar[bool] = False
    is_sampled: ClassVar[bool] = True
    base: Privacy
    rate: Fraction
    fixed_size: bool

    def __init__(
        self,
        base: Privacy,
        rate: Number,
        *,
        fixed_size: Number = 0,
        neighbours: Neighbours | None = None,
    ) -> None:
        known = REPLACE if fixed_size else ADD_REMOVE
        label = neighbours or base.neighbours or known
        if isinstance(base, Sampled) or label.relation is not known.relation:
            raise UnsupportedQuery(_UNPROVEN)
        unify(base.neighbours, label)
        share = RATE.typed("rate", rate)
        self.fill(label, base=base.labelled(None), rate=share, fixed_size=bool(fixed_size))

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """The worse of a record removed and a record added."""
        removed = Bounds(*(self._removed(epsilon, side) for side in (1, 0)))
        if self.fixed_size:
            return removed
        added = Bounds(*(self._added(epsilon, side) for side in (1, 0)))
        return Bounds(*(larger(a, b) for a, b in zip(removed, added, strict=True)))

    def _removed(self, epsilon: Fraction, upper: int) -> Bound:
        # delta falls with epsilon: from above, the argument is rounded down.
        at = _end(certain(lambda: (ball(epsilon).expm1() / ball(self.rate)).log1p()), upper)
        known = self._base(at, upper)
        return once(lambda: ball(self.rate) * as_ball(known))

    def _added(self, epsilon: Fraction, upper: int) -> Bound:
        share = ball(-epsilon).expm1() / ball(self.rate)
        if not share > -1:
            return ZERO
        at = _end(certain(lambda: -(ball(-epsilon).expm1() / ball(self.rate)).log1p()), upper)
        known = self._base(at, upper)
        return once(lambda: self._room(epsilon) * as_ball(known))

    def _room(self, epsilon: Fraction) -> Ball:
        return (1 - ball(epsilon).exp() * ball(1 - self.rate)).max(ball(0))

    def _base(self, epsilon: Fraction, upper: int) -> Bound:
        bounds = self.base.delta_at(epsilon)
        return bounds.lower if upper else bounds.upper

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        return Bounds(lowest_envelope(self, false_alarm), highest_envelope(self, false_alarm))

    def lower_missed(self, false_alarm: Fraction) -> Bound:
        return lowest_envelope(self, false_alarm)

    def worst_loss(self) -> Bound | None:
        """ln(1 + q (e^w - 1)), or for an added record at most -ln(1 - q), w the base's."""
        worst = self.base.worst_loss()
        if worst is None:
            return None
        grown = certain(lambda: (ball(self.rate) * as_ball(worst).expm1()).log1p())
        if self.fixed_size:
            return grown
        added = certain(lambda: -(ball(self.rate) * (-as_ball(worst)).expm1()).log1p())
        return larger(grown, added)

    def certain_leak(self) -> Bound:
        """The record must be used, and the base must leak."""
        leak = self.base.certain_leak()
        if isinstance(leak, Fraction):
            return self.rate * leak
        return once(lambda: ball(self.rate) * leak)

    def for_group(self, size: int) -> Privacy:
        """The mixture of all samples where that is proven, else P2 and a sample of whole groups."""
        if isinstance(self.base, GaussianDP) and not self.fixed_size and size <= MAX_GROUP_SIZE:
            return SampledGroup(self.base, self.rate, size=size)
        return Grouped(self, size)

    def also_for_group(self, size: int) -> tuple[Privacy, ...]:
        with suppress(UnsupportedQuery):
            return (self._whole_groups(size),)
        return ()

    def _whole_groups(self, size: int) -> Privacy:
        """As if the group were used, whole, whenever one of it is (group.md, section 5)."""
        group = self.base.group(size)
        rate = size * self.rate if self.fixed_size else 1 - (1 - self.rate) ** size
        return Sampled(group, rate, fixed_size=1) if rate < 1 else group

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.atoms import sample_losses

        base = None if self.base.directions() or self.base.is_group_rule else self.base.losses()
        return base and sample_losses(base[0], self.rate, fixed_size=self.fixed_size)

    def directions(self) -> int:
        return 0 if self.fixed_size else 1

    def reached(self) -> "Orders":
        """That of a record that is removed, also for a batch of fixed size."""
        from letalone.privacy.loss.atoms import sample_reached

        bases = self.base.reached()
        return tuple(order for base in bases for order in sample_reached(base, self.rate))

    def described(self) -> str:
        return f"{self.base.named()}, rate={float(self.rate):g}"


@curve("sampled_group")
class SampledGroup(Privacy):
    """Groups of up to `size` under Poisson sampling of a Gaussian release."""

    exact: ClassVar[bool] = False
    is_sampled: ClassVar[bool] = True
    release: GaussianDP
    rate: Fraction
    size: int

    def __init__(
        self,
        release: GaussianDP,
        rate: Number,
        *,
        size: Number,
        neighbours: Neighbours | None = None,
    ) -> None:
        if not isinstance(release, GaussianDP):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refusal("release", release, "the curve of Gaussian noise")
        share, count = PROBABILITY.typed("rate", rate), int(COUNT.typed("size", size))
        if not 0 < share < 1:
            raise refusal("rate", rate, "strictly between 0 and 1")
        if count > MAX_GROUP_SIZE:
            raise refusal("size", size, f"at most {MAX_GROUP_SIZE}; use Sampled(...).group(size)")
        release = release.labelled(None)
        self.fill(neighbours or ADD_REMOVE, release=release, rate=share, size=count)

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """Between the group all removed, or all added, and the worst of all sides."""
        ends = (self.mixture(sides).lower_delta(epsilon) for sides in end_sides(self.size))
        return Bounds(larger(*ends), self.upper_delta(epsilon))

    def upper_delta(self, epsilon: Fraction) -> Bound:
        """The worst of all sides; blocks that are no worse than the ends are not divided."""
        worst = reduce(larger, (self._upper(sides, epsilon) for sides in end_sides(self.size)))
        blocks = [(1, self.size)] if self.size > 1 else []
        while blocks:
            low, high = blocks.pop()
            cover = self._upper(Sides(high - 1, self.size - low), epsilon)
            if larger(worst, cover) is not worst:
                middle = (low + high) // 2
                if high - low > block_width(self.size):
                    blocks += [(low, middle), (middle, high)]
                else:
                    worst = larger(worst, cover)
        return smaller(smaller(ONE, worst), self._rule(epsilon))

    def _rule(self, epsilon: Fraction) -> Bound:
        """P2, which the exact curve never exceeds, but blocks may."""
        if self.size <= EXACT_SIZE:
            return ONE
        return Grouped(self.single(), self.size).upper_delta(epsilon)

    def single(self) -> Sampled:
        return Sampled(self.release, self.rate)

    def _upper(self, sides: Sides, epsilon: Fraction) -> Bound:
        return self.mixture(sides).upper_delta(epsilon)

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Between the envelope of the curve and the best test against the group removed."""
        best = self.mixture(Sides(self.size, 0)).missed_when_removed(false_alarm)
        return Bounds(lowest_envelope(self, false_alarm), best)

    def lower_missed(self, false_alarm: Fraction) -> Bound:
        return lowest_envelope(self, false_alarm)

    def mixture(self, sides: Sides) -> Mixtures:
        return Mixtures(self.release.mu_squared, self.rate, sides)

    def for_group(self, size: int) -> Privacy:
        return self.single().for_group(size * self.size)

    @property
    def is_group_rule(self) -> bool:
        return self.size > EXACT_SIZE

    def make_losses(self) -> "Orders | None":
        from letalone.privacy.loss.mixture_pair import MixturePair

        mu, rate = float(self.release.mu_squared) ** 0.5, float(self.rate)
        return tuple(MixturePair(mu, rate, *sides) for sides in sides_of(self.size))

    def directions(self) -> int:
        return self.size

    def described(self) -> str:
        return f"{self.release.described()}, rate={float(self.rate):g}, size={self.size}"


@combinator
def sample(base: Privacy, rate: Number) -> Privacy:
    """Poisson under add/remove (also where nothing is set); without replacement under replace."""
    share = PROBABILITY.typed("rate", rate)
    if isinstance(base, Composed | Sampled):
        raise UnsupportedQuery(_UNPROVEN)
    label = base.neighbours or ADD_REMOVE
    replace = label.relation is Relation.REPLACE
    if share == 0:
        return Composed((), neighbours=label)
    if share == 1:
        return base.labelled(label)
    return Sampled(base, share, fixed_size=int(replace), neighbours=label)


def _end(value: Ball, up: int) -> Fraction:
    """A short rational at or below the number, or (up) at or above it."""
    return fraction_above(value) if up else fraction_below(value)
