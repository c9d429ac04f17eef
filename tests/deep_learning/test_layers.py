"""Book-keeping in one backward pass gives what one gradient for each example gives."""

from math import sqrt

import pytest
import torch
from torch import nn

from letalone.learn.torch.gradients.checks import checked_way
from letalone.learn.torch.gradients.clipping import MARGIN, Automatic, Flat, PerLayer
from letalone.learn.torch.gradients.recording import (
    ExampleBatch,
    by_book_keeping,
    one_by_one,
    trained,
)
from letalone.learn.torch.gradients.terms import MOST_IN_SINGLE, Products
from networks import CASES, Tied, clipped, make, token_loss

pytestmark = pytest.mark.long

BY_DEFINITION = {"tied by hand"}  # a use of a weight that no layer tells of
CLIPS = [Automatic(), Flat(0.3), PerLayer(0.3)]


def like(batch: ExampleBatch) -> tuple[torch.Tensor, torch.Tensor]:
    return batch.inputs[0], batch.targets[0]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: type(clip).__name__)
def test_clipped_sums_are_those_of_single_gradients(name, clip):
    model, loss, batch = make(name)
    way = checked_way(model, loss, like(batch))
    assert (way is one_by_one) == (name in BY_DEFINITION)
    found, wanted = (clipped(w(model, loss, batch), clip, model) for w in (way, one_by_one))
    assert torch.allclose(found, wanted, rtol=1e-7, atol=1e-9)
    assert found.norm() > 0.01


@pytest.mark.parametrize("name", CASES)
def test_single_gradients_are_those_of_autograd(name):
    """The oracle itself, against one backward pass for each example, clipped by hand."""
    model, loss, batch = make(name)
    total = 0.0
    for i in range(len(batch.shares)):
        own = loss(model(batch.inputs[i : i + 1]), batch.targets[i : i + 1]).mean()
        parts = torch.autograd.grad(own, list(trained(model).values()))
        gradient = torch.cat([part.flatten() for part in parts])
        total = total + gradient * min(1.0, 0.3 / gradient.norm().item()) * MARGIN
    found = clipped(one_by_one(model, loss, batch), Flat(0.3), model)
    assert torch.allclose(found, total, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_single_precision_is_near(name):
    model, loss, batch = make(name, dtype=torch.float32)
    way = checked_way(model, loss, like(batch))
    model64, _, batch64 = make(name)
    model64.load_state_dict(model.double().state_dict())
    model.float()
    batch64 = ExampleBatch(_doubles(batch.inputs), batch.targets, batch64.shares)
    found = clipped(way(model, loss, batch), Flat(0.3), model, doubles=False)
    wanted = clipped(one_by_one(model64, loss, batch64), Flat(0.3), model64)
    assert (found - wanted).norm() <= 1e-5 * wanted.norm()


def test_both_ways_to_a_norm_agree_and_neither_is_below_it():
    """Pairs of positions and the gradient itself; the loss of doubles is added, not subtracted."""
    luck = torch.Generator().manual_seed(3)
    for positions, left, right in [(2, 30, 40), (50, 3, 4), (8, 8, 8)]:
        products = Products(
            torch.randn(5, positions, left, generator=luck),
            torch.randn(5, positions, right, generator=luck),
        )
        pairs, made = products._by_pairs(), products._by_making()
        assert torch.allclose(pairs, made, rtol=1e-9)
        assert (products.squared_norms() >= torch.maximum(pairs, made)).all()


def test_a_norm_that_cancels_is_not_taken_for_zero():
    """Two positions that cancel but for one part in 10^8: pairs alone would lose it."""
    left = torch.ones(1, 2, 64, dtype=torch.float64)
    left[0, 1] = -1 - 1e-8
    products = Products(left, torch.ones(1, 2, 64, dtype=torch.float64))
    exact = (64 * 1e-8) ** 2
    assert products.squared_norms().item() >= exact * (1 - 1e-6)


def test_rounding_stays_within_its_bound():
    """Of as many units as single precision may add, all in one direction: where most is lost."""
    units, luck = MOST_IN_SINGLE, torch.Generator().manual_seed(8)
    left = torch.rand(units, 1, 50, generator=luck) + 0.5
    right = torch.rand(units, 1, 70, generator=luck) + 0.5
    products, exact = Products(left, right), Products(left.double(), right.double())
    squared = products.squared_norms()
    assert (squared >= exact.squared_norms() * (1 - 1e-9)).all()
    weights = Flat(1).weights(squared[None])[0]
    found = products.weighted(weights, doubles=False).double()
    wanted = exact.weighted(weights, doubles=True)
    lost = (found - wanted).norm().item()
    assert 0 < lost <= 1.01 * units**2 * 2.0**-24 < (1 - MARGIN) / 2


def test_a_use_in_two_layers_is_one_gradient():
    """Norms of tied weights are those of the sum, not of the parts."""
    torch.manual_seed(1)
    model = Tied().double()
    inputs, targets = torch.randint(0, 7, (4, 5)), torch.randint(0, 7, (4, 5))
    batch = ExampleBatch(inputs, targets, torch.ones(4, dtype=torch.float64))
    terms = by_book_keeping(model, token_loss, batch)
    assert sorted(terms) == sorted(trained(model))
    found = terms["table.weight"].squared_norms().sqrt()
    for i in range(4):
        own = token_loss(model(inputs[i : i + 1]), targets[i : i + 1]).mean()
        (whole,) = torch.autograd.grad(own, [model.table.weight])
        assert found[i].item() == pytest.approx(whole.norm().item(), rel=1e-9)


def test_all_examples_of_a_unit_are_clipped_together():
    model, loss, batch = make("sequence", examples=6)
    batch = ExampleBatch(batch.inputs, batch.targets, batch.shares / 3)
    terms = {n: t.grouped(3) for n, t in by_book_keeping(model, loss, batch).items()}
    found = clipped(terms, Flat(0.01), model)
    total = 0.0
    for first in (0, 3):
        rows = slice(first, first + 3)
        own = loss(model(batch.inputs[rows]), batch.targets[rows]).mean()
        parts = torch.autograd.grad(own, list(trained(model).values()))
        gradient = torch.cat([part.flatten() for part in parts])
        total = total + gradient * min(1.0, 0.01 / gradient.norm().item()) * MARGIN
    assert torch.allclose(found, total, rtol=1e-7, atol=1e-12)


def test_masked_words_weigh_nothing():
    model, loss, batch = make("tied")
    batch.targets[:, 3:] = -100
    other = batch.inputs.clone()
    other[:, 4] = (other[:, 4] + 1) % 7  # attention is causal: only masked places see it
    for way in (by_book_keeping, one_by_one):
        first = clipped(way(model, loss, batch), Automatic(), model)
        changed = ExampleBatch(other, batch.targets, batch.shares)
        assert torch.allclose(first, clipped(way(model, loss, changed), Automatic(), model))


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 1e300, -1e38])
@pytest.mark.parametrize("name", ["linear", "sequence", "conv2d", "norms", "attention"])
@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: type(clip).__name__)
def test_an_odd_example_moves_nothing_beyond_its_share(name, odd, clip):
    model, loss, batch = make(name)
    without = batch.inputs.clone()
    batch.inputs[2] = odd
    keep = [0, 1, 3, 4, 5]
    rest = ExampleBatch(without[keep], batch.targets[keep], batch.shares[keep])
    found = clipped(by_book_keeping(model, loss, batch), clip, model)
    others = clipped(by_book_keeping(model, loss, rest), clip, model)
    assert torch.isfinite(found).all()
    assert (found - others).norm() <= float(clip.longest)


def test_per_layer_clips_each_parameter_by_itself():
    model, loss, batch = make("linear", examples=1)
    found = clipped(by_book_keeping(model, loss, batch), PerLayer(1e-2), model)
    sizes = [part.norm().item() for part in found.split([p.numel() for p in model.parameters()])]
    assert sizes == pytest.approx([1e-2 / sqrt(4) * MARGIN] * 4)


def test_what_is_frozen_has_no_gradient():
    model, loss, batch = make("adapters")
    assert set(by_book_keeping(model, loss, batch)) == set(trained(model))
    assert not any("base" in name for name in trained(model))


def test_a_layer_that_is_a_linear_one_by_name_only_is_not_taken_for_one():
    class Shifted(nn.Linear):
        def forward(self, x):
            return nn.functional.linear(x + 1, self.weight, self.bias)

    torch.manual_seed(2)
    model = nn.Sequential(Shifted(6, 3)).double()
    batch = ExampleBatch(
        torch.randn(4, 6).double(), torch.randint(0, 3, (4,)), torch.ones(4, dtype=torch.float64)
    )
    loss = nn.CrossEntropyLoss(reduction="none")
    ways = [clipped(w(model, loss, batch), Flat(0.1), model) for w in (by_book_keeping, one_by_one)]
    assert torch.allclose(*ways)


def _doubles(inputs: torch.Tensor) -> torch.Tensor:
    return inputs.double() if inputs.is_floating_point() else inputs
