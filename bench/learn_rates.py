"""How the excess error of the three methods falls with rows and grows with features.

Generated data: rows uniform in the ball of norm 1, labels by a logistic model with weights of
norm 4. The excess error is the mean logistic loss of the private model over the rows that it
learned from, less the least that any linear model has. Means over several fits; ε = 1, δ = 1e-6.
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression as Plain

from letalone.learn import LogisticRegression

Array = NDArray[np.float64]
METHODS = ("objective", "output", "gradient")
ROWS, FEATURES = (500, 1000, 2000, 4000, 8000, 16000, 32000), (2, 4, 8, 16, 32, 64)
USUAL_ROWS, USUAL_FEATURES = 8000, 10
FITS, WEIGHT = 8, 4.0
EPSILON, DELTA = 1, 1e-6


def generated(rows: int, features: int) -> tuple[Array, NDArray[Any]]:
    generator = np.random.default_rng(rows + features)
    directions = generator.normal(size=(rows, features))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    inside = directions * generator.uniform(size=(rows, 1)) ** (1 / features)
    weights = np.full(features, WEIGHT / features**0.5)
    return inside, (generator.uniform(size=rows) < 1 / (1 + np.exp(-inside @ weights))) * 1


def loss(rows: Array, labels: NDArray[Any], weights: Array) -> float:
    return float(np.mean(np.logaddexp(0, np.where(labels == 1, -1, 1) * (rows @ weights))))


def excess(method: str, rows: int, features: int) -> float:
    inside, labels = generated(rows, features)
    plain = Plain(C=1e6, fit_intercept=False, max_iter=1000, tol=1e-10).fit(inside, labels)
    least = loss(inside, labels, plain.coef_[0])
    losses = []
    for _ in range(FITS):
        model = LogisticRegression(
            EPSILON,
            DELTA,
            data_norm=1,
            classes=[0, 1],
            method=method,
            loss="logistic",
            fit_intercept=False,
            rows=rows,
        ).fit(inside, labels)
        losses.append(loss(inside, labels, model.coef_[0]))
    return float(np.mean(losses)) - least


def draw(path: Path) -> None:
    """Measures and draws, as SVG."""
    drawn({method: measured(method) for method in METHODS}, path)


def measured(method: str) -> tuple[list[float], list[float]]:
    """The excess errors by rows and by features."""
    print(f"excess error of {method} …", file=sys.stderr)
    by_rows = [excess(method, rows, USUAL_FEATURES) for rows in ROWS]
    return by_rows, [excess(method, USUAL_ROWS, features) for features in FEATURES]


def drawn(found: dict[str, tuple[list[float], list[float]]], path: Path) -> None:
    """One line a method; dashed and dotted, rates of theory through the first of objective."""
    mpl.rcParams["svg.hashsalt"] = "learn"
    figure, (over_rows, over_features) = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    for method, (by_rows, by_features) in found.items():
        over_rows.loglog(ROWS, by_rows, marker="o", label=method)
        over_features.loglog(FEATURES, by_features, marker="o", label=method)
    by_rows, by_features = found[METHODS[0]]
    guides(over_rows, ROWS, by_rows[0], {"1/√n": -0.5, "1/n": -1.0})
    guides(over_features, FEATURES, by_features[0], {"√d": 0.5, "d": 1.0})
    finish(over_rows, ROWS, f"rows (features: {USUAL_FEATURES})")
    finish(over_features, FEATURES, f"features (rows: {USUAL_ROWS:,})")
    over_rows.set_ylabel("excess error")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def guides(axes: Axes, places: tuple[int, ...], start: float, powers: dict[str, float]) -> None:
    for (name, power), style in zip(powers.items(), ("--", ":"), strict=True):
        heights = [start * (place / places[0]) ** power for place in places]
        axes.loglog(places, heights, style, color="0.5", linewidth=1, label=name)


def finish(axes: Axes, places: tuple[int, ...], words: str) -> None:
    axes.set_xlabel(words)
    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.minorticks_off()
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
