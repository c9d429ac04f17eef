"""Images to learn from: MNIST as one file, CIFAR-10 as sheets of 1,000 images each."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SHEET, HELD_OUT = 1000, 5000
CIFAR_TRAIN = 50_000


@dataclass(frozen=True)
class Images:
    """What is learned from, what decides between settings, and what is reported."""

    train: tuple[np.ndarray, np.ndarray]
    held_out: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def mnist(path: Path, *, held_out: int) -> Images:
    """All 60,000 images are learned from unless some are held out."""
    found = np.load(path)
    images, labels = found["x_train"], found["y_train"].astype(np.int64)
    cut = len(images) - held_out
    test = found["x_test"], found["y_test"].astype(np.int64)
    return Images((images[:cut], labels[:cut]), (images[cut:], labels[cut:]), test)


def cifar(folder: Path) -> Images:
    """Bytes, n x 3 x 32 x 32; the last 5,000 images for training are held out."""
    sheets = [folder / f"cifar10_batch_{number}.png" for number in range(_count(folder))]
    images = np.concatenate([read_sheet(path) for path in sheets])
    labels = _labels(folder / "cifar10_labels.js")[: len(images)]
    train = min(CIFAR_TRAIN, len(images) - SHEET)
    cut = train - min(HELD_OUT, train // 10)
    parts = [slice(0, cut), slice(cut, train), slice(train, None)]
    return Images(*((images[part], labels[part]) for part in parts))


def read_sheet(path: Path) -> np.ndarray:
    """A sheet has one image a row, of 1,024 pixels row by row."""
    from PIL import Image

    pixels = np.asarray(Image.open(path).convert("RGB"))
    return pixels.reshape(len(pixels), 32, 32, 3).transpose(0, 3, 1, 2).copy()


def _count(folder: Path) -> int:
    return len(list(folder.glob("cifar10_batch_*.png")))


def _labels(path: Path) -> np.ndarray:
    text = path.read_text("utf-8")
    (listed,) = re.findall(r"\[[\d,\s]*\]", text)
    return np.array(json.loads(listed), np.int64)
