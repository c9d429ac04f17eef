"""The slider shows prices that cost nothing, asks once, and hands nothing private to a browser."""

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import letalone as la
from letalone import notebook
from letalone.notebook import epsilon_slider
from letalone.notebook.epsilon_slider import AskingState, epsilon_steps

SECRET = "Geheimrat"  # the name of a person in the table
FRAME = pd.DataFrame({"person": [SECRET, "b", "c"] * 30, "ward": ["A", "B", "C"] * 30})
FOLDER = Path(epsilon_slider.__file__).parent


def made(budget: float = 2, **options: Any) -> tuple[la.Session, Any]:
    table = la.open(FRAME, unit="person", budget=budget)
    question = table.group_by("ward", keys=["A", "B", "C"]).agg(n=la.count())
    return table, la.EpsilonSlider(question.bound(max_rows=10), **options)


def press(slider: Any, price: object) -> None:
    """What a browser sends when the button is pressed."""
    slider._handle_custom_msg({"pressed": price}, [])


def test_moving_the_slider_shows_smaller_errors_for_more_and_spends_nothing() -> None:
    table, slider = made()
    errors: list[float] = []
    for place in range(len(slider.epsilons)):
        slider.place = place
        (name, words) = slider.shown["errors"][0]
        assert (name, words[:2]) == ("n", "± ")
        assert slider.shown["price"] == f"ε = {slider.epsilon:g}"
        errors.append(float(words[2:].replace(",", "")))
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 10 * errors[-1]
    assert table.spent.epsilon == 0
    assert table.ledger.data_set("data").releases == 0


def test_a_press_is_charged_once_at_the_price_on_the_button() -> None:
    table, slider = made()
    slider.place = slider.epsilons.index(0.3)
    press(slider, "ε = 0.3")
    first = slider.answer
    for _ in range(2):  # an impatient person
        press(slider, "ε = 0.3")
    assert slider.answer is first  # not even asked again, which would be free
    assert table.spent.epsilon == pytest.approx(0.3)
    assert (slider.state, slider.answered["words"]) == (AskingState.ANSWERED, "")
    assert "<table>" in slider.answered["html"]
    assert "about ε = 1.7 of" in slider.shown["left"]
    assert [row["ward"] for row in slider.answer.rows()] == ["A", "B", "C"]


def test_the_next_price_can_be_asked_for_after_the_slider_has_moved() -> None:
    table, slider = made()
    press(slider, slider.shown["price"])
    slider.place = slider.epsilons.index(0.3)
    assert slider.state == AskingState.READY
    press(slider, slider.shown["price"])
    assert table.spent.epsilon == pytest.approx(0.8)


@pytest.mark.parametrize("sent", ["ε = 0.01", "", None, 0.5, {"price": "ε = 0.5"}])
def test_a_price_that_is_not_shown_is_not_charged(sent: object) -> None:
    table, slider = made()
    press(slider, sent)
    slider._handle_custom_msg(sent, [])
    assert (table.spent.epsilon, slider.state) == (0, AskingState.READY)


def test_what_does_not_fit_says_so_before_and_after_a_press_and_costs_nothing() -> None:
    table, slider = made(budget=0.6)
    press(slider, slider.shown["price"])
    slider.place = slider.epsilons.index(0.4)
    assert slider.shown["fits"] is False
    press(slider, slider.shown["price"])
    assert slider.state == AskingState.REFUSED
    assert "does not fit into the budget" in slider.answered["words"]
    assert table.spent.epsilon == pytest.approx(0.5)


def test_nothing_of_the_rows_is_handed_to_a_browser() -> None:
    _, slider = made()
    press(slider, slider.shown["price"])
    sent = {name: value for name, value in slider.get_state().items() if name[0] != "_"}
    assert SECRET not in json.dumps(sent, default=str)
    assert set(sent) - {"layout", "tabbable", "tooltip"} == {
        "epsilons", "place", "shown", "state", "answered"
    }  # fmt: skip


def test_a_place_beyond_the_scale_is_its_end() -> None:
    _, slider = made()
    slider.place = 10**6
    assert slider.epsilon == max(slider.epsilons) == 2  # the whole budget
    slider.place = -5
    assert slider.epsilon == min(slider.epsilons) == 0.01


def test_the_scale_holds_round_numbers_and_the_one_asked_for() -> None:
    assert epsilon_steps(0.7, 1.0)[-4:] == [0.6, 0.7, 0.8, 1.0]
    for wrong in (0, -1, 11, float("nan")):
        with pytest.raises(la.ParameterError, match="a slider goes from above 0 to 10"):
            epsilon_steps(wrong, 1.0)


def test_the_script_loads_nothing_and_writes_html_in_one_place_only() -> None:
    script = (FOLDER / "epsilon_slider.js").read_text("utf-8")
    style = (FOLDER / "epsilon_slider.css").read_text("utf-8")
    for word in ("fetch", "XMLHttpRequest", "WebSocket", "import(", "import ", "://", "eval"):
        assert word not in script
        assert word not in style
    assert "url(" not in style
    assert script.count("innerHTML") == 1


def test_without_anywidget_the_message_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "letalone.notebook.epsilon_slider")
    with pytest.raises(la.ParameterError, match=r"needs anywidget.*pip install .*\[widget\]'"):
        notebook.EpsilonSlider  # noqa: B018
