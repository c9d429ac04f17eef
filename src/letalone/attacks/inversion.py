"""A person's secret from a model: asked with each possible value, which fits what is known?

The attacker has a model that predicts y from features, a person's y and all features but one, and
how frequent the values v of that one are. They guess the v with the largest

    P(v) · P(y | the model's answer for v)

which is right for those whom the model was trained on more often than for others if it has learnt
persons by heart. What is right for strangers as well is knowledge about people in general, which
a private model gives too, and is meant to give. So the two are shown apart.

Theorem.  "The guess is right" is an event about a model. For a person fixed before the coins, D6
bounds how often it occurs when they are in, by how often when they are out; see `games`.
  Proven:   docs/explanation/proofs/tradeoff.md (D6)
  Tested:   tests/attacks/test_inversion.py
  Assumed:  a row is a person; bounds and values of the table's columns are known

A kernel machine needs no such guess. It predicts by comparing with some of the rows that it learnt
from: its support vectors *are* people, secrets and all, for whoever opens the model's file. So do
nearest neighbours and Gaussian processes. A linear model has a number for each feature, however
many people there were.

Fredrikson, Lantz, Jha, Lin, Page, Ristenpart: Privacy in pharmacogenetics: an end-to-end case
study of personalized warfarin dosing (2014).
"""

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from letalone.answers.promise import as_percent
from letalone.attacks.confidence import likelihood
from letalone.attacks.games import MODELS, fitted_on, ordinary_model, play, private_model
from letalone.attacks.rates import Rates, exchange, series_of
from letalone.attacks.result import AttackReport, Line, beyond_line
from letalone.attacks.stage import OUTCOME, SENSITIVE, study
from letalone.attacks.training_people import MAX_VALUES, TrainingPeople, people_of
from letalone.drawing.chart import AxisKind, Chart, ChartAxis, Series, SeriesStyle
from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.exact.typed import COUNT, DELTA, EPSILON, Number
from letalone.privacy import Privacy
from letalone.randomness.bits import SYSTEM, BitSource

Floats = NDArray[np.float64]
MIN_ERROR = 1e-6  # a model's error, where it has learnt all by heart
SHADOWS = 8
Truths = NDArray[np.bool_]
PREDICTING = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
MAX_DEPTH = 4  # a model in a step of a pipeline in a search


@dataclass(frozen=True, slots=True)
class ModelInversion(AttackReport):
    """How often a secret is guessed: of members (`caught`) and of strangers (`alarms`).

    `baseline` is the share of the commonest value. `stored` of `trained` rows were in the file of
    a kernel machine, bit by bit; `private_stored` in that of the private model.
    """

    people: int
    target: str
    sensitive: str
    values: int
    baseline: float
    ordinary: Rates
    private: Rates
    privacy: Privacy
    epsilon: float
    trained: int
    stored: int
    private_stored: int
    _json: ClassVar[str] = (
        "people target sensitive values baseline ordinary private most_allowed exceeds"
        " rows_trained_on=trained rows_in_kernel_machine=stored"
        " rows_in_private_model=private_stored epsilon"
    )

    @property
    def most_allowed(self) -> float:
        """D6: how often a guess about members can be right, by how often it is about strangers.

        95 % sure: at the upper end of the interval of the latter.
        """
        return self.private.allowed(self.privacy)

    @property
    def exceeds(self) -> bool:
        """Whether the private model gives away more than it promises; 95 % sure."""
        return self.private.exceeds(self.privacy)

    @property
    def words(self) -> str:
        ordinary, noisy = self.ordinary, self.private
        return (
            f"A linear model predicts {self.target!r}. Anyone who knows that of a person, and all"
            f" of their features but {self.sensitive!r}, tries its {self.values} values in the"
            f" model: right for {as_percent(ordinary.detection)} of those it was trained on and"
            f" {as_percent(ordinary.false_alarm)} of strangers; the commonest value alone is right"
            f" for {as_percent(self.baseline)}. With ε = {self.epsilon:g} it is"
            f" {as_percent(noisy.detection)} and {as_percent(noisy.false_alarm)}: what holds for"
            " everybody can still be learnt, and is not a breach. A kernel machine's file holds"
            f" {self.stored:,} of {self.trained:,} rows of people as they are, the private"
            f" model's {self.private_stored:,}."
        )

    def lines(self) -> list[Line]:
        ordinary, noisy = self.ordinary, self.private
        strangers = (exchange(ordinary).told(), exchange(noisy).told())
        guessed = as_percent(self.baseline)
        limit = f"at most {as_percent(self.most_allowed)}"
        return [
            (f"{self.sensitive} guessed, of members", ordinary.told(), noisy.told()),
            (f"{self.sensitive} guessed, of strangers", *strangers),
            ("the commonest value alone", guessed, guessed),
            ("any guess about members (95 % confidence)", "no limit", limit),
            beyond_line(self.exceeds, ordinary.exceeds(self.privacy)),
            (
                f"rows of people in the file, of {self.trained:,}",
                f"{self.stored:,} (kernel machine)",
                f"{self.private_stored:,}",
            ),
        ]

    def _picture(self) -> Chart:
        both, at = (self.ordinary, self.private), (0.0, 1.0)
        strangers = [exchange(rates) for rates in both]
        bars = (
            series_of("members", at, both, SeriesStyle.BARS),
            series_of("strangers", at, strangers, SeriesStyle.BARS),
        )
        every = (-0.4, 1.4)
        lines = (
            Series("the commonest value", every, (self.baseline,) * 2, SeriesStyle.LINE),
            Series(self._limit_label, (0.6, 1.4), (self.most_allowed,) * 2, SeriesStyle.BOUND),
        )
        title = f"Guessing {self.sensitive!r} with a model that predicts {self.target!r}"
        places = ("ordinary", f"ε = {self.epsilon:g}")
        return Chart(
            title,
            ChartAxis("model", AxisKind.NAMES, places),
            ChartAxis("share guessed"),
            (*bars, *lines),
        )


def invert_model(
    table: object = None,
    *,
    target: str = OUTCOME,
    sensitive: str = SENSITIVE,
    features: Iterable[str] = (),
    people: Number = 100,
    models: Number = 200,
    epsilon: Number = 1.0,
    delta: Number = 0,
    seed: int = 2014,
    bits: BitSource = SYSTEM,
) -> ModelInversion:
    """Guesses a feature of people with a linear model, ordinary and private.

    table: a file or frame, a row a person; without one, a made-up study. target: the column that
    is predicted, and known to the attacker. sensitive: the feature that is guessed, which has few
    values. people: how many are drawn from the table, each in a model's data by a coin. models:
    how many are trained, of each kind.
    """
    generator = np.random.default_rng(seed)
    number, count = int(COUNT.typed("people", people)), int(MODELS.typed("models", models))
    spent = float(EPSILON.typed("epsilon", epsilon))
    DELTA.typed("delta", delta)
    source = study(number) if table is None else table
    crowd = people_of(source, target=target, features=features, people=number, generator=generator)
    secret = _secret(crowd, sensitive)
    kept = private_model(crowd, epsilon=epsilon, delta=delta, bits=bits)
    today = ordinary_model(crowd)
    ordinary, _ = _rates_of_guesses(today, crowd, secret, count, generator, ordinary=True)
    private, privacy = _rates_of_guesses(kept, crowd, secret, count, generator)
    stored = [
        int(rows_in_model(fitted_on(model, crowd), crowd.rows).sum())
        for model in (_kernel_machine(crowd), kept)
    ]
    return ModelInversion(
        people=len(crowd.rows),
        target=target,
        sensitive=sensitive,
        values=len(secret.shares),
        baseline=float(secret.shares.max()),
        ordinary=ordinary,
        private=private,
        privacy=cast("Privacy", privacy),
        epsilon=spent,
        trained=len(crowd.rows),
        stored=stored[0],
        private_stored=stored[1],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _SecretFeature:
    """What each value becomes in a row, how frequent it is, and whose is which."""

    place: slice
    encoded: Floats
    shares: Floats
    codes: NDArray[np.intp]


def _secret(people: TrainingPeople, name: str) -> _SecretFeature:
    if name not in people.places:
        known = list(people.places)
        raise ParameterError(
            f"sensitive is {name!r}, but must be one of the features, such as"
            f" {', '.join(known[:5])}.{did_you_mean(name, known)}"
        )
    place = people.places[name]
    encoded, codes, counts = np.unique(
        people.rows[:, place], axis=0, return_inverse=True, return_counts=True
    )
    if not 2 <= len(encoded) <= MAX_VALUES:
        raise ParameterError(
            f"Column {name!r} has {len(encoded)} values among these people, but a secret must have"
            f" from 2 to {MAX_VALUES} to be tried one by one. Name another."
        )
    return _SecretFeature(place, encoded, counts / counts.sum(), codes.reshape(-1))


def _rates_of_guesses(
    model: Any,
    people: TrainingPeople,
    secret: _SecretFeature,
    models: int,
    generator: np.random.Generator,
    *,
    ordinary: bool = False,
) -> tuple[Rates, Privacy | None]:
    """How often the guess is right, one person of each model."""
    error = _error(model, people, generator, ordinary=ordinary)

    def right(fitted: Any) -> Floats:
        return (_guess(fitted, people, secret, error) == secret.codes).astype(np.float64)

    played = play(model, people, right, models=models, generator=generator, ordinary=ordinary)
    targets = generator.integers(0, len(people.rows), models)
    return played.rates(targets, played.scores > 0), played.privacy


def _guess(
    model: Any, people: TrainingPeople, secret: _SecretFeature, error: float
) -> NDArray[np.intp]:
    rows, scores = people.rows.copy(), np.empty((len(secret.shares), len(people.rows)))
    for number, encoded in enumerate(secret.encoded):
        rows[:, secret.place] = encoded
        fits = likelihood(model, rows, people.labels, error=error)
        scores[number] = np.log(secret.shares[number]) + fits
    return scores.argmax(axis=0)


def _error(
    model: Any, people: TrainingPeople, generator: np.random.Generator, *, ordinary: bool
) -> float:
    """How far such models are from the labels they learnt, by some of the attacker's own."""
    if not people.is_numeric:
        return 1.0

    def apart(fitted: Any) -> Floats:
        return people.labels - np.asarray(fitted.predict(people.rows), np.float64)

    tried = play(model, people, apart, models=SHADOWS, generator=generator, ordinary=ordinary)
    return MIN_ERROR + float(np.sqrt((tried.scores[tried.inside] ** 2).mean()))


def _kernel_machine(people: TrainingPeople) -> Any:
    kinds = cast("Any", import_module("sklearn.svm"))
    return kinds.SVR(epsilon=0.01) if people.is_numeric else kinds.SVC()


def rows_in_model(model: Any, rows: Any) -> Truths:
    """For each row, whether it is in the model as a file would keep it, bit by bit."""
    if isinstance(model, type) or not any(
        callable(getattr(model, name, None)) for name in PREDICTING
    ):
        raise ParameterError(
            f"The model has the type {_kind(model)}, but must be one that was trained, with a"
            " method such as predict."
        )
    wanted = np.asarray(rows, np.float64) + 0.0  # -0 is 0
    if wanted.ndim != 2:
        raise ParameterError("The rows must be numbers, one row for each person: [[1.0, 2.0], …].")
    opened = pickle.loads(pickle.dumps(model))  # of our own making
    known = {row.tobytes() for part in _arrays(opened, MAX_DEPTH) for row in _rows(part, wanted)}
    return np.array([row.tobytes() in known for row in wanted], np.bool_)


def _kind(model: object) -> str:
    return f"class {model.__name__}" if isinstance(model, type) else type(model).__name__


def _rows(part: NDArray[Any], wanted: Floats) -> Floats:
    if part.ndim != 2 or part.shape[1] != wanted.shape[1] or part.dtype.kind not in "fiub":
        return np.empty((0, wanted.shape[1]))
    return np.ascontiguousarray(part, np.float64) + 0.0


def _arrays(thing: object, depth: int) -> Iterator[NDArray[Any]]:
    """The arrays in an object, in its attributes, and in theirs."""
    if isinstance(thing, np.ndarray):
        yield cast("NDArray[Any]", thing)
    elif depth:
        for part in _parts(thing):
            yield from _arrays(part, depth - 1)


def _parts(thing: object) -> list[object]:
    if isinstance(thing, Mapping):
        return list(cast("Mapping[object, object]", thing).values())
    if isinstance(thing, list | tuple):
        return list(cast("list[object]", thing))
    return list(getattr(thing, "__dict__", {}).values())
