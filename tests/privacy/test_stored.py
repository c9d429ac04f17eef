"""Stored curves: samples of every past format stay readable; damage is refused."""

from json import dumps

import pytest

from letalone.errors import FormatError
from letalone.privacy import (
    ADD_REMOVE,
    ApproxDP,
    GaussianDP,
    LaplacePrivacy,
    RandomizedResponsePrivacy,
    between,
    compose,
    from_json,
)

PURE = {"format": 1, "kind": "pure", "epsilon": "1"}

FORMAT_1 = [
    (
        {
            "format": 1,
            "kind": "approximate",
            "neighbours": None,
            "epsilon": "1/10",
            "delta": "1/1000000",
        },
        ApproxDP(0.1, 1e-6),
    ),
    (
        {
            "format": 1,
            "kind": "gaussian",
            "neighbours": {"relation": "add/remove", "unit": "patient"},
            "mu_squared": "3/100",
        },
        (GaussianDP(0.1) * 3).with_neighbours(ADD_REMOVE.of("patient")),
    ),
    (
        {
            "format": 1,
            "kind": "randomized_response",
            "neighbours": None,
            "truth": "3/4",
            "categories": "2",
        },
        RandomizedResponsePrivacy(truth=0.75),
    ),
    (
        {
            "format": 1,
            "kind": "finite",
            "neighbours": None,
            "p": ["1/2", "1/2"],
            "q": ["1/3", "2/3"],
        },
        between([1 / 2, 1 / 2], [1 / 3, 2 / 3]),
    ),
    (
        {
            "format": 1,
            "kind": "composed",
            "neighbours": None,
            "parts": [
                [{"format": 1, "kind": "gaussian", "neighbours": None, "mu_squared": "1"}, "1"],
                [{"format": 1, "kind": "laplace", "neighbours": None, "ratio": "1/10"}, "1000"],
            ],
        },
        compose(GaussianDP(1), LaplacePrivacy(0.1) * 1000),
    ),
]


@pytest.mark.parametrize(("stored", "curve"), FORMAT_1)
def test_samples_of_format_1_are_read_and_written(stored, curve):
    assert from_json(stored) == curve
    assert curve.to_json() == stored


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ({}, "no 'format' number"),
        ({"format": "1"}, "no 'format' number"),
        ({**PURE, "format": 2}, "format 2, and this letalone reads up to format 1"),
        ({"format": 1, "kind": "magic"}, "known kinds are: approximate, bounded_range"),
        ({"format": 1, "kind": "pure"}, "of kind 'pure' is damaged"),
        ({"format": 1, "kind": "pure", "epsilon": "-1"}, "damaged: epsilon is -1"),
        ({"format": 1, "kind": "pure", "epsilon": 0.1}, "a field that must be text such as '1/10'"),
        ({"format": 1, "kind": "pure", "epsilon": "1", "extra": "1"}, "damaged"),
        ({"format": 1, "kind": "pure", "epsilon": "1/0"}, "'1/0' is not a number"),
        ({"format": 1, "kind": "pure", "epsilon": "one"}, "'one' is not a number"),
        ({**PURE, "format": True}, "no 'format' number"),
        ({**PURE, "neighbours": "replace"}, "damaged: a field is missing, unknown"),
        ({**PURE, "neighbours": {"relation": "replace"}}, "damaged: a field is missing, unknown"),
        ([PURE], "must be a JSON object"),
        (5, "must be a JSON object"),
        ("[1]", "must be a JSON object"),
        ("{", "This text is not JSON"),
        ("", "This text is not JSON"),
        ({**PURE, "neighbours": {"relation": "x", "unit": None}}, "damaged"),
        ({"format": 1, "kind": "finite_group", "step": "1", "size": "2"}, "damaged"),
        ({"format": 1, "kind": "composed", "parts": [["1", "1"]]}, "damaged"),
    ],
)  # fmt: skip
def test_damaged_and_newer_curves_are_refused(stored, words):
    with pytest.raises(FormatError, match=words) as refusal:
        from_json(stored)
    for internal in ("__init__", "argument", "literal", "Fraction", "NoneType", "object has"):
        assert internal not in str(refusal.value)


@pytest.mark.parametrize(("stored", "curve"), FORMAT_1)
def test_the_text_of_a_stored_curve_is_read_too(stored, curve):
    assert from_json(dumps(stored)) == curve
