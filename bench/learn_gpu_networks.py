"""The networks of learn_gpu.py, and their data; tiny ones to see that it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Network:
    """A model, the shape of an example and of its targets."""

    name: str
    make: Callable[[], nn.Module]
    batch: int
    shape: tuple[int, ...]
    classes: int
    places: int = 0  # with a target each

    def data(self, device: torch.device) -> tuple[Tensor, Tensor]:
        torch.manual_seed(1)
        inputs = torch.randn(self.batch, *self.shape, device=device)
        shape = (self.batch, self.places) if self.places else (self.batch,)
        return inputs, torch.randint(0, self.classes, shape, device=device)


def loss_of(outputs: Tensor, targets: Tensor) -> Tensor:
    """The cross entropy of each example, the mean over its places."""
    if outputs.dim() == 2:
        return functional.cross_entropy(outputs.float(), targets, reduction="none")
    flat = outputs.flatten(0, 1).float()
    losses = functional.cross_entropy(flat, targets.flatten(), reduction="none")
    return losses.view(targets.shape).mean(1)


def mlp(ends: int, width: int) -> nn.Module:
    inner = (nn.Linear(ends, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
    return nn.Sequential(*inner, nn.Linear(width, ends))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        n, t, d = x.shape
        parts = self.qkv(self.first(x)).view(n, t, 3, self.heads, d // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(n, t, d))
        return x + self.down(functional.gelu(self.up(self.second(x))))


def transformer(width: int, blocks: int, heads: int, words: int) -> nn.Module:
    inner = [Block(width, heads) for _ in range(blocks)]
    return nn.Sequential(nn.Linear(64, width), *inner, nn.Linear(width, words))


def cnn(width: int) -> nn.Module:
    def stage(before: int, after: int) -> list[nn.Module]:
        conv = nn.Conv2d(before, after, 3, padding=1)
        return [conv, nn.GroupNorm(8, after), nn.ReLU(), nn.MaxPool2d(2)]

    stages = [*stage(3, width), *stage(width, 2 * width), *stage(2 * width, 4 * width)]
    return nn.Sequential(*stages, nn.Flatten(), nn.Linear(4 * width * 16, 10))


class Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.GroupNorm(16, before), nn.GroupNorm(16, after)])
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        same = before == after and stride == 1
        self.beside = nn.Identity() if same else nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        ready = functional.relu(self.norms[0](x))
        found = self.second(functional.relu(self.norms[1](self.first(ready))))
        return found + self.beside(ready)


def wide_residual(depth: int, factor: int) -> nn.Module:
    """WRN-depth-factor with group norms."""
    each, before = (depth - 4) // 6, 16
    layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, padding=1, bias=False)]
    for stage, width in enumerate((16 * factor, 32 * factor, 64 * factor)):
        for number in range(each):
            layers.append(Residual(before, width, 2 if stage and not number else 1))
            before = width
    end = (nn.GroupNorm(16, before), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(*layers, *end, nn.Linear(before, 10))


IMAGE = (3, 32, 32)
NETWORKS = (
    Network("mlp", partial(mlp, 1024, 8192), 2048, (1024,), 1024),
    Network("transformer", partial(transformer, 1024, 12, 16, 1024), 64, (256, 64), 1024, 256),
    Network("wide", partial(transformer, 2048, 12, 16, 1024), 32, (256, 64), 1024, 256),
    Network("cnn", partial(cnn, 64), 1024, IMAGE, 10),
    Network("wrn-16-4", partial(wide_residual, 16, 4), 1024, IMAGE, 10),
)
SMALL = (
    Network("mlp", partial(mlp, 64, 128), 32, (64,), 64),
    Network("transformer", partial(transformer, 32, 2, 2, 16), 4, (8, 64), 16, 8),
    Network("cnn", partial(cnn, 8), 8, IMAGE, 10),
    Network("wrn-10-1", partial(wide_residual, 10, 1), 4, IMAGE, 10),
)
