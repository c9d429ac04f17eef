"""Private training of PyTorch models: the extra `[torch]`.

    from letalone.learn.torch import PrivateTrainer
    PrivateTrainer(model, loss, epsilon=3, delta=1e-5, rows=60_000).fit((images, labels))

PyTorch is imported when this package is, and by nothing else in letalone.
"""

from letalone.errors import ParameterError
from letalone.errors.installing import not_installed

try:
    from letalone.learn.torch.adam import PrivateAdam
    from letalone.learn.torch.gradients.clipping import Automatic, Flat, PerLayer
    from letalone.learn.torch.gradients.standardised import StandardisedConv2d
    from letalone.learn.torch.progress import Progress
    from letalone.learn.torch.steps import PrivateSteps
    from letalone.learn.torch.trainer import PrivateTrainer
    from letalone.learn.torch.training_plan import TrainPlan
except ModuleNotFoundError as missing:
    if missing.name != "torch":
        raise
    raise ParameterError(not_installed("letalone.learn.torch", "PyTorch", "torch")) from None

__all__ = [
    "Automatic",
    "Flat",
    "PerLayer",
    "PrivateAdam",
    "PrivateSteps",
    "PrivateTrainer",
    "Progress",
    "StandardisedConv2d",
    "TrainPlan",
]
