"""Standardised filters: what they are, and gradients of single examples through them."""

import pytest
import torch
from torch import nn

from letalone.learn.torch import Flat, PrivateTrainer, StandardisedConv2d
from letalone.learn.torch.gradients.checks import checked_way
from letalone.learn.torch.gradients.recording import ExampleBatch, by_book_keeping, one_by_one
from networks import Mean, clipped, cross_entropy

pytestmark = pytest.mark.long

KINDS = {
    "plain": {"padding": 1, "stride": 2},
    "without bias": {"bias": False},
    "groups": {"groups": 2, "dilation": 2, "padding": 2},
    "reflect": {"padding": 1, "padding_mode": "reflect"},
}


def model_of(kind):
    torch.manual_seed(5)
    conv = StandardisedConv2d(2, 6, 3, **KINDS[kind])
    rest = (nn.GroupNorm(3, 6), nn.ReLU(), StandardisedConv2d(6, 4, 1), Mean(), nn.Linear(4, 3))
    return nn.Sequential(conv, *rest).double()


def batch_of(examples):
    images = torch.randn(examples, 2, 7, 7, dtype=torch.float64)
    shares = torch.ones(examples, dtype=torch.float64)
    return ExampleBatch(images, torch.randint(0, 3, (examples,)), shares)


def test_each_filter_has_mean_zero_and_length_one_and_scale_does_not_matter():
    torch.manual_seed(1)
    layer, images = (
        StandardisedConv2d(3, 5, 3, bias=False).double(),
        torch.randn(4, 3, 8, 8).double(),
    )
    before = layer(images)
    by_hand = layer.weight - layer.weight.mean((1, 2, 3), keepdim=True)
    by_hand = by_hand / by_hand.flatten(1).norm(dim=1)[:, None, None, None]
    assert torch.allclose(before, nn.functional.conv2d(images, by_hand), atol=1e-6)
    with torch.no_grad():
        layer.weight.mul_(7).add_(3)
    assert torch.allclose(layer(images), before, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_clipped_sums_are_those_of_single_gradients(kind):
    model, batch = model_of(kind), batch_of(6)
    like = batch.inputs[0], batch.targets[0]
    assert checked_way(model, cross_entropy, like) is by_book_keeping
    ways = by_book_keeping, one_by_one
    found, wanted = (clipped(w(model, cross_entropy, batch), Flat(0.3), model) for w in ways)
    assert torch.allclose(found, wanted, rtol=1e-7, atol=1e-9)
    assert found.norm() > 0.01


@pytest.mark.parametrize("odd", [1e6, float("nan")])
def test_one_example_moves_a_step_by_at_most_the_clip(odd):
    model, batch = model_of("plain"), batch_of(6)
    batch.inputs[2] *= odd
    trainer = PrivateTrainer(
        model, cross_entropy, epsilon=1, delta=1e-5, rows=6, batch_size=6, clip=Flat(0.1)
    )
    sums = []
    for keep in ([0, 1, 2, 3, 4, 5], [0, 1, 3, 4, 5]):
        data = batch.inputs[keep], batch.targets[keep]
        sums.append(trainer._prepared(data, None)._clipped_sums().total.clone())
    assert (sums[0] - sums[1]).norm() <= 0.1
