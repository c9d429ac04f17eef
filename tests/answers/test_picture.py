"""Pictures: each aggregate in its field, with error bars, in the format that the name says."""

from datetime import date
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
from numpy import isnan

import letalone as la
from answers.releases import made
from letalone.answers.columns import CellKind, KeyColumn, Output
from letalone.answers.picture import draw_release
from letalone.drawing import AxisKind, SeriesStyle, to_figure, to_svg
from letalone.drawing.field import MOST_DEPTH, depths_of


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
        Output("n", "n", "", CellKind.INTEGER, (10, -5), (8, 0), (13, 4)),
        Output("m", "m", "", CellKind.NUMBER, (1.5, 2.5), (1.0, 2.0), (2.0, 4.0)),
    )
    figure = made(keys=(KeyColumn("k", CellKind.TEXT, ("A", "$B$")),), outputs=outputs).plot()
    first, second = figure.axes
    assert (first.get_title("left"), second.get_title("left")) == ("n", "m")
    bars = first.collections[0].get_segments()
    assert bars[0][:, 1].tolist() == [8, 13]
    assert bars[1][:, 1].max() == 4
    assert [label.get_text() for label in second.get_xticklabels()] == ["A", r"\$B\$"]


def test_several_numbers_of_one_aggregate_share_a_field() -> None:
    outputs = tuple(
        Output(f"q_{at}", "q", at, CellKind.INTEGER, (1, 2), (0, 1), (2, 3))
        for at in ("0.25", "0.75")
    )
    figure = made(keys=(KeyColumn("k", CellKind.TEXT, ("A", "B")),), outputs=outputs).plot()
    (field,) = figure.axes
    assert [label.get_text() for label in field.get_xticklabels()] == ["0.25", "0.75"]
    assert [text.get_text() for text in field.get_legend().get_texts()] == ["A", "B"]


def test_where_nothing_has_an_interval_there_is_nothing_to_draw() -> None:
    winners = (Output("top", "top", "", CellKind.TEXT, ("x",)),)
    with pytest.raises(la.ParameterError, match="nothing to draw"):
        made(keys=(), outputs=winners).plot()


def test_winners_stand_below_the_axis_by_their_names() -> None:
    outputs = tuple(
        output
        for rank, name in (("1", "Cardiology"), ("2", "Surgery"))
        for output in (
            Output(f"t_{rank}", "t", rank, CellKind.TEXT, (name,)),
            Output(f"t_{rank}_count", "t", rank, CellKind.INTEGER, (9,), (8,), (10,)),
        )
    )
    (field,) = made(keys=(), outputs=outputs).plot().axes
    assert [label.get_text() for label in field.get_xticklabels()] == ["Cardiology", "Surgery"]
    assert field.get_title("left") == "t (count)"


def test_thirty_labels_do_not_overlap() -> None:
    names = tuple(f"Ward number {number}" for number in range(30))
    outputs = (Output("n", "n", "", CellKind.INTEGER, (50,) * 30, (40,) * 30, (60,) * 30),)
    figure = made(keys=(KeyColumn("ward", CellKind.TEXT, names),), outputs=outputs).plot()
    figure.draw_without_rendering()
    (field,) = figure.axes
    labels = field.get_yticklabels()
    assert [label.get_text() for label in labels] == list(names)
    boxes = [label.get_window_extent() for label in labels]
    assert not any(one.overlaps(other) for one, other in pairwise(boxes))
    assert field.get_title("left") == "n"
    assert field.get_xlim()[0] == 0


def test_an_axis_starts_at_zero_unless_something_lies_below() -> None:
    for low, start in ((40, True), (-40, False)):
        output = Output("n", "n", "", CellKind.INTEGER, (50,), (low,), (60,))
        (field,) = made(keys=(), outputs=(output,)).plot().axes
        assert bool(field.get_ylim()[0] == 0) is start


def test_a_histogram_has_bars_and_a_value_is_drawn_inside_its_interval() -> None:
    outputs = tuple(
        Output(f"ages_{at}", "ages", at, CellKind.INTEGER, (value,), (0,), (9,))
        for at, value in (("[0, 10)", 5), ("[10, 20]", -3))
    )
    (field,) = to_figure(draw_release((), outputs, title="")).axes
    assert [bar.get_height() for bar in field.patches] == [5, 0]
    assert field.get_ylim()[0] == 0


def test_a_group_without_a_value_is_drawn_nowhere() -> None:
    output = Output("m", "m", "", CellKind.NUMBER, (1.0, None), (0.5, None), (2.0, None))
    figure = made(keys=(KeyColumn("k", CellKind.TEXT, ("A", "B")),), outputs=(output,)).plot()
    (field,) = figure.axes
    first, second = field.lines[0].get_ydata()
    assert first == 1.0
    assert isnan(second)
    bars = [bar for bar in field.collections[0].get_segments() if len(bar)]
    assert [bar[0, 0] for bar in bars if not isnan(bar).any()] == [0], "only A has a bar"
    assert [label.get_text() for label in field.get_xticklabels()] == ["A", "B"]
    assert 2.0 < field.get_ylim()[1] < 3.0


def test_the_title_says_what_was_asked_and_at_which_price() -> None:
    plan = {"aggregates": [["n", {"node": "Count"}], ["m", {"node": "Mean", "of": {"name": "c"}}]]}
    output = Output("n", "n", "", CellKind.INTEGER, (1,), (0,), (2,))
    figure = made(
        plan=plan, keys=(KeyColumn("k", CellKind.TEXT, ("A",)),), outputs=(output,)
    ).plot()
    asked, price = figure.get_suptitle().split("\n")
    assert asked == "count and mean of c by k (visits)"
    assert price == "ε = 0.5, add or remove one patient; bars at 95 %"


def test_a_histogram_for_each_group_has_its_bars_side_by_side() -> None:
    outputs = tuple(
        Output(f"h_{at}", "h", at, CellKind.INTEGER, (4, 6), (3, 5), (5, 7))
        for at in ("[0, 1)", "[1, 2]")
    )
    figure = made(keys=(KeyColumn("k", CellKind.TEXT, ("A", "B")),), outputs=outputs).plot()
    (field,) = figure.axes
    spans = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in field.patches)
    assert len(spans) == 4
    assert all(end <= start + 1e-9 for (_, end), (start, _) in pairwise(spans)), "none overlap"


def test_counts_of_ranges_are_bars_and_means_of_ranges_are_not() -> None:
    keys = (KeyColumn("age", CellKind.TEXT, ("[0, 10)", "[10, 20]")),)
    for kind, bars in ((CellKind.INTEGER, 2), (CellKind.NUMBER, 0)):
        output = Output("n", "n", "", kind, (4, 6), (3, 5), (5, 7))
        (field,) = made(keys=keys, outputs=(output,)).plot().axes
        assert len(field.patches) == bars


def test_what_is_left_out_of_a_picture_is_said() -> None:
    names = tuple(f"W{number}" for number in range(70))
    keys = (KeyColumn("ward", CellKind.TEXT, names),)
    one = Output("n", "n", "", CellKind.INTEGER, (5,) * 70, (4,) * 70, (6,) * 70)
    (field,) = made(keys=keys, outputs=(one,)).plot().axes
    assert field.get_title("left") == "n (the first 60 of 70)"
    several = tuple(
        Output(f"q_{at}", "q", at, CellKind.INTEGER, one.values, one.low, one.high) for at in "12"
    )
    (field,) = made(keys=keys, outputs=several).plot().axes
    assert field.get_legend().get_title().get_text() == "(the first 8 of 70)"


@pytest.mark.few("5")
@pytest.mark.parametrize("number", [1, 3, 5, 8])
def test_no_title_and_no_label_is_cut_off_or_overlaps(number: int) -> None:
    """Names of fifty letters; the title names all aggregates."""
    names = [f"average_of_the_{word}_of_patients_in_the_hospital" for word in "abcdefgh"[:number]]
    outputs = tuple(
        Output(n, n, "", CellKind.NUMBER, (1e6,) * 5, (0,) * 5, (2e6,) * 5) for n in names
    )
    keys = (KeyColumn("ward", CellKind.TEXT, tuple(f"Cardiology {at}" for at in range(5))),)
    plan = {"aggregates": [[n, {"node": "Mean", "of": {"name": n}}] for n in names]}
    figure = made(plan=plan, keys=keys, outputs=outputs).plot()
    figure.draw_without_rendering()
    whole = figure.bbox
    texts = [figure._suptitle, *(place._left_title for place in figure.axes)]
    boxes = [text.get_window_extent() for text in texts]
    assert len(boxes) == number + 1
    assert all(box.x0 >= 0 and box.x1 <= whole.x1 and box.y1 <= whole.y1 for box in boxes)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    for place in figure.axes:
        labels = [label.get_window_extent() for label in place.get_xticklabels()]
        labels = labels if not place.yaxis_inverted() else []
        assert not any(one.overlaps(other) for one, other in pairwise(labels))


def test_an_unknown_number_is_a_grey_line_without_a_point() -> None:
    output = Output("m", "m", "", CellKind.NUMBER, (1.0, None), (0.5, 0.0), (2.0, 9.0))
    figure = made(keys=(KeyColumn("k", CellKind.TEXT, ("A", "B")),), outputs=(output,)).plot()
    (field,) = figure.axes
    assert isnan(field.lines[0].get_ydata()[1])
    (line,) = field.collections[-1].get_segments()
    assert line.tolist() == [[1.0, 0.0], [1.0, 9.0]]
    assert field.get_title("left") == "m (grey: unknown)"


def test_a_notebook_shows_the_chart_below_the_table_where_there_are_groups() -> None:
    html = made()._repr_html_()
    assert html.index("</table>") < html.index("<svg")
    assert "prefers-color-scheme:dark" in html
    one = Output("n", "n", "", CellKind.INTEGER, (1,), (0,), (2,))
    assert "<svg" not in made(keys=(), outputs=(one,))._repr_html_()


def test_a_notebook_shows_a_release_in_which_nothing_can_be_drawn() -> None:
    """No group is left, or nothing is known of any."""
    keys = KeyColumn("k", CellKind.TEXT, ())
    empty = made(keys=(keys,), outputs=(Output("n", "n", "", CellKind.INTEGER, (), (), ()),))
    unknown = Output("m", "m", "", CellKind.NUMBER, (None,), (None,), (None,))
    nothing = made(keys=(KeyColumn("k", CellKind.TEXT, ("A",)),), outputs=(unknown,))
    for release in (empty, nothing):
        html = release._repr_html_()
        assert "<table>" in html
        assert "<svg" not in html


MONTHS = tuple(date(2023 + place // 12, place % 12 + 1, 1) for place in range(25))


def counted(*values: int | None) -> Output:
    low, high = (
        tuple(None if value is None else value + way for value in values) for way in (-5, 5)
    )
    return Output("n", "n", "", CellKind.INTEGER, values, low, high)


@pytest.mark.parametrize(
    ("kind", "name", "cells"),
    [
        (CellKind.DATE, "month", MONTHS),
        (CellKind.TEXT, "month", tuple(f"{month:%Y-%m}" for month in MONTHS)),
        (CellKind.INTEGER, "year", tuple(range(2000, 2025))),
    ],
)
def test_groups_in_time_are_a_line_at_their_moments(
    kind: CellKind, name: str, cells: tuple[Any, ...]
) -> None:
    keys = (KeyColumn(name, kind, cells),)
    (chart,) = draw_release(keys, (counted(*range(25)),), title="").charts
    (line,) = chart.series
    assert (chart.across.kind, line.style) == (AxisKind.MOMENTS, SeriesStyle.JOINED)
    assert line.ys == tuple(range(25))
    assert list(line.xs) == sorted(line.xs)
    assert (line.low[0], line.high[0]) == (-5, 5), "error bars stay"
    figure = to_figure(chart)
    (field,) = figure.axes
    assert field.get_ylim()[0] <= 0


def test_a_second_column_makes_a_line_each_and_an_unsorted_answer_is_sorted() -> None:
    keys = (
        KeyColumn("day", CellKind.DATE, (*MONTHS[2::-1], *MONTHS[:3])),
        KeyColumn("ward", CellKind.TEXT, ("A",) * 3 + ("B",) * 3),
    )
    (chart,) = draw_release(keys, (counted(3, 2, 1, 7, None, 9),), title="").charts
    first, second = chart.series
    assert (first.label, first.ys) == ("A", (1, 2, 3))
    assert (second.label, second.ys[0], second.ys[2]) == ("B", 7, 9)
    assert isnan(second.ys[1])


@pytest.mark.parametrize("cells", [("2023-13", "2023-01", "2023-02"), (1, 2, 3)])
def test_what_only_looks_like_time_is_drawn_by_name(cells: tuple[Any, ...]) -> None:
    kind = CellKind.TEXT if isinstance(cells[0], str) else CellKind.INTEGER
    (chart,) = draw_release((KeyColumn("year", kind, cells),), (counted(1, 2, 3),), title="").charts
    assert chart.across.kind is AxisKind.NAMES


def pairs(wards: int, ages: int) -> tuple[KeyColumn, KeyColumn]:
    each = [(f"Ward number {ward}", f"{age}0") for ward in range(wards) for age in range(ages)]
    first, second = zip(*each, strict=True)
    return KeyColumn("ward", CellKind.TEXT, first), KeyColumn("age", CellKind.TEXT, second)


def test_many_pairs_of_groups_are_a_heat_map_with_a_field_for_each() -> None:
    values = [*range(11), None]
    (chart,) = draw_release(pairs(3, 4), (counted(*values),), title="").charts
    (fields,) = chart.series
    assert chart.is_heat_map
    assert (chart.across.name, chart.up.name) == ("age", "ward"), "the shorter names are across"
    assert (fields.xs[0], fields.ys[0]) == (0, 2), "the first group is on top"
    assert chart.up.names[2] == "Ward number 0"
    assert fields.words[5] == "Ward number 1, 10: 5 [0, 10]"
    assert fields.texts[-1] == "?"
    assert chart.note == "Darker is more. The ranges are up to 10 wide. Grey: unknown."


def test_a_field_is_the_darker_the_more_and_letters_on_it_can_be_read() -> None:
    (chart,) = draw_release(pairs(3, 3), (counted(*range(9)),), title="").charts
    depths = depths_of(chart.series[0])
    assert depths == sorted(depths)
    assert depths[-1] == MOST_DEPTH < 0.6
    svg = to_svg(chart)
    assert svg.count('fill-opacity="') == 9
    assert "<title>Ward number 2, 20: 8 [3, 13]</title>" in svg
    (field,) = to_figure(chart).axes
    assert [label.get_text() for label in field.get_xticklabels()] == ["00", "10", "20"]


def test_few_pairs_and_too_many_are_drawn_by_name() -> None:
    for wards, ages in ((2, 2), (2, 60)):
        outputs = (counted(*range(wards * ages)),)
        (chart,) = draw_release(pairs(wards, ages), outputs, title="").charts
        assert not chart.is_heat_map
