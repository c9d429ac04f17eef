"""`letalone noise`: the values stay private, and what is printed is true."""

import io
import re
from collections.abc import Callable
from typing import Any, cast

import pytest
from typer.main import get_command

from letalone.cli.app import app
from letalone.cli.noise.noise_command import (
    ALL_OPTIONS,
    build,
    mechanism_called,
    price,
    read_values,
)
from letalone.cli.noise.noise_commands import NoiseOptions
from letalone.errors import ParameterError
from letalone.mechanisms import DiscreteGaussian, Gaussian, Geometric, Laplace

Letalone = Callable[..., "object"]

SECRET = "271828"


def test_each_name_builds_its_mechanism_with_the_typed_parameters() -> None:
    by_epsilon = NoiseOptions("", sensitivity=2.0, epsilon=0.1)
    by_both = NoiseOptions("", sensitivity=2.0, epsilon=0.1, delta=1e-6)
    assert build("laplace", by_epsilon, size=1) == Laplace(epsilon=0.1, sensitivity=2)
    assert build("geometric", by_epsilon, size=1) == Geometric(epsilon=0.1, sensitivity=2)
    exact = Gaussian(epsilon=0.1, delta=1e-6, sensitivity=2)
    assert build("gaussian", by_both, size=1) == exact
    whole = DiscreteGaussian(sigma=7, sensitivity=2, dimension=3)
    assert build("discrete-gaussian", NoiseOptions("", sensitivity=2.0, sigma=7.0), size=3) == whole
    assert build("laplace", NoiseOptions("", sensitivity=2.0, scale=5.0), size=1).scale == 5


def test_the_typed_epsilon_is_the_one_shown_and_sigma_is_read_off_the_curve() -> None:
    typed = NoiseOptions("", sensitivity=1.0, epsilon=0.1)
    assert price(build("laplace", typed, size=1), typed) == (0.0, 0.1)
    scaled = NoiseOptions("", sensitivity=1.0, scale=4.0)
    assert price(build("geometric", scaled, size=1), scaled) == (0.0, 0.25)
    sigma = NoiseOptions("", sensitivity=1.0, sigma=2.0, delta=1e-5)
    curve = Gaussian(sigma=2, sensitivity=1).privacy
    assert price(build("gaussian", sigma, size=1), sigma) == (1e-5, curve.epsilon(1e-5))


def test_the_error_bar_is_that_of_all_values_at_once(letalone: Letalone) -> None:
    words = ["noise", "laplace", "1", "2", "3", "--epsilon", "1", "--sensitivity", "1", "--json"]
    found = letalone(*words).json()
    assert found["error"] == Laplace(epsilon=1, sensitivity=1).error(0.95, size=3)
    assert len(found["values"]) == 3
    assert (found["epsilon"], found["delta"], found["confidence"]) == (1.0, 0.0, 0.95)


def test_values_come_out_near_where_they_went_in_and_not_unchanged(letalone: Letalone) -> None:
    """A correct program fails once in e^20 (5·10^8) runs for each of eight values."""
    typed = ["-5", "0", "3.25", "1e9"]
    words = ["noise", "laplace", *typed, "--epsilon", "1", "--sensitivity", "1", "--json"]
    values = letalone(*words).json()["values"]
    for value, word in zip(values, typed, strict=True):
        assert 0 < abs(value - float(word)) < 20


def test_numbers_are_read_from_a_pipe(letalone: Letalone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("12\n-30  7\n"))
    words = ["noise", "geometric", "--epsilon", "2", "--sensitivity", "1", "--json"]
    values = letalone(*words).json()["values"]
    assert len(values) == 3
    assert all(isinstance(value, int) for value in values)


def test_an_empty_pipe_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    with pytest.raises(ParameterError, match="standard input is empty"):
        read_values([], is_whole=False)


def test_a_closed_input_is_an_empty_one(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    shown = letalone("noise", "laplace", "--epsilon", "1", "--sensitivity", "1")
    assert shown.code == 2
    assert "standard input is empty" in shown.err


def test_the_byte_order_mark_of_other_systems_is_no_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf12\r\n7\r\n"), "utf-8")
    )
    assert read_values([], is_whole=True) == [12, 7]


def test_input_that_is_not_text_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe1"), "utf-8"))
    with pytest.raises(ParameterError, match="standard input is not text"):
        read_values([], is_whole=False)


@pytest.mark.parametrize(("word", "value"), [("42.0", 42), ("1e3", 1000), ("-7", -7)])
def test_a_whole_number_may_be_written_as_a_decimal(word: str, value: int) -> None:
    (found,) = read_values([word], is_whole=True)
    assert found == value
    assert isinstance(found, int)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("1.5", "not a whole number; laplace and gaussian take others"),
        ("abc", "not a number"),
        ("nan", "not a number"),
        ("1e400", "not a number"),
    ],
)
def test_only_a_number_is_sent_to_another_mechanism(word: str, said: str) -> None:
    with pytest.raises(ParameterError, match=f"value 1 of the input is {said}[.]"):
        read_values([word], is_whole=True)


@pytest.mark.parametrize("word", ["Laplace", "LAPLACE", "Discrete_Gaussian"])
def test_a_mechanism_is_found_in_capitals(word: str) -> None:
    assert mechanism_called(word) == word.lower().replace("_", "-")


def test_a_slip_in_a_name_is_answered_with_the_name(letalone: Letalone) -> None:
    rest = ("1", "--epsilon", "1", "--sensitivity", "1")
    assert "Did you mean laplace?" in letalone("noise", "laplas", *rest).err
    assert "Did you mean --epsilon?" in letalone("noise", "laplace", "--epsilom", *rest).err


def test_an_option_after_two_dashes_is_said_to_stand_there(letalone: Letalone) -> None:
    shown = letalone("noise", "laplace", "--", "1", "--epsilon", "1", "--sensitivity", "1")
    assert shown.code == 2
    assert "--epsilon stands after --" in shown.err


def test_every_option_of_noise_is_known_to_stand_wrongly_after_two_dashes() -> None:
    command: Any = cast("Any", get_command(app)).commands["noise"]
    options = {name for one in command.params for name in one.opts if name.startswith("--")}
    assert options | {"--help"} == set(ALL_OPTIONS)


@pytest.mark.parametrize(
    ("word", "remedy"),
    [
        ("abc", "'abc' is given, but it must be a number such as 0.5"),
        ("0,5", "Write a point, not a comma: 0.5"),
        ("1/3", "Write a decimal: 0.333333"),
    ],
)
def test_an_option_that_is_no_number_is_quoted_with_the_remedy(
    letalone: Letalone, word: str, remedy: str
) -> None:
    shown = letalone("noise", "laplace", "1", "--epsilon", word, "--sensitivity", "1")
    assert shown.code == 2
    assert "--epsilon" in shown.err
    assert remedy in shown.err


def test_a_confidence_close_to_1_is_not_shown_as_1(letalone: Letalone) -> None:
    words = ["noise", "laplace", "1", "--epsilon", "1", "--sensitivity", "1"]
    out = letalone(*words, "--confidence", "0.99999999").out
    assert "probability 0.99999999 or more" in out


def test_whole_numbers_of_any_size_stay_exact() -> None:
    assert read_values([str(10**30)], is_whole=True) == [10**30]


@pytest.mark.parametrize(
    "words",
    [
        f"noise laplace {SECRET}x --epsilon 1 --sensitivity 1",
        f"noise laplace 1 {SECRET}x --epsilon 1 --sensitivity 1",
        f"noise geometric {SECRET}.5 --epsilon 1 --sensitivity 1",
        f"noise {SECRET} --epsilon 1 --sensitivity 1",
        f"noise laplace {SECRET} --epsilon 0 --sensitivity 1",
        f"noise laplace {SECRET} nan --epsilon 1 --sensitivity 1",
        f"noise laplace {SECRET} --epsilon 1",
        f"noise laplace {SECRET} --wrong --epsilon 1 --sensitivity 1",
    ],
)
@pytest.mark.parametrize("json", [[], ["--json"]])
def test_no_refusal_repeats_a_value(letalone: Letalone, words: str, json: list[str]) -> None:
    shown = letalone(*words.split(), *json)
    assert shown.code == 2
    assert SECRET not in shown.out + shown.err


def test_a_value_that_is_no_number_is_counted_so_that_it_can_be_found(letalone: Letalone) -> None:
    shown = letalone("noise", "laplace", "1", "2", "x", "--epsilon", "1", "--sensitivity", "1")
    assert "value 3 of the input is not a number" in shown.err


def test_an_option_of_another_mechanism_is_refused_by_name(letalone: Letalone) -> None:
    shown = letalone("noise", "laplace", "1", "--sigma", "1", "--sensitivity", "1")
    assert "--sigma means nothing to laplace, which takes --epsilon, --scale" in shown.err


def test_the_screen_shows_answer_error_bar_and_epsilon(letalone: Letalone) -> None:
    out = letalone("noise", "geometric", "42", "--epsilon", "0.5", "--sensitivity", "1").out
    error = Geometric(epsilon=0.5, sensitivity=1).error(0.95)
    assert re.search(rf"^ *-?\d+ +± {error}\b", out, re.M)
    assert "ε = 0.5" in out
    assert "probability 0.95" in out
