"""In which precision a step is computed, and what is proven of it.

    "proven"   as the model computes; norms, and sums where they need it, in doubles (the default)
    "fast"     layers and factors in bfloat16, norms and sums in single precision

In "fast" the clip of each unit is proven as before: a factor that was rounded to bfloat16 is what
is measured, and what rounding can add to one unit's gradient afterwards is added to its norm. Not
proven is that sums over units, in single precision, lose as little as the clip leaves room for:
that is assumed, and a plan says so. Losses are never scaled.

  Proven:   docs/explanation/proofs/deep_learning.md, section 8
  Assumed:  ASSUMED, where "fast" is chosen
  Tested:   tests/deep_learning/test_precision.py
"""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import StrEnum
from typing import Any, cast

import torch
from torch import Tensor

from letalone.errors import ParameterError

HALF = torch.bfloat16
ASSUMED = (
    "adding up in single precision moves the sum of a step by at most 0.5 % of the clip, and a"
    " matrix product of n factors errs by at most n / 2^23 of their sizes"
)


class Precision(StrEnum):
    """The choices of `precision=`."""

    PROVEN = "proven"
    FAST = "fast"

    @property
    def is_fast(self) -> bool:
        return self is Precision.FAST

    @property
    def words(self) -> tuple[str, ...]:
        """What a plan says of it: nothing where all is proven."""
        return (f"in bfloat16; assumed, not proven: {ASSUMED}",) if self.is_fast else ()


def read_precision(name: object) -> Precision:
    """The precision of this name."""
    if name not in tuple(Precision):
        raise ParameterError(
            f"precision is {name!r}, but must be 'proven' (the default) or 'fast', which computes"
            " in bfloat16 and rests on an assumption that the plan tells."
        )
    return Precision(cast("str", name))


def wide(values: Tensor) -> torch.dtype:
    """In which numbers sums of these are measured: doubles; of bfloat16, single precision."""
    return torch.float32 if values.dtype == HALF else torch.float64


def full(values: Tensor) -> Tensor:
    """Of bfloat16 the same numbers in single precision, whose products are exact there."""
    return values.float() if values.dtype == HALF else values


def in_half(device: torch.device, *, half: bool) -> AbstractContextManager[Any]:
    """Layers compute in bfloat16 as far as PyTorch holds that to be safe."""
    return torch.autocast(device.type, HALF) if half else nullcontext()


def product(left: Tensor, right: Tensor) -> Tensor:
    """left @ right, of matrices or of batches of them; of bfloat16, summed in single precision."""
    if left.dtype != HALF:
        return left @ right
    if left.is_cuda and _kept_wide():
        many = cast("Any", torch.bmm if left.dim() == 3 else torch.mm)
        return many(left, right, out_dtype=torch.float32)
    return left.float() @ right.float()


def _kept_wide() -> bool:
    """Whether this PyTorch can leave the sums of a product in single precision."""
    return "dtype" in cast("Any", torch.ops.aten.mm).overloads()


@contextmanager
def exact_products() -> Generator[None]:
    """Nothing narrower than what is asked for: no TF32, no sums in bfloat16, whatever is set."""
    cuda, intel = cast("Any", torch.backends.cuda.matmul), cast("Any", torch.backends.mkldnn)
    settings = [(cuda, "allow_bf16_reduced_precision_reduction", False)]
    if hasattr(cuda, "fp32_precision"):
        settings += [(cuda, "fp32_precision", "ieee"), (intel.matmul, "fp32_precision", "ieee")]
    else:  # before PyTorch 2.9
        settings.append((cuda, "allow_tf32", False))
    before = [(place, name, getattr(place, name)) for place, name, _ in settings]
    try:
        for place, name, value in settings:
            setattr(place, name, value)
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)
