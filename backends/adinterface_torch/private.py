"""What PyTorch has no public name for. Where there is another way, it is here, too."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Callable
from operator import attrgetter
from types import CodeType
from typing import Any

import torch
from torch import distributed, nn
from torch._functorch.autograd_function import custom_function_call as custom_function_call
from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter as retrieve_current_functorch_interpreter
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack as temporarily_clear_interpreter_stack
from torch._functorch.pyfunctorch import temporarily_restore_interpreter_stack as temporarily_restore_interpreter_stack
from torch.autograd import forward_ad
from torch.nn.parallel import DistributedDataParallel
from torch.utils._pytree import register_pytree_node as register_pytree_node
from torch.utils._pytree import tree_leaves as tree_leaves
from torch.utils._pytree import tree_map_only as tree_map_only

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


#: Switches tangents on and off, as a context manager; for all that follows; and whether they are on.
set_forward_enabled: Callable[[bool], Any] = forward_ad._set_fwd_grad_enabled
set_forward: Callable[[bool], None] = torch._C._set_fwd_grad_enabled
is_forward_enabled: Callable[[], bool] = torch._C._is_fwd_grad_enabled

# Faster private functions, where the public one takes longer than a small f. ------------------------------------------

#: What `torch.autograd.grad` calls in the end; None where torch has no such function.
run_backward: Any = getattr(torch.autograd.graph, "_engine_run_backward", None)
#: As the context manager of this name, for all that follows.
set_grad_enabled: Callable[[bool], None] = torch._C._set_grad_enabled
#: Whether a tensor is a zero without memory, such as the second derivative of abs.
is_zero: Callable[[torch.Tensor], bool] = torch.Tensor._is_zerotensor
#: Makes a tensor of a subclass on the memory of a plain one, requiring a gradient or not.
make_subclass: Callable[[Any, torch.Tensor, bool], Any] = getattr(torch.Tensor, "_make_subclass", nn.Parameter.__new__)


def in_backward() -> bool:
    """Whether a backward pass runs in this thread."""
    return torch._C._current_graph_task_id() >= 0


#: Within a backward pass: whether it visits a node.
will_be_visited: Callable[[Any], bool] = torch._C._will_engine_execute_node
#: How often a tensor was written into.
version_of: Callable[[torch.Tensor], int] = attrgetter("_version")


class _NeverApplied(torch.autograd.Function):
    pass


#: Where the interpreter counts the references to a class; a build without its lock does not.
_COUNTS = not sysconfig.get_config_var("Py_GIL_DISABLED")


def may_be_applied(function: type[torch.autograd.Function]) -> bool:
    """Whether a node of a custom function may be alive.

    Each node refers to its class, which has as many references as that of a function that was never applied, and one for each
    node. This takes 0.1 us, where a look for the node through the graph takes as long as a backward pass of a small f.
    """
    applied, never = function._backward_cls, _NeverApplied._backward_cls  # type: ignore[attr-defined]
    return not _COUNTS or sys.getrefcount(applied) > sys.getrefcount(never)


# The compiler. ----------------------------------------------------------------------------------------------------------


def is_exporting() -> bool:
    """Whether `torch.export` traces the code that runs.

    As `torch.compiler.is_exporting`, which Dynamo of torch 2.7 and 2.8 takes for true in all code that it traces.
    """
    flag: bool | None = getattr(torch.compiler, "_is_exporting_flag", None)
    return torch.compiler.is_exporting() if flag is None else flag


def leave_to_python(code: CodeType) -> None:
    """Dynamo leaves this code, and the code that it calls, uncompiled when Python calls it. It traces it in a caller's code."""
    try:
        from torch._C._dynamo.eval_frame import _FrameAction, _FrameExecStrategy, set_code_exec_strategy
    except ImportError:  # another release may lack the names; Dynamo then compiles parts of the core, with warnings
        return
    set_code_exec_strategy(code, _FrameExecStrategy(_FrameAction.SKIP, _FrameAction.SKIP))


def is_compiled(module: object) -> bool:
    """Whether a module is what `torch.compile` made of another."""
    dynamo = sys.modules.get("torch._dynamo.eval_frame")  # whose import takes a while
    return dynamo is not None and type(module) is dynamo.OptimizedModule


# Groups of processes. ---------------------------------------------------------------------------------------------------


#: Whether this process belongs to a group: the one question that a call without any must answer.
in_use: Callable[[], bool] = distributed.is_initialized if distributed.is_available() else bool
_STATES = "torch.distributed._composable_state"


def is_member(module: nn.Module) -> bool:
    """Whether a module to which `fully_shard` has been applied is sharded, as a copy or a gradient of it is not."""
    return sys.modules[_STATES]._get_module_state(module) is not None


def sharded_groups() -> list[Any]:
    """All groups of parameters that `fully_shard` has made in this process and that are alive."""
    states = sys.modules.get(_STATES)
    groups: dict[int, Any] = {}
    for reference in [] if states is None else list(states._module_state_mapping.values()):
        state = reference()
        made = getattr(state, "_fsdp_param_groups", None)
        if made is None:  # as up to torch 2.9
            made = [getattr(state, "_fsdp_param_group", None)]
        groups.update((id(group), group) for group in made if group is not None)
    return list(groups.values())


def running_wrapper() -> DistributedDataParallel | None:
    """The wrapper whose forward pass runs."""
    return DistributedDataParallel._active_ddp_module
