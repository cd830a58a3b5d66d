"""Private names of PyTorch, with a replacement where there is one.

Another release may lack a name. Then this file is imported nevertheless, and the use of the name is
an error that names it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import CodeType
from typing import Any, NoReturn

import torch
from torch import distributed, nn
from torch.autograd import forward_ad

from adinterface import AutoTorch, BackendError


class _Missing:
    """In place of a name that this torch lacks: any use of it raises."""

    def __init__(self, path: str):
        self._path = path

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise BackendError(
            f"AutoTorch needs the private name {self._path} here, which torch {torch.__version__}"
            f" lacks. Install a release of torch that adinterface knows: {AutoTorch.install()}"
        )

    __getattr__ = __eq__ = __ge__ = __call__


def _private(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return _Missing(f"{module}.{name}")


_STACK, _TREES, _FUNCTORCH = (
    "torch._functorch.pyfunctorch",
    "torch.utils._pytree",
    "torch._C._functorch",
)
retrieve_current_functorch_interpreter = _private(_STACK, "retrieve_current_functorch_interpreter")
temporarily_clear_interpreter_stack = _private(_STACK, "temporarily_clear_interpreter_stack")
register_pytree_node = _private(_TREES, "register_pytree_node")
tree_map_only = _private(_TREES, "tree_map_only")

# The transformations of `torch.func` that are at work, and the tensors in them.
# ---------------------------------------

#: The innermost transformation; None outside of all.
peek: Callable[[], Any] = _private(_FUNCTORCH, "peek_interpreter_stack")
transformations: Callable[[], Any] = _private(_FUNCTORCH, "get_interpreter_stack")
#: Whether a tensor belongs to a transformation; whether to a derivative; the level of the
#: transformation.
is_wrapped: Callable[[Any], bool] = _private(_FUNCTORCH, "is_functorch_wrapped_tensor")
is_gradtracking: Callable[[Any], bool] = _private(_FUNCTORCH, "is_gradtrackingtensor")
level_of: Callable[[Any], int] = _private(_FUNCTORCH, "maybe_get_level")


def outside_all(x: Any = None) -> AbstractContextManager[Any]:
    """A context outside all transformations: inside, results would belong to one.

    Nothing for an x that belongs to one.
    """
    return (
        _NO_SCOPE
        if not transformations() or (x is not None and is_wrapped(x))
        else temporarily_clear_interpreter_stack()
    )


_NO_SCOPE = nullcontext()
#: The tensor inside one of a transformation.
unwrapped: Callable[[Any], Any] = _private(_FUNCTORCH, "get_unwrapped")
#: The kinds of transformations: the type of `key()`.
TransformType: Any = _private(_FUNCTORCH, "TransformType")

# Forward mode outside of them.
# ------------------------------------------------------------------------------------------

_CURRENT = "_current_level"
#: The level of `torch.autograd.forward_ad.dual_level` at work, or -1.
dual_level: Callable[[], int] = partial(
    getattr, forward_ad, _CURRENT, _Missing(f"torch.autograd.forward_ad.{_CURRENT}")
)
#: A context that switches tangents on or off.
set_forward_enabled: Callable[[bool], Any] = _private(
    "torch.autograd.forward_ad", "_set_fwd_grad_enabled"
)
#: Whether tangents are switched on.
is_forward_enabled: Callable[[], bool] = _private("torch._C", "_is_fwd_grad_enabled")

# Faster private functions, where the public one takes longer than a small f.
# ------------------------------------------

#: What `torch.autograd.grad` calls in the end; None where torch has no such function.
run_backward: Any = getattr(torch.autograd.graph, "_engine_run_backward", None)
#: Whether a tensor is a zero without memory, such as the second derivative of abs.
is_zero: Callable[[torch.Tensor], bool] = getattr(
    torch.Tensor, "_is_zerotensor", _Missing("torch.Tensor._is_zerotensor")
)


def left_to_python(code: CodeType) -> None:
    """Dynamo leaves the function of this code, and what it calls, uncompiled."""
    try:
        from torch._C._dynamo.eval_frame import (
            _FrameAction,
            _FrameExecStrategy,
            set_code_exec_strategy,
        )
    except ImportError:
        # another release may lack the names; Dynamo then compiles parts of the core, with warnings
        return
    set_code_exec_strategy(code, _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP))


def is_compiled(module: object) -> bool:
    """Whether `torch.compile` has made this module from another."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")  # whose import takes a while
    return dynamo is not None and type(module) is dynamo.OptimizedModule


# Groups of processes.
# ------------------------------------------------------------------------------------------------


#: Whether this process belongs to a group: the one question that a call without any must answer.
in_use: Callable[[], bool] = distributed.is_initialized if distributed.is_available() else bool
_STATES = "torch.distributed._composable_state"


def is_member(module: nn.Module) -> bool:
    """Whether `fully_shard` has sharded this module; a copy or a gradient of it is not."""
    return _private(_STATES, "_get_module_state")(module) is not None


def sharded_groups() -> list[Any]:
    """All groups of parameters that `fully_shard` has made in this process and that are alive."""
    groups: dict[int, Any] = {}
    for reference in (
        list(_private(_STATES, "_module_state_mapping").values()) if _STATES in sys.modules else []
    ):
        state = reference()
        made = getattr(state, "_fsdp_param_groups", None)
        if made is None:  # as up to torch 2.9
            made = [getattr(state, "_fsdp_param_group", None)]
        groups.update((id(group), group) for group in made if group is not None)
    return list(groups.values())
