"""How ε is split among the parts, and which noise they get: from public facts alone.

Each part has a weight: the error to expect at ε = 1, as a share of the number of rows. A part's
share of ε is in proportion to it, so that the expected errors come out even. All groups
together are one charge: a unit falls into few of them, and sensitivities say into how many.

With a δ, the parts that are vectors may have Gaussian noise instead, whose cost adds up in
squares. Whichever family has the smaller stated error in its worst part is taken.

  Proven:   docs/explanation/proofs/tables.md, section 7: shares add up to ε exactly
  Tested:   the composed curve never exceeds what was asked, over many plans
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from letalone.engines.core.measures import WEIGHT_BITS
from letalone.errors import ParameterError
from letalone.errors.remedies import FindKeys
from letalone.mechanisms import Gaussian
from letalone.plans.aggregates.formulas import with_formula_parts
from letalone.plans.aggregates.of_columns import Quantiles
from letalone.plans.clauses import GroupColumn
from letalone.plans.plan import NOT_LISTED, Plan, missing_keys
from letalone.privacy import Privacy
from letalone.tables.grid import bits_for
from letalone.tables.noise import Noise, gaussians, pure_noise, root_above
from letalone.tables.parts.chosen_parts import Parts, parts_of
from letalone.tables.parts.discovery import Discovery
from letalone.tables.parts.part import ROOT_TWO, ChoicePart, VectorPart, as_share
from letalone.tables.sensitivity import Contribution, contribution

RANK_BITS = 31  # of a weight and a rank's denominator: 2^53 is then 4 million rows
HAIR = 1 - Fraction(1, 2**40)  # more than a curve loses by rounding when it is composed


class KeysNeeded(ParameterError):  # noqa: N818
    """A question by `groups` whose keys are not known, and no δ with which to find them."""

    def __init__(self, groups: tuple[GroupColumn, ...]) -> None:
        super().__init__(missing_keys(groups, FindKeys(), python=NOT_LISTED))
        self.groups = groups


@dataclass(frozen=True, slots=True)
class Split:
    """Parts with what each gets: noise for a vector, an ε for a choice; and the keys' price."""

    parts: Parts
    noises: dict[int, Noise]
    epsilons: dict[int, Fraction]
    shares: tuple[Fraction, ...]
    discovery: Discovery | None = None
    keys_share: Fraction = Fraction(0)
    weight_bits: int = WEIGHT_BITS

    @property
    def norm(self) -> Literal[1, 2]:
        """In which norm weights of groups are bounded: L2 where all is for Gaussian noise."""
        gaussian = [isinstance(noise.mechanism, Gaussian) for noise in self.noises.values()]
        return 2 if gaussian and all(gaussian) and not self.epsilons else 1

    @property
    def privacies(self) -> list[Privacy]:
        privacies = [self.discovery.privacy] if self.discovery is not None else []
        for place, part in enumerate(self.parts.parts):
            if isinstance(part, ChoicePart):
                privacies.append(part.privacy(self.epsilons[place]))
            else:
                privacies.append(self.noises[place].privacy)
        return privacies

    def worst(self, confidence: float) -> float:
        """The largest stated error of a vector, as a share of the number of rows."""
        noises = [(self.parts.parts[place], noise) for place, noise in self.noises.items()]
        return max(noise.width(confidence) * _factor(part) for part, noise in noises)


def split(plan: Plan, *, epsilon: Fraction, delta: Fraction, confidence: float) -> Split:
    """The split of (epsilon, delta) with the smaller stated error."""
    unit = contribution(plan)
    seeks_keys = unit.keys is None
    if seeks_keys and delta == 0:
        raise KeysNeeded(plan.groups)
    # No part gets less than a thousandth of ε: the largest weights are a few hundred.
    bits = bits_for(1000 * (unit.rows or 1) / epsilon)
    weight_bits = min(bits, WEIGHT_BITS, RANK_BITS - _rank_bits(plan))
    parts = parts_of(plan, bits=bits, weight_bits=weight_bits)
    chosen = _best_split(parts, unit, epsilon, delta, confidence)
    return replace(chosen, weight_bits=weight_bits)


def _rank_bits(plan: Plan) -> int:
    """What ranks are multiplied with to be whole numbers, in bits."""
    aggregates = (aggregate for _, aggregate in with_formula_parts(plan.aggregates))
    shares = [share for part in aggregates if isinstance(part, Quantiles) for share in part.at]
    return max((share.denominator.bit_length() for share in shares), default=0)


def _best_split(
    parts: Parts, unit: Contribution, epsilon: Fraction, delta: Fraction, confidence: float
) -> Split:
    seeks_keys = unit.keys is None
    pure = _pure_split(parts, unit, epsilon, delta if seeks_keys else None)
    if delta == 0 or not pure.noises:
        return pure
    mixed = _gaussian_split(parts, unit, epsilon, delta, seeks_keys=seeks_keys)
    return mixed if mixed.worst(confidence) < pure.worst(confidence) else pure


def _pure_split(
    parts: Parts, unit: Contribution, epsilon: Fraction, delta: Fraction | None
) -> Split:
    weights = [as_share(part.weight) for part in parts.parts]
    keys = _keys_weight(unit) if delta is not None else Fraction(0)
    total = sum(weights, keys)
    shares = tuple(weight / total for weight in weights)
    costs = {place: epsilon * share for place, share in enumerate(shares)}
    vectors = [(p, part) for p, part in enumerate(parts.parts) if isinstance(part, VectorPart)]
    noises = {p: pure_noise(part.moved, costs[p], part.lattice) for p, part in vectors}
    discovery = None if delta is None else Discovery(unit, epsilon * keys / total, delta)
    return Split(parts, noises, costs, shares, discovery, keys / total)


def _gaussian_split(
    parts: Parts, unit: Contribution, epsilon: Fraction, delta: Fraction, *, seeks_keys: bool
) -> Split:
    """Choices and keys take their share of ε first; vectors share the rest in squares."""
    weights = [as_share(part.weight) for part in parts.parts]
    vectors = [p for p, part in enumerate(parts.parts) if isinstance(part, VectorPart)]
    squares = sum((weights[p] ** 2 for p in vectors), Fraction(0))
    joint = root_above(squares)
    keys = _keys_weight(unit) if seeks_keys else Fraction(0)
    chosen = {p: w for p, w in enumerate(weights) if p not in vectors}
    total = sum(chosen.values(), joint + keys)
    part_delta = delta / 2 if seeks_keys else delta
    alone = not chosen and not seeks_keys
    gaussian_noises = gaussians(
        [(part.moved, part.lattice) for part in parts.parts if isinstance(part, VectorPart)],
        [weights[p] for p in vectors],
        epsilon=epsilon if alone else epsilon * joint / total * HAIR,
        delta=part_delta if alone else part_delta * HAIR,
    )
    shares = tuple(
        w / total if p in chosen else w**2 / squares * joint / total for p, w in enumerate(weights)
    )
    costs = {p: epsilon * weight / total for p, weight in chosen.items()}
    discovery = Discovery(unit, epsilon * keys / total, part_delta) if seeks_keys else None
    noises = dict(zip(vectors, gaussian_noises, strict=True))
    return Split(parts, noises, costs, shares, discovery, keys / total)


def _keys_weight(unit: Contribution) -> Fraction:
    return as_share(ROOT_TWO * unit.groups * (2 if unit.replace else 1))


def _factor(part: object) -> float:
    """The error of a part's worst answer where one number's noise strays by 1."""
    assert isinstance(part, VectorPart)
    return part.weight * part.lattice / (ROOT_TWO * part.moved.l1)
