"""What PyTorch has no public name for. Where there is another way, it is here, too."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

import torch
from torch import nn
from torch._functorch.autograd_function import custom_function_call
from torch._functorch.pyfunctorch import (
    retrieve_current_functorch_interpreter,
    temporarily_clear_interpreter_stack,
    temporarily_restore_interpreter_stack,
)
from torch.autograd import forward_ad

# The transformations of `torch.func` that are at work, and the tensors in them. ---------------------------------------

functorch: Any = torch._C._functorch
#: The innermost transformation; None outside of all.
peek: Callable[[], Any] = functorch.peek_interpreter_stack
#: All of them.
transformations: Callable[[], Any] = functorch.get_interpreter_stack
#: Whether a tensor belongs to one.
is_wrapped: Callable[[Any], bool] = functorch.is_functorch_wrapped_tensor
#: The tensor that another one is around.
unwrapped: Callable[[Any], Any] = functorch.get_unwrapped
JVP, VMAP = functorch.TransformType.Jvp, functorch.TransformType.Vmap

# Forward mode outside of them. ------------------------------------------------------------------------------------------


def in_dual_level() -> bool:
    """Whether this is inside `torch.autograd.forward_ad.dual_level`."""
    return forward_ad._current_level >= 0


#: Switches tangents on and off.
set_forward_enabled: Callable[[bool], Any] = forward_ad._set_fwd_grad_enabled

# Shorter ways, where the public one takes longer than a small f. ------------------------------------------------------

try:
    from torch.autograd.graph import _engine_run_backward as run_backward
except ImportError:
    run_backward = None  # type: ignore[assignment]  # torch.autograd.grad is used then

#: As the context manager of this name, for all that follows.
set_grad_enabled: Callable[[bool], None] = torch._C._set_grad_enabled


#: Whether `torch.export` traces the code that runs; torch 2.6 cannot tell.
is_exporting: Callable[[], bool] = getattr(torch.compiler, "is_exporting", lambda: False)


def leave_to_python(code: CodeType) -> None:
    """Dynamo compiles neither this code, nor what it calls, where Python calls it. Dynamo traces it in the code of a caller."""
    try:
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy, set_code_exec_strategy
    except ImportError:  # before torch 2.7; Dynamo then compiles parts of the core, with warnings
        return
    set_code_exec_strategy(code, _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP))


_make_subclass: Callable[[Any, torch.Tensor, bool], Any] = getattr(torch.Tensor, "_make_subclass", nn.Parameter.__new__)


def as_parameter(tensor: torch.Tensor) -> nn.Parameter:
    """A parameter without a gradient on the memory of a plain tensor."""
    parameter: nn.Parameter = _make_subclass(nn.Parameter, tensor, False)
    return parameter


__all__ = [
    "JVP",
    "VMAP",
    "as_parameter",
    "custom_function_call",
    "functorch",
    "in_dual_level",
    "is_exporting",
    "is_wrapped",
    "leave_to_python",
    "peek",
    "retrieve_current_functorch_interpreter",
    "run_backward",
    "set_forward_enabled",
    "set_grad_enabled",
    "temporarily_clear_interpreter_stack",
    "temporarily_restore_interpreter_stack",
    "transformations",
    "unwrapped",
]
