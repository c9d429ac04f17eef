"""Charts as SVG: every line, label and mark can be seen, and stands where it belongs."""

import re
from math import inf, nan
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from letalone.drawing import (
    AxisKind,
    Chart,
    ChartAxis,
    ChartMark,
    Series,
    SeriesStyle,
    Sheet,
    page_svg,
    to_html,
    to_svg,
    write_svg,
)
from letalone.drawing.looks import COLOURS, SERIES
from letalone.errors import ParameterError

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>\"' onload=x &amp; \x00\x1b"
FACTORS = ChartAxis("x", AxisKind.FACTORS)
NAMES = ChartAxis("", AxisKind.NAMES, ("A", HOSTILE, "x" * 300))
RISING = Series("c", (1.0, 1000.0), (1.0, 1000.0))


def one(style: SeriesStyle, *, label: str = "s", low: bool = True) -> Series:
    ends = ((0.0, 1.0, 0.0), (2.0, 3.0, 9.0)) if low else ((), ())
    return Series(label, (0.0, 1.0, 2.0), (1.0, 2.0, nan), style, *ends, ("one", HOSTILE, "three"))


EVERY = tuple(one(style, label=f"{style.value} {HOSTILE}") for style in SeriesStyle)
CHARTS = {
    "every style": Chart(HOSTILE, ChartAxis(HOSTILE), ChartAxis("up"), EVERY, note=HOSTILE),
    "names": Chart("t", NAMES, ChartAxis(), (one(SeriesStyle.BARS), one(SeriesStyle.POINTS))),
    "lying": Chart("t", NAMES, ChartAxis("n"), (one(SeriesStyle.BARS),) * 2, lying=True),
    "square": Chart("t", ChartAxis(ends=(0, 1)), ChartAxis(ends=(0, 1)), (RISING,), square=True),
    "factors": Chart("t", FACTORS, FACTORS, (RISING,), (ChartMark(10, 10, HOSTILE),)),
    "odd": Chart("t", ChartAxis(), ChartAxis(), (Series("", (0.0, inf), (1e300, nan)),)),
}
SHEETS = {"sheet": Sheet(HOSTILE, tuple(CHARTS.values())), "two": Sheet("", (*CHARTS.values(),), 2)}


@pytest.mark.parametrize("drawn", [*CHARTS.values(), *SHEETS.values()], ids=[*CHARTS, *SHEETS])
def test_a_chart_is_well_formed_named_and_holds_nothing_that_runs(drawn: Chart | Sheet) -> None:
    root = ET.fromstring(to_svg(drawn))
    assert root.get("role") == "img"
    assert (root[0].tag, root[1].tag) == (f"{SVG}title", f"{SVG}desc")
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {
            "svg", "g", "title", "desc", "line", "rect", "circle", "text", "polyline", "polygon",
            "style",
        }  # fmt: skip
        assert not {name for name in element.attrib if name.startswith("on") or name == "style"}


@pytest.mark.parametrize("name", CHARTS)
def test_on_a_page_a_chart_has_no_style_of_its_own_and_lies_in_its_box(name: str) -> None:
    text = page_svg(CHARTS[name])
    root = ET.fromstring(text)
    assert "<style" not in text
    assert "nan" not in text
    height = float(root.get("height") or root.get("viewBox", "").split()[3])
    for element in root.iter():
        for way in ("x", "x1", "x2", "cx"):
            if (place := element.get(way, "")).endswith("%"):
                assert 0 <= float(place[:-1]) <= 100
        for way in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.get(way, "0")) <= height
        for x, y in re.findall(r"([\d.e+-]+),([\d.e+-]+)", element.get("points", "")):
            assert 0 <= float(x) <= 1000
            assert 0 <= float(y) <= height


def test_lines_that_coincide_are_both_seen() -> None:
    """What is drawn later is broken, and no two lines have the same colour and dashes."""
    curves = tuple(Series(str(n), (1.0, 10.0), (1.0, 10.0)) for n in range(len(SERIES)))
    text = to_svg(Chart("t", FACTORS, FACTORS, curves))
    classes = re.findall(r'<polyline class="([^"]+)"', text)
    assert len(set(classes)) == len(SERIES) == 7
    dashes = dict(re.findall(r"\.chart-line\.(chart-\d) \{ stroke-dasharray: ([\d ]+);", text))
    assert set(dashes) == {f"chart-{n}" for n in range(2, 8)}
    assert len(set(dashes.values())) == 6


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((0.3, 300.0), ("0.1", "1,000")),
        ((0.3, 3.0), ("0.2", "5")),
        ((1e-12, 0.4), ("1e−12", "1")),
        ((0.1, 0.1), ("0.1", "1")),
    ],
)
def test_both_ends_of_the_upright_axis_have_a_label(
    values: tuple[float, float], labels: tuple[str, str]
) -> None:
    chart = Chart("t", ChartAxis(), FACTORS, (Series("c", (1.0, 2.0), values),))
    shown = re.findall(r'x="14.50%"[^>]*>([^<]+)<', page_svg(chart))
    places = re.findall(r'<line class="[^"]+" x1="16.00%" y1="([\d.]+)"', page_svg(chart))
    assert {shown[0], shown[-1]} == set(labels)
    assert max(map(float, places)) - min(map(float, places)) == 220


def test_names_stand_beneath_where_no_line_runs() -> None:
    text = page_svg(Chart("t", FACTORS, FACTORS, (RISING, Series("other", (1.0,), (5.0,)))))
    names = {words: float(y) for y, words in re.findall(r'y="([\d.]+)"[^>]*>(c|other)<', text)}
    lowest = max(float(y) for y in re.findall(r'<line class="chart-grid"[^>]*y2="([\d.]+)"', text))
    assert set(names) == {"c", "other"}
    assert all(y > lowest for y in names.values())


def test_a_mark_is_drawn_at_its_place_with_its_words() -> None:
    series = Series("c", (0.0, 4.0), (1.0, 1e-4))
    chart = Chart("t", ChartAxis(), FACTORS, (series,), (ChartMark(2.0, 1e-2, "here"),))
    assert 'cx="56.50%" cy="142.0"' in page_svg(chart)  # from 17 to 96, and 32 to 252
    assert ">here<" in page_svg(chart)
    gone = Chart("t", ChartAxis(), FACTORS, (series,), (ChartMark(2.0, 0.0, "gone"),))
    assert "gone" not in page_svg(gone)


def test_bars_are_as_long_as_their_numbers_and_errors_as_wide() -> None:
    names = ChartAxis("", AxisKind.NAMES, ("a", "b"))
    ends = ((75.0, nan), (125.0, nan))
    series = Series("", (0.0, 1.0), (100.0, -50.0), SeriesStyle.BARS, *ends)
    root = ET.fromstring(page_svg(Chart("t", names, ChartAxis(), (series,), lying=True)))
    first, second = (box.attrib for box in root.iter(f"{SVG}rect"))
    assert float(first["width"][:-1]) == pytest.approx(2 * float(second["width"][:-1]), abs=0.02)
    assert float(second["x"][:-1]) < float(first["x"][:-1])
    lying = (line for line in root.iter(f"{SVG}line") if line.get("y1") == line.get("y2"))
    (error,) = (line.attrib for line in lying if line.get("class") == "chart-error")
    wide = float(error["x2"][:-1]) - float(error["x1"][:-1])
    assert wide == pytest.approx(float(first["width"][:-1]) / 2, abs=0.02)


def test_a_number_that_is_not_known_is_its_range_or_said() -> None:
    names = ChartAxis("", AxisKind.NAMES, ("a", "b"))
    series = Series("", (0.0, 1.0), (nan, nan), SeriesStyle.BARS, (1.0, nan), (2.0, nan))
    text = page_svg(Chart("t", names, ChartAxis(), (series,), lying=True))
    assert text.count("chart-unknown") == 1
    assert text.count(">no value<") == 1


def test_a_chart_that_stands_alone_carries_its_colours_light_and_dark() -> None:
    text = to_svg(CHARTS["names"])
    light, dark = re.split(r"@media\(prefers-color-scheme:dark\)", text)
    for name, (in_light, in_dark) in COLOURS.items():
        assert f".{name}{{color:{in_light}}}" in light
        assert f".{name}{{color:{in_dark}}}" in dark


def _brightness(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1])
def test_what_carries_meaning_stands_out_by_three_to_one(theme: int) -> None:
    """By the definition of contrast in WCAG 2.2; words by 4.5."""
    ground = _brightness(COLOURS["chart-ground"][theme])
    for name, both in COLOURS.items():
        bright, dim = sorted((ground, _brightness(both[theme])), reverse=True)
        least = {"chart-ground": 1, "chart-grid": 1, "chart-unknown": 2.5, "chart-label": 4.5}
        assert (bright + 0.05) / (dim + 0.05) >= least.get(name, 3), name


def test_a_chart_of_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="nothing to draw"):
        to_svg(Chart("t", ChartAxis(), ChartAxis(), (Series("none", (1.0,), (inf,)),)))


def test_a_file_is_xml_and_must_be_called_so(tmp_path: Path) -> None:
    path = write_svg(CHARTS["square"], tmp_path / "a.svg")
    assert ET.fromstring(path.read_bytes()).tag == f"{SVG}svg"
    with pytest.raises(ParameterError, match=r"must end in \.svg"):
        write_svg(CHARTS["square"], tmp_path / "a.png")


def test_in_a_notebook_words_stand_above_and_are_escaped() -> None:
    html = to_html(CHARTS["names"], HOSTILE)
    assert html.startswith("<p>&lt;script&gt;")
    assert "<script>" not in html


def test_series_that_are_equal_stand_beside_each_other_in_colours_of_their_own() -> None:
    names = ChartAxis("", AxisKind.NAMES, ("a",))
    bar = Series("s", (0.0,), (1.0,), SeriesStyle.BARS)
    root = ET.fromstring(page_svg(Chart("t", names, ChartAxis(), (bar, bar))))
    first, second, *_ = (box.attrib for box in root.iter(f"{SVG}rect"))  # then the legend
    assert float(first["x"][:-1]) + float(first["width"][:-1]) <= float(second["x"][:-1])
    assert first["class"] != second["class"]
