"""Pictures: each aggregate in its field, with error bars, in the format that the name says."""

from pathlib import Path

import pytest

import letalone as la
from answers.releases import made
from letalone.answers.columns import KeyColumn, Kind, Output


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
