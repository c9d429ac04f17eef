"""Every result can be told and sent; its picture has what the result has in it."""

import json
from pathlib import Path
from typing import Any

import pytest

from letalone.attacks import (
    find_cells,
    link,
    reverse_hashes,
    single_out,
    subtract,
    trace_member,
)
from letalone.attacks.rates import bound
from letalone.errors import ParameterError
from letalone.privacy import PureDP


def made() -> list[Any]:
    return [
        link(),
        reverse_hashes(),
        single_out(people=20),
        trace_member(people=20, attributes=50, trials=50),
        find_cells(),
        subtract(targets=2, trials=100),
    ]


@pytest.mark.long  # others of this file stay
def test_every_result_has_words_lines_and_json() -> None:
    for result in made():
        assert "ε = 1" in result.words
        assert 3 <= len(result.lines()) <= 12
        assert json.loads(json.dumps(result.to_json(), allow_nan=False))["epsilon"] == 1.0


@pytest.mark.long  # numbers: test_every_result_has_words_lines_and_json
def test_the_bars_of_a_picture_are_the_numbers_of_the_result(tmp_path: Path) -> None:
    found = link()
    place = found.plot(tmp_path / "link.svg").axes[0]
    heights = [bar.get_height() for bar in place.patches]
    assert heights[:3] == [0, found.candidates[1], found.candidates[2]]
    assert [mark.get_text() for mark in place.get_xticklabels()][:3] == ["0", "1", "2"]
    assert "<svg" in (tmp_path / "link.svg").read_text("utf-8")


def test_d6_the_bound_that_is_drawn_is_the_curve() -> None:
    drawn = bound(PureDP(1), "D6")
    for rate, caught in zip(drawn.xs, drawn.ys, strict=True):
        assert caught == 1 - PureDP(1).tradeoff(rate)
    assert (drawn.ys[0], drawn.ys[-1]) == (0.0, 1.0)


def test_a_picture_in_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"must end in \.svg, \.png, \.pdf"):
        find_cells().plot(tmp_path / "map.bmp")


def test_a_notebook_shows_the_words_and_the_chart() -> None:
    html = find_cells()._repr_html_()
    assert html.startswith("<p>")
    assert html.index("</p>") < html.index("<svg")
    assert "A heat map: which cells show that somebody was there" in html
