"""Private models beside rivals and beside no privacy: test accuracy by ε.

    python bench/learn.py [--adult FILE] [--knots 8] [--fits 10] [--rivals FILE] [--plot SVG]
        [--json]

`--adult` is a Parquet file of Adult / Census Income with a column `split`; without it the tumours
that come with scikit-learn are used, which are few. `--knots` is how numbers of Adult are encoded,
for everybody: with 0 each is one feature. δ = 1e-5. Every number is the mean over
several fits with fresh noise; nothing of ours is tuned on the test set. `--rivals` gives the same
encoded rows to rivals, each in an environment of its own, best of several configurations *on the
test set*; what they reach is kept in FILE, and read from there the next time. `--plot` draws
how the excess error falls with the number of rows and grows with that of features.
"""

import argparse
import json
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from learn_data import Data, adult, bundled
from learn_rates import draw
from learn_rivals import measure_rivals
from learn_view import show
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression as Plain

import letalone
from letalone.learn import BoostedTreesClassifier, LogisticRegression

EPSILONS = [0.1, 0.5, 1, 2, 8]
DELTA = 1e-5
METHODS = ("auto", "objective", "output", "gradient")


def logistic(data: Data, epsilon: float, method: str) -> Any:
    return LogisticRegression(
        epsilon,
        DELTA,
        data_norm=data.norm,
        classes=[0, 1],
        method=method,
        rows=len(data.train),
    )


def trees(data: Data, epsilon: float) -> Any:
    groups = {"bounds": (-1, 1), "groups": data.groups}
    return BoostedTreesClassifier(epsilon, DELTA, classes=[0, 1], **groups)


def models(data: Data) -> dict[str, tuple[Data, Callable[[float], Any]]]:
    """Trees find the shape of a number by themselves, and get it as one feature."""
    found: dict[str, tuple[Data, Callable[[float], Any]]] = {
        f"LogisticRegression, {method}": (
            data,
            lambda epsilon, method=method: logistic(data, epsilon, method),
        )
        for method in METHODS
    }
    plain = data.plain or data
    return {**found, "BoostedTreesClassifier": (plain, lambda epsilon: trees(plain, epsilon))}


def measured(make: Callable[[], Any], data: Data, fits: int) -> dict[str, Any]:
    """Test accuracies and CPU seconds of several fits."""
    scores, seconds = [], []
    for _ in range(fits):
        start = time.process_time()
        model = make().fit(data.train, data.train_labels)
        seconds.append(time.process_time() - start)
        scores.append(float(np.mean(model.predict(data.test) == data.test_labels)))
    return {"scores": scores, "seconds": float(np.median(seconds))}


def ours(data: Data, fits: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, (rows, make) in models(data).items():
        print(f"{name} …", file=sys.stderr)
        found[name] = {
            str(epsilon): measured(lambda: make(epsilon), rows, fits)  # noqa: B023
            for epsilon in EPSILONS
        }
    return found


def without_privacy(data: Data) -> dict[str, dict[str, Any]]:
    plain: dict[str, Callable[[], Any]] = {"LogisticRegression": lambda: Plain(max_iter=1000)}
    if len(data.train) > 10_000:
        plain["HistGradientBoosting"] = lambda: HistGradientBoostingClassifier(random_state=0)
    return {name: measured(make, data, 1) for name, make in plain.items()}


def rivals(data: Data, kept: Path | None, fits: int) -> dict[str, Any]:
    """From the file, or measured now and kept in it."""
    if kept is None:
        return {}
    if not kept.exists():
        with tempfile.TemporaryDirectory() as place:
            rows = Path(place) / "rows.npz"
            data.save(rows)
            found = measure_rivals(rows, EPSILONS, delta=DELTA, seeds=fits)
        kept.write_text(json.dumps(found, indent=1))
    return json.loads(kept.read_text())


def measure(options: argparse.Namespace) -> dict[str, Any]:
    data = adult(options.adult, options.knots or None) if options.adult else bundled()
    return {
        "machine": f"{platform.machine()}, Python {platform.python_version()}, scikit-learn"
        f" {sklearn.__version__}, letalone {letalone.__version__}",
        "data": f"{data.name}, {len(data.train):,} rows to learn from, {len(data.test):,} to test"
        f" on, {data.train.shape[1]} features",
        "large": bool(options.adult),
        "fits": options.fits,
        "majority": float(np.mean(data.test_labels == np.bincount(data.train_labels).argmax())),
        "plain": without_privacy(data),
        "ours": ours(data, options.fits),
        "rivals": rivals(data, options.rivals, options.fits),
    }


if __name__ == "__main__":
    warnings.simplefilter("error")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adult", type=Path)
    parser.add_argument("--knots", type=int, default=8)
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument("--rivals", type=Path, metavar="FILE")
    parser.add_argument("--plot", type=Path, metavar="SVG")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    outcome = measure(given)
    print(json.dumps(outcome)) if given.json else show(outcome)
    if given.plot:
        draw(given.plot)
