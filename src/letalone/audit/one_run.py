"""One fit audits itself: canaries are put in by coins, and guessed from the model.

    audit_training(LogisticRegression(1, 1e-6, data_norm=1, classes=[0, 1]), X, y)

A canary is a row of its own: as long as rows may be, along a column that is added for it and is 0
elsewhere, so that the model's answer there depends on it alone. After the fit, those whose answer
leans most towards their label are guessed to be in, those that lean least to be out. Rows of
one's own, for any estimator, come with a score: higher for those that are believed to be in.

Theorem.  That of `bound` for right guesses, with the error shared by the numbers of guesses that
are tried.
  Proven:   docs/explanation/proofs/audit.md, section 8
  Tested:   tests/audit/test_one_run.py: honest fits are accused no oftener than stated; a fit with
            the noise of a larger epsilon is accused
  Assumed:  rows are the units, and neighbours differ by one row more; the system's coins

The fit is charged as any other. What is told of canaries is post-processing of the model, since
they are made up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from letalone.audit.auditor import AuditVerdict, read_claim, verdict_on
from letalone.audit.bound import RightGuesses, epsilon_of_guesses
from letalone.errors import ParameterError
from letalone.exact.typed import COUNT, Number
from letalone.privacy.neighbours import Relation
from letalone.randomness.bits import SYSTEM, BitSource

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Score = Callable[[Any, Floats, Labels], Floats]
GUESSED_PARTS = (1, 2, 4, 8)  # all canaries are guessed, or a half, a quarter, an eighth


@dataclass(frozen=True, slots=True)
class TrainingAudit:
    """What one fit gave away: epsilon is at least `lower`, unless the coins misled."""

    lower: float
    guesses: RightGuesses
    claimed_epsilon: Fraction
    claimed_delta: Fraction
    confidence: float

    @property
    def verdict(self) -> AuditVerdict:
        return verdict_on(self.claimed_epsilon, self.lower)

    @property
    def in_words(self) -> str:
        """The verdict in a sentence."""
        guesses = self.guesses
        return (
            f"{self.verdict.name}: of {guesses.made:,} guesses about {guesses.canaries:,} canaries"
            f" {guesses.right:,} were right, so ε is at least {int(self.lower * 1e4) / 1e4:.4f}"
            f" with {100 * self.confidence:g} % confidence; claimed is"
            f" {float(self.claimed_epsilon):g}."
        )


def audit_training(
    estimator: Any,
    X: Any,  # noqa: N803
    y: Any,
    *,
    canaries: int | tuple[Any, Any] = 200,
    score: Score | None = None,
    guesses: int | None = None,
    claimed_epsilon: Number | None = None,
    claimed_delta: Number | None = None,
    confidence: Number = 0.95,
    coins: BitSource = SYSTEM,
) -> TrainingAudit:
    """Fits a copy of the estimator once, and holds what it gives away against its claim.

    `canaries` is how many to make up, or their rows and labels; those need as many columns as X.
    The claim is the estimator's own `epsilon` and `delta` unless others are named. `guesses`
    fixes how many canaries are guessed; otherwise four numbers are tried, which share the error.
    """
    epsilon, delta, miss = read_claim(
        _claim(estimator, "epsilon", claimed_epsilon),
        _claim(estimator, "delta", claimed_delta),
        confidence,
    )
    rows, labels, made, marks = _with_canaries(estimator, X, y, canaries)
    sizes = _sizes(len(marks), guesses)
    inside = np.array([coins.word() & 1 for _ in marks], dtype=bool)
    model = _fit_copy(
        estimator, np.concatenate([rows, made[inside]]), np.concatenate([labels, marks[inside]])
    )
    scores = np.nan_to_num(np.asarray((score or leaning)(model, made, marks), np.float64))
    tried = [_guess_members(scores, inside, size) for size in sizes]
    each = miss / len(sizes)
    bounds = [epsilon_of_guesses(right, delta=delta, miss=each) for right in tried]
    best = bounds.index(max(bounds))
    return TrainingAudit(bounds[best], tried[best], epsilon, delta, float(1 - miss))


def leaning(model: Any, rows: Floats, labels: Labels) -> Floats:
    """How much further towards its label the model leans at each row than at 0."""
    ask = getattr(model, "decision_function", model.predict)
    moved = np.asarray(ask(rows), np.float64) - np.asarray(ask(np.zeros_like(rows[:1])), np.float64)
    if not hasattr(model, "classes_"):
        return moved * np.sign(np.asarray(labels, np.float64))
    place = np.argmax(np.asarray(model.classes_)[None, :] == labels[:, None], axis=1)
    return moved[np.arange(len(labels)), place] if moved.ndim > 1 else moved * (2 * place - 1)


def _guess_members(scores: Floats, inside: NDArray[np.bool_], size: int) -> RightGuesses:
    """The highest half of so many is guessed to be in, the lowest half to be out."""
    order = np.argsort(scores, kind="stable")
    out, into = order[: size // 2], order[len(order) - (size - size // 2) :]
    right = np.count_nonzero(inside[into]) + np.count_nonzero(~inside[out])
    return RightGuesses(canaries=len(scores), made=size, right=int(right))


def _sizes(canaries: int, guesses: int | None) -> list[int]:
    if guesses is None:
        return sorted({max(1, canaries // share) for share in GUESSED_PARTS})
    number = int(COUNT.typed("guesses", guesses))
    if not 1 <= number <= canaries:
        raise ParameterError(
            f"guesses is {number}, but must be from 1 to {canaries}, the canaries."
        )
    return [number]


def _claim(estimator: Any, name: str, given: Number | None) -> Number:
    claim = getattr(estimator, name, None) if given is None else given
    if claim is None and name == "delta":
        return 0
    if claim is None:
        raise ParameterError(
            f"The estimator has no {name}, so its claim is not known: name claimed_{name}."
        )
    return claim


def _with_canaries(
    estimator: Any,
    X: Any,  # noqa: N803
    y: Any,
    canaries: int | tuple[Any, Any],
) -> tuple[Floats, Labels, Floats, Labels]:
    rows, labels = np.asarray(X, np.float64), np.asarray(y)
    if isinstance(canaries, tuple):
        made, marks = np.asarray(canaries[0], np.float64), np.asarray(canaries[1])
        if made.ndim != 2 or made.shape[1:] != rows.shape[1:] or len(made) != len(marks):
            raise ParameterError(
                f"canaries must be rows of {rows.shape[1]} columns, as X has, and as many labels."
            )
        return rows, labels, made, marks
    count = int(COUNT.typed("canaries", canaries))
    canary_columns = _length(estimator) * np.eye(count)
    padded = np.concatenate([rows, np.zeros((len(rows), count))], axis=1)
    made = np.concatenate([np.zeros((count, rows.shape[1])), canary_columns], axis=1)
    return padded, labels, made, _marks(estimator, count)


def _length(estimator: Any) -> float:
    norm = getattr(estimator, "data_norm", None)
    if isinstance(norm, int | float | Fraction):
        return float(norm)
    raise ParameterError(
        "Canaries can be made up for estimators with a number as data_norm. For others give rows"
        " and labels of your own: canaries=(rows, labels), and a score."
    )


def _marks(estimator: Any, count: int) -> Labels:
    ends = getattr(estimator, "classes", None)
    if ends is None:
        ends = getattr(estimator, "target_bounds", None)
    if ends is None or isinstance(ends, str):
        raise ParameterError(
            "Canaries need labels: declare classes or target_bounds of the estimator, or give rows"
            " and labels of your own: canaries=(rows, labels)."
        )
    listed = list(cast("Sequence[Any]", ends))
    return np.array([listed[place % len(listed)] for place in range(count)])


def _fit_copy(estimator: Any, rows: Floats, labels: Labels) -> Any:
    from letalone.learn.scikit import copy_of

    model = copy_of(estimator).fit(rows, labels)
    neighbours = getattr(getattr(model, "privacy_", None), "neighbours", None)
    if neighbours is not None and neighbours.relation is Relation.REPLACE:
        raise ParameterError(
            "The estimator's claim is about replaced rows, but canaries are added or left out, and"
            " its epsilon says nothing about that."
        )
    return model
