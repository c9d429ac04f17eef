"""`letalone account` and `calibrate`: the little language, and what is printed is true."""

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise
from math import atanh, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letalone.cli.noise.account_command import _grid, _steps_above, _steps_below
from letalone.cli.noise.sums_of_releases import (
    FORMS,
    MAX_TEXT_LENGTH,
    Applied,
    holes,
    parse,
    privacy_of,
)
from letalone.errors import LetaloneError, ParameterError
from letalone.mechanisms import (
    DiscreteGaussian,
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    RandomizedResponse,
)
from letalone.privacy import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    LaplacePrivacy,
    Privacy,
    PureDP,
    compose,
)
from letalone.privacy.curves.renyi import RenyiDP
from stages import pick

Letalone = Callable[..., "object"]

# The language.

MEANINGS = [
    ("laplace(epsilon=0.1)", Laplace(epsilon=0.1, sensitivity=1).privacy),
    ("laplace(scale=2, sensitivity=3)", Laplace(scale=2, sensitivity=3).privacy),
    ("geometric(0.5)", Geometric(epsilon=0.5, sensitivity=1).privacy),
    ("gaussian(sigma=2)", Gaussian(sigma=2, sensitivity=1).privacy),
    ("gaussian(2)", Gaussian(sigma=2, sensitivity=1).privacy),
    (
        "gaussian(epsilon=1, delta=1e-6)",
        Gaussian(epsilon=1, delta=1e-6, sensitivity=1).privacy,
    ),
    ("discrete_gaussian(sigma=3)", DiscreteGaussian(sigma=3, sensitivity=1).privacy),
    (
        "discrete_gaussian(sigma=3, sensitivity=2, dimension=5)",
        DiscreteGaussian(sigma=3, sensitivity=2, dimension=5).privacy,
    ),
    ("exponential(epsilon=0.5)", Exponential(epsilon=0.5, sensitivity=1).privacy),
    ("randomized_response(epsilon=1)", RandomizedResponse(epsilon=1).privacy),
    (
        "randomized_response(truth=3/4, categories=2)",
        RandomizedResponse(truth=Fraction(3, 4)).privacy,
    ),
    ("pure(1/3)", PureDP(Fraction(1, 3))),
    ("approx(0.1, 1e-8)", ApproxDP(0.1, 1e-8)),
    ("zcdp(rho=.5)", ZCDP(0.5)),
    ("gdp(mu=0.5)", GaussianDP(0.5)),
    ("renyi(order=8, epsilon=0.5)", RenyiDP(8, 0.5)),
    ("1_000 * pure(0.1)", PureDP(0.1) * 1000),
    ("pure(0.1) * 3", PureDP(0.1) * 3),
    ("2 * (pure(0.1) + gdp(1)) * 3", compose(PureDP(0.1), GaussianDP(1)) * 6),
    ("pure(0.1)+gdp(1) +\n zcdp(1)", compose(PureDP(0.1), GaussianDP(1), ZCDP(1))),
    ("laplace(epsilon=0.1).group(3)", Laplace(epsilon=0.1, sensitivity=1).privacy.group(3)),
    ("((pure(1)))", PureDP(1)),
    (
        "gaussian(sigma=1).with_neighbours(replace).sampled(0.01)",
        GaussianDP(1).with_neighbours(REPLACE).sampled(0.01),
    ),
    ("gdp(1).with_neighbours(add_remove)", GaussianDP(1).with_neighbours(ADD_REMOVE)),
    (
        "gdp(1).sampled(0.1).under(REPLACE) * 2",
        GaussianDP(1).sampled(0.1).under(REPLACE) * 2,
    ),
    (
        "randomized_response(1).shuffled(1000) + gdp(1).sampled(0.1).under(replace)",
        compose(
            RandomizedResponse(epsilon=1).privacy.shuffled(1000),
            GaussianDP(1).sampled(0.1).under(REPLACE),
        ),
    ),
    ("0 * pure(1)", compose()),
]


@pytest.mark.parametrize(("text", "meant"), MEANINGS, ids=[text for text, _ in MEANINGS])
def test_an_expression_means_what_python_would_say(text: str, meant: Privacy) -> None:
    assert privacy_of(parse(text)) == meant


def test_every_name_has_an_example_that_works() -> None:
    for form in FORMS.values():
        assert privacy_of(parse(form.example)).delta(100) < 1


def test_a_product_binds_tighter_than_a_sum() -> None:
    tree = parse("pure(1) + 2 * pure(2)")
    assert privacy_of(tree) == compose(PureDP(1), PureDP(2), PureDP(2))
    assert isinstance(parse("2 * pure(1).group(2)"), Applied)


WRONG = [
    ("", 1, "a release should stand"),
    ("laplas(epsilon=1)", 1, "Did you mean 'laplace'"),
    ("laplace(epsilom=1)", 9, "Did you mean 'epsilon'"),
    ("gaussian(1).sampld(2)", 13, "Did you mean 'sampled'"),
    ("1000 laplace(1)", 6, r"'\*' should stand"),
    ("laplace(epsilon=1", 18, "',' should stand"),
    ("laplace(epsilon=)", 17, "a number should stand"),
    ("laplace(epsilon=1) 3", 20, "should have ended"),
    ("laplace epsilon", 9, r"'\(' should stand"),
    ("pure(1, 2)", 9, "no more than: epsilon"),
    ("laplace(1, epsilon=2)", 20, "given twice"),
    ("pure(1)) ", 8, "should have ended"),
    ("pure(1)..group(2)", 9, "a method should stand"),
    ("pure(1).group()", 9, r"as in \.group\(3\)"),
    ("pure(1).under(people)", 15, "relation should stand. Those are: replace, add_remove"),
    ("pure(1).under()", 15, "relation should stand"),
    ("pure(1).undr(replace)", 9, "Did you mean 'under'"),
    ("renyi(alpha=2, epsilon=1)", 7, "Did you mean 'order'"),
    ("-3 * pure(1)", 1, "no minus can stand here"),
    ("pure(1e999999)", 6, "too long"),
    ("pure(" + "9" * 50 + ")", 6, "too long"),
    ("pure(1/0)", 9, "over 0"),
    ("pure(1) - pure(1)", 9, "should have ended"),
    ("pure(1) @ 2", 9, "'@' has no meaning"),
    ("__import__('os')", 1, "'_' has no meaning"),
    ("pure(1); import os", 8, "';' has no meaning"),
    ("(" * 30 + "pure(1)", 22, "nested"),
    ("pure(1)" + "*2" * 30, 50, "nested"),
    ("pure(1)" + ".group(2)" * 30, 197, "nested"),
]


@pytest.mark.parametrize(("text", "place", "words"), WRONG, ids=[text[:30] for text, *_ in WRONG])
def test_an_error_points_at_its_place_and_names_what_works(text, place, words) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        parse(text)
    first, line, pointer = str(caught.value).split("\n")
    assert f"at character {place}:" in first
    shown = pointer.index("^") - 2
    if text.strip() and place <= len(text):
        assert line[2 + shown] == text[place - 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("laplace(epsilon=-1)", "laplace at character 1: epsilon is -1"),
        ("pure(1) + zcdp()", "zcdp at character 11: a parameter is missing"),
        ("laplace(epsilon=1, scale=2)", "exactly one"),
        ("1.5 * pure(1)", "whole number"),
        ("gdp(1).with_neighbours(replace).under(add_remove)", "does not give one for add/remove"),
        ("1e12 * pure(1)", "at most 1,000,000,000 times"),
        ("randomized_response(epsilon=1, categories=2.5)", "categories"),
        ("gaussian(sigma=?)", "letalone calibrate"),
        ("pure(1)" + " " * MAX_TEXT_LENGTH, "characters"),
    ],
)
def test_what_is_well_written_but_wrong_is_refused(text: str, words: str) -> None:
    with pytest.raises(LetaloneError, match=words):
        privacy_of(parse(text))


@settings(max_examples=pick(60, 300), deadline=None)
@given(
    st.text(alphabet="laplcepure(gdp)=.,*+-/?0123456789e _\n'", max_size=60)
    | st.text(max_size=40)
    | st.lists(
        st.sampled_from(["pure(", "1", ")", "*", "+", ".", "group", "(", "=", "epsilon", "?", ","])
    ).map("".join)
)
def test_junk_is_either_read_or_refused_with_words(text: str) -> None:
    """Nothing else than a ParameterError ever leaves the parser."""
    with suppress(ParameterError):
        assert isinstance(holes(parse(text)), list)


# The commands.


def test_account_prints_both_certified_bounds(letalone: Letalone) -> None:
    shown = letalone("account", "gaussian(sigma=2) * 4", "--delta", "1e-5")
    low, high = GaussianDP(1).epsilon_bounds(1e-5)
    assert shown.code == 0
    assert "ε ≤ 4.37718" in shown.out
    assert "ε ≥ 4.37717" in shown.out
    assert low <= 4.37718 and high >= 4.37717  # noqa: PT018
    assert "at δ = 1e-5" in shown.out


def test_account_in_json_carries_lower_upper_and_seconds(letalone: Letalone) -> None:
    found = letalone("account", "gaussian(sigma=2)", "--delta", "1e-5", "--json").json()
    bounds = Gaussian(sigma=2, sensitivity=1).privacy.epsilon_bounds(1e-5)
    assert (found["lower"], found["upper"]) == bounds
    assert found["seconds"] > 0
    assert found["delta"] == 1e-5
    found = letalone("account", "gaussian(sigma=2)", "--epsilon", "1", "--json").json()
    bounds = Gaussian(sigma=2, sensitivity=1).privacy.delta_bounds(1)
    assert (found["lower"], found["upper"], found["epsilon"]) == (*bounds, 1.0)


def test_the_usual_delta_is_used_where_none_is_typed(letalone: Letalone) -> None:
    assert letalone("account", "gdp(1)", "--json").json()["delta"] == 1e-6
    assert "at δ = 1e-6" in letalone("account", "gdp(1)").out


def test_an_infinite_epsilon_comes_with_its_reason(letalone: Letalone) -> None:
    shown = letalone("account", "gdp(1)", "--delta", "0")
    assert "ε = ∞" in shown.out
    assert "needs a delta above 0" in shown.out
    found = letalone("account", "gdp(1)", "--delta", "0", "--json").json()
    assert found["upper"] is None
    assert "delta above 0" in found["reason"]
    leak = letalone("account", "approx(1, 1e-3)", "--delta", "1e-6").out
    assert "everything may be revealed" in leak
    assert "That is proven" in leak


def test_an_upper_end_that_is_infinite_is_not_said_to_be_both(letalone: Letalone) -> None:
    shown = letalone("account", "1000 * approx(0.1, 1e-6)", "--delta", "1e-6").out
    assert "ε ≤ ∞" in shown
    assert "ε ≥ " in shown
    assert "Only the lower bound is proven" in shown


def test_a_delta_too_small_for_anyone_is_bounded_by_a_plain_number(letalone: Letalone) -> None:
    shown = letalone("account", "gdp(1)", "--epsilon", "40").out
    assert "δ ≤ 1e-300" in shown
    assert "δ ≥ 0" in shown
    assert GaussianDP(1).delta(40) <= 1e-300


def test_the_curve_is_drawn(letalone: Letalone, tmp_path) -> None:
    path = tmp_path / "curve.svg"
    shown = letalone("account", "gdp(1)", "--plot", str(path))
    assert shown.code == 0
    drawn = path.read_text("utf-8")
    assert drawn.count("<polyline") == 2
    assert drawn.count("<circle") == 1
    assert "ε = 4.88656, δ = 1e-6" in drawn
    assert "e-0" not in drawn
    assert "Drawn to" in shown.out
    assert letalone("account", "gdp(1)", "--plot", "curve.xyz").code == 2
    assert letalone("account", "0 * gdp(1)", "--plot", str(path)).code == 2


DRAWN = [
    LaplacePrivacy(800),
    LaplacePrivacy(1),
    ApproxDP(1, 1e-3),
    PureDP(10**6),
    GaussianDP(1),
    compose(PureDP(0.5), GaussianDP(1)),
    ZCDP(0.1),
]


@pytest.mark.parametrize("privacy", DRAWN, ids=str)
def test_the_lines_hold_between_the_points_that_were_computed(privacy: Privacy) -> None:
    """On a fine grid of its own, beside kinks, at both ends of every step."""
    points = [(epsilon, privacy.delta_bounds(epsilon)) for epsilon in _grid(privacy, None)]
    above, below = list(_steps_above(points)), list(_steps_below(points))
    for line in (above, below):
        assert [x for x, _ in line] == sorted(x for x, _ in line)
    for (left, high), (right, _) in pairwise(above[::3]):
        for x in (left, (left + right) / 2):
            assert min(y for s, y in above if s <= x) >= privacy.delta_bounds(x)[0] * (1 - 1e-12)
        assert high >= 0
    for (left, _), (right, _) in pairwise(below[::3]):
        x = (left + right) / 2
        assert max(y for s, y in below if s >= x) <= privacy.delta_bounds(x)[1] * (1 + 1e-12)


def test_the_curve_has_a_point_at_its_kink() -> None:
    """δ of (1, 1e-3)-DP stays from 1 on, wherever the drawing ends; it once fell until 1.25."""
    privacy = ApproxDP(1, 1e-3)
    for asked in (None, (1.7, 1e-3), (3.1, 1e-3)):
        points = [(epsilon, privacy.delta_bounds(epsilon)) for epsilon in _grid(privacy, asked)]
        assert min(x for x, y in _steps_above(points) if y == 1e-3) == 1.0


CALIBRATED = [
    ("gaussian(sigma=?)", "sigma", lambda x: GaussianDP(1 / x), 1),
    ("10 * gaussian(sigma=?)", "sigma", lambda x: GaussianDP(1 / x) * 10, 1),
    ("100 * zcdp(rho=?)", "rho", lambda x: ZCDP(x) * 100, -1),
    ("pure(0.5) + pure(epsilon=?)", "epsilon", lambda x: compose(PureDP(0.5), PureDP(x)), -1),
    ("gdp(1).sampled(?)", "rate", lambda x: GaussianDP(1).sampled(x), -1),
    (
        "gdp(1).with_neighbours(replace).sampled(?)",
        "rate",
        lambda x: GaussianDP(1).with_neighbours(REPLACE).sampled(x),
        -1,
    ),
]


@pytest.mark.parametrize(("text", "name", "curve", "safer"), CALIBRATED)
def test_calibrate_finds_a_number_that_keeps_the_promise_and_hardly_a_better_one(
    letalone: Letalone, text, name, curve, safer
) -> None:
    found = letalone("calibrate", text, "--epsilon", "1", "--delta", "1e-6", "--json").json()
    value = Fraction(repr(found["value"]))
    assert found["name"] == name
    assert curve(value).delta(1) == found["reached_delta"] <= 1e-6
    assert len(repr(found["value"]).split("e")[0]) <= 12
    assert curve(value * (1 - safer * Fraction(2, 10**6))).delta(1) > 1e-6


def test_calibrate_finds_epsilon_and_noise_for_a_risk(letalone: Letalone) -> None:
    """A pure ε gives an advantage of tanh(ε/2): 0.05 needs 2·artanh(0.05)."""
    found = letalone("calibrate", "--advantage", "0.05", "--json").json()
    assert found["value"] == pytest.approx(2 * atanh(0.05), rel=2e-6)
    assert found["value"] <= 2 * atanh(0.05)
    rates = ("--true-positive", "0.02", "--at-false-positive", "0.01")
    assert letalone("calibrate", *rates, "--json").json()["value"] == pytest.approx(
        log(2), rel=2e-6
    )
    again = letalone("calibrate", "--risk", "0.05", "--json").json()
    assert again["value"] == found["value"]
    noise = letalone("calibrate", "gaussian(sigma=?)", "--advantage", "0.05", "--json").json()
    assert Gaussian(sigma=noise["value"], sensitivity=1).privacy.delta(0) <= 0.05
    assert Gaussian(sigma=noise["value"] * 0.9999, sensitivity=1).privacy.delta(0) > 0.05
    runs = letalone("calibrate", "? * pure(0.01)", "--advantage", "0.05", "--json").json()
    many, step = runs["value"], PureDP(0.01)
    assert (step * many).delta(0) <= 0.05 < (step * (many + 1)).delta(0)


def test_training_by_noisy_gradients_is_a_release_of_its_own(letalone: Letalone) -> None:
    one = letalone("account", "dpsgd(sigma=1, rate=0.01, steps=100)", "--json").json()
    other = letalone("account", "100 * gaussian(sigma=1).sampled(0.01)", "--json").json()
    assert (one["lower"], one["upper"]) == (other["lower"], other["upper"])
    most = (
        "calibrate",
        "dpsgd(sigma=2, rate=0.01, steps=?)",
        "--epsilon",
        "0.5",
        "--delta",
        "1e-6",
    )
    steps = letalone(*most, "--json").json()["value"]
    privacy = Gaussian(sigma=2, sensitivity=1).privacy.sampled(0.01)
    assert (privacy * steps).delta(0.5) <= 1e-6 < (privacy * (steps + 1)).delta(0.5)


def test_calibrate_counts_runs(letalone: Letalone) -> None:
    found = letalone("calibrate", "? * pure(0.1)", "--epsilon", "1", "--json").json()
    assert (found["name"], found["value"]) == ("runs", 10)
    shown = letalone("calibrate", "? * pure(0.1)", "--epsilon", "1").out
    assert "runs = 10" in shown
    assert "runs = 10 is the largest that keeps ε = 1." in shown
    assert "one part in" not in shown
    assert "there δ is 0." in shown


def test_what_is_found_is_said_in_one_sentence_with_the_digits_it_has(letalone: Letalone) -> None:
    words = ["calibrate", "gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-5"]
    shown = " ".join(letalone(*words).out.split())
    value = letalone(*words, "--json").json()["value"]
    assert f"sigma = {value!r} is the smallest that keeps ε = 1 and δ = 1e-5, to one" in shown
    assert "1e-05" not in shown
    shown = letalone("calibrate", "10 * pure(?)", "--epsilon", "2").out
    assert "epsilon = 0.2 is the largest" in shown


def test_what_the_rest_breaks_is_refused_and_never_certified(letalone: Letalone) -> None:
    """Once: "runs = 0 … It is certified: there δ is at most 0.3935", with exit code 0."""
    for text in (
        "? * gaussian(sigma=1) + laplace(epsilon=2)",
        "gaussian(sigma=?) + laplace(epsilon=2)",
        "gaussian(sigma=1).sampled(?) + laplace(epsilon=2)",
    ):
        shown = letalone("calibrate", text, "--epsilon", "1", "--delta", "1e-6")
        assert shown.code == 2
        assert "already breaks epsilon = 1" in shown.err
        assert shown.out == ""
    zero = letalone("calibrate", "? * pure(2) + pure(1)", "--epsilon", "1", "--json").json()
    assert (zero["value"], zero["reached_delta"]) == (0, 0.0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["calibrate", "gaussian(sigma=2)", "--epsilon", "1"], "question marks"),
        (["calibrate", "gaussian(sigma=?) * ?", "--epsilon", "1"], "question marks"),
        (["calibrate", "gdp(?) + gdp(?)", "--epsilon", "1"], "Only one"),
        (["calibrate", "gaussian(sigma=?)"], "--epsilon is missing"),
        (["calibrate"], "or a risk, such as --advantage 0.05"),
        (["calibrate", "--advantage", "0.05", "--epsilon", "1"], "Leave one out"),
        (["calibrate", "pure(?)", "--advantage", "0.1", "--delta", "1e-6"], "Leave --delta out"),
        (["calibrate", "--true-positive", "0.02"], "A risk is either"),
        (["account", "dpsgd(sigma=1, rate=0.01, steps=1.5)"], "dpsgd at character 1"),
        (["account", "dpsgd(sigma=1, rate=0.01)"], "a parameter is missing"),
        (["account", "dpsgd(noise_multiplier=1)"], "Did you mean 'sigma'?"),
        (["calibrate", "pure(1).group(?)", "--epsilon", "1"], "stands for size"),
        (["calibrate", "pure(?)", "--epsilon", "-1"], "epsilon is -1"),
        (["account", "pure(1)", "--epsilon", "1", "--delta", "1e-6"], "both given"),
        (["account", "pure(1)", "--delta", "1"], "delta is 1"),
        (["account", "laplas(1)"], "Did you mean"),
        (["account", "pure(1)", "--epsilon", "-1"], "epsilon is -1"),
        (["calibrate", "? * pure(1e-12)", "--epsilon", "1"], "More than 1,000,000,000 fit"),
        (["calibrate", "gaussian(sigma=?)", "--epsilon", "1"], "needs a delta above 0"),
        (["account", "gaussian(sigma=?)"], "letalone calibrate"),
    ],
)
def test_wrong_usage_is_told_and_exits_2(letalone: Letalone, words, message) -> None:
    shown = letalone(*words)
    assert shown.code == 2
    assert message in shown.err
    assert letalone(*words, "--json").error()["exit_code"] == 2


def test_screens_are_at_most_80_wide(letalone: Letalone) -> None:
    for words in (
        ["account", "--help"],
        ["calibrate", "--help"],
        ["account", "100 * laplace(epsilon=0.1)"],
        ["calibrate", "? * pure(0.1)", "--epsilon", "1", "--delta", "1e-6"],
    ):
        lines = letalone(*words).out.splitlines()
        assert max(map(len, lines)) <= 80
        assert len(lines) < 25


def test_a_risk_may_be_typed_in_percent(letalone):
    found = [
        letalone("calibrate", "laplace(epsilon=?)", "--risk", risk, "--json").json()
        for risk in ("5%", "5 %", "0.05")
    ]
    for answer in found:
        del answer["seconds"]
    assert found[0] == found[1] == found[2]
