"""Charts: well-formed SVG within its box, nothing that a label says becomes markup."""

import re
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import pairwise
from math import exp, inf, nan
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from letalone.curator.console import charts
from letalone.curator.console.charts.axes import AxisScale, number, seconds, time_ticks
from letalone.privacy import ApproxDP, GaussianDP, PureDP

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>\"' onload=x &amp; \x00\x1b"
START = datetime(2026, 3, 1, tzinfo=UTC)
STEPS = [(START + timedelta(days=day), day / 10) for day in range(30)]
draw_bars = partial(charts.bars_with_errors, title="The answer as bars", confidence="95 %")
draw_lines = partial(charts.lines_with_errors, title="The answer as a line", confidence="95 %")
draw_spending = partial(charts.burn_down, until=START, parts={}, title="Budget spent over time")
LABELS = ["A", HOSTILE, "x" * 300, "", "none"]


def mark(
    value: float | None, low: float | None = None, high: float | None = None
) -> charts.ChartMark:
    return charts.make_mark(value, low, high, "so many")


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
    "trade-off": charts.trade_off(PureDP(1), name=HOSTILE),
    "sure": charts.trade_off(ApproxDP(50, 0.1), name="ε = 50"),
}
SHEET = (Path(charts.__file__).parents[1] / "static" / "charts.css").read_text("utf-8")


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
    ruled = set(re.findall(r"\.(chart[a-z0-9-]*)", SHEET))
    whole = {"chart-bars", "chart-lines", "chart-spending"}  # only to be found by
    others = {"chart-figure", "chart-part-2", "chart-part-3", "chart-part-4"}
    assert used - whole <= ruled
    assert ruled <= used | others


def test_bars_are_as_long_as_their_numbers_and_errors_as_wide() -> None:
    chart = draw_bars(["a", "b"], [mark(100.0, 75.0, 125.0), mark(-50.0)])
    root = ET.fromstring(str(chart))
    first, second = (one.attrib for one in root.iter(f"{SVG}rect"))
    assert float(first["width"][:-1]) == pytest.approx(2 * float(second["width"][:-1]), abs=0.02)
    assert float(second["x"][:-1]) < float(first["x"][:-1])
    lying = (one for one in root.iter(f"{SVG}line") if one.get("y1") == one.get("y2"))
    (error,) = (one.attrib for one in lying if one.get("class") == "chart-error")
    wide = float(error["x2"][:-1]) - float(error["x1"][:-1])
    assert wide == pytest.approx(float(first["width"][:-1]) / 2, abs=0.02)


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
    spent = [tuple(map(float, one.split(","))) for one in lines["chart-line"]]
    cap = [tuple(map(float, one.split(","))) for one in lines["chart-cap"]]
    bottom, zero_to_five = 232, (232 - 12) * 5 / 6  # the axis goes to 6
    assert spent[-1][1] == pytest.approx(bottom - zero_to_five * 2.9 / 5, abs=0.1)
    assert [y for _, y in cap] == [pytest.approx(bottom - zero_to_five, abs=0.1)] * 2
    for (x, y), (other_x, other_y) in pairwise(spent):
        assert x == other_x or y == other_y, "stairs have no slopes"


@pytest.mark.parametrize("privacy", [PureDP(1), ApproxDP(2, 0.01), GaussianDP(1)])
def test_the_trade_off_is_never_drawn_above_the_curve(privacy: PureDP) -> None:
    """Above would promise too much; a wrong curve, twice the epsilon, would be told apart."""
    from letalone.curator.console.charts.trade_off import rates

    drawn = rates(privacy)
    assert drawn[0] == (0.0, pytest.approx(1 - privacy.delta(100), abs=1e-9))
    for alarm, missed in drawn:
        assert missed <= privacy.tradeoff_bounds(alarm)[1] + 1e-12
        assert missed >= privacy.tradeoff_bounds(alarm)[0] - 1e-3
    corner = max(min(point) for point in rates(PureDP(1)))
    assert corner == pytest.approx(1 / (1 + exp(1)), abs=1e-12)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (1234.5, "1,234"),
        (-0.5, "−0.5"),
        (1.2e6, "1.2M"),
        (2e-9, "2e−9"),
        (nan, "no number"),
        (0.12345, "0.1235"),
    ],
)
def test_numbers_are_short_and_readable(value: float, words: str) -> None:
    assert number(value) == words


def test_ticks_are_round_and_hold_all_values() -> None:
    for low, high in ((0, 1), (-3, 17), (1e-9, 2e-9), (5, 5), (-1e300, 1e300), (0, 0)):
        scale = AxisScale.around([low, high], start=0, end=100)
        assert scale.low <= min(low, 0) <= max(high, 0) <= scale.high
        assert 2 <= len(scale.ticks()) <= 8
        assert len({scale.words(tick) for tick in scale.ticks()}) == len(scale.ticks())


def test_a_table_lies_beneath_with_every_word_escaped() -> None:
    found = charts.figure(ALL["one bar"], caption=HOSTILE, heads=["<a>"], rows=[["<b>", "1"]])
    assert "<script>" not in found
    assert '<th scope="row">&lt;b&gt;</th>' in found
    assert "<details>" not in charts.figure(ALL["one bar"], caption="none")


@pytest.mark.parametrize(
    "passed",
    [timedelta(minutes=3), timedelta(hours=5), timedelta(days=2), timedelta(days=9),
     timedelta(days=100), timedelta(days=3000), timedelta(days=300_000)],
)  # fmt: skip
def test_moments_are_round_few_and_within(passed: timedelta) -> None:
    low, high = seconds(START), seconds(START + passed)
    found = time_ticks(low, high)
    assert 1 <= len(found) <= 5
    assert all(low <= at <= high for at, _ in found)
    assert len({words for _, words in found}) == len(found)


def test_years_are_written_as_years_and_numbers_are_parted() -> None:
    marks = [mark(float(n)) for n in range(5)]
    years = str(draw_lines([2010, 2011, 2012, 2013, 2014], marks))
    assert ">2010</text>" in years
    assert "First: 2010: so many. Last: 2014: so many." in years
    assert "2,01" not in years
    assert ">2,000</text>" in str(draw_lines([500.5, 2000.0, 2500.0, 3e3, 4e3], marks))
