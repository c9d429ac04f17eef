"""An estimate keeps its three numbers together and prints them."""

import numpy as np
import pytest

from letalone.answers.estimate import Estimate
from letalone.errors import ParameterError


def test_an_estimate_prints_its_value_interval_and_confidence():
    assert repr(Estimate(-0.02, 0.0, 0.11, 0.95)) == "Estimate(-0.02 [0, 0.11] at 95 % confidence)"
    both = Estimate(np.array([0.2, 0.8]), np.array([0.1, 0.7]), np.array([0.3, 0.9]), 0.9)
    assert repr(both) == "Estimate(0.2 [0.1, 0.3]; 0.8 [0.7, 0.9] at 90 % confidence)"


def test_estimates_of_equal_numbers_are_equal_and_hash_alike():
    def make(high):
        return Estimate(np.array([0.2]), np.array([0.1]), np.array([high]), 0.9)

    assert make(0.3) == make(0.3)
    assert hash(make(0.3)) == hash(make(0.3))
    assert make(0.3) != make(0.4)
    assert make(0.3) != "an estimate"


@pytest.mark.parametrize("confidence", [0, 1, 95, float("nan")])
def test_a_confidence_outside_of_0_to_1_is_refused(confidence):
    with pytest.raises(ParameterError, match=r"confidence is .* but must be"):
        Estimate(0.5, 0.4, 0.6, confidence)


def test_ends_in_the_wrong_order_or_shape_are_refused():
    with pytest.raises(ParameterError, match="low is above high"):
        Estimate(0.5, 0.6, 0.4, 0.95)
    with pytest.raises(ParameterError, match=r"shapes of value \(2,\), low \(\)"):
        Estimate(np.zeros(2), 0.0, np.ones(2), 0.95)


def test_an_estimate_cannot_be_changed():
    with pytest.raises(AttributeError):
        Estimate(0.5, 0.4, 0.6, 0.95).value = 1.0


def test_the_interval_is_never_printed_narrower_than_it_is():
    assert "[0.1234, 0.8766]" in repr(Estimate(0.5, 0.12349, 0.87651, 0.95))
    assert "[-0.1235, -0.1233]" in repr(Estimate(0.5, -0.12341, -0.12339, 0.95))
    assert "[-inf, inf]" in repr(Estimate(0.5, -float("inf"), float("inf"), 0.95))


def shares():
    value, low, high = (np.array(part) for part in ([0.2, -0.1], [0.1, 0.0], [0.3, 0.05]))
    return Estimate(value, low, high, 0.9, labels=("tea", "no <b> tea"))


def test_an_estimate_with_labels_is_a_table_with_a_row_for_each():
    first, second = shares().rows()
    assert first == {"label": "tea", "value": 0.2, "low": 0.1, "high": 0.3}
    assert second["label"] == "no <b> tea"
    assert second["value"] == -0.1, "unbiased: not cut"
    for frame in (shares().to_pandas(), shares().to_polars()):
        assert list(frame.columns) == ["label", "value", "low", "high"]
        assert frame["high"].to_list() == [0.3, 0.05]
    assert shares().to_arrow().column_names == ["label", "value", "low", "high"]
    assert repr(shares()).startswith("Estimate(tea: 0.2 [0.1, 0.3]; no <b> tea: -0.1 [")


def test_what_has_no_labels_is_counted_and_a_single_number_has_no_name():
    plain = Estimate(np.zeros(2), np.zeros(2), np.ones(2), 0.9)
    assert [row["label"] for row in plain.rows()] == [0, 1]
    assert Estimate(0.5, 0.4, 0.6, 0.9).rows() == [{"value": 0.5, "low": 0.4, "high": 0.6}]
    both = Estimate(np.zeros((2, 2)), np.zeros((2, 2)), np.ones((2, 2)), 0.9, labels=("a", "b"))
    found = [(row["answer"], row["label"]) for row in both.rows()]
    assert found == [(0, "a"), (0, "b"), (1, "a"), (1, "b")]
    mixed = Estimate(np.zeros(2), np.zeros(2), np.ones(2), 0.9, labels=(1, "b"))
    assert [row["label"] for row in mixed.rows()] == ["1", "b"]


def test_a_notebook_shows_the_table_and_a_chart_with_every_word_escaped():
    shown = shares()._repr_html_()
    assert "<td>tea</td><td>0.20 [0.10, 0.30]</td>" in shown
    assert "<svg" in shown
    assert "<b>" not in shown
    assert "90 % range" in shown
    drawn = shares()._repr_svg_()
    assert "tea" in drawn
    assert "<b>" not in drawn
    none = np.zeros(0)
    assert Estimate(none, none, none, 0.9, labels=())._repr_svg_() is None
    assert "<svg" not in Estimate(0.5, 0.4, 0.6, 0.9)._repr_html_(), "one number is no chart"


def test_a_chart_is_written_where_it_is_asked_for(tmp_path):
    shares().plot(tmp_path / "tea.svg")
    assert "tea" in (tmp_path / "tea.svg").read_text()


def test_labels_that_do_not_fit_are_refused_and_differ():
    with pytest.raises(ParameterError, match=r"There are 1 labels for values of the shape \(2,\)"):
        Estimate(np.zeros(2), np.zeros(2), np.ones(2), 0.9, labels=("a",))
    with pytest.raises(ParameterError, match="1 labels"):
        Estimate(0.5, 0.4, 0.6, 0.9, labels=("a",))
    plain = Estimate(shares().value, shares().low, shares().high, 0.9)
    assert plain != shares()


def test_many_labels_are_cut_in_words_and_all_in_rows():
    many = Estimate(np.zeros(500), np.zeros(500), np.ones(500), 0.9)
    assert "… and 476 more, see .rows()" in repr(many)
    assert len(many.rows()) == 500
