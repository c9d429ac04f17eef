"""Two counters add up what neither can read, and each adds enough noise alone."""

import numpy as np
import pytest

from letalone.errors import ParameterError
from letalone.local.split.circuits import Circuit, OneOption, WholeNumber, YesNo
from letalone.local.split.counting import Counter, TwoCounters
from seeded import SeededBits

KEY = bytes(range(32))


def _counted(survey: TwoCounters, answers: list[int]) -> tuple[Counter, Counter]:
    first, second = survey.counter(0, KEY), survey.counter(1, KEY)
    for answer in answers:
        made = survey.report(answer)
        halves = zip((first, second), made.report.shares, strict=True)
        told = [one.receive(made.nonce, made.report.public, share) for one, share in halves]
        for one in (first, second):
            one.finish(made.nonce, (told[0], told[1]))
    return first, second


@pytest.mark.parametrize(
    ("question", "answers", "totals"),
    [
        (YesNo(), [1, 0, 1, 1], [3]),
        (OneOption(3), [2, 2, 0], [1, 0, 2]),
        (WholeNumber(9), [9, 0, 5], [14]),
    ],
    ids=["yes or no", "one of three", "a number"],
)
def test_shares_add_up_to_the_totals_and_one_alone_does_not(
    question: Circuit, answers: list[int], totals: list[int]
) -> None:
    first, second = _counted(TwoCounters(question, 1), answers)
    assert first.survey.prio3.add_up([first.total, second.total]) == totals
    assert all(part > 2**40 for part in first.total), "a share that is small is no share"
    assert first.valid == second.valid == len(answers)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("question", [YesNo(), OneOption(3), WholeNumber(9)], ids=repr)
def test_each_counter_alone_keeps_the_promise_when_one_answer_is_replaced(
    question: Circuit, delta: float
) -> None:
    """By the largest move over all pairs of answers, in the norm of the noise."""
    survey = TwoCounters(question, 1, delta)
    largest = {YesNo: 1, OneOption: 2, WholeNumber: 9}[type(question)]
    encoded = [question.truncate(question.encode(answer)) for answer in range(largest + 1)]
    norm = 2 if delta else 1
    moves = [
        sum(abs(x - y) ** norm for x, y in zip(a, b, strict=True)) for a in encoded for b in encoded
    ]
    assert max(moves) <= survey.noise.sensitivity**norm <= max(moves) * (1 + 1e-9)
    assert survey.privacy.delta(epsilon=1) <= delta


def test_the_noise_of_each_counter_follows_its_law_and_not_half_of_it() -> None:
    """The variance of 4,000 seeded draws; over seeds a right counter would fail less than once in
    10^6 (relative standard error 3.5 %, 20 % allowed); half of the scale has a quarter of it."""
    survey = TwoCounters(OneOption(4000), 1)
    told = survey.counter(0, KEY).tell(bits=SeededBits(3))
    draws = np.array([survey.question.field.signed(part) for part in told], float)
    a = np.exp(-1 / 2)
    assert np.var(draws) == pytest.approx(2 * a / (1 - a) ** 2, rel=0.2)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("epsilon", [0.2, 1, 4])
def test_intervals_hold_as_often_as_they_say(epsilon: float, delta: float) -> None:
    """By the laws of both draws: never less often than stated; narrower by three is too narrow."""
    survey = TwoCounters(YesNo(), epsilon, delta)
    width = int(np.asarray(survey.estimate([0], [0]).high).item())
    reach = np.arange(-600, 601)
    if delta:
        law = np.exp(-(reach**2) / (2 * float(survey.noise.sigma) ** 2))  # type: ignore[union-attr]
    else:
        law = np.exp(-np.abs(reach) * epsilon)
    law /= law.sum()
    both = np.convolve(law, law)
    centre = len(both) // 2
    within = [both[centre - w : centre + w + 1].sum() for w in (width, max(width - 3, 0))]
    assert within[0] >= 0.95 - 1e-12
    assert within[1] < 0.95


def test_a_report_counts_once_and_a_counter_tells_once() -> None:
    survey = TwoCounters(YesNo(), 1)
    first, _ = _counted(survey, [1])
    made = survey.report(1)
    first.receive(made.nonce, made.report.public, made.report.shares[0])
    with pytest.raises(ParameterError, match="received before"):
        first.receive(made.nonce, made.report.public, made.report.shares[0])
    with pytest.raises(ParameterError, match="No report"):
        first.finish(bytes(16), (b"", b""))
    first.tell()
    with pytest.raises(ParameterError, match="A second draw of noise would tell more"):
        first.tell()
    assert KEY.hex() not in repr(first)
    assert repr(first.total) not in repr(first)


def test_a_report_that_is_refused_counts_for_nobody_and_leaves_the_others() -> None:
    survey = TwoCounters(YesNo(), 1)
    first, second = _counted(survey, [1, 1])
    made = survey.report(1)
    broken = bytes([made.report.shares[0][0] ^ 1]) + made.report.shares[0][1:]
    told = (
        first.receive(made.nonce, b"", broken),
        second.receive(made.nonce, b"", made.report.shares[1]),
    )
    for counter in (first, second):
        with pytest.raises(ParameterError):
            counter.finish(made.nonce, told)
    assert survey.prio3.add_up([first.total, second.total]) == [2]
    assert first.valid == second.valid == 2


@pytest.mark.parametrize(("place", "key"), [(2, KEY), (0, b"short"), (-1, KEY)])
def test_a_third_counter_or_a_short_key_is_refused(place: int, key: bytes) -> None:
    with pytest.raises(ParameterError, match="place must be 0 or 1"):
        TwoCounters(YesNo(), 1).counter(place, key)
