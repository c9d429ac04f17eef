"""WRN-16-4 as it is trained privately: standardised weights, GroupNorm, no statistics of a batch.

De, Berrada, Hayes, Smith, Balle: Unlocking high-accuracy differentially private image
classification through scale (2022).
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

from letalone.learn.torch import StandardisedConv2d

GROUPS, BLOCKS = 16, 2  # 16 = 6 BLOCKS + 4


class Block(nn.Module):
    """Two convolutions beside a shortcut; norms come first."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.first_norm, self.second_norm = (
            nn.GroupNorm(GROUPS, before),
            nn.GroupNorm(GROUPS, width),
        )
        self.first = StandardisedConv2d(before, width, 3, stride=stride, padding=1)
        self.second = StandardisedConv2d(width, width, 3, padding=1)
        changes = stride > 1 or before != width
        self.shortcut = StandardisedConv2d(before, width, 1, stride=stride) if changes else None

    def forward(self, x: Tensor) -> Tensor:
        entered = torch.relu(self.first_norm(x))
        beside = x if self.shortcut is None else self.shortcut(entered)
        return beside + self.second(torch.relu(self.second_norm(self.first(entered))))


def wide_resnet(times: int = 4, classes: int = 10) -> nn.Module:
    """For images of 3 x 32 x 32."""
    widths, layers = (
        [16, 16 * times, 32 * times, 64 * times],
        [StandardisedConv2d(3, 16, 3, padding=1)],
    )
    for number, (before, width) in enumerate(pairwise(widths)):
        for block in range(BLOCKS):
            stride = 2 if number and not block else 1
            layers.append(Block(width if block else before, width, stride))
    end = (nn.GroupNorm(GROUPS, widths[-1]), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(*layers, *end, nn.Linear(widths[-1], classes))
