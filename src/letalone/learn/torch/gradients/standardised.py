"""Convolutions whose weights are standardised: with GroupNorm, what private image models are of.

    nn.Sequential(StandardisedConv2d(3, 16, 3, padding=1), nn.GroupNorm(8, 16), nn.ReLU(), …)

Each filter is used less its mean and divided by its length. That is a function of the weights
alone, so examples stay apart; clipped are the gradients by the weights that are trained.

  Tested:   tests/deep_learning/test_standardised.py: against one gradient for each example

Qiao, Wang, Liu, Shen, Yuille: Micro-batch training with batch-channel normalization and weight
standardization (2019). De, Berrada, Hayes, Smith, Balle: Unlocking high-accuracy differentially
private image classification through scale (2022).
"""

import torch
from torch import Tensor, nn

LEAST = 1e-8  # added to a squared length: a filter of equal weights stays 0


class StandardisedConv2d(nn.Conv2d):
    """A Conv2d that uses each filter with mean 0 and length 1."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  (as in torch.nn)
        return self._conv_forward(input, standardised(self.weight)[0], self.bias)


def standardised(weight: Tensor) -> tuple[Tensor, Tensor]:
    """The filters as they are used, and one over the length of each before."""
    centred = weight - weight.mean((1, 2, 3), keepdim=True)
    inverse = (centred.square().sum((1, 2, 3), keepdim=True) + LEAST).rsqrt()
    return centred * inverse, inverse


def through_standardising(gradients: Tensor, weight: Tensor) -> Tensor:
    """Gradients by the weights from those by the filters as they are used, one for each example."""
    used, inverse = (part.flatten(1) for part in standardised(weight.detach().to(gradients.dtype)))
    along = torch.einsum("noi,oi->no", gradients, used)
    each = (gradients - used * along[:, :, None]) * inverse
    return each - each.mean(2, keepdim=True)
