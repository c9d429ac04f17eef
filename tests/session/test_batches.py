"""A batch is one charge, for what its answers reveal together."""

from fractions import Fraction

import pytest

import letalone as la
from letalone.ledger import EntryKind
from letalone.privacy.filters import charge_filter, how_many_more
from letalone.privacy.filters import open_filter as filter_opened
from letalone.session.batch import choose_curve
from session.makers import by_ward, opened

BUDGET = la.Budget(epsilon=4, delta=1e-5)


def questions(session: la.Session, number: int) -> list[la.Query]:
    return [session.where(la.col("age") >= age).agg(n=la.count()) for age in range(number)]


@pytest.mark.long  # what is saved: test_a_batch_that_fits_only_together
def test_a_batch_is_cheaper_than_one_by_one() -> None:
    """Forty counts at 0.25: 10 if added up, 8.1 by accounts, 7.4 by their whole curve."""
    together, alone = opened(budget=la.Budget(10, 1e-5)), opened(budget=la.Budget(10, 1e-5))
    releases = together.batch(questions(together, 40), epsilon=0.25)
    for question in questions(alone, 40):
        question.release(0.25)
    assert len(releases) == 40
    assert together.spent.epsilon < alone.spent.epsilon * Fraction(93, 100)
    assert "one of 40 answers that cost (ε = " in " ".join(str(releases[0]).split())


def test_a_batch_that_fits_only_together() -> None:
    session = opened(budget=la.Budget(8, 1e-5))
    small = questions(session, 40)
    assert session.how_many_more(small[0], epsilon=0.25) < 40
    assert len(session.batch(small, epsilon=0.25)) == 40
    assert [one.kind for one in session.ledger.entries("data")].count(EntryKind.RESERVED) == 1
    session.ledger.verify()


def test_a_batch_leaves_as_much_room_for_others_as_one_by_one() -> None:
    """One (epsilon, delta) would cost a little less now, and four fifths of the batches later."""
    curves = [la.Geometric(epsilon=0.03, sensitivity=1).privacy] * 100
    state = filter_opened(la.Budget(10, 1e-5))
    assert how_many_more(state, choose_curve(curves, state)) >= how_many_more(
        state, la.compose(*curves)
    )


def test_what_is_charged_is_never_less_than_what_the_curve_says() -> None:
    """Each way to charge keeps the curve: its own (epsilon, delta) holds for the composition."""
    state, kinds = filter_opened(la.Budget(10, 1e-5)), set[type]()
    for number, epsilon in ((2, 0.5), (10, 0.1), (100, 0.03), (40, 0.25), (20, 0.5)):
        curves = [la.Geometric(epsilon=epsilon, sensitivity=1).privacy] * number
        whole, charge = la.compose(*curves), choose_curve(curves, state)
        kinds.add(type(charge))
        assert charge == whole or whole.epsilon(charge.stated_delta) <= charge.epsilon(  # pyright: ignore
            charge.stated_delta  # pyright: ignore
        )
        spent = charge_filter(state, whole).spent.epsilon
        assert charge_filter(state, charge).spent.epsilon <= spent
    assert len(kinds) == 2, "both ways are tried"


def test_two_answers_are_charged_as_they_are() -> None:
    """No delta is used up where it would save nothing."""
    session = opened(budget=BUDGET)
    session.batch(questions(session, 2), epsilon=[0.5, 0.25])
    assert session.spent == la.Budget(0.75)


def test_without_a_delta_a_batch_is_a_sum() -> None:
    session = opened(budget=la.Budget(1))
    session.batch(questions(session, 10), epsilon=0.1)
    assert session.spent == la.Budget(1)


def test_a_batch_over_budget_is_refused_whole_and_recorded() -> None:
    session = opened(budget=la.Budget(1))
    with pytest.raises(
        la.BudgetExceeded, match=r"The 3 answers together cost \(ε = 1.5\)"
    ) as caught:
        session.batch(questions(session, 3), epsilon=0.5)
    error = caught.value
    assert (error.spent, error.asked, error.left) == (la.Budget(0), la.Budget(1.5), la.Budget(1))
    assert session.spent == la.Budget(0)
    assert [one.kind for one in session.ledger.entries("data")][-1] is EntryKind.REFUSED


def test_a_batch_again_is_free() -> None:
    session = opened(budget=la.Budget(1))
    asked = [by_ward(session), session.agg(n=la.count())]
    first = session.batch(asked, epsilon=0.25)
    again = session.batch(asked, epsilon=0.25)
    assert [one.rows() for one in first] == [one.rows() for one in again]
    assert all(one.repeated for one in again)
    assert session.spent == la.Budget(0.5)


def test_a_failure_in_a_batch_freezes_and_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from letalone.tables.compiled import Compiled

    session, calls = opened(), []
    finish = Compiled.finish

    def second_fails(self: Compiled, *given: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("SECRETCELL")
        return finish(self, *given)  # pyright: ignore

    monkeypatch.setattr(Compiled, "finish", second_fails)
    with pytest.raises(la.DataSetFrozen) as caught:
        session.batch(questions(session, 3), epsilon=0.1)
    assert caught.value.__context__ is None
    assert len(calls) == 2


def test_a_batch_prints_each_answer_with_its_price_and_the_rest_once() -> None:
    session = opened(budget=la.Budget(10, 1e-5))
    batch = session.batch([by_ward(session), session.agg(n=la.count())], epsilon=[0.5, 0.25])
    text = str(batch)
    assert text == repr(batch) != str(list(batch))
    assert "1 of 2: count and mean of cost" in text
    assert "2 of 2: count;" in text
    assert "Spent ε = 0.5." in text
    assert "Spent ε = 0.25." in text
    for once in (
        "rows without patient_id",
        "All protect",
        "that cost (ε = 0.75) together",
        "Left:",
    ):
        assert text.count(once) == 1, once
    assert text.count("rows of groups that are not listed") == 1, (
        "a note of one answer stands beside it"
    )
    assert "&lt;" not in text
    assert batch._repr_html_().startswith("<pre>")
    assert [one.epsilon for one in batch] == [0.5, 0.25]
    assert "nothing spent" in str(
        session.batch([by_ward(session), session.agg(n=la.count())], epsilon=[0.5, 0.25])
    )
