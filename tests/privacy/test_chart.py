"""Charts: every line, label and mark can be seen, and stands where it belongs."""

import re

import pytest

from letalone.privacy.chart import BOTTOM, LEFT, RIGHT, TOP, ChartAxis, ChartLine, CurveMark, chart


def widths(text: str) -> list[float]:
    return [float(w) for w in re.findall(r"<polyline[^>]*stroke-width=.([\d.]+)", text)]


def test_lines_that_coincide_are_both_seen() -> None:
    """What is drawn later is thinner, and no two lines have the same dashes."""
    points = ((1.0, 1.0), (10.0, 10.0))
    curves = [ChartLine(str(n), points) for n in range(7)]
    text = chart(curves, title="t", across=ChartAxis("x"), up=ChartAxis("y"))
    assert widths(text) == sorted(widths(text), reverse=True)
    assert len(set(widths(text))) == 7
    dashes = re.findall(r"<polyline.*", text)
    assert len({re.sub(r".*dasharray=|/>", "", line) for line in dashes}) == 7


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ((0.3, 300.0), ("0.1", "1000")),
        ((0.3, 3.0), ("0.2", "5")),
        ((1e-12, 0.4), ("1e-12", "1")),
        ((0.1, 0.1), ("0.1", "1")),
    ],
)
def test_both_ends_of_the_upright_axis_have_a_label(values, labels) -> None:
    curve = ChartLine("c", tuple((float(n + 1), value) for n, value in enumerate(values)))
    text = chart([curve], title="t", across=ChartAxis("x"), up=ChartAxis("y"))
    shown = re.findall(r'text-anchor="end"[^>]*>([^<]+)<', text)
    places = [float(y) for y in re.findall(r'y1="([\d.]+)" x2="700"', text)]
    assert {shown[0], shown[-1]} == set(labels)
    assert (min(places), max(places)) == (TOP, BOTTOM)


@pytest.mark.parametrize("rising", [True, False])
def test_names_stand_where_no_line_runs(rising) -> None:
    ends = ((1.0, 1.0), (1000.0, 1000.0)) if rising else ((1.0, 1000.0), (1000.0, 1.0))
    text = chart([ChartLine("c", ends)], title="t", across=ChartAxis("x"), up=ChartAxis("y"))
    (x, y) = re.findall(r'<line x1="(\d+)" y1="(\d+)" x2="\d+" y2="\d+" stroke="#0072B2"', text)[0]
    assert int(x) < (LEFT + RIGHT) / 2
    assert (int(y) < (TOP + BOTTOM) / 2) is rising
    flat = ChartLine("c", ((1.0, 1.0), (1000.0, 1.0)))
    text = chart([flat], title="t", across=ChartAxis("x"), up=ChartAxis("y"))
    assert int(re.findall(r'y2="(\d+)" stroke="#0072B2"', text)[0]) < (TOP + BOTTOM) / 2


def test_a_mark_is_drawn_at_its_place_with_its_words() -> None:
    curve, mark = ChartLine("c", ((0.0, 1.0), (4.0, 1e-4))), CurveMark(2.0, 1e-2, words="here")
    axes = {"across": ChartAxis("x", factors=False), "up": ChartAxis("y")}
    text = chart([curve], title="t", marks=[mark], **axes)
    middle = f'cx="{(LEFT + RIGHT) / 2:.1f}" cy="{(TOP + BOTTOM) / 2:.1f}"'
    assert middle in text
    assert ">here<" in text
    nowhere = chart([curve], title="t", marks=[CurveMark(2.0, 0.0, words="gone")], **axes)
    assert "gone" not in nowhere
