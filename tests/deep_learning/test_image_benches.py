"""The benchmarks of images run on whatever stands in the folder: here, made-up images."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench"
SHEET = 20  # images


@pytest.fixture
def modules(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import learn_images_cifar
    import learn_images_data

    monkeypatch.setattr(learn_images_data, "SHEET", SHEET)
    yield learn_images_cifar, learn_images_data
    for name in (
        "learn_images",
        "learn_images_cifar",
        "learn_images_data",
        "scattering",
        "scribbles",
    ):
        sys.modules.pop(name, None)


@pytest.fixture
def folder(tmp_path):
    luck = np.random.default_rng(1)
    for number in range(3):
        pixels = luck.integers(0, 256, (SHEET, 1024, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"cifar10_batch_{number}.png")
    labels = ",".join(str(label) for label in luck.integers(0, 10, 3 * SHEET))
    (tmp_path / "cifar10_labels.js").write_text(f"var labels = [{labels}];")
    return tmp_path


def test_sheets_are_cut_into_what_is_learned_held_out_and_reported(modules, folder):
    images = modules[1].cifar(folder)
    sizes = [len(labels) for _, labels in (images.train, images.held_out, images.test)]
    assert sizes == [36, 4, 20]
    from PIL import Image

    last = np.asarray(Image.open(folder / "cifar10_batch_2.png"))
    assert (images.test[0][3, :, 1, 5] == last[3, 37]).all(), "row by row, colours first"


@pytest.mark.parametrize("part", ["scattering", "wide"])
def test_each_part_trains_and_says_how_well(modules, folder, part, monkeypatch, capsys):
    module = modules[0]
    recipes = module.SCATTERING + module.WIDE
    for name in ("SCATTERING", "WIDE"):
        short = [replace(recipe, steps=1, batch=2, at_once=2) for recipe in getattr(module, name)]
        monkeypatch.setattr(module, name, tuple(short[:1]))
    assert {recipe.views for recipe in recipes} == {1, 4}
    module.PARTS[part](modules[1].cifar(folder), torch.device("cpu"), 1)
    said = capsys.readouterr().out
    assert "held out: 0." in said or "held out: 1." in said
    assert "step 1 of 1" in said


def test_views_are_parts_of_their_own_image(modules):
    torch.manual_seed(0)
    images = torch.arange(1.0, 5)[:, None, None, None] * torch.ones(4, 3, 32, 32)
    assert torch.equal(modules[0].moved_and_mirrored(images), images)
    ramp = torch.arange(32.0).expand(50, 1, 32, 32)
    moved = modules[0].moved_and_mirrored(ramp)
    assert 10 < len({tuple(view[0, 0].tolist()) for view in moved}) <= 18


def test_the_scattering_transform_is_stable_and_knows_no_other_image(modules):
    from scattering import CHANNELS, Scattering

    torch.manual_seed(0)
    images = torch.rand(3, 1, 28, 28)
    found = Scattering(28)(images)
    assert found.shape == (3, CHANNELS, 7, 7)
    assert torch.allclose(Scattering(28)(images[1:2]), found[1:2], atol=1e-6)
    assert torch.allclose(Scattering(28)(3 * images), 3 * found, atol=1e-5)
    flat = Scattering(28)(torch.ones(1, 1, 28, 28))
    assert torch.allclose(flat[0, 0], torch.ones(7, 7), atol=1e-2)
    assert flat[0, 1:].abs().max() < 1e-2


def test_digits_are_learned_over_features_that_have_seen_scribbles_alone(
    modules, monkeypatch, tmp_path, capsys
):
    import learn_images
    import scribbles

    monkeypatch.setattr(scribbles, "SCRIBBLES", 40)
    monkeypatch.setattr(scribbles, "DIRECTIONS", 9)
    monkeypatch.setattr(learn_images, "BATCH", 10)
    monkeypatch.setattr(learn_images, "EPOCHS", 1)
    luck = np.random.default_rng(1)
    images, labels = luck.integers(0, 256, (50, 28, 28), dtype=np.uint8), luck.integers(0, 10, 50)
    given = {"x_train": images, "y_train": labels, "x_test": images[:5], "y_test": labels[:5]}
    np.savez(tmp_path / "m.npz", **given)
    data = modules[1].mnist(tmp_path / "m.npz", held_out=10)
    assert [len(part[1]) for part in (data.train, data.held_out, data.test)] == [40, 10, 5]
    front = scribbles.ScribbleFront()
    found = front(images[:3])
    assert found.shape == (3, 9)
    assert torch.allclose(found.norm(dim=1), torch.ones(3), atol=1e-5)
    assert torch.allclose(front(images[1:2]), found[1:2], atol=1e-4)
    learn_images.run_mnist(data, 2, on_test=True)
    assert "MNIST, ε = 3" in capsys.readouterr().out
