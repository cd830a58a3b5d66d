"""Calls in code that `torch.compile` or `torch.export` traces.

`torch.compile` traces `torch.func`; it refuses `torch.autograd.grad`, unless a global setting allows it. `torch.export` runs
the code in Python, on tensors without numbers, and records `torch.autograd.grad`; its programs of `torch.func` return no
numbers. With `strict=True` it traces as `torch.compile` does, so that is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from types import CodeType, ModuleType
from typing import Any, NoReturn

import torch
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, make_fx

from adinterface import AutoBackend, AutoTorch, BackendError
from adinterface.core.contract import Arrays
from adinterface.integrations.for_engines import Compiler, TracedGradient

from .ambient import depth
from .private import is_exporting, leave_to_python
from .recording import recorded

#: The classes of tensors in code that `torch.compile` traces.
_ARRAYS = (torch.Tensor, torch.nn.Parameter)

#: Scalar and auxiliary results of leaves.
_WithAux = Callable[..., tuple[Any, tuple[Any, ...]]]


class TorchCompiler(Compiler):
    def __init__(self, entries: Set[CodeType]):
        for code in entries:
            leave_to_python(code)

    def reads_code(self) -> bool:
        return torch.compiler.is_dynamo_compiling()

    def refuse(self, reason: str) -> NoReturn:
        if torch.compiler.is_dynamo_compiling():
            torch._dynamo.graph_break(msg=f"{reason}. {_TRACED} Without fullgraph=True the call is left to Python.")
        raise BackendError(f"torch.export cannot trace this call: {reason}. {_TRACED}")

    def is_array(self, value: Any) -> bool:
        known = type(value) in _ARRAYS if torch.compiler.is_dynamo_compiling() else isinstance(value, torch.Tensor)
        return known and value.layout is torch.strided

    def namespace(self) -> ModuleType:
        from . import namespace  # here, because array_api_compat.torch is slow to import

        return namespace

    def accepts(self, auto: AutoBackend) -> str | None:
        assert isinstance(auto, AutoTorch)
        if torch.compiler.is_dynamo_compiling() and is_exporting():
            return "torch.export traces derivatives with strict=False only"
        if auto.mode == "forward":
            return "AutoTorch(mode='forward') cannot be traced"
        # Any other option is refused, such as one of a derived class or of a later release.
        for name, value in vars(auto).items():
            if name not in _TRACED_OPTIONS and value is not getattr(type(auto), name, None):
                return f"{type(auto).__name__} with the option {name} cannot be traced"
        return None

    def gradient(self, function: _WithAux, leaves: Sequence[Any]) -> TracedGradient:
        if not torch.compiler.is_dynamo_compiling():
            return _exported_gradient(function, leaves)
        both = torch.func.grad_and_value(function, argnums=tuple(range(len(leaves))), has_aux=True)
        gradients, (output, aux) = both(*leaves)
        return TracedGradient(output.clone(), _copies(aux), _copies(gradients))

    def hvp(self, function: Callable[..., Any], leaves: Sequence[Any], directions: Sequence[Any]) -> tuple[Any, Any]:
        if not torch.compiler.is_dynamo_compiling():
            return _exported_hvp(function, leaves, directions)
        pulled: Any = torch.func.vjp(torch.func.grad(function, argnums=tuple(range(len(leaves)))), *leaves)
        gradients, back = pulled
        return _copies(gradients), _copies(back(tuple(directions)))


#: The options that hold, or do not matter, in a traced call: `mode` is checked, and the rest is for code that is not traced.
_TRACED_OPTIONS = ("mode", "compile", "create_graph", "chunk_size")
_TRACED = (
    "Traced are calls on AutoTorch(), in reverse mode, whose arguments are tensors, or dicts, lists, tuples and dataclasses of "
    "tensors."
)


def _copies(tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Dense copies: torch gives the same tensor twice for a + b, and one number in many places for a sum."""
    return tuple([tensor.clone() for tensor in tensors])


# torch.export --------------------------------------------------------------------------------------------------------


def _exported_gradient(function: _WithAux, leaves: Sequence[torch.Tensor]) -> TracedGradient:
    def compute(*leaves: torch.Tensor) -> Any:
        inputs, (output, aux) = _recorded(function, leaves)
        return _shown([output])[0], _shown(aux), _shown(_grad(output, inputs))

    return TracedGradient(*_program(compute, leaves))


def _exported_hvp(
    function: Callable[..., torch.Tensor], leaves: Sequence[torch.Tensor], directions: Sequence[torch.Tensor]
) -> tuple[Any, Any]:
    def compute(*both: torch.Tensor) -> Any:
        inputs, output = _recorded(function, both[: len(leaves)])
        gradients = _grad(output, inputs)
        slope = sum([(gradient * direction).sum() for gradient, direction in zip(gradients, both[len(leaves) :])])
        return _shown(gradients), _shown(_grad(slope, inputs))

    gradients, products = _program(compute, [*leaves, *directions])
    return gradients, products


def _program(compute: Callable[..., Any], arrays: Sequence[torch.Tensor]) -> Any:
    """The result of `compute`, recorded as the operations of its forward and backward passes.

    torch.export itself loses the tensors that a backward pass saves from the results of operations. The operations recorded
    here have no derivatives, so a nested call, and one whose results stay in a graph, is left to torch.export.
    """
    with torch.enable_grad():
        if depth() or any(x.requires_grad for x in arrays):
            return compute(*arrays)
        with disable_proxy_modes_tracing():
            program = make_fx(compute)(*arrays)
    with torch.no_grad():
        return program(*arrays)


def _recorded(function: Callable[..., Any], leaves: Sequence[torch.Tensor]) -> tuple[list[torch.Tensor], Any]:
    """Aliases of the leaves, and the function at these."""
    inputs = [x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in leaves]
    return inputs, recorded(function, inputs)


def _grad(output: Any, inputs: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
    if not output.requires_grad:
        return [torch.zeros_like(x) for x in inputs]
    return torch.autograd.grad(output, inputs, create_graph=True, materialize_grads=True)


def _shown(tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The results of a call, outside its graph unless it is part of f of another call."""
    return _copies(tensors if depth() else [tensor.detach() for tensor in tensors])


# Files of torch.export -----------------------------------------------------------------------------------------------


class _Program(torch.nn.Module):
    def __init__(self, function: Callable[..., Arrays]):
        super().__init__()
        self.function = function

    def forward(self, *arrays: torch.Tensor) -> Arrays:
        return self.function(*arrays)


def export(function: Callable[..., Arrays], arrays: Arrays, path: str) -> dict[str, Any]:
    """See `Backend.export`."""
    program = torch.export.export(_Program(function), tuple([x.detach() for x in arrays]), strict=False)
    with open(path, "wb") as file:
        torch.export.save(program, file)
    return {"format": "torch.export", "load": "outputs = torch.export.load(path).module()(*inputs)"}
