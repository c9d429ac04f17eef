"""Rivals before our auditor: each draws in an environment of its own, and is judged here.

A script draws so often on each of two inputs and stores the outputs bit by bit; every stored draw
is used once, in its order. The neighbours are those for which the rival states its promise: a row
added where it says add/remove, a row replaced where the number of rows is public. Where it says
nothing, the milder reading is taken. The claim is epsilon = 1 unless a line says otherwise.
"""

import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import run_in

from letalone.audit import audit, confidence_of_each

TIMEOUT_SECONDS = 900

START = """
import json, math, time, warnings
import numpy as np
warnings.simplefilter("ignore")
FOLDER, SHARE = "@folder", @share
JOBS = []
FAST, SLOW, FIT = (max(300, int(SHARE * n)) for n in (100_000, 20_000, 3_000))
UP, DOWN = [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]
ADD, REPLACE = "a row more", "a row replaced"

def job(name, draw, one, other, samples, *, delta=0.0, epsilon=1.0, pair=ADD):
    told = {"name": name, "epsilon": epsilon, "delta": delta, "pair": pair}
    start = time.process_time()
    try:
        found = [np.asarray(draw(given, samples), float) for given in (one, other)]
        np.save(f"{FOLDER}/{len(JOBS)}.npy", np.stack(found))
    except Exception as error:
        told["failed"] = f"{type(error).__name__}: {error}"[:160]
    JOBS.append({**told, "seconds": time.process_time() - start})

def each(ask):
    return lambda given, count: [ask(given) for _ in range(count)]
"""

END = """
print(json.dumps(JOBS))
"""

OPENDP = """
import opendp.prelude as dp
dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
whole, real = dp.atom_domain(T=int), dp.atom_domain(T=float, nan=False)
numbers, tables = dp.vector_domain(real), dp.symmetric_distance()
l1, linf, pure = dp.l1_distance(T=float), dp.linf_distance(T=float), dp.max_divergence()

def vector(measurement):
    return lambda value, count: measurement([value] * count)

def gaussian(scale):
    made = dp.m.make_gaussian(numbers, dp.l2_distance(T=float), scale=scale)
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(made), delta=0.01)

value = "the value moves by 1"
laplace = dp.m.make_laplace(numbers, l1, scale=1.0)
job("Laplace, floats", vector(laplace), 0.0, 1.0, FAST, pair=value)
job("Laplace, whole numbers", vector(dp.m.make_laplace(
    dp.vector_domain(whole), dp.l1_distance(T=int), scale=1.0)), 0, 1, FAST, pair=value)
sigma = dp.binary_search_param(gaussian, d_in=1.0, d_out=(1.0, 0.01))
job("Gaussian, floats", vector(gaussian(sigma)), 0.0, 1.0, FAST, delta=0.01, pair=value)
canonical = dp.m.make_canonical_noise(real, dp.absolute_distance(T=float), 1.0, (1.0, 0.01))
job("canonical noise", each(canonical), 0.0, 1.0, SLOW, delta=0.01, pair=value)
truth = math.e / (1 + math.e)
job("randomized response, bool", each(dp.m.make_randomized_response_bool(prob=truth)),
    True, False, FAST, pair="the answer")
three = dp.m.make_randomized_response([0, 1, 2], prob=math.e / (2 + math.e))
job("randomized response, three", each(three), 0, 1, SLOW, pair="the answer")
best = dp.m.make_noisy_max(numbers, linf, pure, scale=2.0)
job("noisy max", each(best), UP, DOWN, SLOW, pair="utilities move by 1")
top = dp.m.make_noisy_top_k(numbers, linf, pure, k=2, scale=4.0)
job("noisy top 2", each(top), UP, DOWN, SLOW, pair="utilities move by 1")
counted = (dp.vector_domain(whole), tables) >> dp.t.then_count() >> dp.m.then_laplace(scale=1.0)
job("count", each(counted), [0] * 3, [0] * 3 + [1], SLOW)
cells = dp.t.make_count_by_categories(
    dp.vector_domain(dp.atom_domain(T=str)), tables, ["a", "b"], MO=dp.L1Distance[int])
job("histogram", each(cells >> dp.m.then_laplace(scale=1.0)), ["a"] * 3, ["a"] * 3 + ["b"], SLOW)
clamped = dp.vector_domain(dp.atom_domain(bounds=(0, 1)))
total = (clamped, tables) >> dp.t.then_sum() >> dp.m.then_laplace(scale=1.0)
job("sum of whole numbers", each(total), [0] * 3, [0] * 3 + [1], SLOW)
sized = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=4)
for name, made, low, high in (("sum of floats", dp.t.make_sum, 0.9, 1.2),
                              ("mean", dp.t.make_mean, 0.2, 0.3),
                              ("variance", dp.t.make_variance, 0.1, 0.5)):
    noisy = lambda scale: made(sized, tables) >> dp.m.then_laplace(scale=scale)
    asked = noisy(dp.binary_search_param(noisy, d_in=2, d_out=1.0, bounds=(low, high)))
    job(name, each(asked), [0.0] * 4, [0.0] * 3 + [1.0], SLOW, pair=REPLACE)
ranks = dp.m.make_private_quantile(
    numbers, tables, pure, candidates=[float(n) for n in range(10)], alpha=0.5, scale=1.0)
job("median", each(ranks), [0.0] * 3, [0.0] * 3 + [9.0], SLOW)
"""

DIFFPRIVLIB = """
from diffprivlib import mechanisms as m, models, tools
one = {"epsilon": 1.0, "sensitivity": 1.0}
whole, slack = {"epsilon": 1.0, "sensitivity": 1}, {"delta": 0.01}
value = "the value moves by 1"

def added(made, samples=FAST, **options):
    job(type(made).__name__, each(made.randomise), 0.0, 1.0, samples, pair=value, **options)

added(m.Laplace(**one))
added(m.LaplaceTruncated(**one, lower=0, upper=1))
added(m.LaplaceFolded(**one, lower=0, upper=1))
added(m.LaplaceBoundedDomain(**one, lower=0, upper=1), SLOW)
added(m.LaplaceBoundedNoise(**one, delta=0.01), SLOW, delta=0.01)
added(m.Staircase(**one), SLOW)
added(m.Snapping(**one, lower=-10, upper=10), SLOW)
added(m.Gaussian(epsilon=0.99, delta=0.01, sensitivity=1.0), delta=0.01, epsilon=0.99)
added(m.GaussianAnalytic(**one, delta=0.01), delta=0.01)
added(m.Uniform(delta=0.1, sensitivity=1.0), delta=0.1, epsilon=0.0)
for made in (m.Geometric(**whole), m.GeometricTruncated(**whole, lower=0, upper=1),
             m.GeometricFolded(**whole, lower=0, upper=1)):
    job(type(made).__name__, each(made.randomise), 0, 1, SLOW, pair=value)
job("GaussianDiscrete", each(m.GaussianDiscrete(**whole, delta=0.01).randomise), 0, 1,
    SLOW, delta=0.01, pair=value)
two = m.Binary(epsilon=1.0, value0="0", value1="1")
job("Binary", each(lambda x: int(two.randomise(x))), "0", "1", FAST, pair="the answer")
for kind in (m.Exponential, m.PermuteAndFlip):
    chosen = [kind(epsilon=1.0, sensitivity=1.0, utility=u) for u in (UP, DOWN)]
    job(kind.__name__, each(lambda w, c=chosen: c[w].randomise()), 0, 1, SLOW,
        pair="utilities move by 1")

rows, other = np.zeros(8), np.array([0.0] * 7 + [1.0])
unit = {"epsilon": 1.0, "bounds": (0, 1)}
for name in ("mean", "sum", "var", "std"):
    job(f"tools.{name}", each(lambda x, ask=getattr(tools, name): ask(x, **unit)), rows, other,
        SLOW, pair=REPLACE)
middle = [np.array([0.0] * n + [0.5] + [1.0] * (7 - n)) for n in (4, 3)]
job("tools.median", each(lambda x: tools.median(x, **unit)), *middle, SLOW, pair=REPLACE)
high = [np.array([0.0] * n + [0.5] + [1.0] * (7 - n)) for n in (7, 6)]
job("tools.quantile, 0.9", each(lambda x: tools.quantile(x, 0.9, **unit)), *high, SLOW,
    pair=REPLACE)
# It never answers more than the length of the array, which is therefore taken to be public.
job("tools.count_nonzero", each(lambda x: tools.count_nonzero(x, epsilon=1.0)),
    np.array([1, 1, 1, 0]), np.ones(4), SLOW, pair=REPLACE)
job("tools.histogram", each(lambda x: tools.histogram(x, epsilon=1.0, bins=2, range=(0, 1))[0]),
    np.zeros(3), np.array([0.0] * 3 + [1.0]), SLOW)

X, y = np.zeros((8, 2)), np.array([0, 1] * 4)
moved = X.copy()
moved[0] = [1.0, 0.0]
bounds = {"epsilon": 1.0, "bounds": (0, 1)}
ends = {"epsilon": 1.0, "bounds_X": (0, 1), "bounds_y": (0, 1), "fit_intercept": False}
tiny, large = np.zeros((8, 1)), np.zeros((8, 1))
tiny[0], large[0] = 1e-3, 1.0
linear = lambda x: models.LinearRegression(**ends).fit(x, np.zeros(8)).coef_
job("LinearRegression", each(linear), tiny, large, FIT, pair=REPLACE)
logistic = lambda x: models.LogisticRegression(epsilon=1.0, data_norm=1.0).fit(x, y)
job("LogisticRegression", each(lambda x: logistic(x).coef_.ravel()), X, moved, FIT, pair=REPLACE)
def bayes(x):
    made = models.GaussianNB(**bounds).fit(x, y)
    return np.concatenate([made.theta_.ravel(), made.var_.ravel()])
job("GaussianNB", each(bayes), X, moved, FIT, pair=REPLACE)
def scaler(x):
    made = models.StandardScaler(**bounds).fit(x)
    return [*made.mean_, *made.var_]
job("StandardScaler", each(scaler), X, moved, FIT, pair=REPLACE)
component = lambda x: models.PCA(1, epsilon=1.0, data_norm=1.0, centered=True).fit(x)
job("PCA, its variance", each(lambda x: component(x).explained_variance_), X, moved, FIT,
    pair=REPLACE)
clusters = lambda x: models.KMeans(2, **bounds).fit(x)
job("KMeans, its centres", each(lambda x: clusters(x).cluster_centers_.ravel()), X, moved, FIT,
    pair=REPLACE)
def leftover(x):
    made = clusters(x)
    return [made.inertia_, *made.labels_]
job("KMeans, labels_ and inertia_", each(leftover), X, moved, FIT, pair=REPLACE)
# It counts labels with a sensitivity of 1, which is that of a row more.
def tree(size):
    made = models.DecisionTreeClassifier(max_depth=1, **bounds, classes=[0, 1])
    return made.fit(X[:size], y[:size]).predict(X[:1])
job("DecisionTreeClassifier", each(tree), 7, 8, FIT)
"""

PYTHON_DP = """
from pydp.algorithms import laplacian
from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism
value = "the value moves by 1"
laplace, gaussian = LaplaceMechanism(1.0, 1.0), GaussianMechanism(1.0, 0.01, 1.0)
job("Laplace, floats", each(laplace.add_noise), 0.0, 1.0, FAST, pair=value)
job("Laplace, whole numbers", each(laplace.add_noise), 0, 1, FAST, pair=value)
job("Gaussian, floats", each(gaussian.add_noise), 0.0, 1.0, FAST, delta=0.01, pair=value)
job("Gaussian, whole numbers", each(gaussian.add_noise), 0, 1, FAST, delta=0.01, pair=value)

def asked(kind, **more):
    return each(lambda x: getattr(laplacian, kind)(epsilon=1.0, **more).quick_result(x))

few, rows = [0.0] * 3, [0.0] * 3 + [1.0]
ends = {"lower_bound": 0.0, "upper_bound": 1.0, "dtype": "float"}
job("Count", asked("Count", dtype="float"), few, rows, SLOW)
for kind in ("BoundedSum", "BoundedMean", "BoundedVariance", "BoundedStandardDeviation",
             "Max", "Min", "Median"):
    job(kind, asked(kind, **ends), few, rows, SLOW)
job("Percentile, 0.9", asked("Percentile", percentile=0.9, **ends), few, rows, SLOW)
whole = {"lower_bound": 0, "upper_bound": 1, "dtype": "int"}
job("BoundedSum of whole numbers", asked("BoundedSum", **whole), [0] * 3, [0] * 3 + [1], SLOW)
"""

RIVALS = {
    "OpenDP 0.16.0": ("opendp==0.16.0", OPENDP),
    "diffprivlib 0.6.6": ("diffprivlib==0.6.6 scikit-learn<1.7 setuptools", DIFFPRIVLIB),
    "python-dp 1.1.5": ("python-dp==1.1.5", PYTHON_DP),
}


@dataclass(slots=True)
class Stored:
    """Stored draws, each given once: a mechanism that `audit` can ask with many=True."""

    draws: NDArray[np.float64]
    given: list[int] = field(default_factory=lambda: [0, 0])

    def __call__(self, which: int, count: int) -> NDArray[np.float64]:
        first = self.given[which]
        self.given[which] = first + count
        return self.draws[which, first : first + count]


def rival(name: str, share: float) -> list[dict[str, Any]]:
    """What a rival's promises were found to be worth, with this share of all draws."""
    requirement, script = RIVALS[name]
    with tempfile.TemporaryDirectory() as folder:
        start = START.replace("@folder", folder).replace("@share", str(share))
        jobs = run_in(requirement, start + script + END, timeout_seconds=TIMEOUT_SECONDS)
        sure = confidence_of_each(len(jobs))
        return [_judged(Path(folder), place, job, sure) for place, job in enumerate(jobs)]


def _judged(folder: Path, place: int, job: dict[str, Any], sure: Fraction) -> dict[str, Any]:
    row = {"job": job["name"], "epsilon": job["epsilon"], "delta": job["delta"]}
    row |= {"pair": job["pair"], "seconds": job["seconds"]}
    if "failed" in job:
        return {**row, "lower": None, "verdict": "failed", "event": job["failed"], "samples": 0}
    draws = np.load(folder / f"{place}.npy")
    one = audit(
        Stored(draws),
        0,
        1,
        claimed_epsilon=job["epsilon"],
        claimed_delta=job["delta"],
        samples=draws.shape[1],
        confidence=sure,
        many=True,
    )
    return {
        **row,
        "lower": one.lower,
        "verdict": one.verdict.value,
        "event": one.event,
        "samples": one.samples,
    }
