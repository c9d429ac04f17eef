"""What several releases reveal together.

Theorem.  Releases with curves fixed beforehand, asked adaptively, reveal no more than the
product of their pairs. Gaussian curves merge exactly (mu^2 adds), zCDP curves merge (rho
adds), and for all others P3 holds in this form: if part i is (e_i, d_i)-DP, together they
are (E, D)-DP for E = sum n_i e_i and D = 1 - prod (1 - d_i)^n_i <= sum n_i d_i, so their
curve is at most that of `ApproxDP(E, D)`. Every way of choosing the e_i is a proof, and so is
every list that reveals no less (`rewritten`); the least result of a few ways is used
(`ways`). From below: no composition reveals less than one of its parts.
  Proven:   docs/explanation/proofs/composition.md
  Tested:   order, count and nesting do not matter; against the exact product of finite pairs

Kairouz, Oh, Viswanath: The composition theorem for differential privacy (2015).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, reduce
from json import dumps
from math import inf
from typing import ClassVar, NamedTuple

from letalone.errors import ParameterError, UnsupportedQuery
from letalone.exact.balls import Ball, ball
from letalone.exact.typed import COUNT
from letalone.privacy import bounds, composed_losses
from letalone.privacy.bounds import ONE, ZERO, Bound, Bounds, as_ball, at_most, once, smaller
from letalone.privacy.curve import Json, Part, Privacy, combinator, curve
from letalone.privacy.curves.approximate import NoPrivacy
from letalone.privacy.curves.envelopes import highest_envelope, lowest_envelope
from letalone.privacy.curves.gaussian_curve import GaussianDP
from letalone.privacy.curves.grouped import Grouped
from letalone.privacy.curves.renyi import ZCDP, RenyiDP, rough
from letalone.privacy.neighbours import Neighbours, unify

TRIED_DELTAS = (Fraction(1, 10**2), Fraction(1, 10**6), Fraction(1, 10**12))
SHRINK = 1 - Fraction(1, 2**50)
FEW_PARTS = 4
TINY_DELTA = Fraction(1, 10**40)
NEARLY_ONE = 1 - Fraction(1, 2**60)


@curve("composed")
class Composed(Privacy):
    """Parts, each with how often it was run; no parts at all reveal nothing."""

    exact: ClassVar[bool] = False
    parts: tuple[Part, ...]

    def __init__(self, parts: Iterable[Part], *, neighbours: Neighbours | None = None) -> None:
        given = tuple((part, int(COUNT.typed("count", count))) for part, count in parts)
        label = reduce(unify, (part.neighbours for part, _ in given), neighbours)
        self.fill(label, parts=_merge_parts(given))

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """Between the most revealing part alone and basic composition."""
        if not self.parts:
            return bounds.exactly(ZERO)
        alone = (part.certified_delta(epsilon).lower for part, _ in self.parts)
        return Bounds(
            bounds.larger(
                reduce(bounds.larger, alone), composed_losses.delta_below(self.parts, epsilon)
            ),
            composed_delta(self.parts, epsilon),
        )

    def upper_delta(self, epsilon: Fraction) -> Bound:
        return composed_delta(self.parts, epsilon) if self.parts else ZERO

    def _epsilon_above(self, delta: Fraction) -> float:
        if delta == 0 or not composed_losses.is_known(self.parts):
            return Privacy._epsilon_above(self, delta)
        worst = self.worst_loss()
        if not at_most(self.certain_leak(), delta):
            return inf
        if worst is not None and delta <= TINY_DELTA:
            return bounds.above(worst)
        epsilon = composed_losses.epsilon_above(self.parts, delta)
        if epsilon == inf:  # the accountant gave up, and is not asked again at each step
            return self.least_epsilon(lambda at: _without_losses(self.parts, at), delta)
        return epsilon if worst is None else min(epsilon, bounds.above(worst))

    def _epsilon_below(self, delta: Fraction) -> float:
        """By loss distributions, or the most revealing part alone."""
        if delta == 0 or not composed_losses.is_known(self.parts):
            return Privacy._epsilon_below(self, delta)
        together = composed_losses.epsilon_below(self.parts, delta)
        if len(self.parts) > FEW_PARTS:
            return together
        return max(together, *(part.epsilon_bounds(delta)[0] for part, _ in self.parts))

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Between the envelopes of both curves; no worse than a test on one part alone."""
        if not self.parts:
            return bounds.exactly(1 - false_alarm)
        alone = (part.certified_missed(false_alarm).upper for part, _ in self.parts[:FEW_PARTS])
        together = highest_envelope(self, false_alarm)
        return Bounds(lowest_envelope(self, false_alarm), reduce(smaller, alone, together))

    def lower_missed(self, false_alarm: Fraction) -> Bound:
        return lowest_envelope(self, false_alarm) if self.parts else 1 - false_alarm

    def worst_loss(self) -> Bound | None:
        total: Bound = ZERO
        for part, count in self.parts:
            worst = part.worst_loss()
            if worst is None:
                return None
            total = _plus(total, worst, count)
        return total

    def certain_leak(self) -> Bound:
        return any_leak((part.certain_leak(), count) for part, count in self.parts)

    def for_group(self, size: int) -> Privacy:
        """Each part for the group; where a part's group is only bounded, also P2 of the whole."""
        groups = self.also_for_group(size)
        if not groups or any(part.is_group_rule for part, _ in groups[0].as_parts()):
            return Grouped(self, size)
        return groups[0]

    def also_for_group(self, size: int) -> tuple[Privacy, ...]:
        with suppress(UnsupportedQuery):
            return (compose(*(part.group(size) * count for part, count in self.parts)),)
        return ()

    def as_parts(self) -> tuple[Part, ...]:
        return self.parts

    def gdp_mu_squared(self) -> Fraction | None:
        return self._total(lambda part: part.gdp_mu_squared())

    def zcdp_rho(self) -> Fraction | None:
        return self._total(lambda part: part.zcdp_rho())

    def renyi_divergence(self, order: Fraction) -> Fraction | None:
        return self._total(lambda part: part.renyi_divergence(order))

    def _total(self, amount: Callable[[Privacy], Fraction | None]) -> Fraction | None:
        """The sum of what the parts have; None where one has nothing."""
        total = ZERO
        for part, count in self.parts:
            if (term := amount(part)) is None:
                return None
            total += count * term
        return total

    def parameters(self) -> Json:
        return {"parts": [[part.to_json(), str(count)] for part, count in self.parts]}

    def described(self) -> str:
        return " + ".join(_term(part, count) for part, count in self.parts) or "nothing"


@combinator
def compose(*parts: Privacy) -> Privacy:
    """What these releases reveal together, certified from both sides; exact for Gaussian curves."""
    return _simplest(Composed((_curve(part), 1) for part in parts))


def _curve(part: object) -> Privacy:
    if isinstance(part, Privacy):
        return part
    if hasattr(part, "__iter__"):
        remedy = "Unpack it: compose(*list)."
    elif hasattr(part, "privacy"):
        remedy = "Give its .privacy."
    else:
        remedy = "Give the .privacy of mechanisms, or a curve such as la.PureDP(0.1)."
    raise ParameterError(
        f"compose was given the type {type(part).__name__}, but takes privacy curves. {remedy}"
    )


@combinator
def repeat(part: Privacy, times: int) -> Privacy:
    """What a release reveals that is run that many times; 0 times reveals nothing."""
    return _simplest(Composed([(part, times)] if times else [], neighbours=part.neighbours))


def composed_delta(parts: tuple[Part, ...], epsilon: Fraction) -> Bound:
    """The certified upper bound on delta of a composition: the one place that decides it."""
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0].upper_delta(epsilon)
    if composed_losses.is_known(parts):
        known = smaller(composed_losses.delta_above(parts, epsilon), _at_worst(parts, epsilon))
        if not at_most(known, NEARLY_ONE):
            return smaller(known, _without_losses(parts, epsilon))
        many = sum(count for _, count in parts) > FEW_PARTS
        return known if many else _best_way(parts, epsilon, known)
    return _best_list(equivalent_lists(parts), epsilon)


def _without_losses(parts: tuple[Part, ...], epsilon: Fraction) -> Bound:
    """By P3, as it is listed or as zCDP: for lists that are too long for the accountant."""
    return _best_list((parts, _as_zcdp(parts)), epsilon)


def _best_list(lists: Iterable[tuple[Part, ...]], epsilon: Fraction) -> Bound:
    return reduce(lambda least, listed: _best_way(listed, epsilon, least), filter(None, lists), ONE)


def _best_way(parts: tuple[Part, ...], epsilon: Fraction, known: Bound) -> Bound:
    tried = (_basic(claims, epsilon) for claims in epsilon_splits(parts, epsilon))
    return reduce(smaller, tried, known)


@lru_cache(maxsize=1024)
def equivalent_lists(parts: tuple[Part, ...]) -> tuple[tuple[Part, ...], ...]:
    """The same releases as other lists, each revealing no less (proof, section 7).

    What has a loss distribution can be one part. What has a divergence can be one zCDP
    part, or one Renyi part at the least order of those in the list.
    """
    lists = parts, *map(_gather_known, (parts, _as_zcdp(parts), _as_renyi(parts)))
    return tuple(dict.fromkeys(listed for listed in lists if listed))


def _gather_known(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    known = tuple(part for part in parts if composed_losses.is_known((part,)))
    if not composed_losses.is_known(known):
        return parts
    return ((_simplest(Composed(known)), 1), *(part for part in parts if part not in known))


def _as_zcdp(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return _convert_parts(parts, lambda part: part.zcdp_rho(), ZCDP)


def _as_renyi(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    orders = [part.order for part, _ in parts if isinstance(part, RenyiDP)]
    if not orders:
        return ()
    order = min(orders)
    return _convert_parts(
        parts, lambda part: part.renyi_divergence(order), lambda total: RenyiDP(order, total)
    )


def _convert_parts(
    parts: tuple[Part, ...],
    amount: Callable[[Privacy], Fraction | None],
    whole: Callable[[Fraction], Privacy],
) -> tuple[Part, ...]:
    """All parts that have such an amount as one part, and the others."""
    total, rest = ZERO, list[Part]()
    without_leaks = ((curve, count) for part, count in parts for curve in part.split_leak())
    for part, count in without_leaks:
        term = amount(part)
        if term is None:
            rest.append((part, count))
        else:
            total += count * term
    return ((whole(total), 1), *rest) if total else ()


def _at_worst(parts: tuple[Part, ...], epsilon: Fraction) -> Bound:
    """P3 with every part at its worst loss: nothing but leaks from the sum of those on."""
    if any(part.worst_loss() is None for part, _ in parts):
        return ONE
    return _basic((Claim(p.worst_loss() or ZERO, p.certain_leak(), n) for p, n in parts), epsilon)


class Claim(NamedTuple):
    """A part that is (epsilon, delta)-DP and was run `times` times."""

    epsilon: Bound
    delta: Bound
    times: int


def epsilon_splits(parts: tuple[Part, ...], epsilon: Fraction) -> Iterator[list[Claim]]:
    """Ways to share an epsilon: each lists one claim for every part.

    Some parts are put at their worst loss, the others share what is left. Parts without a
    worst loss always share; with them all others, none, and for short lists any one, or all
    but one.
    """
    bounded = [part for part in parts if part[0].worst_loss() is not None]
    tried = bounded if len(parts) <= FEW_PARTS else []
    at_worst = [
        bounded,
        [],
        *([part] for part in tried),
        *([part for part in bounded if part != excluded] for excluded in tried),
    ]
    for fixed in dict.fromkeys(tuple(chosen) for chosen in at_worst):
        closed = [Claim(p.worst_loss() or ZERO, p.certain_leak(), n) for p, n in fixed]
        sharing = tuple(part for part in parts if part not in fixed)
        taken = sum((bounds.rational_above(claim.epsilon) * claim.times for claim in closed), ZERO)
        if not sharing:
            yield closed
        elif taken <= epsilon:
            yield from (closed + claims for claims in _share_epsilon(sharing, epsilon - taken))


def _share_epsilon(parts: tuple[Part, ...], epsilon: Fraction) -> Iterator[list[Claim]]:
    """Shares in proportion to the parts' own epsilons at a few deltas."""
    for delta in TRIED_DELTAS if len(parts) > 1 else TRIED_DELTAS[:1]:
        weights = [_weight(part, delta) for part, _ in parts]
        total = sum((w * n for w, (_, n) in zip(weights, parts, strict=True)), ZERO)
        each = [_rounded_down(epsilon * weight / total) for weight in weights]
        yield [
            Claim(share, part.upper_delta(share), count)
            for share, (part, count) in zip(each, parts, strict=True)
        ]


@lru_cache(maxsize=4096)
def _weight(part: Privacy, delta: Fraction) -> Fraction:
    leak = Fraction(min(bounds.above(part.certain_leak()), 0.5))
    weight = part.epsilon(min(delta + leak, Fraction(999, 1000)))
    return Fraction(weight) if 0 < weight < inf else SHRINK


def _basic(claims: Iterable[Claim], epsilon: Fraction) -> Bound:
    """P3: the curve of `ApproxDP(E, D)` at epsilon."""
    claims = tuple(claims)
    total: Bound = ZERO
    for claim in claims:
        total = _plus(total, claim.epsilon, claim.times)
    leak = any_leak((claim.delta, claim.times) for claim in claims)
    if at_most(total, epsilon):
        return leak
    return once(lambda: _approximate(as_ball(total), as_ball(leak), ball(epsilon)))


def _approximate(total: Ball, leak: Ball, epsilon: Ball) -> Ball:
    rest = -(epsilon - total).expm1() / (1 + (-total).exp())
    return leak + (1 - leak) * rest.max(ball(0))


def any_leak(leaks: Iterable[tuple[Bound, int]]) -> Bound:
    """The probability that at least one of independent events happens."""
    known = [(leak, count) for leak, count in leaks if not bounds.is_zero(leak)]
    if not known:
        return ZERO
    if any(not at_most(leak, NEARLY_ONE) for leak, _ in known):
        return ONE
    if len(known) == 1 and known[0][1] == 1:
        return known[0][0]
    return once(lambda: -sum((n * (-as_ball(d)).log1p() for d, n in known), ball(0)).expm1())


def _plus(total: Bound, more: Bound, count: int) -> Bound:
    if isinstance(total, Fraction) and isinstance(more, Fraction):
        return total + count * more
    return once(lambda: as_ball(total) + count * as_ball(more))


def _rounded_down(value: Fraction) -> Fraction:
    # A short rational keeps the balls fast; a float is off by at most 2^-53 of its value.
    return Fraction(rough(value)) * SHRINK


def _merge_parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Flat, Gaussian and zCDP parts merged, equal parts counted, in an order of their own."""
    counts: Counter[Privacy] = Counter()
    squares, rhos = ZERO, ZERO
    flat = ((inner, times * n) for part, n in parts for inner, times in part.as_parts())
    for part, count in flat:
        match part:
            case NoPrivacy():
                return ((NoPrivacy(), 1),)
            case GaussianDP():
                squares += count * part.mu_squared
            case ZCDP():
                rhos += count * part.rho
            case _:
                counts[part.labelled(None)] += count
    if squares:
        counts[GaussianDP(mu_squared=squares)] = 1
    if rhos:
        counts[ZCDP(rhos)] = 1
    return tuple(sorted(counts.items(), key=lambda item: dumps(item[0].to_json())))


def _simplest(whole: Composed) -> Privacy:
    if len(whole.parts) == 1 and whole.parts[0][1] == 1:
        return whole.parts[0][0].labelled(whole.neighbours)
    return whole


def _term(part: Privacy, count: int) -> str:
    return part.named() if count == 1 else f"{bounds.at_a_glance(Fraction(count))} × {part.named()}"
