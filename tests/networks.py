"""Small networks, of each kind of layer, and what is compared about their gradients."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from letalone.learn.torch.gradients.clipping import Clip
from letalone.learn.torch.gradients.recording import ExampleBatch, Terms, trained

cross_entropy = nn.CrossEntropyLoss(reduction="none")


def token_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Of each place; those with target -100 weigh nothing."""
    return nn.functional.cross_entropy(outputs.transpose(1, 2), targets, reduction="none")


class Mean(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(2).mean(2) if x.dim() > 3 else x.mean(1)


class Flat(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(1)


class Attention(nn.Module):
    def __init__(self, width: int = 8, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        n, t, d = x.shape
        parts = self.qkv(self.norm(x)).view(n, t, 3, self.heads, d // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(mixed.transpose(1, 2).reshape(n, t, d))


class Tied(nn.Module):
    """A language model whose first and last layer share their weight."""

    def __init__(self, words: int = 7, width: int = 8) -> None:
        super().__init__()
        self.table, self.block = nn.Embedding(words, width), Attention(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.table.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.block(self.table(x)))


class TiedByHand(Tied):
    """The same, without a layer for the second use."""

    def forward(self, x: Tensor) -> Tensor:
        return self.block(self.table(x)) @ self.table.weight.T


class Twice(nn.Module):
    """One layer, used two times."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.out = nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.layer(torch.tanh(self.layer(x))))


class Adapted(nn.Module):
    """A frozen layer with a LoRA adapter of two narrow layers."""

    def __init__(self, base: nn.Linear, rank: int = 2) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.up(self.down(x))


class Scaled(nn.Module):
    """A kind of layer that nobody knows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale.cos()


class Token(nn.Module):
    """A parameter beside layers, as the first place of a vision transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.block = nn.Parameter(torch.randn(1, 1, 8)), Attention()
        self.out = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1)
        return self.out(self.block(x)[:, 0])


def adapted() -> nn.Module:
    return nn.Sequential(Adapted(nn.Linear(6, 5)), nn.ReLU(inplace=True), Adapted(nn.Linear(5, 3)))


def numbers(*shape: int) -> Callable[[int], tuple[Tensor, Tensor]]:
    return lambda n: (torch.randn(n, *shape), torch.randint(0, 3, (n,)))


def words(n: int) -> tuple[Tensor, Tensor]:
    return torch.randint(0, 7, (n, 5)), torch.randint(0, 7, (n, 5))


def layers(*makers: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(*(make() for make in makers))


Case = tuple[Callable[[], nn.Module], Any, Callable[[int], tuple[Tensor, Tensor]]]
CASES: dict[str, Case] = {
    "linear": (
        layers(lambda: nn.Linear(6, 9), nn.ReLU, lambda: nn.Linear(9, 3)),
        cross_entropy,
        numbers(6),
    ),
    "in place": (
        layers(lambda: nn.Linear(6, 9), lambda: nn.ReLU(inplace=True), lambda: nn.Linear(9, 3)),
        cross_entropy,
        numbers(6),
    ),
    "sequence": (
        layers(lambda: nn.Linear(4, 9), nn.Tanh, Mean, lambda: nn.Linear(9, 3)),
        cross_entropy,
        numbers(40, 4),
    ),
    "conv1d": (
        layers(lambda: nn.Conv1d(3, 6, 3, stride=2, padding=1), Flat, lambda: nn.Linear(30, 3)),
        cross_entropy,
        numbers(3, 10),
    ),
    "conv2d": (
        layers(
            lambda: nn.Conv2d(2, 6, 3, dilation=2, padding=1),
            lambda: nn.GroupNorm(2, 6),
            nn.ReLU,
            lambda: nn.Conv2d(6, 4, (3, 1), groups=2, bias=False),
            Mean,
            lambda: nn.Linear(4, 3),
        ),
        cross_entropy,
        numbers(2, 8, 8),
    ),
    "conv reflect": (
        layers(
            lambda: nn.Conv2d(1, 3, 3, padding=1, padding_mode="reflect"),
            lambda: nn.Conv2d(3, 3, 3, padding="same"),
            Mean,
        ),
        cross_entropy,
        numbers(1, 5, 5),
    ),
    "norms": (
        layers(
            lambda: nn.Linear(6, 8),
            lambda: nn.RMSNorm(8),
            nn.Tanh,
            lambda: nn.LayerNorm((8,)),
            lambda: nn.GroupNorm(2, 8),
            lambda: nn.Linear(8, 3),
        ),
        cross_entropy,
        numbers(6),
    ),
    "attention": (
        layers(Attention, Attention, Mean, lambda: nn.Linear(8, 3)),
        cross_entropy,
        numbers(5, 8),
    ),
    "embedding": (
        layers(lambda: nn.Embedding(7, 8, padding_idx=0), lambda: nn.Linear(8, 7)),
        token_loss,
        words,
    ),
    "tied": (Tied, token_loss, words),
    "tied by hand": (TiedByHand, token_loss, words),
    "twice": (Twice, cross_entropy, numbers(6)),
    "adapters": (adapted, cross_entropy, numbers(6)),
    "unknown layer": (
        layers(lambda: Scaled(6), lambda: nn.Linear(6, 6), lambda: Scaled(6), Flat),
        cross_entropy,
        numbers(6),
    ),
    "token": (Token, cross_entropy, numbers(4, 8)),
}


def make(name: str, *, examples: int = 6, dtype: torch.dtype = torch.float64) -> Any:
    """A model, its loss and a batch; always the same."""
    torch.manual_seed(7)
    maker, loss, data = CASES[name]
    model = maker().to(dtype)
    inputs, targets = data(examples)
    inputs = inputs.to(dtype) if inputs.is_floating_point() else inputs
    return model, loss, ExampleBatch(inputs, targets, torch.ones(examples, dtype=dtype))


def clipped(terms: Terms, clip: Clip, model: nn.Module, *, doubles: bool = True) -> Tensor:
    """The weighted sum of all units, as one vector."""
    squared = torch.stack([term.squared_norms() for term in terms.values()])
    weights = dict(zip(terms, clip.weights(squared), strict=True))
    parts = [
        terms[name].weighted(weights[name], doubles=doubles)
        if name in terms
        else torch.zeros(parameter.numel(), dtype=torch.float64)
        for name, parameter in trained(model).items()
    ]
    return torch.cat(parts)
