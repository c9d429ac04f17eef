"""Charts by matplotlib: the same data, and files by their suffix; an .svg needs no matplotlib."""

from pathlib import Path

import pytest

from letalone.drawing import (
    AxisKind,
    Chart,
    ChartAxis,
    ChartMark,
    Series,
    SeriesStyle,
    Sheet,
    figure,
    plot,
    to_figure,
)
from letalone.errors import ParameterError

XS, YS = (1.0, 10.0, 100.0), (0.5, 5.0, 50.0)
FACTORS = ChartAxis("n", AxisKind.FACTORS)


def test_every_style_is_drawn_with_its_numbers_and_its_name() -> None:
    styles = [style for style in SeriesStyle if style is not SeriesStyle.SHADES]  # which is alone
    series = tuple(Series(style.value, XS, YS, style) for style in styles)
    chart = Chart("t", ChartAxis("n"), ChartAxis("e"), series, (ChartMark(1.0, 2.0, "here"),))
    (place,) = to_figure(chart).axes
    assert {text.get_text() for text in place.get_legend().get_texts()} == {
        style.value for style in styles
    }
    through = [line for line in place.lines if line.get_ydata().tolist() == list(YS)]
    assert len(through) == 6  # all but bars and the region, which has an edge
    assert [bar.get_height() for bar in place.patches] == list(YS)
    assert (place.get_xlabel(), place.get_ylabel()) == ("n", "e")
    assert "here" in [text.get_text() for text in place.texts]


def test_ticks_on_axes_of_factors_are_those_of_the_svg() -> None:
    (place,) = to_figure(Chart("t", FACTORS, FACTORS, (Series("c", XS, YS),))).axes
    assert place.get_xscale() == "log"
    assert [text.get_text() for text in place.get_xticklabels()] == [
        "1", "2", "5", "10", "20", "50", "100"
    ]  # fmt: skip


def test_charts_of_a_sheet_stand_in_columns() -> None:
    charts = tuple(Chart(f"{n}", FACTORS, FACTORS, (Series("c", XS, YS),)) for n in range(3))
    drawn = to_figure(Sheet("all of them", charts, columns=2))
    assert [place.get_title("left") for place in drawn.axes] == ["0", "1", "2"]
    assert drawn.get_suptitle() == "all of them"


def test_without_matplotlib_a_picture_is_an_svg_and_other_files_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure, "find_spec", lambda _: None)
    chart = Chart("t", FACTORS, FACTORS, (Series("c", XS, YS),))
    assert plot(chart)._repr_svg_() == plot(chart, tmp_path / "a.svg")._repr_svg_()
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(ParameterError, match=r"pip install .*\[plot\]'"):
        plot(chart, tmp_path / "a.png")
    with pytest.raises(AttributeError, match=r"no 'savefig'.*pip install .*\[plot\]'"):
        plot(chart).savefig("a.png")


def test_moments_are_written_as_dates() -> None:
    days = Series("c", (0.0, 86400.0 * 365), (1.0, 2.0))
    (place,) = to_figure(Chart("t", ChartAxis("", AxisKind.MOMENTS), ChartAxis(), (days,))).axes
    assert place.get_xticklabels()[0].get_text() == "Jan 1970"
