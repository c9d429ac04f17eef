"""The mean of the weights over the last steps: post-processing, and mostly better than the last."""

import torch
from torch import Tensor, nn

from letalone.learn.torch.gradients.recording import trained

WARM_UP = 10  # steps: an early mean is of few


@torch.no_grad()
def move_average(averaged: dict[str, Tensor], model: nn.Module, decay: float, step: int) -> None:
    """Moves the mean towards the weights as they are after so many steps."""
    share = 1 - min(decay, step / (step + WARM_UP))
    for name, parameter in trained(model).items():
        if name not in averaged:
            averaged[name] = parameter.detach().clone()
        averaged[name].lerp_(parameter, share)


@torch.no_grad()
def take_average(averaged: dict[str, Tensor], model: nn.Module) -> None:
    """The model gets the mean as its weights."""
    for name, parameter in trained(model).items():
        if name in averaged:
            parameter.copy_(averaged[name])
