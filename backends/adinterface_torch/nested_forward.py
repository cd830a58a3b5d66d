"""Forward mode inside forward mode, where torch leaves out the rule of every `torch.autograd.Function`.

It runs a Function's `jvp` with forward mode switched off, so that the outer derivative of what the rule gives is zero
without a word (https://github.com/pytorch/pytorch/issues/197867). Only there are such functions looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._functorch.autograd_function import custom_function_call
from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode

from adinterface.contract.errors import BackendError

_JVP = torch._C._functorch.TransformType.Jvp


def forward(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as one more level of forward mode may take it: refusing such rules if it is not the first."""
    levels = torch._C._functorch.get_interpreter_stack()
    if levels is not None and any(level.key() == _JVP for level in levels):

        def watched(*leaves: Any) -> Any:
            with _Watch():
                return function(*leaves)

        return watched
    if forward_ad._current_level >= 0:
        raise BackendError(
            "AutoTorch(mode='forward') inside torch.autograd.forward_ad.dual_level: torch has one such level at a time. Use "
            "AutoTorch(), or take the outer derivative with torch.func.jvp."
        )
    return function


class _Watch(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is custom_function_call and any(map(_moves, args[1:])):
            raise BackendError(
                f"f applies {args[0].__qualname__}, a torch.autograd.Function, inside a forward derivative of a forward "
                f"derivative, where torch leaves its rule out (https://github.com/pytorch/pytorch/issues/197867): the result "
                f"would be wrong. Take one of the two derivatives in reverse, with AutoTorch() or AutoTorch(mode='reverse')."
            )
        return func(*args, **(kwargs or {}))


def _moves(argument: Any) -> bool:
    """Whether a value changes along the tangents of the innermost level, and that at another one of forward mode, too."""
    if not isinstance(argument, torch.Tensor):
        return False
    primal, tangent = _dual(argument)
    return tangent is not None and (_moves_outside(primal) or _moves_outside(tangent))


def _moves_outside(tensor: torch.Tensor) -> bool:
    """Whether a value of the present level has a tangent at any level outside it."""
    functorch = torch._C._functorch
    level = retrieve_current_functorch_interpreter()
    inner = functorch.get_unwrapped(tensor) if functorch.maybe_get_level(tensor) == level.level() else tensor
    with level.lower():
        outside: Any = functorch.peek_interpreter_stack()
        if outside is None:
            return False
        if outside.key() == _JVP and _dual(inner)[1] is not None:
            return True
        return _moves_outside(inner)


def _dual(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """A tensor of the present level and its tangent there."""
    unpacked: Any = forward_ad.unpack_dual(tensor)  # type: ignore[no-untyped-call]
    return unpacked.primal, unpacked.tangent


def refuse_tangents(tensors: Iterable[Any]) -> None:
    """Refuse tensors with a tangent of `torch.autograd.forward_ad`: aliases of leaves and detached results lose it."""
    for tensor in tensors:
        if _dual(tensor)[1] is not None:
            raise BackendError(
                "A tensor of this call has a tangent of torch.autograd.forward_ad.dual_level, which would be lost. Take the "
                "outer derivative with torch.func.jvp, or with adinterface.pushforward."
            )
