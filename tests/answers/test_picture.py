"""Pictures: each aggregate in its field, with error bars, in the format that the name says."""

from itertools import pairwise
from pathlib import Path

import pytest

import letalone as la
from answers.releases import made
from letalone.answers.columns import KeyColumn, Kind, Output
from letalone.answers.picture import draw


def test_a_picture_is_written_by_its_suffix(tmp_path: Path) -> None:
    release = made()
    starts = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}
    for suffix, start in starts.items():
        path = tmp_path / f"x{suffix}"
        release.plot(path)
        assert path.read_bytes().startswith(start)
    with pytest.raises(la.ParameterError, match=r"must end in .svg, .png, .pdf"):
        release.plot(tmp_path / "x.bmp")


def test_bars_reach_from_low_to_high() -> None:
    outputs = (
        Output("n", "n", "", Kind.INTEGER, (10, -5), (8, 0), (13, 4)),
        Output("m", "m", "", Kind.NUMBER, (1.5, 2.5), (1.0, 2.0), (2.0, 4.0)),
    )
    figure = made(keys=(KeyColumn("k", Kind.TEXT, ("A", "$B$")),), outputs=outputs).plot()
    first, second = figure.axes
    assert (first.get_ylabel(), second.get_ylabel()) == ("n", "m")
    bars = first.collections[0].get_segments()
    assert bars[0][:, 1].tolist() == [8, 13]
    assert bars[1][:, 1].max() == 4
    assert [label.get_text() for label in second.get_xticklabels()] == ["A", r"\$B\$"]


def test_several_numbers_of_one_aggregate_share_a_field() -> None:
    outputs = tuple(
        Output(f"q_{at}", "q", at, Kind.INTEGER, (1, 2), (0, 1), (2, 3)) for at in ("0.25", "0.75")
    )
    figure = made(keys=(KeyColumn("k", Kind.TEXT, ("A", "B")),), outputs=outputs).plot()
    (field,) = figure.axes
    assert [label.get_text() for label in field.get_xticklabels()] == ["0.25", "0.75"]
    assert [text.get_text() for text in field.get_legend().get_texts()] == ["A", "B"]


def test_where_nothing_has_an_interval_there_is_nothing_to_draw() -> None:
    winners = (Output("top", "top", "", Kind.TEXT, ("x",)),)
    with pytest.raises(la.ParameterError, match="nothing to draw"):
        made(keys=(), outputs=winners).plot()


def test_winners_stand_below_the_axis_by_their_names() -> None:
    outputs = tuple(
        output
        for rank, name in (("1", "Cardiology"), ("2", "Surgery"))
        for output in (
            Output(f"t_{rank}", "t", rank, Kind.TEXT, (name,)),
            Output(f"t_{rank}_count", "t", rank, Kind.INTEGER, (9,), (8,), (10,)),
        )
    )
    (field,) = made(keys=(), outputs=outputs).plot().axes
    assert [label.get_text() for label in field.get_xticklabels()] == ["Cardiology", "Surgery"]
    assert field.get_ylabel() == "t (count)"


def test_thirty_labels_do_not_overlap() -> None:
    names = tuple(f"Ward number {number}" for number in range(30))
    outputs = (Output("n", "n", "", Kind.INTEGER, (50,) * 30, (40,) * 30, (60,) * 30),)
    figure = made(keys=(KeyColumn("ward", Kind.TEXT, names),), outputs=outputs).plot()
    figure.draw_without_rendering()
    (field,) = figure.axes
    labels = field.get_yticklabels()
    assert [label.get_text() for label in labels] == list(names)
    boxes = [label.get_window_extent() for label in labels]
    assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    assert field.get_xlabel() == "n"
    assert field.get_xlim()[0] == 0


def test_an_axis_starts_at_zero_unless_something_lies_below() -> None:
    for low, start in ((40, True), (-40, False)):
        output = Output("n", "n", "", Kind.INTEGER, (50,), (low,), (60,))
        (field,) = made(keys=(), outputs=(output,)).plot().axes
        assert bool(field.get_ylim()[0] == 0) is start


def test_a_histogram_has_bars_and_a_value_is_drawn_inside_its_interval() -> None:
    outputs = tuple(
        Output(f"ages_{at}", "ages", at, Kind.INTEGER, (value,), (0,), (9,))
        for at, value in (("[0, 10)", 5), ("[10, 20]", -3))
    )
    (field,) = draw((), outputs, title="").axes
    assert [bar.get_height() for bar in field.patches] == [5, 0]


def test_a_group_without_a_value_is_drawn_nowhere() -> None:
    output = Output("m", "m", "", Kind.NUMBER, (1.0, None), (0.5, None), (2.0, None))
    figure = made(keys=(KeyColumn("k", Kind.TEXT, ("A", "B")),), outputs=(output,)).plot()
    figure.draw_without_rendering()
