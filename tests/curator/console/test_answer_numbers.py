"""An answer's table, chart and file say the same: each number, its low and its high."""

import re
from csv import DictReader
from html import unescape
from xml.etree import ElementTree as ET

import pytest

from answers.releases import made
from curator.makers import NAME, PURPOSE
from letalone.answers.columns import CellKind, KeyColumn, Output
from letalone.curator.asking.answer_numbers import as_csv, rows_and_charts
from letalone.curator.asking.service import release_id
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice

SVG = "{http://www.w3.org/2000/svg}"
WARDS = [f"w{number:02}" for number in range(40)]  # as many as a chart has bars
ROW = re.compile(r'<th scope="row">(.*?)</th>\s*<td class="number">(.*?)</td>', re.DOTALL)
COUNTS = f'SELECT ward, COUNT(*) AS "number" FROM {NAME} GROUP BY ward'


@pytest.fixture(scope="module")
def answered(console):
    """Groups that are empty: noise takes about half of the counts below 0."""
    question = DataSetQuestion(data_set=NAME, purpose=PURPOSE, sql=COUNTS, keys=WARDS)
    found = console.curator.asking.release(question, QuestionPrice(epsilon=0.05), by="ann")
    place = f"/history/{release_id(found, analyst='ann', purpose=PURPOSE)}"
    browser = console.by("ann")
    return browser.see(place).text, list(DictReader(browser.see(f"{place}/csv").text.splitlines()))


def table_of(page):
    """By group: the number in words, and its ends."""
    rows = {}
    for group, cell in ROW.findall(page):
        words, _, ends = cell.partition("<br>")
        low, _, high = plain(ends).partition(" to ")
        rows[plain(group)] = plain(words), number(low), number(high)
    return rows


def plain(text):
    return unescape(re.sub(r"<[^>]+>", "", text)).strip()


def number(text):
    return float(text.replace(",", "").replace("−", "-"))


def whiskers_of(chart):
    """By group: the ends of the line over its bar, read off the chart's axis; and its ticks."""
    root = ET.fromstring(chart)
    found = {one.text: one.get("x") for one in root.iter(f"{SVG}text") if is_tick(one)}
    ticks = sorted((float(x[:-1]), number(words)) for words, x in found.items())
    (start, least), (end, most) = ticks[0], ticks[-1]
    ends = {}
    for group in root.iter(f"{SVG}g"):
        name = group.find(f"{SVG}title").text.partition(":")[0]
        for line in (one for one in group.iter(f"{SVG}line") if one.get("y1") == one.get("y2")):
            places = (float(line.get(side)[:-1]) for side in ("x1", "x2"))
            ends[name] = [least + (x - start) * (most - least) / (end - start) for x in places]
    return ends, (least, most)


def is_tick(element):
    return "chart-tick" in element.get("class")


@pytest.mark.long  # lows and highs: answers/test_views.py
def test_error_bars_are_the_lows_and_highs_of_the_table(answered):
    page, _ = answered
    table = table_of(page)
    drawn, (least, most) = whiskers_of(re.search(r"<svg.*?</svg>", page, re.DOTALL)[0])
    assert list(drawn) == list(table) == WARDS
    for group, ends in drawn.items():
        assert ends == pytest.approx(table[group][1:], abs=most / 1000), group
    assert least == 0, "no count is below 0, and the axis does not go there"


def test_a_range_that_is_longer_on_one_side_is_drawn_so():
    """A median of 318 between 40 and 4,245: its line does not begin at -3,609."""
    output = Output("m", "m", "", CellKind.NUMBER, (318.0, 900.0), (40.0, 850.0), (4245.0, 1000.0))
    release = made(keys=(KeyColumn("ward", CellKind.TEXT, ("A", "B")),), outputs=(output,))
    rows, (chart,) = rows_and_charts(release)
    drawn, axis = whiskers_of(chart.svg)
    assert drawn == {"A": pytest.approx([40, 4245], abs=5), "B": pytest.approx([850, 1000], abs=5)}
    assert axis == (0, 6000)
    assert [value.said() for _, (value,) in rows] == ["318, 40 to 4,245", "900, 850 to 1,000"]
    assert "<title>A: 318, 40 to 4,245</title>" in chart.svg


def test_days_are_drawn_with_the_ranges_of_the_table_too():
    output = Output("m", "m", "", CellKind.NUMBER, (1.0,) * 4, (0.0,) * 4, (9.0,) * 4)
    days = KeyColumn("year", CellKind.INTEGER, (2019, 2020, 2021, 2022))
    _, (chart,) = rows_and_charts(made(keys=(days,), outputs=(output,)))
    root = ET.fromstring(chart.svg)
    ticks = sorted(float(one.get("y")) - 4 for one in root.iter(f"{SVG}text") if is_tick(one))
    lines = [one for one in root.iter(f"{SVG}line") if one.get("class") == "chart-error"]
    assert {float(one.get("y1")) for one in lines} == {ticks[-1]}, "from 0, the lowest tick"
    assert len(lines) == 4


def test_the_file_has_the_numbers_and_ranges_of_the_page(answered):
    page, file = answered
    table = table_of(page)
    assert [row["ward"] for row in file] == WARDS
    for row in file:
        words, *ends = table[row["ward"]]
        assert number(words.removeprefix("near ")) == int(row["number"])
        assert ends == [int(row["number_low"]), int(row["number_high"])]
        assert int(row["number"]) == max(0, int(row["number_noisy"]))


def test_a_count_below_0_is_near_0_with_the_range_of_0(answered):
    """Fewer than 3 of 40 draws below 0 come once in a billion times."""
    page, file = answered
    table = table_of(page)
    below = [row for row in file if int(row["number_noisy"]) < 0]
    assert len(below) >= 3
    (high,) = {int(row["number_high"]) for row in below}  # none looks better known than another
    assert high > 10
    for row in below:
        assert table[row["ward"]] == ("near 0", 0, high)
        assert f"<title>{row['ward']}: near 0, 0 to {high:,}</title>" in page


def test_yes_and_no_are_the_same_on_the_page_in_the_chart_and_in_the_file():
    keys = (KeyColumn("smokes", CellKind.BOOLEAN, (True, False, None)),)
    outputs = (
        Output("n", "n", "", CellKind.INTEGER, (3, 4, 5), (1, 2, 3), (5, 6, 7)),
        Output("many", "many", "", CellKind.BOOLEAN, (True, False, None)),
    )
    found = made(keys=keys, outputs=outputs)
    rows, (chart,) = rows_and_charts(found)
    assert [key for (key,), _ in rows] == ["yes", "no", "missing"]
    assert [values[1].words for _, values in rows] == ["yes", "no", "missing"]
    assert re.findall("<title>(yes|no|missing): ", chart.svg) == ["yes", "no", "missing"]
    assert [row["smokes"] for row in DictReader(as_csv(found).splitlines())] == ["yes", "no", ""]
