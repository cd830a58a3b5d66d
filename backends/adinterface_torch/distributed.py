"""Wrappers that exchange gradients between processes: refused, because they do it under `backward()` alone.

Their hooks do not run under `torch.autograd.grad`, so a gradient taken here is that of the process's own data, and nothing
would say so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.overrides import TorchFunctionMode

from adinterface.contract.backend import Arrays, FlatFunction
from adinterface.contract.errors import BackendError, ConversionError

_AVAILABLE = distributed.is_available()
_PLAIN = {torch.Tensor, torch.nn.Parameter}


def is_distributed(x: object) -> bool:
    """Whether x is spread over processes; asked by name, because the module of such tensors is slow to import."""
    return type(x) not in _PLAIN and any(cls.__module__.startswith("torch.distributed.") for cls in type(x).__mro__)


def refuse_distributed(module: torch.nn.Module) -> None:
    """Refuse a module that averages or shards gradients, or whose parameters are spread over processes."""
    name = type(module).__name__
    if isinstance(module, DistributedDataParallel):
        raise ConversionError(
            f"{name} averages gradients between processes in hooks that run under backward() alone; a gradient taken here is "
            f"that of this process's data. Train it with loss.backward(), or pass model.module and average the gradients "
            f"yourself (torch.distributed.all_reduce)."
        )
    if is_distributed(module) or any(map(is_distributed, module._parameters.values())):
        raise ConversionError(
            f"{name} spreads its parameters over processes, and exchanges gradients in hooks that run under backward() alone. "
            f"Train it with loss.backward(), or wrap it in Constant(...)."
        )


def watched(function: FlatFunction, leaves: Arrays) -> Callable[..., Any]:
    """The function, refusing the call of a wrapper around the parameters that it differentiates, where there may be one."""
    if not (_AVAILABLE and distributed.is_initialized()):
        return function
    differentiated = {id(leaves[n]) for n in function.held}

    def watching(*inputs: Any) -> Any:
        with _Watch(differentiated):
            return function(*inputs)

    return watching


class _Watch(TorchFunctionMode):
    def __init__(self, differentiated: set[int]):
        super().__init__()
        self.differentiated = differentiated

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        active: Any = DistributedDataParallel._active_ddp_module
        if active is not None and active.require_backward_grad_sync:
            self._refuse(active)
        return func(*args, **(kwargs or {}))

    def _refuse(self, wrapper: DistributedDataParallel) -> None:
        if self.differentiated.isdisjoint(map(id, wrapper.module.parameters())):
            return
        raise BackendError(
            f"f calls a {type(wrapper).__name__} around parameters that are differentiated here. It averages gradients between "
            f"processes in hooks that run under backward() alone; this gradient would be that of this process's data. Train "
            f"with loss.backward(), or call the inner module, or the wrapper inside its no_sync(), and average the gradients "
            f"yourself (torch.distributed.all_reduce)."
        )
