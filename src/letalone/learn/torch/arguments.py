"""Reads what a trainer was given, or refuses it."""

from torch import nn
from torch.nn.modules.loss import _Loss  # pyright: ignore[reportPrivateUsage]
from torch.optim import Optimizer

from letalone.errors import ParameterError
from letalone.learn.torch.gradients.recording import Loss, trained
from letalone.learn.torch.team import Team


def for_each_example(loss: Loss) -> Loss:
    """Losses of torch.nn, made to give a number for each example."""
    if isinstance(loss, _Loss) and loss.reduction == "mean":
        raise ParameterError(
            f"loss averages over the batch. Give torch.nn.{type(loss).__name__}(reduction='none'),"
            " which has one number for each example."
        )
    return loss


def check_optimizer(optimizer: Optimizer, model: nn.Module) -> None:
    """Refuses an optimizer of other weights: they would never move."""
    known = {id(p) for group in optimizer.param_groups for p in group["params"]}
    if not known & {id(p) for p in trained(model).values()}:
        raise ParameterError(
            "The optimizer holds none of the model's trained parameters. Make it from the same"
            " model: torch.optim.SGD(model.parameters(), lr=0.1)."
        )


def check_alone(team: Team) -> None:
    """Refuses to read a table in several processes."""
    if team.size > 1:
        raise ParameterError(
            "A table is read by one process alone, which its ledger charges. Say distributed=False"
            " and fit in one of them, or give all of them tensors."
        )
