"""A report: each question with the least ε that keeps its error, all within one."""

import pytest

import letalone as la
from session.makers import WARDS, opened


@pytest.fixture
def session():
    return opened(budget=la.Budget(100, 1e-5))


def questions(session):
    return [
        session.group_by("ward", keys=WARDS).bound(max_rows=1).agg(n=la.count()),
        session.bound(max_rows=1).agg(cost=la.mean("cost", lower=0, upper=1000)),
        session.agg(people=la.count_distinct()),
    ]


def test_errors_are_kept_with_the_least_epsilon_and_nothing_is_spent(session):
    asked = questions(session)
    report = la.plan(asked, errors=[10, {"cost": 200}, 5], rows=100)
    expected = [asked[0].epsilon_for(error=10), asked[1].epsilon_for(error=200, rows=100)]
    assert list(report.epsilons[:2]) == expected
    for one, limit in zip(report.questions, (10, 200, 5), strict=True):
        assert max(one.errors.values()) <= limit
    assert float(report.price.epsilon) == pytest.approx(sum(report.epsilons))
    assert session.spent.epsilon == 0


def test_questions_without_a_wish_share_the_rest(session):
    report = la.plan(questions(session), epsilon=2, errors=[10, None, None])
    _, *others = report.epsilons
    assert others[0] == others[1]
    assert 1.98 <= sum(report.epsilons) <= 2
    assert report.questions[1].errors == {"cost": None}
    equal = la.plan(questions(session), epsilon=3)
    assert equal.epsilons == (1, 1, 1)


def test_all_are_released_as_one_batch_for_no_more_than_the_plan(session):
    report = la.plan(questions(session), epsilon=2, errors=[10, None, 5])
    answers = report.release()
    assert [answer.epsilon for answer in answers] == list(report.epsilons)
    assert session.spent.epsilon <= report.price.epsilon
    assert session.ledger.data_set(session.name).releases == 1
    assert report.release()[0].repeated


def test_errors_that_cost_too_much_are_refused_with_what_would_do(session):
    with pytest.raises(
        la.ParameterError, match=r"need ε = .* errors [\d.]+ times as large"
    ) as told:
        la.plan(questions(session), epsilon=0.5, errors=[10, None, 5])
    factor = float(str(told.value).split(" errors ")[-1].split()[0]) * 1.001
    la.plan(questions(session), epsilon=0.5, errors=[10 * factor, None, 5 * factor])


def test_it_says_each_price_and_error(session):
    words = " ".join(str(la.plan(questions(session), epsilon=2, errors=[10, None, 5])).split())
    assert "A report of 3 questions" in words
    assert "n ± " in words
    assert "cost ± ? (give rows=)" in words
    assert "Nothing was spent: .release() answers them." in words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "no epsilon is given"),
        ({"epsilon": 1, "errors": [1, 2]}, "3 questions and 2 errors"),
        ({"epsilon": 1, "rows": [1]}, "3 questions and 1 rows"),
        ({"errors": "1 %"}, r"a plan takes numbers.*alone: \.release\(error='1 %'"),
        ({"epsilon": 0}, "epsilon is 0"),
    ],
)
def test_what_does_not_go_together_is_refused(session, given, words):
    with pytest.raises(la.ParameterError, match=words):
        la.plan(questions(session), **given)


def test_other_things_than_questions_of_one_table_are_refused(session):
    with pytest.raises(la.ParameterError, match="empty"):
        la.plan([], epsilon=1)
    with pytest.raises(la.ParameterError, match="must be a question"):
        la.plan([3], epsilon=1)
    with pytest.raises(la.ParameterError, match="two tables"):
        la.plan([questions(session)[0], questions(opened())[0]], epsilon=1)


@pytest.mark.guarded
def test_a_price_that_hardly_protects_is_confirmed_when_it_is_released(session):
    report = la.plan(questions(session)[:1], epsilon=20)
    with pytest.raises(la.ParameterError, match="confirm=True"):
        report.release()
    assert report.release(confirm=True)[0].epsilon == 20
