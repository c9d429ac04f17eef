"""`letalone explain`: the pictures and sentences agree with the theorems."""

import re
from collections.abc import Callable
from math import e, exp, log, log10
from pathlib import Path

import pytest

from letalone.answers.promise import best_guess, most_caught
from letalone.cli.noise import noise_commands
from letalone.cli.noise.explain_epsilon import COLUMNS, ROWS, factor, picture
from letalone.cli.noise.explain_error import (
    BAR,
    DIMENSIONS,
    MISSES,
    PEOPLE,
    THEOREMS,
    ErrorComparison,
    dimensions,
    shortfall,
    survey,
    tail,
    total,
)
from letalone.cli.noise.noise_commands import ErrorOptions
from letalone.errors.installing import how_to_install
from letalone.mechanisms import utility
from letalone.privacy import ApproxDP, GaussianDP, PureDP

Letalone = Callable[..., "object"]


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3, 20, 700])
def test_the_best_guess_is_the_logistic_of_epsilon_and_never_below_it(epsilon: float) -> None:
    truth = 1 / (1 + exp(-epsilon))
    assert truth <= best_guess(PureDP(epsilon)) <= truth + 1e-12


def test_the_best_guess_of_gaussian_noise_is_the_normal_law() -> None:
    """At even odds the best test of N(0,1) against N(mu,1) is right Phi(mu/2) of the time."""
    assert best_guess(GaussianDP(1)) == pytest.approx(0.6914624612740131, abs=1e-12)


def test_a_test_with_5_percent_false_alarms_finds_e_to_the_epsilon_times_as_many() -> None:
    assert most_caught(PureDP(1), 0.05) == pytest.approx(0.05 * e, abs=1e-12)
    assert most_caught(ApproxDP(1, 0.01), 0.05) == pytest.approx(0.05 * e + 0.01, abs=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "shown"), [(0.1, "1.11"), (1, "2.72"), (3, "20.09"), (800, "10^348")]
)
def test_the_factor_is_rounded_up(epsilon: float, shown: str) -> None:
    assert factor(epsilon) == shown


def shaded(epsilon: float) -> int:
    return "\n".join(picture(PureDP(epsilon))).count("░") - 1  # one stands in the legend


def test_the_picture_shades_what_is_out_of_reach_and_less_of_it_for_larger_epsilon() -> None:
    areas = [shaded(epsilon) for epsilon in (0.001, 0.5, 1, 2, 4, 20)]
    assert areas == sorted(areas, reverse=True)
    below_diagonal = ROWS * COLUMNS / 2
    assert 0.85 * below_diagonal < areas[0] <= below_diagonal
    assert areas[-1] == 0
    # The area under the pure trade-off curve is e^-eps/(1 + e^-eps) of the square.
    assert areas[2] / (ROWS * COLUMNS) == pytest.approx(1 / (1 + e), abs=0.03)


def test_the_screen_names_the_numbers(letalone: Letalone) -> None:
    out = letalone("explain", "epsilon", "1").out
    assert "2.72 times as likely" in out
    assert "73.2 %" in out
    assert "13.6 %" in out
    assert "δ" not in out
    assert "δ = 1e-6" in letalone("explain", "epsilon", "1", "--delta", "1e-6").out


def test_the_numbers_are_those_of_the_utility_theorems() -> None:
    setting = ErrorOptions(epsilon=0.5, delta=1e-6, people=10_000)
    for people, first, second in survey(setting).points:
        assert first == utility.randomized_response_mean_error(people, epsilon=0.5)
        assert second == utility.laplace_mean_error(people, epsilon=0.5)
    for dimension, first, second in dimensions(setting).points:
        assert first == utility.laplace_vector_mean_error(dimension, n=10_000, epsilon=0.5)
        assert second == utility.gaussian_mean_error(dimension, n=10_000, epsilon=0.5, delta=1e-6)


def test_the_errors_of_many_answers_and_of_a_choice_are_those_of_the_theorems() -> None:
    setting = ErrorOptions(epsilon=0.5, delta=1e-6, people=10_000)
    for size, mean in total(setting).points:
        assert mean == utility.laplace_l1_error(size, sensitivity=1, epsilon=0.5) == size / 0.5
    beta = dict(zip((1, 2), MISSES.values(), strict=True))
    for point in tail(setting).points:
        for column, miss in beta.items():
            assert point[column] == pytest.approx(log(point[0] / miss) / 0.5)
    for point in shortfall(setting).points:
        for column, miss in beta.items():
            assert point[column] == pytest.approx(2 * log(point[0] / miss) / 0.5)


@pytest.mark.parametrize("name", THEOREMS)
def test_each_theorem_has_a_screen_that_names_its_measure(letalone: Letalone, name: str) -> None:
    shown = letalone("explain", "error", "--theorem", name)
    assert shown.code == 0, shown.err
    assert len(shown.out.splitlines()) < 25
    assert shown.out.count("█") > 5
    (found,) = letalone("explain", "error", "--theorem", name, "--json").json()["comparisons"]
    assert found["theorem"] == name
    assert found["measure"]
    assert all(len(point) == 1 + len(found["columns"]) for point in found["points"])


def test_the_help_lists_the_theorems_that_there_are() -> None:
    assert tuple(THEOREMS) == noise_commands.THEOREMS


def test_a_theorem_that_is_not_there_is_refused_with_those_that_are(letalone: Letalone) -> None:
    shown = letalone("explain", "error", "--theorem", "tial")
    assert shown.code == 2
    assert "one of: total, tail, shortfall, survey, dimensions. Did you mean tail?" in shown.err


def conclusion(compared: ErrorComparison) -> tuple[str, float]:
    """Who is said to be closer at the end, and by what factor."""
    said = compared.conclusion
    who = re.search(r", ([A-Z][\w ]+) from ", said) or re.search(r"^([A-Z][\w ]+) is closer", said)
    factor = re.search(r"by a factor of ([\d.,e]+)[.]", said)
    assert who is not None
    assert factor is not None
    return who[1], float(factor[1].replace(",", ""))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0, 30.0, 900.0])
@pytest.mark.parametrize("people", [1, 10_000])
def test_the_conclusion_is_the_one_that_the_numbers_allow(epsilon: float, people: int) -> None:
    setting = ErrorOptions(epsilon=epsilon, delta=1e-6, people=people)
    for compared in (survey(setting), dimensions(setting)):
        _, first, second = compared.points[-1]
        who, factor = conclusion(compared)
        closer = compared.columns[0] if first <= second else compared.columns[1]
        assert who.lower().removesuffix(" noise") == closer.lower()
        assert factor == pytest.approx(max(first / second, second / first), rel=0.1)
        for number, one, other in compared.points:
            if f"up to {compared.over} = {number:,}," in compared.conclusion:
                assert one <= other
            if f"from {compared.over} = {number:,} on" in compared.conclusion:
                assert one > other
        everywhere = len({one <= other for _, one, other in compared.points}) == 1
        assert everywhere == (f"at every {compared.over} here" in compared.conclusion)


def test_the_measure_is_named_and_one_vector_is_one(letalone: Letalone) -> None:
    assert letalone("explain", "error").out.count("Root-mean-square error") == 2
    assert " 1 vector of" in letalone("explain", "error", "--people", "1").out


def slope(points: list[tuple[float, float]]) -> float:
    (first, least), (last, most) = points[0], points[-1]
    return log10(most / least) / log10(last / first)


def test_the_drawing_has_the_slopes_of_the_theorems() -> None:
    """Minus a half and minus one over n; one and a half over d."""
    setting = ErrorOptions(epsilon=1.0, delta=1e-6, people=10_000)
    people, dimension = survey(setting).points, dimensions(setting).points
    assert [point[0] for point in people] == list(PEOPLE)
    assert [point[0] for point in dimension] == list(DIMENSIONS)
    assert slope([(n, first) for n, first, _ in people]) == pytest.approx(-0.5)
    assert slope([(n, second) for n, _, second in people]) == pytest.approx(-1)
    assert slope([(d, first) for d, first, _ in dimension]) == pytest.approx(1)
    assert slope([(d, second) for d, _, second in dimension]) == pytest.approx(0.5)


def test_a_longer_bar_means_a_larger_error(letalone: Letalone) -> None:
    lines = letalone("explain", "error").out.splitlines()
    found = [re.findall(r"([\d.e-]+) +(█+)", line) for line in lines if "█" in line]
    drawn = [(float(error), len(bar)) for pair in found[: len(PEOPLE)] for error, bar in pair]
    assert len(drawn) == 2 * len(PEOPLE)
    lengths = [length for _, length in sorted(drawn)]
    assert lengths == sorted(lengths)
    assert lengths[0] == 1
    assert lengths[-1] == BAR


@pytest.mark.few("a.svg")
@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")]
)
def test_the_plot_is_written_in_the_named_format(
    letalone: Letalone, tmp_path: Path, name: str, start: bytes
) -> None:
    shown = letalone("explain", "error", "--plot", str(tmp_path / name))
    assert shown.code == 0, shown.err
    assert (tmp_path / name).read_bytes().startswith(start)
    assert name in shown.out.replace("\n", "")


@pytest.mark.long
@pytest.mark.parametrize("theorem", THEOREMS)
def test_every_theorem_can_be_drawn(letalone: Letalone, tmp_path: Path, theorem: str) -> None:
    path = tmp_path / f"{theorem}.svg"
    assert letalone("explain", "error", "--theorem", theorem, "--plot", str(path)).code == 0
    assert path.stat().st_size > 5000


@pytest.mark.long  # audit and answers refuse the same place
def test_a_plot_into_a_missing_folder_is_an_error_with_its_name(
    letalone: Letalone, tmp_path: Path
) -> None:
    shown = letalone("explain", "error", "--plot", str(tmp_path / "no" / "a.svg"))
    assert shown.code == 1
    assert "a.svg" in shown.err.replace("\n", "")


def test_without_matplotlib_the_remedy_is_named(
    letalone: Letalone, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("letalone.drawing.figure.find_spec", lambda _: None)
    assert letalone("explain", "error", "--plot", str(tmp_path / "a.svg")).code == 0
    shown = letalone("explain", "error", "--plot", str(tmp_path / "a.png"))
    assert shown.code == 2
    assert how_to_install("plot") in shown.err
