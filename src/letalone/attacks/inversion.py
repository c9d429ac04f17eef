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

And a kernel machine needs no such guess: its support vectors are rows of people, secrets and all,
in the model's file; see `stored_rows`.

Fredrikson, Lantz, Jha, Lin, Page, Ristenpart: Privacy in pharmacogenetics: an end-to-end case
study of personalized warfarin dosing (2014).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.answers.promise import percent
from letalone.attacks.confidence import likelihood
from letalone.attacks.games import MODELS, Played, fitted_on, ordinary_model, play, private_model
from letalone.attacks.model_stage import OUTCOME, SENSITIVE, study
from letalone.attacks.people import MOST_VALUES, People, people_of
from letalone.attacks.picture import Picture, Series, Shape, allowed_at, draw
from letalone.attacks.rates import Rates, least, most
from letalone.attacks.result import Line
from letalone.attacks.stored_rows import rows_in_model
from letalone.errors import ParameterError
from letalone.errors.spelling import did_you_mean
from letalone.exact.typed import COUNT, DELTA, EPSILON, Number
from letalone.privacy import Privacy
from letalone.randomness.bits import SYSTEM, BitSource

Floats = NDArray[np.float64]
SMALLEST = 1e-6  # a model's error, where it has learnt all by heart
SHADOWS = 8


@dataclass(frozen=True, slots=True)
class ModelInversion:
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
        """A paragraph for a privacy officer."""
        found, noisy = self.ordinary, self.private
        return (
            f"A linear model predicts {self.target!r}. Whoever knows that of a person, and all of"
            f" their features but {self.sensitive!r}, tries its {self.values} values in the"
            f" model: right for {percent(found.detection)} of those it was trained on and"
            f" {percent(found.false_alarm)} of strangers; the commonest value alone is right for"
            f" {percent(self.baseline)}. With ε = {self.epsilon:g} it is"
            f" {percent(noisy.detection)} and {percent(noisy.false_alarm)}: what holds for"
            " everybody can still be learnt, and is no breach. A kernel machine's file holds"
            f" {self.stored:,} of {self.trained:,} rows of people as they are, the private"
            f" model's {self.private_stored:,}."
        )

    def __str__(self) -> str:
        return self.words

    def lines(self) -> list[Line]:
        """The numbers to compare."""
        found, noisy = self.ordinary, self.private
        guessed = percent(self.baseline)
        limit = f"at most {percent(self.most_allowed)}"
        return [
            (f"{self.sensitive} guessed, of members", found.told(), noisy.told()),
            (f"{self.sensitive} guessed, of strangers", _outside(found), _outside(noisy)),
            ("the commonest value alone", guessed, guessed),
            ("any guess about members (D6, 95 % sure)", "no limit", limit),
            ("beyond the bound (95 % sure)", _yes(found.exceeds(self.privacy)), _yes(self.exceeds)),
            (
                f"rows of people in the file, of {self.trained:,}",
                f"{self.stored:,} (kernel machine)",
                f"{self.private_stored:,}",
            ),
        ]

    def to_json(self) -> dict[str, object]:
        """The numbers, for programs."""
        return {
            "people": self.people,
            "target": self.target,
            "sensitive": self.sensitive,
            "values": self.values,
            "baseline": self.baseline,
            "ordinary": self.ordinary.to_json(),
            "private": self.private.to_json(),
            "most_allowed": self.most_allowed,
            "exceeds": self.exceeds,
            "rows_trained_on": self.trained,
            "rows_in_kernel_machine": self.stored,
            "rows_in_private_model": self.private_stored,
            "epsilon": self.epsilon,
        }

    def plot(self, path: object = None) -> Any:
        """Right guesses about members and about strangers, with either model."""
        both = (self.ordinary, self.private)
        bars = (_bars("members", both, inside=True), _bars("strangers", both, inside=False))
        every = (-0.4, 1.4)
        lines = (
            Series("the commonest value", every, (self.baseline,) * 2, Shape.LINE),
            Series(allowed_at(self.epsilon), (0.6, 1.4), (self.most_allowed,) * 2, Shape.BOUND),
        )
        title = f"Guessing {self.sensitive!r} with a model that predicts {self.target!r}"
        places = ("ordinary", f"ε = {self.epsilon:g}")
        return draw(Picture(title, "model", "share guessed", (*bars, *lines), places), path)


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
    found = study(number) if table is None else table
    crowd = people_of(found, target=target, features=features, people=number, generator=generator)
    secret = _secret(crowd, sensitive)
    kept = private_model(crowd, epsilon=epsilon, delta=delta, bits=bits)
    today = ordinary_model(crowd)
    ordinary, _ = _inverted(today, crowd, secret, count, generator, ordinary=True)
    private, privacy = _inverted(kept, crowd, secret, count, generator)
    stored = [_stored(model, crowd) for model in (_kernel_machine(crowd), kept)]
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
class _Secret:
    """What each value becomes in a row, how frequent it is, and whose is which."""

    place: slice
    encoded: Floats
    shares: Floats
    own: NDArray[np.intp]


def _secret(people: People, name: str) -> _Secret:
    if name not in people.places:
        known = list(people.places)
        raise ParameterError(
            f"sensitive is {name!r}, but must be one of the features, such as"
            f" {', '.join(known[:5])}.{did_you_mean(name, known)}"
        )
    place = people.places[name]
    encoded, own, counts = np.unique(
        people.rows[:, place], axis=0, return_inverse=True, return_counts=True
    )
    if not 2 <= len(encoded) <= MOST_VALUES:
        raise ParameterError(
            f"Column {name!r} has {len(encoded)} values among these people, but a secret must have"
            f" from 2 to {MOST_VALUES} to be tried one by one. Name another."
        )
    return _Secret(place, encoded, counts / counts.sum(), own.reshape(-1))


def _inverted(
    model: Any,
    people: People,
    secret: _Secret,
    models: int,
    generator: np.random.Generator,
    *,
    ordinary: bool = False,
) -> tuple[Rates, Privacy | None]:
    """How often the guess is right, one person of each model."""
    error = _error(model, people, generator, ordinary=ordinary)

    def right(fitted: Any) -> Floats:
        return (_guess(fitted, people, secret, error) == secret.own).astype(np.float64)

    played = play(model, people, right, models=models, generator=generator, ordinary=ordinary)
    targets = generator.integers(0, len(people.rows), models)
    return played.rates(targets, played.scores > 0), played.privacy


def _guess(model: Any, people: People, secret: _Secret, error: float) -> NDArray[np.intp]:
    """The likeliest value for each person."""
    rows, scores = people.rows.copy(), np.empty((len(secret.shares), len(people.rows)))
    for number, encoded in enumerate(secret.encoded):
        rows[:, secret.place] = encoded
        fits = likelihood(model, rows, people.labels, error=error)
        scores[number] = np.log(secret.shares[number]) + fits
    return scores.argmax(axis=0)


def _error(model: Any, people: People, generator: np.random.Generator, *, ordinary: bool) -> float:
    """How far such models are from the labels they learnt, by some of the attacker's own."""
    if not people.is_numeric:
        return 1.0

    def apart(fitted: Any) -> Floats:
        return people.labels - np.asarray(fitted.predict(people.rows), np.float64)

    tried: Played = play(
        model, people, apart, models=SHADOWS, generator=generator, ordinary=ordinary
    )
    return SMALLEST + float(np.sqrt((tried.scores[tried.inside] ** 2).mean()))


def _kernel_machine(people: People) -> Any:
    kinds = cast("Any", import_module("sklearn.svm"))
    return kinds.SVR(epsilon=0.01) if people.is_numeric else kinds.SVC()


def _stored(model: Any, people: People) -> int:
    """How many of the rows that it was trained on are in the model."""
    return int(rows_in_model(fitted_on(model, people), people.rows).sum())


def _outside(rates: Rates) -> str:
    low, high = (end(rates.alarms, rates.outsiders, 0.025) for end in (least, most))
    return f"{percent(rates.false_alarm)} ({100 * low:.0f} to {100 * high:.0f})"


def _yes(exceeds: bool) -> str:
    return "yes" if exceeds else "no"


def _bars(label: str, both: tuple[Rates, Rates], *, inside: bool) -> Series:
    hits = [(one.caught, one.members) if inside else (one.alarms, one.outsiders) for one in both]
    return Series(
        label,
        (0.0, 1.0),
        tuple(count / number for count, number in hits),
        Shape.BARS,
        tuple(least(*one, 0.025) for one in hits),
        tuple(most(*one, 0.025) for one in hits),
    )
