"""Outputs that hold more than numbers: equal ones read alike, different ones do not."""

from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest

from letalone.audit import Verdict, audit
from letalone.audit.outputs import layout_of, place_numbers, print_output, read
from letalone.errors import ParameterError


@dataclass
class Answer:
    value: float
    label: str = "a"


class Colour(Enum):
    RED = 1


Pair = namedtuple("Pair", ["left", "right"])  # noqa: PYI024


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"x", "y", "z"}, {"z", "y", "x"}),
        (frozenset({1, 2}), {2, 1}),
        (Answer(0.5), Answer(0.5)),
        ([1, (2, 3)], (1, [2, 3])),
        ({"a": {"c": 1, "d": 2}}, {"a": {"d": 2, "c": 1}}),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        (np.float64(0.1), 0.1),
    ],
)
def test_equal_outputs_read_alike(one: object, other: object) -> None:
    assert place_numbers(one) == place_numbers(other)
    assert print_output(one) == print_output(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 2}),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ({1: "a"}, {2: "a"}),
        ({1}, {2}),
        (Answer(0.5), Answer(0.5, "b")),
        (("a", 1), ("b", 1)),
        ([1, [2, 3]], [[1, 2], 3]),
        (None, "None"),
        (10**400, 10**400 + 1),
        (Decimal("0.1"), Decimal("0.2")),
    ],
)
def test_different_outputs_do_not(one: object, other: object) -> None:
    assert place_numbers(one) != place_numbers(other)
    assert print_output(one) != print_output(other)


def test_what_holds_numbers_becomes_a_row_of_them() -> None:
    outputs = [{"n": 1.5, "m": True}, {"m": False, "n": 2}]
    assert layout_of(outputs).width == 3
    assert read(outputs, layout_of(outputs)).numbers[:, 1:].tolist() == [[1.0, 1.5], [0.0, 2.0]]
    assert layout_of([("a", Fraction(1, 2), Decimal("0.1"))]).width == 3
    assert layout_of([Pair(1, "b"), Pair(2, "c")]).width == 2
    assert layout_of([{"a": 1}, {"a": 1, "b": 2}]).width == 3
    assert layout_of([Colour.RED, None]).width == 0


def noisy(seed: int):
    generator = np.random.default_rng(seed)
    return lambda scale: float(np.round(generator.laplace(0, scale) * 64) / 64)


LEAKS = [
    lambda x, noise: {"count": x + noise(0.25), "ward": "A"},
    lambda x, noise: {"count": noise(1), "ward": "A" if x + noise(0.1) > 0.5 else "B"},
    lambda x, noise: {"A" if x + noise(0.1) > 0.5 else "B": noise(1)},
    lambda x, noise: ("label", x + noise(0.25)),
    lambda x, noise: Answer(x + noise(0.25)),
    lambda x, noise: None if x + noise(0.1) > 0.5 else {"n": 1},
    lambda x, noise: {"A", "B"} if x + noise(0.1) > 0.5 else {"A"},
    lambda x, noise: [{"n": x + noise(0.25)}, None],
]


@pytest.mark.parametrize("place", range(len(LEAKS)))
@pytest.mark.few("0", "4")
def test_a_leak_inside_a_container_is_accused(place: int) -> None:
    """Each tells the inputs apart by epsilon 4 or more; an honest twin is let off."""
    noise = noisy(place)
    leak = LEAKS[place]
    found = audit(lambda x: leak(x, noise), 0, 1, claimed_epsilon=1, samples=2000)
    assert found.verdict is Verdict.ACCUSED
    twin = audit(lambda _: leak(0, noise), 0, 1, claimed_epsilon=1, samples=2000)
    assert twin.verdict is Verdict.CONSISTENT


def test_the_event_names_the_form_or_the_number_that_tells() -> None:
    noise = noisy(20)
    found = audit(lambda x: LEAKS[2](x, noise), 0, 1, claimed_epsilon=1, samples=2000)
    assert found.event.startswith("the output has the form {'")
    found = audit(lambda x: LEAKS[3](x, noise), 0, 1, claimed_epsilon=1, samples=2000)
    assert "number 1 in the output" in found.event


@pytest.mark.parametrize("output", [object(), (1, object()), iter([1]), lambda: 1])
def test_what_prints_its_address_is_refused_with_what_is_understood(output: object) -> None:
    with pytest.raises(ParameterError, match=r"does not understand\. It reads numbers"):
        audit(lambda _: output, 0, 1, claimed_epsilon=1, samples=100)


def test_a_mechanism_that_returns_nothing_is_told_so() -> None:
    with pytest.raises(ParameterError, match="None every time"):
        audit(lambda _: None, 0, 1, claimed_epsilon=1, samples=100)
