"""Runs made elsewhere, by their numbers: the same curve whoever wrote them down."""

from dataclasses import dataclass
from fractions import Fraction

import pytest

import letalone as la
from letalone.learn import account_run

STEP = la.privacy.GaussianDP(Fraction(10, 11)).sampled(Fraction("0.01"))
GAUSSIAN = "GaussianDpEvent(noise_multiplier=1.1)"
SAMPLED = f"PoissonSampledDpEvent(sampling_probability=0.01, event={GAUSSIAN})"


@dataclass
class GaussianDpEvent:
    noise_multiplier: float


@dataclass
class PoissonSampledDpEvent:
    sampling_probability: float
    event: object


@dataclass
class SelfComposedDpEvent:
    event: object
    count: int


@pytest.mark.parametrize(
    "run",
    [
        [(1.1, 0.01, 500)],
        [(1.1, 0.01, 200), (1.1, 0.01, 300)],
        f"SelfComposedDpEvent(event={SAMPLED}, count=500)",
        f"dp_event.SelfComposedDpEvent({SAMPLED}, 500)",
        f"ComposedDpEvent(events=[{', '.join([SAMPLED] * 2)},"
        f" SelfComposedDpEvent({SAMPLED}, 498), NoOpDpEvent()])",
        SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.1)), 500),
    ],
    ids=["history", "history of two", "text", "places", "composed", "object"],
)
def test_each_way_of_writing_a_run_gives_its_curve(run):
    found = account_run(run, delta=1e-5)
    assert found.epsilon == pytest.approx((STEP * 500).epsilon(1e-5), rel=1e-9)
    by_name = account_run(delta=1e-5, noise_multiplier=1.1, sample_rate=0.01, steps=500)
    assert found.privacy.delta(1) == pytest.approx(by_name.privacy.delta(1), rel=1e-9)
    assert found.at_least <= found.epsilon <= found.at_least * 1.01
    assert found.privacy.neighbours == la.ADD_REMOVE


def test_repeated_events_count_as_often_as_they_are():
    """dp_accounting's own count of repeated responses was lost in one branch."""
    ten = account_run("SelfComposedDpEvent(LaplaceDpEvent(2), 10)", delta=0)
    assert ten.epsilon == pytest.approx(5)
    one = account_run("ComposedDpEvent([" + "LaplaceDpEvent(2)," * 10 + "])", delta=0)
    assert one.epsilon == pytest.approx(5)


def test_a_whole_batch_is_no_sample_and_none_reveals_nothing():
    whole = account_run([(2, 1, 9)], delta=1e-6)
    assert whole.epsilon == pytest.approx(la.privacy.GaussianDP(1.5).epsilon(1e-6))
    assert account_run("NoOpDpEvent()", delta=1e-6).epsilon == 0
    assert account_run([(2, 0, 9)], delta=1e-6).epsilon == 0


def test_a_claim_is_compared():
    exact = account_run([(1.1, 0.01, 500)], delta=1e-5)
    more = account_run([(1.1, 0.01, 500)], delta=1e-5, claimed=exact.epsilon + 0.5)
    less = account_run([(1.1, 0.01, 500)], delta=1e-5, claimed=exact.at_least - 0.1)
    between = account_run(
        [(1.1, 0.01, 500)], delta=1e-5, claimed=(exact.at_least + exact.epsilon) / 2
    )
    assert (more.is_sound, less.is_sound, between.is_sound) == (True, False, None)
    assert more.over_claimed == pytest.approx(0.5)
    assert "says more than is revealed" in str(more)
    assert "says too little" in str(less)
    assert str(exact).endswith("certified.")
    assert exact.is_sound is exact.over_claimed is None


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (None, "A run is one of three things"),
        ([(1, 2)], "A history is a list"),
        ([(1.1, 1.5, 3)], "sample_rate"),
        ([(0, 0.5, 3)], "noise_multiplier"),
        ([(1, 0.5, 0)], "steps"),
        ("GaussianDpEvent(", "cannot be read as an event"),
        ("TreeEvent(3)", "not accounted for here"),
        ("GaussianDpEvent(sigma=1)", "takes noise_multiplier"),
        ("GaussianDpEvent(noise_multiplier=f())", "is not a number"),
        ("ComposedDpEvent(events=3)", "a list of events"),
        ("3", "An event is written like"),
    ],
)
def test_what_is_no_run_is_refused(run, words):
    with pytest.raises(la.ParameterError, match=words):
        account_run(run, delta=1e-5)


def test_text_is_read_and_never_run():
    with pytest.raises(la.ParameterError):
        account_run("__import__('os').system('true')", delta=1e-5)


def test_two_ways_at_once_are_refused():
    with pytest.raises(la.ParameterError, match="none or two"):
        account_run([(1, 0.1, 3)], delta=1e-5, steps=3)
