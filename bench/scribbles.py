"""Features of small grey images by a front end that has seen scribbles drawn by chance, no image.

    front = ScribbleFront()          # draws scribbles, finds the main directions of their features
    features = front(images)         # n, 28, 28 of bytes -> n, 300 numbers of norm 1

Scattering coefficients are many and vary unequally. Scribbles say along which directions they vary
at all, and how much; images are written in those directions, evened out in part. Nothing depends on
the images that are trained on, so this costs no privacy.
"""

import numpy as np
import torch
from scattering import Scattering
from torch import Tensor

SIZE, SCRIBBLES, DIRECTIONS, EVENED = 28, 4000, 300, 0.7
AT_ONCE = 20  # images: what is computed of them stays in the cache
BASIS_POINTS = 40


def draw_scribbles(count: int) -> Tensor:
    """One to three curves each, thin or thick, as large and as centred as digits of MNIST."""
    luck = np.random.default_rng(0)
    pixels = np.stack(np.mgrid[:SIZE, :SIZE], -1).reshape(-1, 1, 2).astype(float)
    found = np.empty((count, SIZE * SIZE), np.float32)
    for number in range(count):
        points = _curves(luck)
        low, high = points.min(0), points.max(0)
        points = (points - low) * 19 / max((high - low).max(), 1)
        points += (SIZE - 1) / 2 - points.mean(0)
        distance = np.sqrt(((pixels - points) ** 2).sum(-1).min(1))
        found[number] = np.clip(luck.uniform(1.2, 2.2) - distance, 0, 1)
    return torch.from_numpy(found).view(-1, SIZE, SIZE)


def _curves(luck: np.random.Generator) -> np.ndarray:
    t = np.linspace(0, 1, BASIS_POINTS)[:, None]
    cubic = np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3])
    start, parts = luck.uniform(-9, 9, 2), []
    for _ in range(luck.integers(1, 4)):
        controls = np.vstack([start, luck.uniform(-11, 11, (3, 2))])
        parts.append((cubic * controls[:, None]).sum(0))
        start = controls[-1] if luck.random() < 0.7 else luck.uniform(-9, 9, 2)
    return np.vstack(parts)


class ScribbleFront:
    """Images as numbers along the main directions of scribbles."""

    def __init__(self) -> None:
        self.scattering = Scattering(SIZE)
        found = self._scattered(draw_scribbles(SCRIBBLES))
        channels = found.unflatten(1, (-1, self.scattering.size**2))
        self.mean = found.mean(0)
        scale = (channels - self.mean.unflatten(0, channels.shape[1:])).std((0, 2))
        self.scale = scale.repeat_interleave(channels.shape[2])
        torch.manual_seed(0)
        standard = (found - self.mean) / self.scale
        _, sizes, directions = torch.svd_lowrank(standard, q=2 * DIRECTIONS, niter=2)
        sizes, directions = sizes[:DIRECTIONS], directions[:, :DIRECTIONS]
        self.directions = directions * (sizes[0] / sizes) ** EVENED

    def __call__(self, images: np.ndarray) -> Tensor:
        parts = []
        for start in range(0, len(images), 1000):
            raw = torch.from_numpy(images[start : start + 1000]).float() / 255
            parts.append((self._scattered(raw) - self.mean) / self.scale @ self.directions)
        return torch.nn.functional.normalize(torch.cat(parts))

    def _scattered(self, images: Tensor) -> Tensor:
        parts = [self.scattering(part[:, None]) for part in images.split(AT_ONCE)]
        return torch.cat(parts).flatten(1)
