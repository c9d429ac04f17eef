"""An independent road to delta: the inversion integral of the moment generating function.

delta(e) = 1/(2 pi i) times the integral of M(z)^n e^(-z e) / (z (z + 1)) dz along Re z = t > 0, for
M(z) = E_P[e^(z L)]. Test code only: no error bound, but twelve digits in practice.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Complex = NDArray[np.complex128]
LogMoment = Callable[[Complex], Complex]


def delta_of(log_moment: LogMoment, epsilon: float, tilt: float, *, points: int = 200_000) -> float:
    """The trapezoidal rule, which converges exponentially here."""
    step = 0.002 * max(tilt, 0.2)
    y = (np.arange(points) + 0.5) * step
    z = tilt + 1j * y
    values = np.exp(log_moment(z) - z * epsilon) / (z * (z + 1))
    return float(values.real.sum() * step / np.pi)


def epsilon_of(log_moment: LogMoment, delta: float, tilt: float, low: float, high: float) -> float:
    return float(brentq(lambda e: delta_of(log_moment, e, tilt) - delta, low, high, xtol=1e-10))


def laplace(ratio: float) -> LogMoment:
    """E e^(zL): half of it at the ratio, an exponential between, and the rest at the other end."""

    def log_moment(z: Complex) -> Complex:
        ends = 0.5 * np.exp(z * ratio) + 0.5 * np.exp(-ratio - z * ratio)
        between = 0.5 * np.exp(z * ratio) * -np.expm1(-(1 + 2 * z) * ratio) / (1 + 2 * z)
        return np.log(ends + between)

    return log_moment


def sampled_gaussian(sigma: float, rate: float, *, removed: bool) -> LogMoment:
    """By quadrature over the output, which is smooth and decays like a Gaussian."""
    x = np.linspace(-12 * sigma, 12 * sigma + 1, 1601)
    base = np.exp(-(x**2) / (2 * sigma**2)) / (sigma * np.sqrt(2 * np.pi))
    loss = np.log1p(rate * np.expm1((2 * x - 1) / (2 * sigma**2)))
    weight = base * np.exp(loss) if removed else base
    signed = loss if removed else -loss

    def log_moment(z: Complex) -> Complex:
        parts = np.array_split(z, max(1, z.size // 500))
        sums = [(np.exp(np.outer(part, signed)) @ weight) * (x[1] - x[0]) for part in parts]
        return np.log(np.concatenate(sums))

    return log_moment
