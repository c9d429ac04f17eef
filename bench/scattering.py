"""A scattering transform of images: fixed wavelets and moduli, nothing of which is learned.

    features = Scattering(28)(images)      # n, channels, 28, 28 -> n, 81 channels, 7, 7

Two scales, eight directions, all paths of up to two moduli, averaged over 4 x 4 pixels. It is a
function of one image, so it costs no privacy.

Bruna, Mallat: Invariant scattering convolution networks (2013). Tramèr, Boneh: Differentially
private learning needs better features (or much more data) (2021).
"""

from math import cos, pi, sin

import numpy as np
import torch
from torch import Tensor

SCALES, DIRECTIONS = 2, 8
CHANNELS = 1 + SCALES * DIRECTIONS + DIRECTIONS**2
STEP = 2**SCALES  # pixels of the image to one of the features
WRAPS = range(-2, 3)  # how often a filter goes round the torus: beyond, it is 0


def gabor(size: int, width: float, angle: float, frequency: float, slant: float) -> np.ndarray:
    """A wave under a bell, on a torus of so many pixels."""
    turn = np.array([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])
    curve = turn @ np.diag([1, slant**2]) @ turn.T / (2 * width**2)
    found = np.zeros((size, size), complex)
    for down in WRAPS:
        for right in WRAPS:
            y, x = np.mgrid[down * size : (down + 1) * size, right * size : (right + 1) * size]
            bell = curve[0, 0] * y * y + 2 * curve[0, 1] * y * x + curve[1, 1] * x * x
            found += np.exp(-bell + 1j * frequency * (y * cos(angle) + x * sin(angle)))
    return found * slant / (2 * pi * width**2)


def wavelet(size: int, scale: int, direction: int) -> np.ndarray:
    """A Gabor function less its mean, in frequencies."""
    width, angle = 0.8 * 2**scale, direction * pi / DIRECTIONS
    wave = gabor(size, width, angle, 0.75 * pi / 2**scale, 4 / DIRECTIONS)
    bell = gabor(size, width, angle, 0, 4 / DIRECTIONS)
    return np.fft.fft2(wave - bell * (wave.sum() / bell.sum())).real


def thinned(waves: Tensor, by: int) -> Tensor:
    """The frequencies of every so-manieth pixel."""
    size = waves.shape[-1] // by
    return waves.unflatten(-1, (by, size)).unflatten(-3, (by, size)).mean((-4, -2))


class Scattering:
    """The transform for square images of one size."""

    def __init__(self, size: int, device: str | torch.device = "cpu") -> None:
        padded = (size // STEP + 2) * STEP
        self.margin, self.size = (padded - size) // 2, size // STEP
        waves = [[wavelet(padded, s, d) for d in range(DIRECTIONS)] for s in range(SCALES)]
        kind = {"dtype": torch.float32, "device": device}
        self.fine, self.coarse = (torch.as_tensor(np.array(wave), **kind) for wave in waves)
        low = np.fft.fft2(gabor(padded, 0.8 * 2 ** (SCALES - 1), 0, 0, 1)).real
        self.low = torch.as_tensor(low, **kind)
        # The same bell over every second pixel.
        self.low_coarse = torch.as_tensor(_low_of_half(padded), **kind)

    def __call__(self, images: Tensor) -> Tensor:
        """Examples, 81 times the channels, and places."""
        edges = [self.margin] * 4
        waves = torch.fft.fft2(torch.nn.functional.pad(images, edges, mode="reflect"))[:, :, None]
        fine = torch.fft.fft2(torch.fft.ifft2(waves * self.fine).abs())
        coarse = _modulus(waves * self.coarse)
        twice = _modulus(fine[:, :, :, None] * self.coarse).flatten(2, 3)
        parts = [self._averaged(waves, self.low, STEP), self._averaged(fine, self.low, STEP)]
        parts += [self._averaged(w, self.low_coarse, STEP // 2) for w in (coarse, twice)]
        return torch.cat(parts, 2).flatten(1, 2)

    def _averaged(self, waves: Tensor, low: Tensor, by: int) -> Tensor:
        found = torch.fft.ifft2(thinned(waves * low, by)).real
        return found[..., 1 : 1 + self.size, 1 : 1 + self.size]


def _modulus(waves: Tensor) -> Tensor:
    """Every second pixel's absolute value, in frequencies."""
    return torch.fft.fft2(torch.fft.ifft2(thinned(waves, 2)).abs())


def _low_of_half(padded: int) -> np.ndarray:
    return np.fft.fft2(gabor(padded // 2, 0.8 * 2 ** (SCALES - 2), 0, 0, 1)).real
