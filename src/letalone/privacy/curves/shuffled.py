"""A batch of local reports in random order: amplification by shuffling.

Each of n people sends one report of the same mechanism, which is epsilon-DP by itself. Who
sees only the set of reports sees each of them among n - 1 others.

Theorem.  Under replace, the batch reveals no more than (A, B), the numbers of reports that
say "one" and "other" in this game: each other report, with probability p, says one of them
by a fair coin, else nothing; the report in question says the truth with probability t, the
opposite with s.
  Any epsilon-DP mechanism:        p = e^-epsilon, t = e^epsilon / (1 + e^epsilon) = 1 - s.
  Randomized response, 2 answers:  p = 2s; and never more than the worst count of yes.
  With k >= 3:                     p = 2/k, among a number of reports that is Bin(n - 1, k s),
                                   which is nearly reached if all others hold a third answer.
Nor does it reveal more than one report by itself.
  Proven:   docs/explanation/proofs/shuffling.md
  Tested:   against exact sums over all batches; the numbers published with the paper
  Assumed:  one closed batch of at least n honest reports, one a person, without times,
            addresses or tokens, all by the same mechanism; the others' reports do not depend
            on the honest ones' coins

Feldman, McMillan, Talwar: Hiding among the clones: a simple and nearly optimal analysis of
privacy amplification by shuffling (2021). Balle, Bell, Gascon, Nissim: The privacy blanket of
the shuffle model (2019). The sharper bound of Feldman, McMillan, Talwar: Stronger privacy
amplification by shuffling (2023) holds, by its errata, for some mechanisms only: not used.
"""

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from letalone.errors import NeighboursDiffer, UnsupportedQuery
from letalone.exact.typed import Number, refusal, whole_from
from letalone.privacy import bounds
from letalone.privacy.bounds import ZERO, Bound, Bounds, above, at_most, shown_above, smaller
from letalone.privacy.curve import USUAL_DELTA, Privacy, combinator, curve
from letalone.privacy.curves.approximate import PureDP
from letalone.privacy.curves.envelopes import lowest_envelope
from letalone.privacy.curves.grouped import Grouped
from letalone.privacy.curves.response_curve import RandomizedResponsePrivacy
from letalone.privacy.curves.sampled import Sampled
from letalone.privacy.neighbours import REPLACE, Neighbours, Relation, unify

if TYPE_CHECKING:
    from letalone.privacy.curves.clones import ReportLaw

MOST_REPORTS = 10**9  # more are counted as that many: more only hide better
MOST_EPSILON = Fraction(100)  # beyond it nobody is a clone
CONDITIONS = "one closed batch of honest reports, one a person, without times, addresses or tokens"
REPORTS = whole_from(
    1, "It is how many honest reports the closed batch holds at least; declare it, do not count."
)


@curve("shuffled")
class Shuffled(Privacy):
    """The curve of a shuffled batch of at least `reports` honest reports of a local mechanism.

    It holds under replace, for one closed batch in which everybody reports once through the
    same mechanism, and which carries no times, addresses or tokens. A live view of the reports
    has the local curve, not this one.
    """

    exact: ClassVar[bool] = False
    base: Privacy
    reports: int

    def __init__(
        self, base: Privacy, reports: Number, *, neighbours: Neighbours | None = None
    ) -> None:
        count = int(REPORTS.typed("reports", reports))
        label = _label(base, neighbours)
        _check(base)
        self.fill(label, base=base.labelled(None), reports=count)

    def certified_delta(self, epsilon: Fraction) -> Bounds:
        """From above the smaller of local and amplified; from below what some batch reveals."""
        upper = self.upper_delta(epsilon)
        return Bounds(ZERO if upper == 0 else self._lower_delta(epsilon), upper)

    def upper_delta(self, epsilon: Fraction) -> Bound:
        """The smaller of what one report reveals by itself and what the batch does."""
        local = self.base.upper_delta(epsilon)
        if not self._amplifies() or at_most(local, ZERO):
            return local
        return smaller(local, self._amplified(epsilon))

    def _lower_delta(self, epsilon: Fraction) -> Bound:
        """That of randomized response among three where the mechanism is not known better."""
        from letalone.privacy.curves import clones

        base = self.base
        if not self._amplifies():
            return ZERO
        if isinstance(base, RandomizedResponsePrivacy) and base.categories == 2:
            return clones.count_below(self._counted(), base.other, epsilon)
        if isinstance(base, PureDP):
            base = RandomizedResponsePrivacy(base.stated_epsilon, categories=3)
        if not isinstance(base, RandomizedResponsePrivacy):
            return ZERO
        return self._batch_bounds(clones.Answers(base), epsilon)[0]

    def _amplifies(self) -> bool:
        return self.reports > 1 and at_most(self.worst_loss(), MOST_EPSILON)

    def _amplified(self, epsilon: Fraction) -> Fraction:
        """What the batch reveals at most: few clones, a count, or a blanket."""
        from letalone.privacy.curves import clones
        from letalone.privacy.curves.shuffled_counts import counts_above

        base = self.base
        if not isinstance(base, RandomizedResponsePrivacy):
            law = clones.Clones(bounds.rational_above(self.worst_loss()))
            return self._batch_bounds(law, epsilon)[1]
        if base.categories == 2:
            game = self._batch_bounds(clones.Answers(base), epsilon)[1]
            counted = Fraction(counts_above(self._counted(), base.other, epsilon))
            return min(game, max(counted, clones.OUTSIDE))  # less is nothing in both
        return clones.blanket_above(self._counted(), clones.CoveredAnswers(base), epsilon)

    def _batch_bounds(self, law: "ReportLaw", epsilon: Fraction) -> tuple[Fraction, Fraction]:
        from letalone.privacy.curves.clones import ShuffledCrowd, crowd_bounds

        return crowd_bounds(ShuffledCrowd(self._counted(), law), epsilon)

    def _counted(self) -> int:
        return min(self.reports, MOST_REPORTS)

    def certified_missed(self, false_alarm: Fraction) -> Bounds:
        """Between the envelope of the curve and a test that ignores the answer."""
        return Bounds(lowest_envelope(self, false_alarm), 1 - false_alarm)

    def worst_loss(self) -> Bound:
        """That of one report: all the others may happen to agree."""
        return self.base.worst_loss() or ZERO

    def for_group(self, size: int) -> Privacy:
        """P2, or the reports of the group one by one."""
        return Grouped(self, size)

    def also_for_group(self, size: int) -> tuple[Privacy, ...]:
        """Without the shuffling: as many local reports as there are in the group."""
        return (self.base * size,)

    def described(self) -> str:
        return f"{self.base.named()}, reports={self.reports}"

    def _price(self) -> str:
        """At the usual delta, and under which conditions."""
        batch = shown_above(self.epsilon(USUAL_DELTA))
        local = shown_above(above(self.worst_loss()))
        alone = "too few to hide among: the local" if batch == local else "one report alone:"
        at = shown_above(above(USUAL_DELTA))
        return f"ε = {batch} at δ = {at} ({alone} ε = {local}) for {CONDITIONS}"


@combinator
def shuffled(base: Privacy, *, reports: Number) -> Privacy:
    """What a shuffled batch of local reports reveals about one of them, under replace.

    `base` is the curve of one report, with a bounded loss and no delta. `reports` is declared:
    one closed batch of at least that many honest reports of the same mechanism, one a person,
    without times, addresses or tokens. A single report is the local mechanism itself.
    """
    batch = Shuffled(base, reports)
    return base.labelled(batch.neighbours) if batch.reports == 1 else batch


def _label(base: object, neighbours: Neighbours | None) -> Neighbours:
    if not isinstance(base, Privacy):
        raise refusal("base", base, "the privacy curve of one report", "Give its .privacy.")
    label = unify(base.neighbours, neighbours) or REPLACE
    if label.relation is not Relation.REPLACE:
        raise NeighboursDiffer(
            f"Shuffling is proven for replace, and this guarantee is for '{label}': the size of "
            "the batch shows whether somebody is missing. A local mechanism hides what is said, "
            "not who took part; give its curve under replace."
        )
    return label


def _check(base: Privacy) -> None:
    parts = [part for part, _ in base.as_parts()]
    if any(isinstance(part, Sampled | Shuffled | Grouped) for part in parts):
        raise UnsupportedQuery(
            "A sampled, shuffled or grouped release is not one person's report. Shuffle the local "
            f"mechanism itself. It takes {CONDITIONS}."
        )
    if base.worst_loss() is None or not at_most(base.certain_leak(), ZERO):
        raise UnsupportedQuery(
            "Shuffling is proven for local mechanisms with a bounded loss and no delta, and "
            f"{type(base).__name__} is not one. Use randomized response, Laplace or geometric "
            f"noise. It takes {CONDITIONS}."
        )
