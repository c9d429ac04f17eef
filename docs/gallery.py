"""Draws docs/explanation/gallery/*.svg: each attack, on what people publish today and privately.

    python docs/gallery.py [NAME …]

The data is made up from fixed seeds, and here alone the key of the random bits is fixed too, so
that the pictures are the same every time.
"""

import sys
from collections.abc import Callable
from contextlib import contextmanager
from hashlib import md5
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

import letalone as la
from letalone.attacks import stage
from letalone.randomness.bits import SYSTEM
from letalone.sample.hospital import MOST_VISITS, WARDS

FOLDER = Path(__file__).parent / "explanation" / "gallery"
LOOK = {"svg.fonttype": "none", "svg.hashsalt": "letalone", "font.size": 10, "axes.titlesize": 10}
KEY = bytes(range(32))
TODAY, OURS = "#D55E00", "#0072B2"  # Okabe and Ito
WIDTH = 5.4  # in inches: readable on a telephone
EPSILON = 1.0
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FARES = range(0, 90, 10)


def linkage() -> Figure:
    """How many people of the register fit a row; below, visits by ward."""
    found, number = la.attacks.link(epsilon=EPSILON), range(1, 6)
    figure, above, below = _two_panels()
    bars = above.bar(number, [found.candidates.get(one, 0) for one in number], color=TODAY)
    above.bar_label(bars, fmt="{:,.0f}")
    above.set_ylim(0, 1.15 * found.certain)
    above.set_title("Published today: rows without names, beside a list of voters", loc="left")
    above.set(xlabel="people on the list who fit a row", ylabel="rows", xticks=list(number))
    with la.open(stage.make_town().hospital, unit="patient_id", budget=EPSILON) as table:
        wards = table.group_by("ward", keys=list(WARDS)).bound(max_rows=MOST_VISITS)
        rows = wards.agg(visits=la.count()).release(epsilon=EPSILON).rows()
    _with_error_bars(below, rows, value="visits", labels=[row["ward"] for row in rows])
    below.set_title("letalone, ε = 1: counts with 95 % error bars, no rows to join", loc="left")
    below.set(xlabel="ward", ylabel="visits")
    below.tick_params(axis="x", labelrotation=20)
    return figure


def pseudonyms() -> Figure:
    """The share of hashes that is reversed, by the medallions tried; below, trips by fare."""
    trips = stage.taxis()
    hashes = set(trips.column("medallion").to_pylist())
    every = [f"{a}{b}{c:02}" for a in range(10) for b in LETTERS for c in range(100)]
    found = [md5(one.encode(), usedforsecurity=False).hexdigest() in hashes for one in every]
    figure, above, below = _two_panels()
    steps = np.arange(0, len(every) + 1, 500)
    share = np.concatenate([[0], np.cumsum(found)])[steps] / len(hashes)
    above.plot(steps, share, color=TODAY)
    above.xaxis.set_major_formatter("{x:,g}")
    words = f"all {len(hashes):,} hashes reversed\nafter {len(every):,} tries"
    above.annotate(words, (len(every), 1), (0.98, 0.12), textcoords="axes fraction", ha="right")
    above.set_title("Published today: hashed medallions, each possible one tried", loc="left")
    above.set(xlabel="medallions tried", ylabel="share of hashes reversed")
    with la.open(trips, unit="medallion", budget=EPSILON) as table:
        asked = table.bound(max_rows=5).agg(n=la.histogram("fare", FARES))
        (row,) = asked.release(epsilon=EPSILON).rows()
    places = [name.removeprefix("n_") for name in row if name.endswith(("]", ")"))]
    parts = {"": "n", "_low": "n_low", "_high": "n_high"}
    rows = [{into: row[f"n_{one}{end}"] for end, into in parts.items()} for one in places]
    labels = [one[1:-1].replace(", ", "–") for one in places]
    _with_error_bars(below, rows, value="n", labels=labels)
    below.set_title("letalone, ε = 1: trips by fare, with 95 % error bars", loc="left")
    below.set(xlabel="fare", ylabel="trips")
    return figure


def heat_map() -> Figure:
    """The map as it is, and the cells that stand out of the noise."""
    tracks = stage.tracks()
    person, x, y = (np.array(tracks.column(name).to_pylist()) for name in ("person", "x", "y"))
    exact = np.zeros((stage.GRID, stage.GRID))
    for _, across, up in set(zip(person.tolist(), x.tolist(), y.tolist(), strict=True)):
        exact[up, across] += 1
    private, cut = _private_map(tracks)
    figure = Figure(figsize=(WIDTH, 8.6), layout="constrained")
    above, below = figure.subplots(2, 1)
    _map(figure, above, exact)
    above.set_title("Published today: every cell where somebody was", loc="left")
    _map(figure, below, np.where(private > cut, private, 0))
    below.set_title(f"letalone, ε = 1: cells with more than {cut} after noise", loc="left")
    above.annotate(
        "a base of six people",
        stage.BASE,
        (14, 24),
        arrowprops={"arrowstyle": "->"},
        bbox={"facecolor": "white", "edgecolor": "0.8"},
    )
    return figure


def _private_map(tracks: Any) -> tuple[Any, int]:
    """The noisy numbers, and what an empty cell exceeds once in twenty times."""
    cells = [(x, y) for x in range(stage.GRID) for y in range(stage.GRID)]
    with la.open(tracks, unit="person", budget=EPSILON) as table:
        asked = table.group_by("x", "y", keys=cells).bound(max_groups=10)
        rows = asked.agg(n=la.count_distinct()).release(epsilon=EPSILON).rows()
    found = np.zeros((stage.GRID, stage.GRID))
    for row in rows:
        found[row["y"], row["x"]] = row["n"]
    return found, la.attacks.find_cells(epsilon=EPSILON).cut


def _map(figure: Figure, place: Any, numbers: Any) -> None:
    shown = np.ma.masked_less_equal(numbers, 0)
    image = place.imshow(shown, origin="lower", norm=LogNorm(1, 500), cmap="viridis")
    figure.colorbar(image, ax=place, label="people in the cell", format="{x:,g}", shrink=0.9)
    place.set(xlabel="cell, west to east", ylabel="cell, south to north")


def _two_panels() -> tuple[Figure, Any, Any]:
    """What is published today above, the private release below."""
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    above, below = figure.subplots(2, 1, gridspec_kw={"hspace": 0.12})
    for place in (above, below):
        place.spines[["top", "right"]].set_visible(False)
        place.grid(visible=True, axis="y", color="0.92")
        place.set_axisbelow(True)
        place.yaxis.set_major_formatter("{x:,.6g}")
    return figure, above, below


def _with_error_bars(
    place: Any, rows: list[dict[str, Any]], *, value: str, labels: list[str]
) -> None:
    parts = np.array([[row[value], row[f"{value}_low"], row[f"{value}_high"]] for row in rows]).T
    place.bar(labels, parts[0], color=OURS, alpha=0.75)
    ends = np.abs(parts[1:] - parts[0])
    place.errorbar(labels, parts[0], yerr=ends, fmt="none", ecolor="black", capsize=4)


def _plotted(attack: str, **settings: object) -> Callable[[], Figure]:
    """The picture that the attack draws itself: `letalone attack NAME --plot FILE`."""
    return lambda: getattr(la.attacks, attack)(epsilon=EPSILON, **settings).plot()


PICTURES: dict[str, Callable[[], Figure]] = {
    "linkage": linkage,
    "pseudonyms": pseudonyms,
    "histories": _plotted("single_out"),
    "homer": _plotted("trace_member"),
    "heat-map": heat_map,
    "differencing": _plotted("subtract"),
    "reconstruction": _plotted("reconstruct"),
    "membership": _plotted("infer_membership"),
    "inversion": _plotted("invert_model"),
    "canaries": _plotted("extract_secrets"),
}


@contextmanager
def _fixed_bits() -> Any:
    """Noise that is the same each time, which is no noise: for a picture of made-up data only."""
    with patch("letalone.randomness.bits.os.urandom", lambda count: KEY[:count]):
        SYSTEM._new_key()
        yield
    SYSTEM._new_key()


def write(name: str, path: Path) -> None:
    """One picture; it does not depend on those drawn before."""
    with mpl.rc_context(LOOK), _fixed_bits():
        PICTURES[name]().savefig(path, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for chosen in sys.argv[1:] or PICTURES:
        write(chosen, FOLDER / f"{chosen}.svg")
