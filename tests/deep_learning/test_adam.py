"""Adam without the variance of the noise in its second moment."""

import pytest
import torch

from letalone.errors import ParameterError
from letalone.learn.torch import PrivateAdam

pytestmark = pytest.mark.long


def test_without_noise_it_is_adam():
    torch.manual_seed(1)
    start, gradients = torch.randn(5), torch.randn(20, 5)
    ends = []
    for kind in (PrivateAdam, torch.optim.Adam):
        weights = start.clone().requires_grad_()
        optimizer = kind([weights], lr=0.01, eps=1e-8)
        for gradient in gradients:
            weights.grad = gradient.clone()
            optimizer.step()
        ends.append(weights.detach())
    assert torch.allclose(*ends, atol=1e-5)


def test_the_second_moment_is_that_of_the_signal():
    """Signal 1, noise of deviation 3: Adam goes a third as far as it would without noise."""
    torch.manual_seed(2)
    moved = {}
    for noise_variance in (9.0, 0.0):
        weights = torch.zeros(20_000, requires_grad=True)
        optimizer = PrivateAdam([weights], lr=1.0, betas=(0.9, 0.999), floor=0.01)
        optimizer.noise_variance = noise_variance
        for _ in range(2000):
            before = weights.detach().clone()
            weights.grad = 1 + 3 * torch.randn(20_000)
            optimizer.step()
        moved[noise_variance] = (before - weights.detach()).mean().item()
    assert moved[9.0] == pytest.approx(1, abs=0.1)
    assert moved[0.0] == pytest.approx(1 / 10**0.5, abs=0.05)


def test_where_there_is_only_noise_steps_stay_bounded():
    torch.manual_seed(3)
    weights = torch.zeros(1000, requires_grad=True)
    optimizer = PrivateAdam([weights], lr=0.01)
    optimizer.noise_variance = 4.0
    for _ in range(50):
        weights.grad = 2 * torch.randn(1000)
        optimizer.step()
    assert torch.isfinite(weights).all()
    assert weights.abs().max() < 50 * 0.01 * 10


def test_decay_shrinks_weights():
    weights = torch.ones(1, requires_grad=True)
    optimizer = PrivateAdam([weights], lr=0.1, weight_decay=0.5)
    weights.grad = torch.zeros(1)
    optimizer.step()
    assert weights.item() == pytest.approx(0.95)


@pytest.mark.parametrize("odd", [{"lr": 0}, {"betas": (1, 0.9)}, {"betas": (0.9, -1)}])
def test_odd_rates_are_refused(odd):
    with pytest.raises(ParameterError):
        PrivateAdam([torch.zeros(1, requires_grad=True)], **odd)


def test_a_closure_is_refused():
    with pytest.raises(RuntimeError, match="no closure"):
        PrivateAdam([torch.zeros(1, requires_grad=True)]).step(lambda: 0.0)
