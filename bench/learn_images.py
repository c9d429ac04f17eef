"""Images learned privately: MNIST on this processor, CIFAR-10 on a GPU.

    python bench/learn_images.py --data mnist.npz [--fits 3] [--held-out 10000]
    python bench/learn_images.py --cifar FOLDER --part scattering|wide [--device cuda] [--fits 3]

Every setting is fixed below. Those of MNIST were chosen by the last 10,000 images for training, of
which none was learned from then; the test images are looked at once, for what is printed. Those of
CIFAR-10 follow the papers and were run nowhere yet. δ = 1e-5. Each number is the mean over fits
with fresh noise; seconds are CPU time for MNIST, wall time for CIFAR-10. With `--held-out` the
accuracy printed is that on images held out.
"""

import argparse
import platform
import statistics
import time
from pathlib import Path

import torch
from learn_images_data import Images, cifar, mnist
from torch import Tensor, nn

from letalone.learn.torch import Flat, PrivateTrainer

DELTA = 1e-5
EPOCHS, BATCH, CLIP, RATE = 20, 4096, 0.1, 100.0  # of MNIST, found by held-out images
EPSILONS = (1, 3)
CLASSES = 10


def fit_linear(features: Tensor, labels: Tensor, epsilon: float) -> nn.Module:
    """A line over fixed features, from weights that are 0."""
    model = nn.Linear(features.shape[1], CLASSES, bias=False)
    nn.init.zeros_(model.weight)
    trainer = PrivateTrainer(
        model,
        nn.CrossEntropyLoss(reduction="none"),
        epsilon=epsilon,
        delta=DELTA,
        rows=len(labels),
        batch_size=BATCH,
        epochs=EPOCHS,
        clip=Flat(CLIP),
        optimizer=torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9),
    )
    trainer.fit((features, labels))
    return model


@torch.no_grad()
def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """In batches, without dropout."""
    model.eval()
    device = next(model.parameters()).device
    found = [model(part.to(device)).argmax(1).cpu() for part in images.split(1000)]
    return (torch.cat(found) == labels).double().mean().item()


def show(name: str, found: list[float], seconds: float) -> None:
    spread = statistics.stdev(found) if len(found) > 1 else 0.0
    print(
        f"{name}: {statistics.mean(found):.4f}, deviation {spread:.4f} over {len(found)} fits,"
        f" {seconds / len(found):.0f} s a fit",
        flush=True,
    )


def run_mnist(data: Images, fits: int, *, on_test: bool) -> None:
    from scribbles import ScribbleFront

    began = time.process_time()
    front = ScribbleFront()
    (rows, labels), shown = data.train, data.test if on_test else data.held_out
    features, seen = front(rows), front(shown[0])
    print(f"features: {time.process_time() - began:.0f} CPU s", flush=True)
    targets, wanted = torch.from_numpy(labels), torch.from_numpy(shown[1])
    for epsilon in EPSILONS:
        began = time.process_time()
        models = [fit_linear(features, targets, epsilon) for _ in range(fits)]
        found = [accuracy(model, seen, wanted) for model in models]
        show(f"MNIST, ε = {epsilon}", found, time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, help="mnist.npz")
    parser.add_argument("--cifar", type=Path, help="the folder of sheets and labels")
    parser.add_argument("--part", choices=("scattering", "wide"), default="scattering")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--fits", type=int, default=3)
    parser.add_argument("--held-out", type=int, default=0)
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, PyTorch {torch.__version__}", flush=True)
    if asked.data:
        data = mnist(asked.data, held_out=asked.held_out)
        run_mnist(data, asked.fits, on_test=not asked.held_out)
    if asked.cifar:
        from learn_images_cifar import PARTS

        images, device = cifar(asked.cifar), torch.device(asked.device)
        PARTS[asked.part](images, device, asked.fits)


if __name__ == "__main__":
    main()
