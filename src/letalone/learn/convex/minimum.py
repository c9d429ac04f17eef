"""The minimum of a sum of losses, found by Newton's method and verified.

    J(W) = sum of losses(W x_i; y_i) + (strength / 2) ||W||^2 + <tilt, W>

Theorem.  For every finite input the W returned is within tolerance / strength of the one minimum.
  Proven:   docs/explanation/proofs/convex.md, section 5: ||W - minimum|| <= ||grad J(W)|| /
            strength, and the computed norm plus a bound on all roundings is at most the
            tolerance. Where doubles cannot show that, the gradient is computed in balls.
  Tested:   tests/learn/test_minimum.py: the bound against exact gradients; solvers that stop
            early are not believed
  Assumed:  doubles are IEEE 754's, in whatever order BLAS adds; fewer than 2^31 rows
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log2, sqrt
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.sparse import linalg

from letalone.exact.balls import Ball, ball, upper, with_bits
from letalone.learn.convex.losses import Codes, Floats, Loss

UNIT = 2.0**-53
BLOCK = 256  # rows that BLAS adds up in its own order; blocks are added pairwise
MOST_SOLVED = 1500  # weights; beyond, Newton's equations are solved by conjugate gradients
MOST_HALVINGS = 40
CAREFUL_BITS = 160
SLACK = 1.01  # for products of roundings
TINY = 1e-250  # for numbers that underflow


@dataclass(frozen=True, slots=True)
class Objective:
    """A sum of losses over rows, a strongly convex term and a linear one.

    The norm of a row is at most `reach`. Weights are a matrix: outputs × features.
    """

    loss: Loss
    rows: Floats
    codes: Codes
    strength: float
    tilt: Floats
    reach: float

    def scores(self, weights: Floats) -> Floats:
        return self.rows @ weights.T

    def gradient(self, weights: Floats) -> Floats:
        slopes = self.loss.slopes(self.scores(weights), self.codes)
        return sum_products(slopes, self.rows) + self.strength * weights + self.tilt

    def hessian(self, weights: Floats) -> Floats:
        """The second derivatives, in doubles, as a matrix over the flattened weights."""
        curved = self.loss.curved(self.scores(weights), self.codes)
        outputs, width = weights.shape
        matrix = np.empty((outputs, width, outputs, width))
        for output in range(outputs):
            for other in range(output + 1):
                part = self.rows.T @ (curved[:, output, other, None] * self.rows)
                matrix[output, :, other, :] = matrix[other, :, output, :] = part
        square = matrix.reshape(weights.size, weights.size)
        square[np.diag_indices(weights.size)] += self.strength
        return square

    def bent(self, along: Floats, curved: Floats) -> Floats:
        turned = np.einsum("nij,nj->ni", curved, self.rows @ along.T)
        return turned.T @ self.rows + self.strength * along

    def error(self, weights: Floats) -> float:
        """A bound on the norm of the error of `gradient` (proof, section 5)."""
        size = float(np.linalg.norm(weights)) * SLACK
        return rounding_error(self.loss, len(self.codes), self.rows.shape[1], self.reach, size) + (
            4 * UNIT * (self.strength * size + float(np.linalg.norm(self.tilt)) * SLACK) + TINY
        )

    def careful_gradient(self, weights: Floats, rest: Floats) -> list[list[Ball]]:
        """The gradient at weights + rest, in balls: slow, and as exact as there are bits."""
        outputs, width = weights.shape
        at = [
            [_exact(weights[c, j]) + _exact(rest[c, j]) for j in range(width)]
            for c in range(outputs)
        ]
        total = [
            [
                ball(Fraction(self.strength)) * at[c][j] + _exact(self.tilt[c, j])
                for j in range(width)
            ]
            for c in range(outputs)
        ]
        for row, code in zip(self.rows, self.codes, strict=True):
            x = [_exact(value) for value in row]
            scores = [sum((a * b for a, b in zip(x, w, strict=True)), ball(0)) for w in at]
            for c, slope in enumerate(self.loss.careful_slopes(scores, int(code))):
                for j in range(width):
                    total[c][j] += slope * x[j]
        return total


class Minimum(NamedTuple):
    """Weights, and a proven bound on their distance to the minimum, times the strength."""

    weights: Floats
    slope: float


def rounding_error(loss: Loss, rows: int, width: int, reach: float, size: float) -> float:
    """A bound on the norm of the error of the sum of gradients, for weights of a norm `size`."""
    longest_slope = sqrt(loss.reach_squared)
    added = BLOCK + log2(rows + 1) + 8
    scores = (width + 6) * reach * size
    return (
        SLACK * UNIT * rows * reach * (longest_slope * added + loss.roundings(scores)) + rows * TINY
    )


def sum_products(slopes: Floats, rows: Floats) -> Floats:
    """slopesᵀ · rows, added up in blocks and then pairwise."""
    in_blocks = len(rows) - len(rows) % BLOCK
    blocks = slopes[:in_blocks].reshape(-1, BLOCK, slopes.shape[1]).transpose(0, 2, 1)
    parts = blocks @ rows[:in_blocks].reshape(-1, BLOCK, rows.shape[1])
    rest = (slopes[in_blocks:].T @ rows[in_blocks:])[None]
    parts = np.concatenate([parts, rest])
    while len(parts) > 1:
        odd = parts[2 * (len(parts) // 2) :]
        parts = np.concatenate([parts[0:-1:2] + parts[1::2], odd])
    return parts[0]


def minimum(objective: Objective, tolerance: float) -> Minimum:
    """The verified minimum; goes on in balls where doubles cannot show that it is one."""
    weights = _newton(objective, tolerance)
    best = verify_minimum(objective, weights)
    if best.slope <= tolerance:
        return best
    return _carefully(objective, weights, tolerance)


def verify_minimum(objective: Objective, weights: Floats) -> Minimum:
    """The weights with a bound on the norm of their true gradient."""
    seen = float(np.linalg.norm(objective.gradient(weights))) * SLACK
    return Minimum(weights, seen + objective.error(weights))


def _newton(objective: Objective, tolerance: float) -> Floats:
    """Damped Newton steps, each of which shortens the gradient, until none does."""
    weights = np.zeros_like(objective.tilt)
    gradient = objective.gradient(weights)
    length = float(np.linalg.norm(gradient))
    while length > tolerance / 8:
        step = _step(objective, weights, gradient)
        closer = _shorten_step(objective, weights, step, length)
        if closer is None:  # as short as doubles can make it
            break
        weights, gradient, length = closer
    return weights


def _shorten_step(
    objective: Objective, weights: Floats, step: Floats, length: float
) -> tuple[Floats, Floats, float] | None:
    """The first of the step, half of it, … after which the gradient is shorter."""
    share = 1.0
    for _ in range(MOST_HALVINGS):
        tried = weights - share * step
        gradient = objective.gradient(tried)
        now = float(np.linalg.norm(gradient))
        if now <= (1 - share / 4) * length:
            return tried, gradient, now
        share /= 2
    return None


def _step(objective: Objective, weights: Floats, gradient: Floats) -> Floats:
    if weights.size > MOST_SOLVED:
        return _conjugate(objective, weights, gradient)
    try:
        solved = np.linalg.solve(objective.hessian(weights), gradient.reshape(-1))
    except np.linalg.LinAlgError:  # roundings outweigh the strength
        return _conjugate(objective, weights, gradient)
    return cast("Floats", solved.reshape(weights.shape))


def _conjugate(objective: Objective, weights: Floats, gradient: Floats) -> Floats:
    """Newton's equations to a hundredth, by conjugate gradients."""
    curved = objective.loss.curved(objective.scores(weights), objective.codes)

    def bent(along: Floats) -> Floats:
        return objective.bent(along.reshape(weights.shape), curved).reshape(-1)

    solver: Any = linalg
    matrix = solver.LinearOperator((weights.size, weights.size), matvec=bent, dtype=np.float64)
    solved, _ = solver.cg(matrix, gradient.reshape(-1), rtol=0.01, maxiter=weights.size)
    return cast("Floats", solved.reshape(weights.shape))


def _carefully(objective: Objective, weights: Floats, tolerance: float) -> Minimum:
    """Newton steps with gradients in balls, and weights that are sums of two doubles."""
    rest = np.zeros_like(weights)
    while True:
        gradient, bound = with_bits(lambda: _judge_gradient(objective, weights, rest), CAREFUL_BITS)  # noqa: B023
        total = weights + rest
        lost = (float(np.linalg.norm(total)) * UNIT + TINY) * SLACK
        if bound + objective.strength * lost <= tolerance:
            return Minimum(total, bound + objective.strength * lost)
        rest = rest - _step(objective, total, gradient)
        weights, rest = total, rest - (total - weights)


def _judge_gradient(objective: Objective, weights: Floats, rest: Floats) -> tuple[Floats, float]:
    """The gradient as doubles, and a float at or above its norm."""
    entries = objective.careful_gradient(weights, rest)
    square = sum((entry * entry for line in entries for entry in line), ball(0))
    return np.array([[float(e.mid()) for e in line] for line in entries]), upper(square.sqrt())


def _exact(value: float) -> Ball:
    return ball(Fraction(float(value)))
