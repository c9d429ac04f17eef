"""Several questions as one charge: what they reveal together, and their answers as people see them.

A batch is fixed before its first answer, so its curve is the composition of its parts, by
loss distributions where they are known. Accounts that add up along the way cannot take such a
curve. They are charged with the parts, which leaves most room for later questions; or with one
(ε, δ) that the whole curve keeps, where as many more such batches fit then and it saves ε: that
is so for the last batches of a budget, and some fit in this way only.

Theorem.  Both are sound charges: the first is the curve, the second a pair that it keeps.
  Proven:   docs/explanation/proofs/filters.md, section 3; composition.md
  Tested:   tests/session/test_batches.py
  Assumed:  the choice depends on prices and on the ledger, never on the data
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isinf

from letalone.answers import views
from letalone.answers.arranged import arrange_release
from letalone.answers.promise import price
from letalone.errors import BudgetExceeded
from letalone.ledger import digest_of
from letalone.ledger.charging import Charge, charged_work, find_repeat
from letalone.privacy import ApproxDP, Budget, Privacy, compose
from letalone.privacy.curve import Json
from letalone.privacy.filters import FilterState, charge_filter, how_many_more
from letalone.privacy.guard_rails import check_confirmed
from letalone.session.pricing import Answering, Priced, read_releases
from letalone.session.release import Release

# Where the curve may be read: these parts of the budget's delta.
POINTS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10))
WORTH = Fraction(1, 50)  # it uses up some of the delta, so it must save this part of the cost


class Batch(list[Release]):
    """The answers to several questions, in their order, charged as one; a list of releases."""

    __slots__ = ()

    def __str__(self) -> str:
        shared = [note for note in self[0].notes if all(note in release.notes for release in self)]
        answers = [
            f"{place} of {len(self)}: {_answer(release, shared)}"
            for place, release in enumerate(self, 1)
        ]
        return "\n\n".join([*answers, views.flowing([*_bullet_points(shared), *_together(self)])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return views.lines_as_html(str(self))


def _answer(release: Release, shared: Sequence[str]) -> str:
    notes = [note for note in release.notes if note not in shared]
    price = Budget(release.asked.epsilon, release.asked.delta)
    table = views.as_text(release.keys, release.shown, [*_bullet_points(notes), f"Spent {price}."])
    return f"{release.asked.question}\n{table}"


def _together(releases: Sequence[Release]) -> list[str]:
    """What holds for all: each was charged at the same moment, to the same budget."""
    standing, unit = releases[0].standing, releases[0].privacy.neighbours
    sure = f"{100 * releases[0].confidence:g} %"
    again = "Same batch, same answers, nothing spent."
    lines = [standing.remark, again if standing.repeated else None, standing.left]
    return [
        f"[low, high]: {sure} noise range. All protect: {unit}.",
        *(str(line) for line in lines if line is not None),
    ]


def _bullet_points(notes: Sequence[str]) -> list[str]:
    return [f"- {note}" for note in notes]


def release_batch(questions: Sequence[Priced]) -> Batch:
    """The answers to several questions about one table, as one charge for what they reveal."""
    questions[0].table.check_registered()
    work, remark = Answering(questions), None
    charge = _charge_for(questions, work)
    payers = [table.payer for table in work.tables]
    earlier = find_repeat(payers, charge) or find_repeat(
        payers, replace(charge, digest=_digest([question.named_digest for question in questions]))
    )
    if earlier is None and all(payer.fits(charge) for payer in payers):
        for question in questions:
            check_confirmed(question.risk, confirm=question.confirmed)
    if len(questions) > 1:
        cost = price(charge.privacy)
        remark = f"Charged as one of {len(questions)} answers that cost ({cost}) together."
    settled = earlier or charged_work(payers, charge, work)
    pairs = zip(read_releases(settled, remark=remark), questions, strict=True)
    return Batch(
        [
            arrange_release(
                question.with_names(
                    replace(
                        release, standing=replace(release.standing, row_limit=question.row_note)
                    )
                ),
                question.arrangement,
            )
            for release, question in pairs
        ]
    )


def _charge_for(questions: Sequence[Priced], work: Answering) -> Charge:
    plans: Json = {"kind": "batch", "questions": [question.terms.plan for question in questions]}
    digest = _digest([question.terms.digest for question in questions])
    # What is charged must fit all tables: the one with the least delta decides its form.
    states = [table.standing().state for table in work.tables]
    state = min(states, key=lambda state: state.budget.delta)
    curve = choose_curve([question.terms.privacy for question in questions], state)
    what = f"The {len(questions)} answers together cost ({price(curve)})"
    return Charge(what, curve, plans, digest, None)


def _digest(questions: Sequence[str]) -> str:
    return digest_of({"batch": list(questions)}, name="The batch")


def choose_curve(curves: Sequence[Privacy], state: FilterState) -> Privacy:
    """What to charge for all curves together."""
    curve = compose(*curves)
    usual, fits = _epsilon_left(state, curve), how_many_more(state, curve)
    points = [(_epsilon_left(state, point), point) for point in _points(curve, state)]
    kept = [choice for choice in points if how_many_more(state, choice[1]) >= fits]
    epsilon_left, best = max(kept, key=lambda choice: choice[0], default=(usual, curve))
    saves = epsilon_left - usual > WORTH * (state.remaining.epsilon - usual)
    return best if saves else curve


def _points(whole: Privacy, state: FilterState) -> Iterator[Privacy]:
    for part in POINTS if state.budget.delta else ():
        delta = part * state.budget.delta
        epsilon = whole.epsilon(delta)
        if not isinf(epsilon):
            yield ApproxDP(epsilon, delta).labelled(whole.neighbours)


def _epsilon_left(state: FilterState, curve: Privacy) -> Fraction:
    """What is left of ε after the charge; less than nothing where it does not fit."""
    try:
        return charge_filter(state, curve).remaining.epsilon
    except BudgetExceeded:
        return Fraction(-1)
