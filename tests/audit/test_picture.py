"""The picture shows the claim, the region and the verdict, and agrees with the numbers."""

from math import exp
from pathlib import Path

import numpy as np
import pytest

from letalone.audit import Audit, audit
from letalone.audit.auditor import curve, errors_of
from letalone.errors import ParameterError
from letalone.mechanisms import Laplace
from seeded import SeededBits

LAPLACE = Laplace(epsilon=1, sensitivity=1)


def found(other: float, *, delta: float = 0) -> Audit:
    return audit(
        LAPLACE,
        0.0,
        other,
        claimed_epsilon=1,
        claimed_delta=delta,
        samples=4000,
        bits=SeededBits(1),
    )


def test_the_region_of_an_accused_claim_lies_below_its_curve_and_else_it_does_not() -> None:
    for one, below in ((found(3.0), True), (found(1.0), False)):
        alarms, misses = errors_of(one.counts, one.confidence)
        assert bool(np.all(misses < curve(alarms, epsilon=1, delta=0))) is below
        assert np.all(np.diff(alarms) >= 0)
        assert np.all(np.diff(misses) <= 0)


def test_the_region_touches_the_curve_of_the_certified_epsilon() -> None:
    one = found(3.0)
    alarms, misses = errors_of(one.counts, one.confidence)
    gap = curve(alarms, epsilon=one.lower, delta=0) - misses
    assert abs(float(gap.min())) < 0.01


def test_the_curve_is_that_of_the_definition() -> None:
    across = np.array([0.0, 0.1, 0.5, 1.0])
    steep = 1 - 0.1 - exp(1) * across
    flat = exp(-1) * (1 - 0.1 - across)
    assert np.allclose(curve(across, epsilon=1, delta=0.1), np.maximum(np.maximum(steep, flat), 0))
    assert curve(np.zeros(1), epsilon=800, delta=0)[0] == 1


@pytest.mark.few("a.svg")
@pytest.mark.parametrize("name", ["a.svg", "a.png", "a.pdf"])
def test_it_is_written_with_the_verdict_in_words(tmp_path: Path, name: str) -> None:
    figure = found(3.0, delta=0.01).plot(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 1000
    assert figure.axes[0].get_title("left").startswith("ACCUSED: ε is at least")
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert legend[0] == "claimed: ε = 1, δ = 0.01"
    assert "the true errors, at 95 %" in legend


def test_a_consistent_claim_is_not_called_proven() -> None:
    assert "not a proof" in found(1.0).plot().axes[0].get_title("left").replace("\n", " ")


def test_an_unknown_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"must end in \.svg, \.png, \.pdf"):
        found(1.0).plot(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_the_verdict_and_the_regions() -> None:
    html = found(3.0)._repr_html_()
    assert "<title>ACCUSED: ε is at least" in html
    assert "the true errors, at 95 %" in html
