"""CIFAR-10: a small network over fixed scattering features, and WRN-16-4 from nothing.

Settings follow the papers; on a GPU they are yet to be run. What is printed is the accuracy on
images held out (5,000 of those for training) and on the test sheet (1,000: ± 0.012).
"""

import time
from dataclasses import dataclass

import torch
from learn_images import CLASSES, DELTA, accuracy, show
from learn_images_data import Images
from scattering import CHANNELS, Scattering
from torch import Tensor, nn
from wide_resnet import wide_resnet

from letalone.learn.torch import Flat, PrivateTrainer

AT_ONCE = 500  # images whose features are computed together
MARGIN = 4  # pixels by which a view is moved at most


@dataclass(frozen=True)
class Recipe:
    """How long and how fast; the noise follows from ε."""

    epsilon: float
    steps: int
    batch: int
    clip: float
    rate: float
    momentum: float = 0.0
    views: int = 1
    average: float | None = None
    at_once: int = 256  # units: with views, four times as many images


SCATTERING = (
    Recipe(3, steps=600, batch=4096, clip=0.1, rate=4.0, momentum=0.9),
    Recipe(1, steps=300, batch=4096, clip=0.1, rate=4.0, momentum=0.9),
)
WIDE = (
    Recipe(1, steps=875, batch=4096, clip=1.0, rate=2.0, views=4, average=0.999),
    Recipe(8, steps=2000, batch=4096, clip=1.0, rate=4.0, views=4, average=0.999),
)
Split = tuple[Tensor, Tensor]


def small_network() -> nn.Module:
    """Over 243 channels of 8 x 8; each example's features are normed by themselves."""
    norm = nn.GroupNorm(27, 3 * CHANNELS, affine=False, eps=1e-8)
    first = (nn.Conv2d(3 * CHANNELS, 64, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2))
    second = (nn.Conv2d(64, 64, 3, padding=1), nn.Tanh(), nn.MaxPool2d(2), nn.Flatten())
    return nn.Sequential(norm, *first, *second, nn.Linear(256, CLASSES))


def moved_and_mirrored(images: Tensor) -> Tensor:
    """Each image moved by up to four pixels, and mirrored or not, by luck of its own."""
    count, device = len(images), images.device
    mirrored = torch.rand(count, 1, 1, 1, device=device) < 0.5
    images = torch.where(mirrored, images.flip(3), images)
    padded = nn.functional.pad(images, [MARGIN] * 4, mode="reflect")
    places = torch.arange(images.shape[2], device=device)
    down, right = (
        places + torch.randint(0, 2 * MARGIN + 1, (count, 1), device=device) for _ in range(2)
    )
    which = torch.arange(count, device=device)[:, None, None]
    return padded.movedim(1, 3)[which, down[:, :, None], right[:, None, :]].movedim(3, 1)


def fit(model: nn.Module, recipe: Recipe, data: Split, device: torch.device) -> nn.Module:
    model, (images, labels) = model.to(device), (part.to(device) for part in data)
    batch = min(recipe.batch, len(labels))
    trainer = PrivateTrainer(
        model,
        nn.CrossEntropyLoss(reduction="none"),
        epsilon=recipe.epsilon,
        delta=DELTA,
        rows=len(labels),
        batch_size=batch,
        epochs=recipe.steps * batch / len(labels),
        clip=Flat(recipe.clip),
        optimizer=torch.optim.SGD(model.parameters(), lr=recipe.rate, momentum=recipe.momentum),
        views=recipe.views,
        augment=moved_and_mirrored if recipe.views > 1 else None,
        physical_batch_size=recipe.at_once,
        average=recipe.average,
    )
    trainer.fit((images, labels), progress=lambda told: print(f"  {told}", flush=True))
    return model


def run(
    name: str,
    splits: tuple[Split, Split, Split],
    recipes: tuple[Recipe, ...],
    make: type[nn.Module] | object,
    device: torch.device,
    fits: int,
) -> None:
    train, held_out, test = splits
    for recipe in recipes:
        found: tuple[list[float], list[float]] = ([], [])
        began = time.perf_counter()
        for seed in range(fits):
            torch.manual_seed(seed)
            model = fit(make(), recipe, train, device)
            for kept, split in zip(found, (held_out, test), strict=True):
                kept.append(accuracy(model, *split))
        seconds = time.perf_counter() - began
        for kept, where in zip(found, ("held out", "test"), strict=True):
            show(f"{name}, ε = {recipe.epsilon:g}, {where}", kept, seconds)


def run_scattering(images: Images, device: torch.device, fits: int) -> None:
    front = Scattering(32, device)
    splits = tuple(_split(part, device, front) for part in _parts(images))
    run("Scattering + small network", splits, SCATTERING, small_network, device, fits)


def run_wide(images: Images, device: torch.device, fits: int) -> None:
    splits = tuple(_split(part, device, None) for part in _parts(images))
    run("WRN-16-4", splits, WIDE, wide_resnet, device, fits)


def _parts(images: Images) -> tuple[tuple, tuple, tuple]:
    return images.train, images.held_out, images.test


def _split(part: tuple, device: torch.device, front: Scattering | None) -> Split:
    pixels, labels = (torch.from_numpy(array) for array in part)
    pixels = pixels.float() / 255
    if front is None:
        return (pixels - 0.5) / 0.25, labels
    found = [front(some.to(device)).cpu() for some in pixels.split(AT_ONCE)]
    return torch.cat(found), labels


PARTS = {"scattering": run_scattering, "wide": run_wide}
