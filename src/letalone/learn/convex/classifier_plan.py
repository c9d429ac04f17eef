"""The plan of a linear classifier: what is bought, by which method, and what is published.

A purchase and the method share epsilon and delta; whatever the purchase finds, the rest is
spent on the method, so the whole is (epsilon, delta)-DP by basic composition (P3). The method
is chosen from public facts alone.

What was not declared can be bought. The norm of rows is a power of √2, read off a histogram with
geometric noise (column_bounds.py). Classes are the labels that enough rows have: counts with
geometric noise, and a threshold that a single row passes with probability at most delta.

Theorem.  The norm is epsilon-DP; the list of classes is (epsilon, delta)-DP.
  Proven:   docs/explanation/proofs/convex.md, section 9
  Tested:   tests/learn/test_linear.py: a label of one row by exact sums; labels of any kind;
            the norm found
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, isfinite
from numbers import Real
from typing import Any, cast

import numpy as np

from letalone.errors import ParameterError
from letalone.exact.balls import Ball, ball, certain, fraction_above
from letalone.exact.typed import Constraint, refusal
from letalone.learn.convex.gradient import gradient_method, loudness
from letalone.learn.convex.losses import Codes, Loss, Margin
from letalone.learn.convex.methods import ConvexMethod, ConvexSetting
from letalone.learn.convex.objective import least_strength, objective_method
from letalone.learn.convex.output import output_method
from letalone.learn.features.classes import EXACT, Classes, codes_of, is_text, read_classes
from letalone.learn.features.column_bounds import Norm, read_norm
from letalone.learn.noisy_sums.sums import noisy_sums
from letalone.learn.noisy_sums.wholes import BITS, Floats, within_norm
from letalone.learn.plan import Labels, Released, stated_promise
from letalone.mechanisms import Geometric
from letalone.privacy import Privacy
from letalone.privacy.curve import Json
from letalone.randomness.bits import BitSource

Label = str | int | float
METHODS: Mapping[str, Callable[[ConvexSetting], ConvexMethod]] = {
    "objective": objective_method,
    "output": output_method,
    "gradient": gradient_method,
}
NORM_SHARE = Fraction(1, 20)  # of epsilon
CLASS_SHARE = Fraction(1, 10)  # of epsilon, and of delta
USUALLY_BEST = "the default choice"
# Cross-validated on the training part of Adult and on parts of it: see docs/explanation/learning.
LOUD = 0.0001
LOUD_WORDS = "chosen as noise outweighs a ten-thousandth of the declared rows"
MODEL_EPSILON = Constraint(
    "a number from 0.000001 to 1000",
    lambda x: Fraction(1, 10**6) <= x <= 1000,
    "Smaller means more private; 0.1 to 10 is usual for a model.",
    (0, -1, 1e-9, 1e9, float("nan"), float("inf")),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The method and the public facts; the loss follows from the number of classes."""

    method: str
    facts: ConvexSetting
    loss_of: Callable[[int], Loss]

    def __post_init__(self) -> None:
        if self.method not in ("auto", *METHODS):
            raise refusal("method", self.method, "'auto', 'objective', 'output' or 'gradient'")

    def setting(self, classes: int) -> ConvexSetting:
        return replace(self.facts, loss=self.loss_of(classes))

    def planned(self, classes: int) -> ConvexMethod:
        return METHODS[self.chosen(classes)[0]](self.setting(classes))

    def chosen(self, classes: int) -> tuple[str, str]:
        if self.method != "auto":
            return self.method, "as asked"
        setting = self.setting(classes)
        if _is_loud(setting):
            return "gradient", LOUD_WORDS
        if setting.strength is None or setting.strength >= least_strength(setting):
            return "objective", USUALLY_BEST
        weak = "chosen as the regularisation is too weak for objective perturbation"
        return ("gradient" if setting.delta else "output"), weak


@dataclass(frozen=True, slots=True)
class NormPurchase:
    """A norm that nearly all rows keep to: from a noisy histogram of norms."""

    epsilon: Fraction

    def choose(self, rows: Floats, bits: BitSource) -> Fraction:
        norm = Norm(None)
        noise = noisy_sums(norm.purchase, epsilon=self.epsilon, delta=0)
        return norm.known(rows, noise, bits)

    @property
    def words(self) -> str:
        return f"data_norm: found, by a noisy histogram of norms, at ε = {float(self.epsilon):g}"


@dataclass(frozen=True, slots=True)
class ClassPurchase:
    """The labels that enough rows have."""

    epsilon: Fraction
    delta: Fraction

    @property
    def threshold(self) -> int:
        """The least noisy count that lists a class: of one row with probability at most delta."""

        # One row is listed if its noise is at least threshold − 1, which has the probability
        # a^(threshold − 1) / (1 + a), a = e^−epsilon.
        def least() -> Ball:
            alpha = (-ball(self.epsilon)).exp()
            return -(ball(self.delta) * (1 + alpha)).log() / ball(self.epsilon)

        return 1 + max(1, ceil(fraction_above(certain(least))))

    def choose(self, labels: Labels, bits: BitSource) -> tuple[Label, ...]:
        """The classes, numbers first, each kind in order."""
        counts = Counter(label for label in map(read_label, labels.tolist()) if label is not None)
        ordered = sorted(counts, key=lambda label: (isinstance(label, str), label))
        if not ordered:
            return ()
        noise = Geometric(epsilon=self.epsilon, sensitivity=1)
        noisy = noise.release(np.array([counts[label] for label in ordered], np.int64), bits=bits)
        pairs = zip(ordered, noisy.tolist(), strict=True)
        return tuple(label for label, count in pairs if count >= self.threshold)

    @property
    def words(self) -> str:
        return (
            f"classes: found at ε = {float(self.epsilon):g}, δ = {float(self.delta):g}: labels of"
            f" about {self.threshold} rows or more"
        )


@dataclass(frozen=True, slots=True)
class ClassifierPlan:
    """What a fit will do; see the module."""

    recipe: Recipe
    norm: Fraction | NormPurchase
    classes: tuple[object, ...] | ClassPurchase
    stated: tuple[Fraction, Fraction]

    @property
    def privacy(self) -> Privacy:
        """The method's curve; where something was bought, no more than the pair is claimed."""
        if isinstance(self.norm, NormPurchase) or isinstance(self.classes, ClassPurchase):
            return stated_promise(*self.stated)
        return self.recipe.planned(len(self.classes)).privacy

    @property
    def words(self) -> tuple[str, ...]:
        parts = self.norm, self.classes
        bought = [part.words for part in parts if not isinstance(part, Fraction | tuple)]
        if isinstance(self.classes, ClassPurchase):
            return ("the method is planned once the number of classes is found", *bought)
        count = len(self.classes)
        why, loss = self.recipe.chosen(count)[1], self.recipe.loss_of(count)
        about_loss = loss.words if isinstance(loss, Margin) else ()
        return *self.recipe.planned(count).words, f"method: {why}", *about_loss, *bought

    def described(self) -> Json:
        if isinstance(self.classes, ClassPurchase):
            facts = self.recipe.setting(2).described()
        else:
            facts = self.recipe.planned(len(self.classes)).described()
        return {
            "kind": "linear classifier",
            "method": self.recipe.method,
            "strength": str(self.recipe.facts.strength),
            "epsilon": [str(part) for part in self.stated],
            "norm": str(self.norm),
            "classes": repr(self.classes),
            "plan": facts,
        }

    def fitted(self, rows: Floats, labels: Labels | None, bits: BitSource) -> Released:
        targets, classes = cast("Labels", labels), np.asarray(self.classes)
        if isinstance(self.classes, ClassPurchase):
            classes = as_classes(self.classes.choose(targets, bits))
        norm = self.norm if isinstance(self.norm, Fraction) else self.norm.choose(rows, bits)
        published: dict[str, object] = {"classes_": classes, "data_norm_": float(norm)}
        if len(classes) < 2:
            nothing = np.zeros((1, self.recipe.facts.features))
            return published | {"coef_": nothing, "intercept_": np.zeros(1)}
        kept, codes = self._coded(rows, targets, classes, norm)
        weights = self.recipe.planned(len(classes)).weights(kept, codes, bits)
        return published | self._in_units(weights.values, weights.error, norm)

    def _coded(
        self, rows: Floats, labels: Labels, classes: Classes, norm: Fraction
    ) -> tuple[Floats, Codes]:
        """Rows with a class, in units of the norm, with the constant feature; and their classes."""
        codes = codes_of(labels, classes)
        kept = codes >= 0
        units = within_norm(rows[kept], norm) / 2.0**BITS
        return self.recipe.facts.with_constant(units), codes[kept]

    def _in_units(self, weights: Floats, error: float | None, norm: Fraction) -> dict[str, object]:
        facts, unit = self.recipe.facts, float(norm)
        width, size = facts.features, float(facts.intercept)
        published: dict[str, object] = {
            "coef_": weights[:, :width] / unit,
            "intercept_": weights[:, width] * size if size else np.zeros(len(weights)),
        }
        if error is not None:
            published["coef_error_"] = np.full((len(weights), width), error / unit)
        return published


def read_choice(recipe: Recipe, *, data_norm: object, classes: object) -> ClassifierPlan:
    """The plan; what is to be bought takes its share of epsilon and delta."""
    stated = epsilon, delta = recipe.facts.epsilon, recipe.facts.delta
    norm: Fraction | NormPurchase | None = read_norm(data_norm).declared
    if norm is None:
        norm = NormPurchase(stated[0] * NORM_SHARE)
        epsilon -= norm.epsilon
    if isinstance(classes, str):
        listed: tuple[object, ...] | ClassPurchase = _bought_classes(classes, recipe.facts)
        epsilon, delta = epsilon - listed.epsilon, delta - listed.delta
    else:
        listed = tuple(read_classes(cast("Any", classes)).tolist())
    facts = replace(recipe.facts, epsilon=epsilon, delta=delta)
    plan = ClassifierPlan(replace(recipe, facts=facts), norm, listed, stated)
    plan.recipe.planned(2 if isinstance(listed, ClassPurchase) else len(listed))
    return plan


def _is_loud(setting: ConvexSetting) -> bool:
    """Whether noise is large beside the rows, for two classes and a free regularisation."""
    is_compared = setting.delta > 0 and isinstance(setting.loss, Margin)
    is_free = setting.rows is not None and setting.strength is None
    return is_compared and is_free and loudness(setting) >= LOUD


def _bought_classes(classes: str, facts: ConvexSetting) -> ClassPurchase:
    if classes != "private":
        raise refusal("classes", classes, "a list of labels, or 'private'")
    if not facts.delta:
        raise ParameterError(
            "delta is 0, but classes='private' needs one, such as 1e-6: a label that is published"
            " was somebody's. Give a delta, or declare the classes."
        )
    if facts.strength is not None:
        raise ParameterError(
            "regularization cannot be given with classes='private': how much is needed depends on"
            " the number of classes. Declare the classes, or leave it out."
        )
    return ClassPurchase(facts.epsilon * CLASS_SHARE, facts.delta * CLASS_SHARE)


def read_label(cell: object) -> Label | None:
    """A label as text or a number; None for everything else."""
    try:
        if isinstance(cell, str):
            return str(cell) if is_text(cell) else None
        if not isinstance(cell, Real) or not isfinite(cell):
            return None
        number = cast("float", cell)
        if abs(number) >= EXACT:
            return None
        integer = int(number)
        return integer if integer == number else float(number)
    except Exception:  # a cell that cannot be read is no label
        return None


def as_classes(labels: tuple[Label, ...]) -> Labels:
    """The classes as an array; of objects where text and numbers are mixed."""
    mixed = len({isinstance(label, str) for label in labels}) > 1
    return np.array(labels, dtype=cast("Any", object) if mixed else None)
