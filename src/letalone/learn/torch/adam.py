"""Adam that knows how large the noise is.

Adam divides by the root of the mean of squares, and the squares of a private gradient have the
noise's variance in them, which is known. It is subtracted, so that the step is again that of the
gradient, not of the noise. All of that is computed from noisy gradients: it costs nothing.

  Tested:   tests/deep_learning/test_adam.py: against Adam without noise; the second moment's mean

Tang, Shpilevskiy, Lecuyer: DP-AdamBC: your DP-Adam is actually DP-SGD (unless you apply bias
correction) (2024).
"""

from collections.abc import Callable, Iterable
from typing import Any, cast, overload

import torch
from torch import Tensor

from letalone.exact.typed import Constraint

RATE = Constraint(
    "a positive number", lambda x: x > 0, "0.001 is usual.", (0, -1, float("nan"), float("inf"))
)
SHARE = Constraint("a number from 0 to below 1", lambda x: 0 <= x < 1, "", (-0.1, 1, float("nan")))


class PrivateAdam(torch.optim.Optimizer):
    """Adam with the variance of the noise subtracted; `PrivateTrainer` sets `noise_variance`.

    floor: the least that a second moment counts as, in variances of the noise after averaging.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        floor: float = 0.1,
    ) -> None:
        RATE.typed("lr", lr)
        for name, beta in zip(("betas[0]", "betas[1]"), betas, strict=True):
            SHARE.typed(name, beta)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**defaults, "floor": floor})
        self.noise_variance = 0.0

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Moves each parameter by its `.grad`."""
        if closure is not None:
            raise RuntimeError("PrivateAdam takes no closure: each gradient is a private step.")
        for group in self.param_groups:
            for parameter in cast("list[Tensor]", group["params"]):
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, group)
        return None

    def _move(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = cast("dict[str, Any]", self.state[parameter])
        if not state:
            state["step"] = 0
            state["mean"], state["square"] = (torch.zeros_like(parameter) for _ in range(2))
        state["step"] += 1
        first, second = cast("tuple[float, float]", group["betas"])
        mean = cast("Tensor", state["mean"]).lerp_(gradient, 1 - first)
        square = cast("Tensor", state["square"])
        square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        count = int(state["step"])
        least = group["floor"] * self.noise_variance + group["eps"] ** 2
        size = (square / (1 - second**count) - self.noise_variance).clamp_(min=least).sqrt_()
        parameter.mul_(1 - group["lr"] * group["weight_decay"])
        parameter.addcdiv_(mean, size, value=-group["lr"] / (1 - first**count))
