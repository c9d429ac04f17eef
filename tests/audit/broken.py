"""Mechanisms that were published or shipped, and are wrong; and their correct twins.

Sparse vectors as in Lyu, Su, Li: Understanding the sparse vector technique for differential
privacy (2017), figure 1, at a sensitivity of 1 and a threshold of 0. Many runs at once, with
numpy's generator: rounded to a grid, so that it is the algorithm that is judged and not its floats.
An answer above the threshold is 1 (or the noisy number), below it 0, not reached -1.
"""

from collections.abc import Callable

import numpy as np

GRID = 2.0**-20


class Noise:
    """Laplace noise on a grid."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def __call__(self, scale: float, *shape: int) -> np.ndarray:
        return np.round(self.generator.laplace(0, scale, shape) / GRID) * GRID


def _stopped(above: np.ndarray, most: int) -> np.ndarray:
    """1 above and 0 below, -1 after so many were above."""
    reached = np.cumsum(above, axis=1) - above < most
    return np.where(reached, above.astype(float), -1.0)


def correct(noise: Noise, epsilon: float, most: int) -> Callable[..., np.ndarray]:
    """Algorithm 1: epsilon-DP."""

    def draw(values: list[float], count: int) -> np.ndarray:
        threshold = noise(2 / epsilon, count, 1)
        above = np.asarray(values) + noise(4 * most / epsilon, count, len(values)) >= threshold
        return _stopped(above, most)

    return draw


def algorithm_3(noise: Noise, epsilon: float, most: int) -> Callable[..., np.ndarray]:
    """The noisy number itself is published where it is above: no epsilon holds."""

    def draw(values: list[float], count: int) -> np.ndarray:
        threshold = noise(2 / epsilon, count, 1)
        noisy = np.asarray(values) + noise(2 * most / epsilon, count, len(values))
        told = _stopped(noisy >= threshold, most)
        return np.where(told == 1, noisy, np.where(told == 0, -1e6, -2e6))

    return draw


def algorithm_4(noise: Noise, epsilon: float, most: int) -> Callable[..., np.ndarray]:
    """Noise on values does not grow with the number of positives: (1 + 6c)/4 · epsilon."""

    def draw(values: list[float], count: int) -> np.ndarray:
        threshold = noise(4 / epsilon, count, 1)
        above = np.asarray(values) + noise(4 / (3 * epsilon), count, len(values)) >= threshold
        return _stopped(above, most)

    return draw


def algorithm_5(noise: Noise, epsilon: float) -> Callable[..., np.ndarray]:
    """No noise on values at all, and no end: no epsilon holds."""

    def draw(values: list[float], count: int) -> np.ndarray:
        return (np.asarray(values) >= noise(2 / epsilon, count, 1)).astype(float)

    return draw


def algorithm_6(noise: Noise, epsilon: float) -> Callable[..., np.ndarray]:
    """Noise on values, but no end: no epsilon holds."""

    def draw(values: list[float], count: int) -> np.ndarray:
        threshold = noise(2 / epsilon, count, 1)
        above = np.asarray(values) + noise(2 / epsilon, count, len(values)) >= threshold
        return above.astype(float)

    return draw
