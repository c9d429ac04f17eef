"""A piece of a step as one graph: forward, backward to the outputs, norms and weighted sums.

The graph is traced once, of made-up examples, before anything is charged or read, and compiled.
Shapes are always the same, with masked rows, so on a GPU it is replayed as one CUDA graph. What a
model decides in Python, a random number of Python's say, is decided once, while it is traced.

  Proven:   docs/explanation/proofs/deep_learning.md, section 10
  Assumed:  a factor is the same float where it is measured and where it is added up
  Tested:   tests/deep_learning/test_compiled.py: the same sums as without
"""

from collections.abc import Callable
from typing import Any, cast
from warnings import catch_warnings, simplefilter

import torch
from torch import Tensor, nn
from torch.func import functional_call  # pyright: ignore[reportPrivateImportUsage]
from torch.fx.experimental.proxy_tensor import make_fx

from letalone.errors import ParameterError
from letalone.learn.torch.gradients.computing import PieceShare, Summing
from letalone.learn.torch.gradients.precision import exact_products
from letalone.learn.torch.gradients.recording import ExampleBatch, trained
from letalone.learn.torch.gradients.sums import Sums

Tensors = dict[str, Tensor]
Graph = Callable[[Tensors, Any, Any, Tensor], Tensors]
# Steps that are fused round to bfloat16 in between all the same: what is measured is what counts.
OPTIONS = {"emulate_precision_casts": True}


class CompiledAdder:
    """Adds pieces by a graph that was compiled for their shape; replayed: as one CUDA graph."""

    def __init__(self, summing: Summing, backend: str, *, replayed: bool = True) -> None:
        self._summing, self._backend, self._replayed = summing, backend, replayed
        self._graphs = dict[PieceShare, Graph]()
        self._seen = dict[str, tuple[Tensor, Tensor]]()

    def prepare(self, like: Callable[[], ExampleBatch], share: PieceShare) -> None:
        """Traces and compiles; refused where that fails."""
        batch = like()
        try:
            with catch_warnings():
                simplefilter("ignore")  # what a compiler says of itself helps nobody here
                self._graphs[share] = self._graph(batch, share)
                self._called(batch, share)
        except Exception as error:  # whatever a model, a tracer or a compiler raises
            raise ParameterError(
                f"The model cannot be compiled as one graph with backend={self._backend!r}"
                f" ({type(error).__name__}). Look for steps that depend on the values of tensors;"
                " inductor needs a C++ compiler. Or leave compile out: the sums are the same."
            ) from None

    def add(self, batch: ExampleBatch, sums: Sums, share: PieceShare) -> None:
        """Adds what the batch gives."""
        if share not in self._graphs:
            self._graphs[share] = self._graph(batch, share)
        for name, found in self._called(batch, share).items():
            sums.put(name, found)

    def _called(self, batch: ExampleBatch, share: PieceShare) -> Tensors:
        with torch.no_grad(), exact_products():
            call = self._graphs[share]
            return call(self._state(), batch.inputs, batch.targets, batch.shares)

    def _graph(self, batch: ExampleBatch, share: PieceShare) -> Graph:
        piece = _Piece(self._summing, share)

        def called(state: Tensors, inputs: Any, targets: Any, shares: Tensor) -> Tensors:
            return piece.called(state, ExampleBatch(inputs, targets, shares))

        given = self._state(), batch.inputs, batch.targets, batch.shares
        with exact_products():
            traced = cast("Any", make_fx(called))(*given)
        replayed = self._replayed and batch.shares.device.type == "cuda"
        options = _options(self._backend, replayed=replayed)
        return cast("Any", torch.compile)(
            traced, backend=self._backend, dynamic=False, options=options
        )

    def _state(self) -> Tensors:
        """Weights and buffers, each as one tensor that stays, so that no graph copies it."""
        model = self._summing.model
        own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        for name, value in own.items():
            if name not in self._seen or self._seen[name][0] is not value:
                self._seen[name] = value, _static(value.detach())
        return {name: self._current(name) for name in own}

    def _current(self, name: str) -> Tensor:
        value, known = self._seen[name]
        if known.data_ptr() != value.data_ptr():  # somebody has set .data
            known = _static(value.detach())
            self._seen[name] = value, known
        return known


class _Piece(nn.Module):
    """The weighted sums of one batch, as a function of weights and examples."""

    def __init__(self, summing: Summing, share: PieceShare) -> None:
        super().__init__()
        self.model = summing.model
        self._summing, self._share = summing, share
        self._trained = {f"model.{name}" for name in trained(summing.model)}

    def forward(self, batch: ExampleBatch) -> Tensors:
        found = self._summing.weighted(self._summing.terms(batch), self._share.rows)
        doubles = self._share.doubles
        return {n: term.weighted(weights, doubles=doubles) for n, term, weights in found}

    def called(self, state: Tensors, batch: ExampleBatch) -> Tensors:
        """With these weights and buffers."""
        own = {f"model.{name}": value.detach() for name, value in state.items()}
        for name in self._trained:
            own[name].requires_grad_()
        return functional_call(self, own, (batch,), tie_weights=True)


def _options(backend: str, *, replayed: bool) -> dict[str, Any] | None:
    """Those of inductor; other backends have none of their own."""
    return {**OPTIONS, "triton.cudagraphs": replayed} if backend == "inductor" else None


def _static(value: Tensor) -> Tensor:
    """The same, known to stay where it is."""
    cast("Any", torch)._dynamo.mark_static_address(value)
    return value
