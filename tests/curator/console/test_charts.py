"""Charts: well-formed SVG within its box, nothing that a label says becomes markup."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import pairwise
from math import inf, nan
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from letalone.answers.trade_off import draw_trade_off
from letalone.curator.console import charts
from letalone.drawing import page_svg
from letalone.drawing.looks import SHEET as LOOKS
from letalone.privacy import ApproxDP, PureDP

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>\"' onload=x &amp; \x00\x1b"
START = datetime(2026, 3, 1, tzinfo=UTC)
STEPS = [(START + timedelta(days=day), day / 10) for day in range(30)]
make_bars = partial(charts.bars_with_errors, title="The answer as bars", confidence="95 %")
make_lines = partial(charts.lines_with_errors, title="The answer as a line", confidence="95 %")
make_spending = partial(charts.burn_down, until=START, parts={}, title="Budget spent over time")


def draw_bars(*args: object) -> str:
    return page_svg(make_bars(*args))


def draw_lines(*args: object) -> str:
    return page_svg(make_lines(*args))


def draw_spending(*args: object, **options: object) -> str:
    return page_svg(make_spending(*args, **options))


LABELS = ["A", HOSTILE, "x" * 300, "", "none"]


def mark(
    value: float | None, low: float | None = None, high: float | None = None
) -> charts.MeasuredNumber:
    return charts.MeasuredNumber(value, low, high, "so many")


ALL = {
    "bars": draw_bars(
        LABELS,
        [mark(120.0, 110, 130), mark(34.0, 34, 40), mark(-12.0, -32, 8), mark(0.0), mark(None)],
    ),
    "one bar": draw_bars(["one"], [mark(0.0)]),
    "no bar": draw_bars([], []),
    "odd bars": draw_bars(["a", "b", "c"], [mark(nan, 0, 1), mark(inf, 0, 1), mark(1e300, 0, inf)]),
    "200 bars": draw_bars(
        [str(n) for n in range(200)], [mark(n - 99.0, n - 104.0, n - 94.0) for n in range(200)]
    ),
    "days": draw_lines(
        [date(2026, 1, day) for day in (9, 2, 5)], [mark(1.0, 0.9, 1.1), mark(2.0), mark(3, 0, inf)]
    ),
    "numbers": draw_lines(
        [30.0, 10, 20], [mark(-1.0, -1e6, 1e6), mark(None), mark(5e7, 4.9e7, 5.1e7)]
    ),
    "one point": draw_lines([date(1, 1, 1)], [mark(5.0)]),
    "no point": draw_lines([], []),
    "spending": draw_spending(
        STEPS, [(START, 4.0)], until=START + timedelta(days=90), parts={HOSTILE: STEPS}
    ),
    "raised": draw_spending(STEPS, [(START, 1.0), (START + timedelta(days=9), 4.0)]),
    "unspent": draw_spending([], []),
    "trade-off": page_svg(draw_trade_off(PureDP(1), name=HOSTILE)),
    "sure": page_svg(draw_trade_off(ApproxDP(50, 0.1), name="ε = 50")),
}
ONE_BAR = make_bars(["one"], [mark(0.0)])
SHEET = (Path(charts.__file__).parent / "static" / "charts.css").read_text("utf-8")


@pytest.mark.parametrize("name", ALL)
def test_a_chart_is_well_formed_named_and_holds_nothing_that_runs(name: str) -> None:
    root = ET.fromstring(str(ALL[name]))
    assert root.get("role") == "img"
    assert (root[0].tag, root[1].tag) == (f"{SVG}title", f"{SVG}desc")
    assert all(one.text for one in root[:2])
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {
            "svg", "g", "title", "desc", "line", "rect", "circle", "text", "polyline", "polygon"
        }  # fmt: skip
        assert not {one for one in element.attrib if one.startswith("on") or one == "style"}


@pytest.mark.parametrize("name", ALL)
def test_every_mark_lies_within_the_chart(name: str) -> None:
    root = ET.fromstring(str(ALL[name]))
    assert "nan" not in str(ALL[name])
    height = float(root.get("height") or root.get("viewBox", "").split()[3])
    for element in root.iter():
        for one in ("x", "x1", "x2", "cx"):
            if (place := element.get(one, "")).endswith("%"):
                assert 0 <= float(place[:-1]) <= 100
        for one in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.get(one, "0")) <= height
        if element.tag == f"{SVG}rect":
            assert float(element.attrib["x"][:-1]) + float(element.attrib["width"][:-1]) <= 100
        for x, y in re.findall(r"([\d.e+-]+),([\d.e+-]+)", element.get("points", "")):
            assert 0 <= float(x) <= 1000
            assert 0 <= float(y) <= height


def test_every_class_has_a_rule_and_every_rule_a_class() -> None:
    used = set(" ".join(re.findall(r'class="([^"]+)"', "".join(ALL.values()))).split())
    coloured, looks = (
        set(re.findall(r"\.(chart(?:-[a-z0-9-]+)?)\b", text))
        for text in (SHEET.replace("chart.css", ""), LOOKS.read_text("utf-8"))
    )
    others = {f"chart-{n}" for n in range(3, 8)} | {"chart-figure", "chart-ground", "chart-title"}
    assert used <= coloured | looks
    assert coloured | looks <= used | others


def test_of_many_groups_the_chart_says_how_many_it_leaves_out() -> None:
    chart = ALL["200 bars"]
    assert chart.count("<rect") == 40
    assert chart.count("160 more groups are in the table only.") == 2  # seen, and heard
    assert len(chart) < 25_000


def test_long_labels_are_cut_and_whole_where_one_points() -> None:
    chart = ALL["bars"]
    assert f"{'x' * 15}…</text>" in chart
    assert f"<title>{'x' * 300}: so many</title>" in chart


def test_the_stairs_of_spending_end_at_what_is_spent_and_the_cap_is_above() -> None:
    root = ET.fromstring(str(draw_spending(STEPS, [(START, 5.0)])))
    lines = {one.get("class"): one.get("points", "").split() for one in root.iter(f"{SVG}polyline")}
    spent = [tuple(map(float, one.split(","))) for one in lines["chart-line chart-1"]]
    cap = [tuple(map(float, one.split(","))) for one in lines["chart-limit"]]
    bottom, zero_to_five = 232, 232 - 12  # the axis goes to 5
    assert spent[-1][1] == pytest.approx(bottom - zero_to_five * 2.9 / 5, abs=0.1)
    assert [y for _, y in cap] == [pytest.approx(bottom - zero_to_five, abs=0.1)] * 2
    for (x, y), (other_x, other_y) in pairwise(spent):
        assert x == other_x or y == other_y, "stairs have no slopes"


def test_a_table_lies_beneath_with_every_word_escaped() -> None:
    found = charts.figure(ONE_BAR, caption=HOSTILE, heads=["<a>"], rows=[["<b>", "1"]])
    assert "<script>" not in found
    assert '<th scope="row">&lt;b&gt;</th>' in found
    assert "<details>" not in charts.figure(ONE_BAR, caption="none")


def test_years_are_written_as_years_and_numbers_are_parted() -> None:
    marks = [mark(float(n)) for n in range(5)]
    years = str(draw_lines([2010, 2011, 2012, 2013, 2014], marks))
    assert ">2010</text>" in years
    assert "First: 2010: so many. Last: 2014: so many." in years
    assert "2,01" not in years
    assert ">2,000</text>" in str(draw_lines([500.5, 2000.0, 2500.0, 3e3, 4e3], marks))
